"""Sources of ensembles: the authors' pools, or own pools made from the features.

A pool is named "authors", or "own-200" for 200 own members: k-means and RPCL in turn, like those of
the authors, from the features in their scaling, with seed 0. Own pools are made once and kept in
the folder of the results; a killed run is resumed with its finished members.
"""

from __future__ import annotations

import shutil
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage import datasets, ensembles, tables
from ensemblage._ensemble import Ensemble
from ensemblage._validate import UnscaledFeaturesWarning, warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ensemblage.experiments.records import Task

AUTHORS = "authors"


class Drawn(NamedTuple):
    """An ensemble with its microclusters, and the classes of its objects."""

    ensemble: Ensemble
    truth: NDArray[np.int64]


def at_hand() -> frozenset[str]:
    """Return the datasets that have a pool of the authors in the data folder."""
    return frozenset(name for name in datasets.NAMES if datasets.has_pool(name))


def prepare(
    tasks: Sequence[Task],
    folder: Path,
    lacking: set[str],
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> list[Task]:
    """Make the own pools that tasks draw from, if they are missing.

    Returns the tasks that can be run. Unavailable datasets are added to `lacking`, and a warning
    reports the reason.
    """
    wanted: dict[tuple[str, str], int] = {}
    for task in tasks:
        what = task["dataset"], task.get("pool", "")
        wanted[what] = max(wanted.get(what, 0), task.get("members", 0))
    for (dataset, pool), most in sorted(wanted.items()):
        if dataset not in lacking:
            try:
                _have(folder, pool, dataset, most, n_jobs=n_jobs, progress=progress)
            except (OSError, ValueError) as error:
                lacking.add(dataset)
                warn(f"{dataset} is left out: {error}", UserWarning)
    return [task for task in tasks if task["dataset"] not in lacking]


def _have(
    folder: Path, pool: str, dataset: str, most: int, *, n_jobs: int | None, progress: bool
) -> None:
    """Check that a dataset, or a pool with enough members, is available; make one if needed."""
    if not pool:
        datasets.load(dataset)
        return
    if pool != AUTHORS and not _is_whole(_path(folder, pool, dataset)):
        _make(folder, pool, datasets.load(dataset), n_jobs=n_jobs, progress=progress)
    n_members = pool_of(folder, pool, dataset)[0].members.shape[1]
    if n_members < most:
        raise ValueError(f"its pool has {n_members} clusterings, but {most} are drawn at a time.")


def _is_whole(path: Path) -> bool:
    """Tell whether an own pool exists; a damaged one is made again."""
    try:
        datasets.load_pool(path)
    except (OSError, ValueError):
        return False
    return True


def _make(
    folder: Path, pool: str, data: datasets.Dataset, *, n_jobs: int | None, progress: bool
) -> None:
    path = _path(folder, pool, data.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # The authors clustered some data unscaled on purpose.
        warnings.simplefilter("ignore", UnscaledFeaturesWarning)
        votes = ensembles.generate(
            data.features,
            n_members=int(pool.removeprefix("own-")),
            method=["kmeans", "rpcl"],
            scale=data.scale,
            random_state=0,
            n_jobs=n_jobs,
            checkpoint=path.with_suffix(".parts"),
            progress=progress,
        )
    with tables.finished(path) as file:
        np.savez(file, members=votes, truth=data.truth)
    shutil.rmtree(path.with_suffix(".parts"))


def _path(folder: Path, pool: str, dataset: str) -> Path:
    return folder / "pools" / f"{dataset}-{pool}.npz"


@lru_cache(maxsize=10)
def pool_of(folder: Path, pool: str, dataset: str) -> tuple[datasets.Pool, NDArray[np.int64]]:
    """Return a pool and the classes of its objects; those of the paper's datasets are cached.

    Draws alternate between datasets, and reading a pool takes longer than running many methods.
    """
    loaded = datasets.load_pool(dataset if pool == AUTHORS else _path(folder, pool, dataset))
    if loaded.truth is None or (loaded.truth < 0).any():
        raise ValueError(f"the pool of {dataset} has no true classes (gt).")
    return loaded, loaded.truth


@lru_cache(maxsize=2)
def drawn(folder: Path, pool: str, dataset: str, members: int, draw: int) -> Drawn:
    """Return an ensemble; the last two are cached, because methods run one after another."""
    source, truth = pool_of(folder, pool, dataset)
    return Drawn(Ensemble(source.draw(members, draw)), truth)
