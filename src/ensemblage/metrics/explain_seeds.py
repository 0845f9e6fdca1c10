"""Dependence of a consensus on the seed."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate
from ensemblage._messages import counted
from ensemblage.metrics._tables import Table
from ensemblage.metrics.agreement import ari_of_table
from ensemblage.metrics.explain import objects_per_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


class _Spread(NamedTuple):
    exact: bool
    n_seeds: int
    mean_ari: float
    min_ari: float
    agreement: FloatArray


class SeedSpread(Table, _Spread):
    """Variation of the labels over seeds, for the same votes.

    Attributes
    ----------
    exact : bool
        True if the method is deterministic. All values are 1 then, without further cuts.
    n_seeds : int
        Cuts with other seeds; 0 if `exact`.
    mean_ari, min_ari : float
        Adjusted Rand index of two of these cuts: the mean and the lowest over all pairs.
    agreement : ndarray of shape (n_objects,)
        The share of these cuts that give an object its label, in [0, 1]. `to_frame` has a row for
        each object.

    Examples
    --------
    >>> import ensemblage as en
    >>> spread = en.metrics.seed_spread(en.EAC(n_clusters=2).fit([[0, 0], [0, 0], [1, 1]]))
    >>> spread.exact, spread.mean_ari
    (True, 1.0)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        moved, n = int((self.agreement < 1.0).sum()), len(self.agreement)
        return (
            f"SeedSpread(exact={self.exact}, n_seeds={self.n_seeds}, mean_ari={self.mean_ari:.3f},"
            f" min_ari={self.min_ari:.3f}; {moved:,} of {counted(n, 'object')} change)"
        )

    def _index(self) -> tuple[str, Any]:
        return "object", np.arange(len(self.agreement))

    def _columns(self) -> dict[str, Any]:
        return {"agreement": self.agreement}


def seed_spread(estimator: Any, n_seeds: int = 5, *, random_state: Any = 0) -> SeedSpread:
    """Cut with other seeds, and return how much the labels depend on them.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`, whose members are kept: only the consensus is
        repeated. It is not changed.
    n_seeds : int, default=5
        Number of other seeds, at least 2.
    random_state : int, Generator, RandomState or None, default=0
        Generates the seeds.

    Returns
    -------
    SeedSpread

    Notes
    -----
    Random numbers are drawn in the last stage, so a seed costs as much as ``cut``, and gives the
    labels of a fit with that `random_state`. (Above 15,000 microclusters PTGP also estimates
    lengths at random, to 1 %; these are kept.)

    Labels of a cut are matched with ``labels_`` one to one, so that as many objects as possible
    agree (the Hungarian method). An object of an unmatched cluster disagrees.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> found = en.metrics.seed_spread(en.PTGP(n_clusters=2).fit(votes))
    >>> found
    SeedSpread(exact=False, n_seeds=5, mean_ari=1.000, min_ari=1.000; 0 of 6 objects change)
    >>> en.metrics.seed_spread(en.EAC(n_clusters=2).fit(votes)).exact
    True
    """
    owner = "metrics.seed_spread"
    fitted = _validate.check_fitted(owner, estimator)
    _validate.check_whole(owner, "n_seeds", n_seeds, 2)
    seed = _validate.check_random_state(owner, random_state)
    labels = fitted.labels_
    if fitted._with_seed(0) is None:
        return SeedSpread(
            exact=True, n_seeds=0, mean_ari=1.0, min_ari=1.0, agreement=np.ones(len(labels))
        )
    seeds = np.random.default_rng(seed).integers(2**31, size=n_seeds).tolist()
    cuts = [_labels_with(fitted, one) for one in seeds]
    weights = objects_per_label(fitted)
    scores = [ari_of_table(_shared(a, b, weights)) for a, b in combinations(cuts, 2)]
    agreement = np.mean([_renamed(labels, found, weights) == labels for found in cuts], axis=0)
    return SeedSpread(
        exact=False,
        n_seeds=int(n_seeds),
        mean_ari=float(np.mean(scores)),
        min_ari=min(scores),
        agreement=agreement,
    )


def _labels_with(fitted: Any, seed: int) -> NDArray[np.int64]:
    """Return the labels of the same fitted state, cut with another seed."""
    other = fitted._with_seed(_validate.check_random_state("metrics.seed_spread", seed))
    k = vars(fitted).get("_asked") or fitted.n_clusters_  # of the fit
    with warnings.catch_warnings():
        # The fit has raised these warnings already.
        warnings.simplefilter("ignore", _validate.FewerClustersWarning)
        return np.asarray(other.cut(k))


def _shared(
    a: NDArray[np.int64], b: NDArray[np.int64], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the number of objects that each label of `a` shares with each label of `b`."""
    shape = int(a.max()) + 1, int(b.max()) + 1
    cells = np.bincount(a * shape[1] + b, weights=weights, minlength=shape[0] * shape[1])
    return np.rint(cells).astype(np.int64).reshape(shape)


def _renamed(
    labels: NDArray[np.int64], found: NDArray[np.int64], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return `found` renumbered to match `labels`, -1 for clusters without a partner."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(_shared(labels, found, weights), maximize=True)
    name = np.full(int(found.max()) + 1, -1)
    name[columns] = rows
    return name[found]
