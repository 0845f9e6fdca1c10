"""The first half of PTA and PTGP: from microclusters to the random walk on their elite graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quorate import _validate, flow
from quorate.flow._panels import WIDTH
from quorate.flow._threads import n_threads

if TYPE_CHECKING:
    from quorate._types import FloatArray, Microclusters


def set_reach(estimator: Any) -> None:
    """Set `n_neighbors_` and `n_steps_` of an estimator that knows its microclusters."""
    owner, n = type(estimator).__name__, estimator.n_microclusters_
    estimator.n_neighbors_ = _validate.check_reach(
        owner, "n_neighbors", estimator.n_neighbors, n, all_allowed=True
    )
    estimator.n_steps_ = _validate.check_reach(owner, "n_steps", estimator.n_steps, n)


def walk_bytes(estimator: Any) -> int:
    """Return the memory of the graph and of the steps of the walk."""
    n = estimator.n_microclusters_
    # Each row's own neighbours and those whose neighbour it is, ties included: 52 at K = 20, where
    # n = 150,000 and M = 30. Fewer clusterings may tie more.
    n_links = n * min(n, 5 * estimator.n_neighbors_ // 2)
    scratch = 8 * WIDTH * n * (estimator.n_steps_ + 2) * n_threads(estimator.n_jobs)
    return 48 * n_links + scratch


def elite_walk(estimator: Any, groups: Microclusters, links: FloatArray | None = None) -> Any:
    """Return the transition matrix, for links by agreement or by a given similarity."""
    if links is not None:
        graph = flow.elite_graph_of(links, estimator.n_neighbors_)
        return flow.transition_matrix(graph, groups.sizes)
    graph = flow.elite_graph(
        groups.table,
        estimator.n_neighbors_,
        weights=estimator.member_weight_,
        n_jobs=estimator.n_jobs,
    )
    return flow.transition_matrix(graph, groups.sizes)
