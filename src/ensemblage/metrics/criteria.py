"""Information criteria of mixtures, for several numbers of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.metrics._tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


class _Criteria(NamedTuple):
    k: NDArray[np.int64]
    n_parameters: FloatArray
    log_likelihood: FloatArray
    bic: FloatArray
    icl: FloatArray


class ClassCriteria(Table, _Criteria):
    """Fit of mixtures of several numbers of classes to the votes, one entry for each.

    Attributes
    ----------
    k : ndarray of shape (n,), int64
        Number of classes.
    n_parameters : ndarray of shape (n,)
        Free parameters of the mixture.
    log_likelihood : ndarray of shape (n,)
        Natural logarithm; it grows with k.
    bic, icl : ndarray of shape (n,)
        The Bayesian information criterion, and the same with twice the entropy of the memberships
        added. Smaller is better.

    Examples
    --------
    >>> import ensemblage as en
    >>> fitted = en.LCA(n_clusters=2).fit([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1]] * 9)
    >>> fitted.criteria([1, 2]).bic.round(1)
    array([141.6,  99.9])
    """

    __slots__ = ()

    def _heading(self) -> str:
        bic, icl = (int(self.k[np.argmin(score)]) for score in (self.bic, self.icl))
        return f"ClassCriteria: the least BIC at k = {bic}, the least ICL at k = {icl}"

    def _index(self) -> tuple[str, Any]:
        return "k", self.k

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields[1:]}


def bic(log_likelihood: float, n_parameters: float, n_objects: int) -> float:
    """Return the Bayesian information criterion: p·ln N - 2·ln L.

    Examples
    --------
    >>> round(bic(-10.0, 3, 100), 4)
    33.8155
    """
    return float(n_parameters * np.log(n_objects) - 2.0 * log_likelihood)


def entropy_of_memberships(posterior: FloatArray, sizes: NDArray[np.int64]) -> float:
    """Return the entropy of memberships: -Σ s Σ R·ln R, in natural units.

    Examples
    --------
    >>> import numpy as np
    >>> round(entropy_of_memberships(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([5, 2])), 4)
    1.3863
    """
    logs = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    return float(-(sizes @ (posterior * logs).sum(axis=1)))


def bic_and_icl(
    log_likelihood: float, n_free: float, posterior: FloatArray, sizes: NDArray[np.int64]
) -> tuple[float, float]:
    """Return BIC, and the same with twice the entropy of the memberships added."""
    score = bic(log_likelihood, n_free, int(sizes.sum()))
    return score, score + 2.0 * entropy_of_memberships(posterior, sizes)


def n_parameters(free: NDArray[Any], n_classes: int, weight: FloatArray | None) -> float:
    """Return the number of free parameters of a mixture, `free` in each clustering and class."""
    votes = int(free.sum()) if weight is None else float(free @ weight)
    return n_classes - 1 + n_classes * votes


def are_probabilities(values: NDArray[Any]) -> bool:
    """Tell whether an array holds valid probabilities."""
    return values.dtype == np.float64 and bool(((values >= 0) & (values <= 1)).all())
