"""Three routes to PTA's tree: exact PTS, PTS in sixteen bits, or features that approximate PTS.

The memory of each is estimated before any is allocated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage._messages import Advice, Message
from ensemblage.flow import one_blas_thread
from ensemblage.methods._checks import check_pairs
from ensemblage.methods._trajectories import expected_walk

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

CHOICES = ("auto", "exact", "uint16", "approximate")

#: "auto" means "exact" up to this number of microclusters.
EXACT_UP_TO = 12_000
#: Above it "uint16" up to this number, and "approximate" above (average link only).
UINT16_UP_TO = 60_000
#: Up to this number of microclusters, lengths of trajectories are exact on the approximate route.
_EXACT_NORMS = 15_000
_PROBES = 1024
#: Features of the approximate route, and the number of clusters that merge by exact similarity.
_RANK = 1024
_GROUPS = 4000
#: The number of clusters of average link in sixteen bits that merge by exact similarity.
_EXACT_TOP = 1000
_SEED = 0

#: Advice for Python: the command has no option for the route.
_INSTEAD = {
    "exact": Advice(
        'similarity="uint16" takes a sixteenth of the matrices for a tree that is the same up to'
        " near ties."
    ),
    "uint16": Advice('similarity="approximate" (average link only) has no matrix of all pairs.'),
    "approximate": "Fewer neighbours, steps or threads need less.",
}


def needed_bytes(kind: str, n: int, n_jobs: int | None) -> int:
    """Return the memory that a route takes besides the graph and the steps of the walk."""
    if kind == "exact":
        return 16 * n * n
    if kind == "uint16":
        return flow.packed_bytes(n, n_jobs)
    rank, n_groups = min(_RANK, n), min(_GROUPS, n)
    per_thread = 2 * flow.panel_bytes(n, n_jobs)
    return (12 * n * rank if n > _GROUPS else 0) + 16 * n_groups**2 + per_thread


def choose(
    estimator: Any, kind: str, linkage: str, ties: str, similarity: FloatArray | None = None
) -> str:
    """Return the route for an estimator with its `n_neighbors_` and `n_steps_`, or raise an error.

    With `similarity` the links of the walk follow it, otherwise agreement.
    """
    n, n_jobs, owner = estimator.n_microclusters_, estimator.n_jobs, type(estimator).__name__
    if kind == "approximate" and linkage != "average":
        raise ValueError(
            f'{owner} with similarity="approximate" supports average link only: clusters are'
            f" compared by their mean trajectories, which do not determine the smallest or the"
            f' largest similarity of their members. Use linkage="average" or similarity="uint16".'
        )
    if ties != "mean":
        if kind in ("uint16", "approximate"):
            raise ValueError(
                f'{owner} with ties="{ties}" needs similarity="exact", got "{kind}". Use that, or'
                f' ties="mean".'
            )
        kind = "exact"
    n_links, walk = expected_walk(estimator, similarity)
    if kind == "auto":
        kind = _by_number(n, linkage)
    check_pairs(
        estimator,
        walk + needed_bytes(kind, n, n_jobs),
        Message(
            "{owner}{route} of {n} microclusters, {n_neighbors} neighbours (about {n_links} links)"
            " and {n_steps} steps",
            owner=owner,
            route=Advice(f' with similarity="{kind}"'),
            n=n,
            n_neighbors=estimator.n_neighbors_,
            n_links=n_links,
            n_steps=estimator.n_steps_,
        ),
        _INSTEAD[kind],
    )
    return kind


def _by_number(n: int, linkage: str) -> str:
    """Return the route for this number of microclusters: the same on every machine."""
    if n <= EXACT_UP_TO:
        return "exact"
    return "uint16" if n <= UINT16_UP_TO or linkage != "average" else "approximate"


def packed_tree(
    walk: Any, n_steps: int, linkage: str, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return the tree on PTS in sixteen bits, and the lengths of trajectories.

    Means of sixteen bits deviate slightly from those of PTS, which matters if the last merges
    nearly tie. Average link therefore merges its last 1000 clusters by their exact means.
    """
    n = walk.shape[0]
    packed, norms = flow.packed_similarity(walk, n_steps, linkage, n_jobs=n_jobs)
    tree = flow.packed_linkage(packed, n, linkage)
    del packed
    if linkage == "average" and n > _EXACT_TOP:
        local = flow.first_merges(tree, _EXACT_TOP)
        tree = _completed(local, walk, norms, n_steps, n_jobs, single=False)
    return tree, norms


def approximate_tree(
    walk: Any, n_steps: int, n_jobs: int | None
) -> tuple[FloatArray, FloatArray, float]:
    """Return the tree of average link, lengths of trajectories, and the share of PTS captured.

    The first merges use features; the last 4000 clusters merge by the exact means of PTS.
    """
    n = walk.shape[0]
    if n <= _EXACT_NORMS:
        norms = flow.trajectory_norms(walk, n_steps, n_jobs=n_jobs)
    else:
        rng = np.random.default_rng(_SEED)
        with one_blas_thread:
            norms = flow.estimated_norms(walk, n_steps, _PROBES, rng, n_jobs=n_jobs)
    if n <= _GROUPS:
        local, captured = flow.no_merges(n), 1.0
    else:
        with one_blas_thread:
            features, captured = _features(walk, norms, n_steps, n_jobs)
        local = flow.local_merges(features, walk, _GROUPS, n_jobs=n_jobs)
        del features
    if len(local.inner) > _GROUPS:  # the graph has more connected parts than that
        return flow.complete_tree(local, None), norms, captured
    tree = _completed(local, walk, norms, n_steps, n_jobs, single=n > _GROUPS)
    return tree, norms, captured


def _completed(
    local: flow.LocalMerges,
    walk: Any,
    norms: FloatArray,
    n_steps: int,
    n_jobs: int | None,
    *,
    single: bool,
) -> FloatArray:
    """Merge the groups that local merges leave by the means of PTS."""
    distance = flow.group_similarity(
        walk, norms, local.groups, n_steps, single=single, n_jobs=n_jobs
    )
    np.subtract(1.0, distance, out=distance)
    top = flow.agglomerate(distance, "average", np.bincount(local.groups))
    return flow.complete_tree(local, top)


def length_error(kind: str, n: int) -> float:
    """Return the tolerance of a microcluster's similarity to itself, which should be 1."""
    if kind == "approximate":
        return 0.15 if n > _EXACT_NORMS else 1e-12  # some standard errors of the probes
    return 1e-5  # rounding in single precision


def _features(walk: Any, norms: FloatArray, n_steps: int, n_jobs: int | None) -> tuple[Any, float]:
    linked = norms > 0
    omega = flow.sketch(linked, _RANK, np.random.default_rng(_SEED))
    image = flow.similarity_product(walk, norms, omega, n_steps, single=True, n_jobs=n_jobs)
    return flow.nystroem(omega, image, int(linked.sum()))
