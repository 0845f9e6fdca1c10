"""The first half of PTA and PTGP: from microclusters to the random walk on their elite graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quorate import _validate, flow
from quorate.flow._panels import WIDTH
from quorate.flow._threads import n_threads

if TYPE_CHECKING:
    from quorate._types import Microclusters


def elite_walk(estimator: Any, groups: Microclusters, other_bytes: int, what: str) -> Any:
    """Return the transition matrix, and set `n_neighbors_` and `n_steps_` of the estimator.

    What the estimator needs besides, `other_bytes` for `what`, is counted with the graph and the
    steps of the walk, and refused if it does not fit.
    """
    owner, n = type(estimator).__name__, len(groups.sizes)
    estimator.n_neighbors_ = _validate.check_reach(
        owner, "n_neighbors", estimator.n_neighbors, n, all_allowed=True
    )
    estimator.n_steps_ = _validate.check_reach(owner, "n_steps", estimator.n_steps, n)
    n_links = n * min(n, 2 * estimator.n_neighbors_)
    scratch = 8 * WIDTH * n * (estimator.n_steps_ + 2) * n_threads(estimator.n_jobs)
    _validate.check_memory(
        other_bytes + 48 * n_links + scratch,
        f"{owner} with {what}, {estimator.n_neighbors_} neighbours and {estimator.n_steps_} steps",
        "Fewer neighbours, steps or threads need less, and so do coarser clusterings; PTGP needs"
        " no matrix of all pairs of microclusters.",
    )
    graph = flow.elite_graph(groups.table, estimator.n_neighbors_, n_jobs=estimator.n_jobs)
    return flow.transition_matrix(graph, groups.sizes)
