"""Ensembles to measure on, made from a seed: the shapes of real ones at any size."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

import ensemblage as en


def kdd_like(n_objects: int, dtype: type = np.uint8, seed: int = 0) -> np.ndarray:
    """Return 10 clusterings with about 300 distinct rows of very unequal frequency, as KDD99's."""
    rng = np.random.default_rng(seed)
    points = 2 * rng.normal(size=(23, 6))[rng.integers(0, 23, 400)] + 0.3 * rng.normal(
        size=(400, 6)
    )
    rows = _nearest_seeds(points, 10, (20, 55), rng)
    frequency = rng.pareto(1.0, len(rows)) + 0.01
    picks = rng.choice(len(rows), n_objects, p=frequency / frequency.sum())
    return np.ascontiguousarray(rows[picks].astype(dtype))


def mixture(
    n_objects: int,
    n_members: int,
    spread: float,
    seed: int = 0,
    n_clusters: tuple[int, int] = (45, 55),
) -> np.ndarray:
    """Return members with a number of clusters from a range; `spread` decides how many rows differ.

    The range ends before its second number.
    """
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(60, 8))
    points = centres[rng.integers(0, 60, n_objects)] + spread * rng.normal(size=(n_objects, 8))
    return _nearest_seeds(points, n_members, n_clusters, rng)


def different_rows(
    n_rows: int,
    n_members: int,
    spread: float,
    n_clusters: tuple[int, int] = (45, 55),
) -> np.ndarray:
    """Return votes of a `mixture` of which no two are equal, so many of them, codes from 0."""
    votes = mixture(n_rows + n_rows // 5 + 200, n_members, spread, n_clusters=n_clusters)
    table: np.ndarray = en.microclusters(votes).table
    if len(table) < n_rows:
        raise RuntimeError(f"only {len(table)} of {n_rows} rows differ")
    return table[:n_rows]


def distinct_rows(
    n_objects: int, n_distinct: int, dtype: type = np.uint8, seed: int = 0
) -> np.ndarray:
    """Return 10 votes an object, drawn uniformly from `n_distinct` different rows."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 20, (n_distinct, 10)).astype(dtype)
    return np.ascontiguousarray(rows[rng.integers(0, n_distinct, n_objects)])


def packed(votes: np.ndarray) -> np.ndarray:
    """Return rows of votes below 32 as one 64-bit key each."""
    keys = np.zeros(len(votes), dtype=np.uint64)
    for column in votes.T:
        keys = (keys << np.uint64(5)) | column.astype(np.uint64)
    return keys


def _nearest_seeds(
    points: np.ndarray, n_members: int, n_seeds: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Cluster points by the nearest of some random ones: what k-means does before it moves."""
    members = []
    for _ in range(n_members):
        chosen = rng.choice(len(points), rng.integers(*n_seeds), replace=False)
        members.append(cdist(points, points[chosen]).argmin(axis=1))
    return np.column_stack(members)
