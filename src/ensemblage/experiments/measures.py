"""One run of each kind of task: an ensemble in, numbers out.

Each function takes the folder of the results (with own pools) and the words of its task, and
returns the scores, and the parameters of the method if there is one.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import ensemblage as en
from ensemblage import datasets, flow
from ensemblage._memory import peak_memory
from ensemblage.experiments.cuts import best_and_true, relinked, spanning_tree
from ensemblage.experiments.protocol import (
    CLUSTER_NUMBERS,
    FEW_CLUSTER_NUMBERS,
    NEIGHBORS,
    VARIANTS,
    Variant,
    cluster_numbers,
)
from ensemblage.experiments.sources import drawn, pool_of
from ensemblage.methods import METHODS, without_comparison
from ensemblage.methods.fresh import seeded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from ensemblage.experiments.records import Record, Task

_VERSIONS = ("ensemblage", "numpy", "scipy", "scikit-learn", "numba")
_SUBSETS = 20160502  # seed of the objects that the execution time is measured on


class Watch:
    """Seconds of the relevant part of a run, without the scoring after it."""

    wall: float
    cpu: float

    def __enter__(self) -> Self:
        self._begun = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall = time.perf_counter() - self._begun[0]
        self.cpu = time.process_time() - self._begun[1]


def measure(folder: Path, task: Task) -> Record:
    """Run one task and return its record."""
    words = {word: value for word, value in task.items() if word != "kind"}
    record: Record = {
        "what": task,
        "parameters": {},
        "versions": {name: version(name) for name in _VERSIONS},
    }
    watch = Watch()
    with peak_memory() as peak, warnings.catch_warnings():
        for expected in (en.FewerClustersWarning, en.TiedCutWarning, en.UnlinkedGroupsWarning):
            warnings.simplefilter("ignore", expected)
        warnings.filterwarnings("ignore", message=r"\d+ of \d+ microclusters vanished from ECMC's")
        result = MEASURES[task["kind"]](folder, watch, **words)
    if "skipped" in result:
        return {"what": task, **result}
    return {
        **record,
        **result,
        "seconds": round(watch.wall, 5),
        "cpu_seconds": round(watch.cpu, 5),
        "peak_memory": peak.n_bytes,
    }


def scores(
    folder: Path,
    watch: Watch,
    *,
    pool: str,
    dataset: str,
    members: int,
    draw: int,
    method: str,
    cuts: str,
    seed: int,
) -> Record:
    """Score a method at the true k and, unless `cuts` is "true", at the best."""
    ensemble, truth = drawn(folder, pool, dataset, members, draw)
    variant = VARIANTS[method]
    parameters = variant.parameters_for(len(truth), len(ensemble.microclusters.sizes))
    numbers = _NUMBERS[cuts](len(truth))
    key = (folder, pool, dataset, members, draw)
    return _scored(key, watch, variant, parameters, numbers, seed)


#: The numbers of clusters among which the best is searched, by the word `cuts` of a task.
_NUMBERS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "all": cluster_numbers,
    "fifty": lambda _: CLUSTER_NUMBERS,
    "few": lambda _: FEW_CLUSTER_NUMBERS,
    "true": lambda _: (),
}
#: The last fitted method with a similarity, and its input: reused by other linkages.
_LAST: dict[Any, Any] = {}


def _scored(
    key: tuple[Any, ...],
    watch: Watch,
    variant: Variant,
    parameters: dict[str, Any],
    numbers: tuple[int, ...],
    seed: int = 0,
) -> Record:
    """Fit, or reuse the similarity of another linkage, and score."""
    ensemble, truth = drawn(*key)
    k = len(np.unique(truth))
    record: Record = {"parameters": parameters}
    with watch, without_comparison():
        estimator = _last_fitted(key, parameters, variant)
        if estimator is None:
            estimator = seeded(variant.method, k, seed, **parameters).fit(ensemble)
            tree = getattr(estimator, "linkage_matrix_", None)
            _LAST.clear()
            _LAST[_place(key, parameters, variant)] = estimator
        else:
            record["reused"] = "similarity"
            tree = None
        if variant.spanning:
            tree = spanning_tree(estimator)
        elif "reused" in record:
            tree = relinked(estimator, parameters["linkage"], parameters.get("ties", "mean"))
    if not _is_whole_tree(estimator):
        tree = None
    return {**record, "scores": best_and_true(estimator, tree, truth, k, numbers)}


def _place(key: tuple[Any, ...], parameters: dict[str, Any], variant: Variant) -> tuple[Any, ...]:
    shared = {word: v for word, v in parameters.items() if word not in ("linkage", "ties")}
    return (*key, variant.method, tuple(shared.items()))


def _last_fitted(key: tuple[Any, ...], parameters: dict[str, Any], variant: Variant) -> Any:
    """Return the method with this similarity, if it was the last one fitted."""
    estimator = _LAST.get(_place(key, parameters, variant))
    linked = "linkage" in parameters and "level" not in parameters
    return estimator if linked and estimator is not None and _is_whole_tree(estimator) else None


def _is_whole_tree(estimator: Any) -> bool:
    """Tell whether cuts depend on the tree alone.

    ECMC may attach rows after the cut, and Consensus small parts.
    """
    attaches = getattr(estimator, "min_cluster_size", 1) != 1
    return not attaches and not np.any(vars(estimator).get("_vanished", False))


def settings(
    folder: Path,
    watch: Watch,
    *,
    pool: str,
    dataset: str,
    members: int,
    draw: int,
    method: str,
    n_neighbors: int | str,
    n_steps: int,
    cuts: str,
) -> Record:
    """Score PTA or PTGP at one setting of K and T."""
    parameters = {"n_neighbors": n_neighbors, "n_steps": n_steps}
    key = (folder, pool, dataset, members, draw)
    numbers = _NUMBERS[cuts](len(drawn(*key).truth))
    return _scored(key, watch, Variant(METHODS[method.lower()], {}), parameters, numbers)


def base(folder: Path, watch: Watch, *, pool: str, dataset: str, members: int, draw: int) -> Record:
    """Score the base clusterings of an ensemble themselves."""
    source, truth = pool_of(folder, pool, dataset)
    with watch:
        nmi = [en.metrics.nmi(truth, votes) for votes in source.draw(members, draw).T]
    return {"scores": {"nmi_mean": float(np.mean(nmi)), "nmi_std": float(np.std(nmi, ddof=1))}}


def graph(
    folder: Path, watch: Watch, *, pool: str, dataset: str, members: int, draw: int
) -> Record:
    """Count the nodes and links of the microcluster graph, and the links that each K keeps."""
    table = drawn(folder, pool, dataset, members, draw).ensemble.microclusters.table
    n = len(table)
    with watch:
        links = {
            str(k): flow.elite_graph(table, n if k == "all" else int(k)).nnz // 2 for k in NEIGHBORS
        }
    return {"scores": {"microclusters": n, "links": links}}


def links(
    folder: Path, watch: Watch, *, pool: str, dataset: str, members: int, draw: int
) -> Record:
    """Count the links between objects by weight, and those whose ends share a class."""
    ensemble, truth = drawn(folder, pool, dataset, members, draw)
    with watch:
        n_links, n_correct = links_by_weight(ensemble, truth)
    return {"scores": {"links": n_links[1:].tolist(), "correct": n_correct[1:].tolist()}}


def links_by_weight(
    ensemble: en.Ensemble, truth: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of objects that agree in 0, 1, ... M clusterings, and the correct ones.

    Objects of one microcluster are identical, so pairs are counted between microclusters: sizes
    multiply, and so do the numbers of objects of each class.
    """
    groups, n_clusterings = ensemble.microclusters, ensemble.n_clusterings
    by_class = np.zeros((len(groups.sizes), int(truth.max()) + 1))
    np.add.at(by_class, (groups.of_object, truth), 1.0)
    sizes = groups.sizes.astype(np.float64)
    agreements = np.rint(n_clusterings * flow.coassociation(groups.table)).astype(np.int64)
    n_pairs, n_right = (
        np.bincount(agreements.ravel(), weights.ravel(), minlength=n_clusterings + 1)
        for weights in (np.outer(sizes, sizes), by_class @ by_class.T)
    )
    for counts in (n_pairs, n_right):
        counts[-1] -= sizes.sum()  # every object with itself
    return np.rint(n_pairs / 2).astype(np.int64), np.rint(n_right / 2).astype(np.int64)


def description(folder: Path, watch: Watch, *, dataset: str) -> Record:  # noqa: ARG001
    """Count the objects, attributes and classes of a dataset."""
    with watch:
        data = datasets.load(dataset)
    n_objects, n_attributes = data.features.shape
    n_classes = len(np.unique(data.truth))
    return {"scores": {"objects": n_objects, "attributes": n_attributes, "classes": n_classes}}


def seconds(
    folder: Path,
    watch: Watch,
    *,
    pool: str,
    dataset: str,
    members: int,
    draw: int,
    method: str,
    objects: int,
    level: str = "microclusters",
) -> Record:
    """Time a method, from the votes of `objects` objects to their labels.

    With `level` "objects" each object is a separate microcluster, identical rows or not: the cost
    of the method without microclusters.
    """
    source, truth = pool_of(folder, pool, dataset)
    votes = source.draw(members, draw)
    if objects > len(votes):
        return {"skipped": f"{dataset} has {len(votes):,} objects"}
    rows = np.random.default_rng([_SUBSETS, draw]).permutation(len(votes))[:objects]
    subset = np.ascontiguousarray(votes[np.sort(rows)])
    variant = VARIANTS[method]
    parameters = {word: v for word, v in variant.parameters.items() if word != "partitioner"}
    k = min(len(np.unique(truth)), len(en.microclusters(subset).sizes))
    estimator = seeded(variant.method, k, 0, **parameters)
    with flow.compiling.kernels_for(everything=True):  # loaded before
        variant.method(1, **parameters).fit(subset[:50])
    ensemble = subset if level == "microclusters" else _each_alone(subset)
    with watch, without_comparison():
        estimator.fit(ensemble)
    return {
        "parameters": parameters,
        "scores": {"microclusters": estimator.n_microclusters_},
    }


def _each_alone(votes: NDArray[Any]) -> en.Ensemble:
    """Return an ensemble in which identical rows are not joined."""
    groups = en.microclusters(votes)
    table = groups.table[groups.of_object]
    labels: list[Any] = [list(range(number)) for number in table.max(axis=0) + 1]
    return en.Ensemble.of_checked_groups(table, np.ones(len(table), dtype=np.int64), labels)


MEASURES: dict[str, Callable[..., Record]] = {
    "scores": scores,
    "settings": settings,
    "base": base,
    "graph": graph,
    "links": links,
    "description": description,
    "seconds": seconds,
}
