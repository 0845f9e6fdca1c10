"""Losses of partitions: expected loss of a labelling, best member, credible ball."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage._messages import ParameterError
from ensemblage.metrics.agreement import beside_votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble
    from ensemblage._types import FloatArray


class MedianMember(NamedTuple):
    """The clustering with the least expected loss.

    Attributes
    ----------
    member : int
        Its position among the candidates, the first of equal ones.
    labels : ndarray of shape (n_objects,), int64
        Its labels by first appearance, -1 if missing.
    expected_loss : float
        Its mean loss to the clusterings.
    expected_losses : ndarray of shape (n_candidates,)
        That of every candidate.

    Examples
    --------
    >>> import ensemblage as en
    >>> best = en.metrics.median_of([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> best.member, best.labels
    (0, array([0, 0, 1, 1]))
    """

    member: int
    labels: NDArray[np.int64]
    expected_loss: float
    expected_losses: FloatArray


class CredibleBall(NamedTuple):
    """The smallest ball around an estimate that holds a share of the clusterings.

    Attributes
    ----------
    radius : float
        The largest distance of a clustering inside the ball.
    level : float
        The requested share.
    share : float
        The share inside the ball, at least `level`.
    distances : ndarray of shape (n_clusterings,)
        The loss between the estimate and each clustering; NaN for one without votes.
    n_clusters : ndarray of shape (n_clusterings,), int64
        Number of clusters of each.
    n_clusters_of_estimate : int
        Number of clusters of the estimate.
    upper, lower, horizontal : ndarray, int64
        The clusterings inside that are farthest from the estimate: among those with the fewest
        clusters, among those with the most, and among all.

    Examples
    --------
    >>> import ensemblage as en
    >>> draws = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> ball = en.metrics.credible_ball([0, 0, 1, 1], draws)
    >>> ball.radius, ball.n_clusters
    (1.188721875540867, array([2, 2, 2]))
    """

    radius: float
    level: float
    share: float
    distances: FloatArray
    n_clusters: NDArray[np.int64]
    n_clusters_of_estimate: int
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    horizontal: NDArray[np.int64]


def expected_loss(
    labels: Any, X: Any, loss: str = "vi", a: float = 1.0, *, member_weight: Any = None
) -> float:
    """Return the mean loss of a labelling to the clusterings of an ensemble.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
        The labelling to score, usually a consensus. Objects without a label are left out. A Series
        of the same objects as X is matched by index.
    X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
        Votes, such as draws of a clustering from a posterior distribution.
    loss : {"vi", "binder", "nvi", "id", "nid", "omari"}, default="vi"
        As for `ensemblage.Median`, whose notes give the formulas. Logarithms are of base 2.
    a : float, default=1.0
        For "vi" and "binder": the cost, from 0 to 2, of separating objects that belong together; 2
        - a is the cost of joining objects that do not.
    member_weight : array-like of shape (n_clusterings,), dict or Series, optional
        Weight of each clustering.

    Returns
    -------
    float
        0 if the labelling equals every clustering.

    Notes
    -----
    A clustering is compared over the objects that it labels; one without votes is left out.

    Examples
    --------
    >>> from ensemblage.metrics import expected_loss
    >>> votes = [[0, 0], [0, 0], [1, 1], [1, 2]]
    >>> expected_loss([0, 0, 1, 1], votes)
    0.25
    >>> expected_loss([0, 0, 1, 1], votes, loss="binder")
    0.0625
    """
    cost = _checked("expected_loss", loss, a)
    ensemble = as_ensemble(X, new=True)
    weight = _weights("expected_loss", member_weight, ensemble)
    return _mean(_losses(labels, ensemble, loss, cost), weight)


def median_of(
    X: Any,
    candidates: Any = None,
    loss: str = "vi",
    a: float = 1.0,
    *,
    member_weight: Any = None,
) -> MedianMember:
    """Return the clustering with the least expected loss: of the ensemble, or of candidates.

    Parameters
    ----------
    X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
        Votes.
    candidates : array-like, DataFrame or Ensemble of shape (n_objects, n_candidates), optional
        Labellings to choose from, one in each column. None means the clusterings themselves.
    loss : {"vi", "binder", "nvi", "id", "nid", "omari"}, default="vi"
        As for `expected_loss`.
    a : float, default=1.0
        As for `expected_loss`.
    member_weight : array-like of shape (n_clusterings,), dict or Series, optional
        Weight of each clustering.

    Returns
    -------
    MedianMember

    See Also
    --------
    ensemblage.Median : searches for labels with a lower loss than that of any clustering.

    Notes
    -----
    With n microclusters, M clusterings and c candidates: O(n·M·c) time.

    Examples
    --------
    >>> from ensemblage.metrics import median_of
    >>> found = median_of([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 2, 1]])
    >>> found.member, round(found.expected_loss, 3)
    (1, 0.396)
    """
    cost = _checked("median_of", loss, a)
    ensemble = as_ensemble(X, new=True)
    weight = _weights("median_of", member_weight, ensemble)
    chosen = ensemble if candidates is None else as_ensemble(candidates, new=True)
    of_object = chosen.microclusters.of_object
    if len(of_object) != len(ensemble.microclusters.of_object):
        raise ValueError(
            f"Candidates must label the same {len(ensemble.microclusters.of_object)} objects as the"
            f" votes, got {len(of_object)} labels each."
        )
    table, sizes, _ = ensemble.microclusters
    if candidates is None:
        by_candidate = [flow.partition_losses(vote, table, sizes, loss, cost) for vote in table.T]
    else:
        parts = (vote[of_object] for vote in chosen.microclusters.table.T)
        by_candidate = [_losses(labels, ensemble, loss, cost) for labels in parts]
    # A candidate without votes has no loss.
    means = np.array([_mean(x, weight) if np.isfinite(x).any() else np.nan for x in by_candidate])
    if np.isnan(means).all():
        raise ValueError("No object has both a label and a vote, so the loss is undefined.")
    best = int(np.nanargmin(means))
    labels = chosen.microclusters.table[of_object, best].astype(np.int64)
    return MedianMember(best, labels, float(means[best]), means)


def credible_ball(
    labels: Any,
    X: Any,
    loss: str = "vi",
    level: float = 0.95,
    *,
    member_weight: Any = None,
) -> CredibleBall:
    """Return the smallest ball around a labelling that holds a share of the clusterings.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
        The estimate, such as the labels of `ensemblage.Median`. A Series of the same objects as X
        is matched by index.
    X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
        Draws of a clustering, one in each column.
    loss : {"vi", "binder", "nvi", "id", "nid", "omari"}, default="vi"
        The distance. "vi" and "binder" are metrics.
    level : float, default=0.95
        The share of the clusterings, by weight, inside the ball.
    member_weight : array-like of shape (n_clusterings,), dict or Series, optional
        Weight of each clustering.

    Returns
    -------
    CredibleBall

    See Also
    --------
    ensemblage.plot.credible_ball : plots it.

    References
    ----------
    S. Wade, Z. Ghahramani, "Bayesian cluster analysis: point estimation and credible balls",
    Bayesian Analysis 13(2), 2018, pp. 559-626.

    Examples
    --------
    >>> from ensemblage.metrics import credible_ball
    >>> draws = [[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 2, 0]]
    >>> ball = credible_ball([0, 0, 1, 1], draws, level=0.75)
    >>> ball.radius, ball.share, ball.upper, ball.lower
    (0.5, 0.75, array([0, 1]), array([2]))
    """
    _checked("credible_ball", loss, 1.0)
    level = _validate.check_share("credible_ball", "level", level)
    ensemble = as_ensemble(X, new=True)
    weight = _weights("credible_ball", member_weight, ensemble)
    distances = _losses(labels, ensemble, loss, 1.0)
    weight = np.where(np.isfinite(distances), weight, 0.0)
    if not weight.any():
        raise ValueError("No object has both a label and a vote, so the ball is undefined.")
    weight = weight / weight.sum()
    counted = np.flatnonzero(weight)
    order = counted[np.argsort(distances[counted], kind="stable")]
    reached = np.cumsum(weight[order]) >= level - 1e-12
    radius = float(distances[order[int(reached.argmax()) if reached.any() else -1]])
    inside = counted[distances[counted] <= radius + 1e-12]
    n_clusters = ensemble.microclusters.table.max(axis=0).astype(np.int64) + 1
    numbers = n_clusters[inside]
    label, *_ = beside_votes(labels, ensemble)
    return CredibleBall(
        radius=radius,
        level=level,
        share=float(weight[inside].sum()),
        distances=distances,
        n_clusters=n_clusters,
        n_clusters_of_estimate=len(np.unique(label[label >= 0])),
        upper=_farthest(inside[numbers == numbers.min()], distances),
        lower=_farthest(inside[numbers == numbers.max()], distances),
        horizontal=_farthest(inside, distances),
    )


def _checked(owner: str, loss: Any, a: Any) -> float:
    """Return the cost of separation, if loss and cost are valid."""
    _validate.check_choice(owner, "loss", loss, flow.LOSSES)
    cost = _validate.check_cost(owner, loss, a)
    if cost is None:
        raise ParameterError(owner, "a", "a number from 0 to 2", a)
    return cost


def _weights(owner: str, weight: Any, ensemble: Ensemble) -> FloatArray:
    groups = ensemble.microclusters
    weights = _validate.check_member_weight(owner, weight, groups, ensemble.names)
    return np.ones(groups.table.shape[1]) if weights is None else weights


def _losses(labels: Any, ensemble: Ensemble, loss: str, a: float) -> FloatArray:
    """Return the loss of labels of objects to each clustering, NaN without common objects."""
    label, votes, sizes, _ = beside_votes(labels, ensemble)
    return flow.partition_losses(label, votes, sizes, loss, a)


def _mean(losses: FloatArray, weight: FloatArray) -> float:
    valid = np.isfinite(losses) & (weight > 0)
    if not valid.any():
        raise ValueError("No object has both a label and a vote, so the loss is undefined.")
    return float(np.average(losses[valid], weights=weight[valid]))


def _farthest(members: NDArray[np.int64], distances: FloatArray) -> NDArray[np.int64]:
    return members[distances[members] >= distances[members].max() - 1e-12]
