"""Generated sets for `benchmarks.choose_k`: groups of known number, and noise.

Blobs have a least distance of their centres, in standard deviations: 8 is clear, 3 overlaps, 2 is
hardly there. Members come from the defaults of `ensemblage.ensembles.generate`, from ranges of k
around, above and far above the number of groups, from k-means at that number, or from five
algorithms of scikit-learn in turn on random features (single link among them, which makes
clusters of one object).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import ensemblage as en

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator


class Drawn(NamedTuple):
    """Votes, classes (none for noise), and what kind of set it is."""

    kind: str
    votes: np.ndarray
    truth: np.ndarray | None
    features: np.ndarray | None = None


def many_clear(n_sets: int) -> Iterator[Drawn]:
    """Give 12 to 16 blobs of 100 objects, 20 members each: by default, or of 2 to 30 clusters.

    Blobs are drawn again while two centres are closer than 6 standard deviations.
    """
    for i in range(n_sets):
        rng = np.random.default_rng([13, i])
        k, n_features = 12 + i % 5, (4, 6, 10)[i % 3]
        nearest = 0.0
        while nearest < 6:
            features, truth, centres = make_blobs(
                100 * k, n_features, centers=k, random_state=_seed(rng), return_centers=True
            )
            nearest = pdist(centres).min()
        kind = ("default", "2 to 30")[(i // 5) % 2]
        bounds = None if kind == "default" else (2, 30)
        votes = en.ensembles.generate(
            features, n_members=20, n_clusters_range=bounds, random_state=_seed(rng)
        )
        yield Drawn(f"members: {kind}", votes, truth, features)


def random_votes(n_sets: int) -> Iterator[Drawn]:
    """Give independent votes: clusters of equal or unequal sizes, of one k or of several."""
    for i in range(n_sets):
        rng = np.random.default_rng([17, i])
        n, n_members = int(rng.choice([60, 200, 500, 1000])), int(rng.choice([5, 10, 20, 50]))
        common = int(rng.integers(2, 21))
        columns = []
        for _ in range(n_members):
            k = common if i % 2 else int(rng.integers(2, 21))
            shares = rng.dirichlet(np.ones(k)) if (i // 2) % 2 else np.full(k, 1 / k)
            columns.append(rng.choice(k, n, p=shares))
        yield Drawn("random votes", np.column_stack(columns), None)


def noise_features(n_sets: int) -> Iterator[Drawn]:
    """Give members of one Gaussian or of one cube, by default or of 2 to 30 clusters."""
    for i in range(n_sets):
        rng = np.random.default_rng([19, i])
        n, d = int(rng.choice([200, 500, 1000, 2000])), int(rng.choice([2, 5, 10]))
        features = rng.normal(size=(n, d)) if i % 2 else rng.random((n, d))
        n_members = int(rng.choice([10, 20, 50]))
        votes = en.ensembles.generate(
            features,
            n_members=n_members,
            n_clusters_range=None if (i // 2) % 2 else (2, 30),
            random_state=_seed(rng),
        )
        yield Drawn("one Gaussian" if i % 2 else "one cube", votes, None, features)


def mixed(n_sets: int) -> Iterator[Drawn]:
    """Give 2 to 16 groups, clear or not, of equal or unequal sizes, with members of all kinds."""
    for i in range(n_sets):
        rng = np.random.default_rng([23, i])
        k = int(rng.integers(*((2, 5), (5, 9), (9, 12), (12, 17))[i % 4]))
        n_features = int(rng.choice([3, 4, 8]))
        distance = float(rng.choice([2.0, 3.0, 4.0, 5.5, 8.0]))
        features, truth = _blobs(rng, k, n_features, distance, int(rng.choice([30, 60, 120])))
        kind = str(rng.choice(["default", "around", "finer", "fine", "equal", "algorithms"]))
        yield Drawn(f"distance {distance:g}", _members(rng, features, k, kind), truth, features)


def _blobs(
    rng: Generator, k: int, n_features: int, distance: float, size: int
) -> tuple[np.ndarray, np.ndarray]:
    while True:
        centres = rng.normal(size=(k, n_features))
        apart = np.linalg.norm(centres[:, None] - centres, axis=-1)[np.triu_indices(k, 1)]
        if apart.min() > 0.12 * np.median(apart):
            break
    centres *= distance / apart.min()
    shares = np.full(k, 1 / k) if rng.random() < 0.6 else rng.dirichlet(np.full(k, 2.0))
    sizes = np.maximum(8, np.round(k * size * np.maximum(shares, 0.25 / k)).astype(int))
    stretched = rng.random() < 0.3
    parts = []
    for centre, n in zip(centres, sizes, strict=True):
        spread = np.exp(rng.normal(0, 0.4, n_features)) if stretched else 1.0
        parts.append(centre + spread * rng.normal(size=(n, n_features)))
    return np.concatenate(parts), np.repeat(np.arange(k), sizes)


def _members(rng: Generator, features: np.ndarray, k: int, kind: str) -> np.ndarray:
    n_members = int(rng.choice([10, 20, 50]))
    if kind == "algorithms":
        return _by_algorithms(rng, features, k, n_members)
    bounds = {
        "default": None,
        "around": (max(2, k // 2), 2 * k),
        "finer": (2 * k, 4 * k),
        "fine": (10, 50),
        "equal": (k, k),
    }[kind]
    return en.ensembles.generate(
        features, n_members=n_members, n_clusters_range=bounds, random_state=_seed(rng)
    )


def _by_algorithms(rng: Generator, features: np.ndarray, k: int, n_members: int) -> np.ndarray:
    columns = []
    for m in range(n_members):
        n_clusters = int(rng.integers(2, max(2 * k, 10) + 1))
        n_seen = int(np.ceil(0.7 * features.shape[1])) if m % 2 else features.shape[1]
        seen = features[:, rng.choice(features.shape[1], n_seen, replace=False)]
        clusterers = (
            KMeans(n_clusters, n_init=1, random_state=_seed(rng)),
            AgglomerativeClustering(n_clusters, linkage="ward"),
            AgglomerativeClustering(n_clusters, linkage="average"),
            GaussianMixture(n_clusters, covariance_type="diag", random_state=_seed(rng)),
            AgglomerativeClustering(n_clusters, linkage="single"),
        )
        columns.append(clusterers[m % 5].fit_predict(seen))
    return np.column_stack(columns)


def _seed(rng: Generator) -> int:
    return int(rng.integers(2**31))
