"""Shared steps of PTA and PTGP: from microclusters to the random walk on their elite graph."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _device, _device_rows, _validate, flow
from ensemblage.methods._base import ConsensusClusterer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Microclusters

#: Peak bytes per link, measured: while the walk is built from a graph of whole counts, and while a
#: graph of quotients is united with its transpose.
_LINK_BY_COUNT = 48
_LINK_BY_QUOTIENT = 72


class TrajectoryMethod(ConsensusClusterer):
    """Shared by PTA and PTGP: confidence by trajectory similarity, and a check of reliability."""

    _why_unreliable = ""
    n_steps_: int
    captured_links_: float
    _similarity: FloatArray | None
    _walk: Any
    _norms: FloatArray

    @property
    @abstractmethod
    def similarity_(self) -> FloatArray:
        """Trajectory similarity of all pairs of microclusters."""

    def _similarity_between(self, rows: NDArray[Any]) -> FloatArray:
        if self._similarity is not None or self._walk is None:
            return np.clip(self.similarity_[np.ix_(rows, rows)], 0.0, 1.0)
        columns = np.zeros((self.n_microclusters_, len(rows)))
        columns[rows, np.arange(len(rows))] = 1.0
        product = flow.similarity_product(
            self._walk, self._norms, columns, self.n_steps_, n_jobs=self.n_jobs
        )[rows]
        np.fill_diagonal(product, 1.0)
        return np.clip(product, 0.0, 1.0)

    def _similarity_name(self) -> str:
        return "trajectory similarity"

    @property
    def trajectory_confidence_(self) -> FloatArray:
        """Like `confidence_`, by trajectory similarity instead of co-association.

        It is near 1 almost everywhere, also for wrongly labelled objects; `confidence_` is more
        informative.
        """
        check_is_fitted(self, "labels_")
        confidence = self._confidence_by(self._similarity_sums, self._similarity_to_itself())
        return confidence[self.microclusters_.of_object]


def set_reach(estimator: Any) -> None:
    """Set `n_neighbors_` and `n_steps_` of an estimator with microclusters."""
    owner, n = type(estimator).__name__, estimator.n_microclusters_
    _validate.check_reach(owner, "n_neighbors", estimator.n_neighbors, words=("auto", "all"))
    _validate.check_reach(owner, "n_steps", estimator.n_steps)
    estimator.n_neighbors_ = flow.reach(estimator.n_neighbors, n)
    estimator.n_steps_ = flow.reach(estimator.n_steps, n)


def expected_walk(estimator: Any, similarity: FloatArray | None = None) -> tuple[int, int]:
    """Return an estimate of the number of links, and the memory of graph and walk.

    A sample of rows is used: if votes tie, there are far more links than requested neighbours. With
    `similarity` the links follow it, otherwise agreement.
    """
    n, n_neighbors = estimator.n_microclusters_, estimator.n_neighbors_
    table, weights = estimator.microclusters_.table, estimator.member_weight_
    if similarity is not None:
        n_links, each = flow.expected_links_of(similarity, n_neighbors), _LINK_BY_QUOTIENT
    else:
        n_links = flow.expected_links(table, n_neighbors, weights=weights)
        plain = weights is None and table.min() >= 0
        each = _LINK_BY_COUNT if plain else _LINK_BY_QUOTIENT
    scratch = flow.panel_bytes(n, estimator.n_jobs) * (estimator.n_steps_ + 2)
    return n_links, each * n_links + scratch


def elite_walk(estimator: Any, groups: Microclusters, links: FloatArray | None = None) -> Any:
    """Return the transition matrix, for links by agreement or by a given similarity.

    Sets `captured_links_`, and warns if the graph is approximate.
    """
    estimator.captured_links_ = 1.0
    if links is not None:
        graph = flow.elite_graph_of(links, estimator.n_neighbors_)
        return flow.transition_matrix(graph, groups.sizes)
    table, n_neighbors = groups.table, estimator.n_neighbors_
    weights = estimator.member_weight_
    on = _device.chosen(estimator.device, len(table))
    if on is not None and _device_rows.can_compare(table, weights):
        found = _device_rows.nearest_rows(table, n_neighbors, on)
        graph = flow.graph_of_neighbours(found, table.shape[1])
    elif weights is not None or table.min() < 0:
        graph = flow.elite_graph(table, n_neighbors, weights=weights, n_jobs=estimator.n_jobs)
    else:
        graph, captured = flow.large_elite_graph(
            table, groups.sizes, n_neighbors, n_jobs=estimator.n_jobs
        )
        if captured is not None:
            estimator.captured_links_ = captured
            _warn_of_approximation(estimator)
    return flow.transition_matrix(graph, groups.sizes)


def _warn_of_approximation(estimator: Any) -> None:
    _validate.warn(
        f"The graph of {type(estimator).__name__} is approximate: each of"
        f" {estimator.n_microclusters_} microclusters was compared only with similar ones, which"
        f" finds {estimator.captured_links_:.0%} of its elite neighbours (captured_links_). Coarser"
        f' clusterings give fewer microclusters; device="cuda" compares all of them.',
        _validate.ApproximateSimilarityWarning,
    )
