"""Data with known classes, and members that cluster it: what quality is measured on.

Everything is made from seeds that were fixed before the first run. `blobs` are clear or overlapping
groups, `DATASETS` are those of scikit-learn and shapes of our own, `MEMBERS` the ways to make an
ensemble of features.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist
from sklearn import datasets as sk
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import scale

if TYPE_CHECKING:
    from collections.abc import Callable

N_BLOBS = 40
#: Blobs whose nearest centres are closer than this, in standard deviations, overlap.
OVERLAP = 5.0
#: Objects of the generated datasets.
N = 400


class Data(NamedTuple):
    """Features of objects, and their classes 0..k-1."""

    features: np.ndarray
    truth: np.ndarray

    @property
    def k(self) -> int:
        return int(self.truth.max()) + 1


# -- blobs -----------------------------------------------------------------------------------------


def gap_of(seed: int) -> float:
    """Return the distance of the nearest centres of a set of blobs, in standard deviations."""
    return 3.0 + 5.0 * (7 * seed % N_BLOBS) / (N_BLOBS - 1)


def blobs(seed: int, gap: float | None = None) -> Data:
    """Return 2 to 12 round groups of 200 to 2,000 objects in all; in every third set unequal."""
    rng = np.random.default_rng([seed, 40])
    k = 2 + seed % 11
    n = round(np.exp(rng.uniform(np.log(200), np.log(2000))))
    n_features = int(rng.choice([2, 3, 5, 10, 20]))
    share = rng.uniform(1, 6, k) if seed % 3 == 0 else np.ones(k)
    sizes = np.maximum(5, np.round(n * share / share.sum())).astype(int)
    tries = [rng.uniform(size=(k, n_features)) for _ in range(50)]
    centres = max(tries, key=lambda some: pdist(some).min())
    centres *= (gap_of(seed) if gap is None else gap) / pdist(centres).min()
    truth = np.repeat(np.arange(k), sizes)
    return Data(centres[truth] + rng.normal(size=(len(truth), n_features)), truth)


def unequal(seed: int) -> Data:
    """Return 2 to 6 round groups, up to half of them with 1 to 10 % of the size of the others."""
    rng = np.random.default_rng([seed, 77])
    k = int(rng.integers(2, 7))
    n_features = int(rng.choice([2, 3, 5, 10]))
    n = round(np.exp(rng.uniform(np.log(150), np.log(2000))))
    n_small = int(rng.integers(1, max(2, k // 2 + 1)))
    share = rng.uniform(1, 3, k)
    share[:n_small] *= np.exp(rng.uniform(np.log(0.01), np.log(0.1), n_small))
    sizes = np.maximum(5, np.round(n * share / share.sum())).astype(int)
    gap = rng.uniform(4, 15)
    tries = [rng.uniform(size=(k, n_features)) for _ in range(50)]
    centres = max(tries, key=lambda some: pdist(some).min())
    centres *= gap / pdist(centres).min()
    truth = np.repeat(np.arange(k), sizes)
    return Data(centres[truth] + rng.normal(size=(len(truth), n_features)), truth)


# -- datasets --------------------------------------------------------------------------------------


def _loaded(load: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Callable[[int], Data]:
    def make(seed: int) -> Data:  # noqa: ARG001 - always the same objects
        features, truth = load(return_X_y=True)
        return Data(features if load is sk.load_digits else scale(features), truth)

    return make


def _parts(t: np.ndarray, n_parts: int) -> np.ndarray:
    """Return the part of equal size that each position on a curve is in."""
    return np.searchsorted(np.quantile(t, np.arange(1, n_parts) / n_parts), t)


def _s_curve(seed: int) -> Data:
    points, t = sk.make_s_curve(N, noise=0.1, random_state=seed)
    return Data(points, _parts(t, 3))


def _swiss_roll(seed: int) -> Data:
    points, t = sk.make_swiss_roll(N, noise=0.5, random_state=seed)
    return Data(points, _parts(t, 4))


def _rows_of(
    make: Callable[..., tuple], n_clusters: int | tuple[int, int]
) -> Callable[[int], Data]:
    """Return what makes a matrix of blocks whose rows are the objects."""

    def made(seed: int) -> Data:
        matrix, rows, _ = make((N, 20), n_clusters, noise=20, random_state=seed)
        return Data(scale(matrix), np.unique(rows, axis=1, return_inverse=True)[1].ravel())

    return made


def _around(
    centres: list[list[float]], sizes: list[int], spread: float | list[float] = 1.0
) -> Callable[[int], Data]:
    def make(seed: int) -> Data:
        rng = np.random.default_rng([seed, 1])
        truth = np.repeat(np.arange(len(sizes)), sizes)
        width = np.broadcast_to(spread, len(sizes))[truth, None]
        places = np.array(centres)[truth]
        return Data(places + width * rng.normal(size=places.shape), truth)

    return make


def _anisotropic(seed: int) -> Data:
    points, truth = sk.make_blobs(N, centers=3, random_state=170 + seed)
    return Data(points @ np.array([[0.6, -0.6], [-0.4, 0.8]]), truth)


def _heavy_tails(seed: int) -> Data:
    rng = np.random.default_rng([seed, 2])
    truth = np.repeat(np.arange(4), N // 4)
    centres = 8.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    return Data(centres[truth] + rng.standard_t(2, (N, 2)), truth)


def _scattered(seed: int) -> Data:
    """Return three blobs, and a fifth of the objects anywhere, in the class of the nearest."""
    rng = np.random.default_rng([seed, 3])
    centres = 8.0 * np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])
    blobs = centres[rng.integers(0, 3, 4 * N // 5)] + 0.5 * rng.normal(size=(4 * N // 5, 2))
    points = np.vstack([blobs, rng.uniform(0, 8, (N // 5, 2))])
    return Data(points, ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))


def _moons_and_ball(seed: int) -> Data:
    moons, side = sk.make_moons(300, noise=0.07, random_state=seed)
    ball = np.random.default_rng([seed, 4]).normal([0.5, 1.7], 0.15, (100, 2))
    return Data(np.vstack([moons, ball]), np.append(side, np.full(100, 2)))


def _rings(seed: int) -> Data:
    rng = np.random.default_rng([seed, 5])
    truth = np.repeat(np.arange(3), [70, 130, 200])
    angle, radius = rng.uniform(0, 2 * np.pi, len(truth)), 1.0 + truth
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return Data(points + 0.1 * rng.normal(size=points.shape), truth)


def _spirals(seed: int) -> Data:
    rng = np.random.default_rng([seed, 6])
    truth = np.repeat([0, 1], N // 2)
    t = 3 * np.sqrt(rng.uniform(0.02, 1, N))
    angle = 2 * t + np.pi * truth
    points = np.column_stack([t * np.cos(angle), t * np.sin(angle)])
    return Data(points + 0.1 * rng.normal(size=points.shape), truth)


def _sticks(seed: int) -> Data:
    rng = np.random.default_rng([seed, 7])
    truth = rng.integers(0, 3, N)
    return Data(
        np.column_stack([rng.uniform(0, 10, N), 1.5 * truth + 0.2 * rng.normal(size=N)]), truth
    )


def _noise_features(seed: int) -> Data:
    data = _around([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], [N // 4] * 4)(seed)
    noise = np.random.default_rng([seed, 8]).normal(size=(N, 12))
    return Data(np.hstack([data.features, noise]), data.truth)


def _binary(seed: int) -> Data:
    rng = np.random.default_rng([seed, 9])
    truth = rng.integers(0, 4, N)
    chance = rng.choice([0.2, 0.8], (4, 20))
    return Data((rng.random((N, 20)) < chance[truth]).astype(float), truth)


def _made(make: Callable[..., tuple], **options: object) -> Callable[[int], Data]:
    return lambda seed: Data(*make(n_samples=N, random_state=seed, **options))


SCIKIT_LEARN: dict[str, Callable[[int], Data]] = {
    "iris": _loaded(sk.load_iris),
    "wine": _loaded(sk.load_wine),
    "breast cancer": _loaded(sk.load_breast_cancer),
    "digits": _loaded(sk.load_digits),
    "moons": _made(sk.make_moons, noise=0.08),
    "circles": _made(sk.make_circles, noise=0.06, factor=0.5),
    "classification": _made(
        sk.make_classification,
        n_features=8,
        n_informative=4,
        n_classes=3,
        n_clusters_per_class=1,
        class_sep=1.5,
    ),
    "quantiles": _made(sk.make_gaussian_quantiles, n_features=3, n_classes=3),
    "S curve": _s_curve,
    "Swiss roll": _swiss_roll,
    "biclusters": _rows_of(sk.make_biclusters, 4),
    "checkerboard": _rows_of(sk.make_checkerboard, (4, 3)),
}
OWN: dict[str, Callable[[int], Data]] = {
    "anisotropic": _anisotropic,
    "unequal spread": _around([[0, 0], [6, 0], [3, 7]], [130, 130, 140], [0.5, 1.0, 2.5]),
    "two, 9 to 1": _around([[0, 0], [4, 0]], [360, 40]),
    "three, 320 64 16": _around([[0, 0], [5, 0], [0, 5]], [320, 64, 16]),
    "four touching": _around([[0, 0], [3, 0], [0, 3], [3, 3]], [100] * 4),
    "heavy tails": _heavy_tails,
    "scattered": _scattered,
    "moons and ball": _moons_and_ball,
    "three rings": _rings,
    "two spirals": _spirals,
    "three sticks": _sticks,
    "noise features": _noise_features,
    "binary": _binary,
}
DATASETS = SCIKIT_LEARN | OWN


# -- members ---------------------------------------------------------------------------------------

#: What the members of a mixed ensemble are made by, in turn.
MIXTURE = (
    *("kmeans", "ward", "gmm", "average", "dbscan"),
    *("kmeans", "spectral", "single", "kmeans", "random"),
)
#: Several algorithms, without those that fail by design.
GOOD_MIXTURE = ("kmeans", "ward", "kmeans", "gmm", "average", "spectral")


def member(name: str, features: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return a clustering by one algorithm; -1 where it calls an object noise."""
    k = min(k, len(features) // 2)
    seed = int(rng.integers(2**31))
    if name == "random":
        return rng.integers(0, k, len(features))
    if name == "dbscan":
        reach = NearestNeighbors(n_neighbors=5).fit(features).kneighbors(features)[0][:, -1]
        eps = float(np.quantile(reach, rng.uniform(0.5, 0.95)))
        return DBSCAN(eps=eps).fit_predict(features)
    makers: dict[str, Callable[[], object]] = {
        "kmeans": lambda: KMeans(k, n_init=1, random_state=seed),
        "ward": lambda: AgglomerativeClustering(k, linkage="ward"),
        "average": lambda: AgglomerativeClustering(k, linkage="average"),
        "single": lambda: AgglomerativeClustering(k, linkage="single"),
        "gmm": lambda: GaussianMixture(k, covariance_type="diag", random_state=seed),
        "spectral": lambda: SpectralClustering(
            k, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=seed
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct objects than clusters
        warnings.filterwarnings("ignore", message="Graph is not fully connected")
        return makers[name]().fit_predict(features)  # type: ignore[attr-defined]


def members(kind: str, data: Data, n_members: int, seed: int) -> np.ndarray:
    """Return the votes of members of one kind; fewer members are the first of these."""
    rng = np.random.default_rng([seed, list(MEMBERS).index(kind)])
    names, low, high = MEMBERS[kind]
    columns = []
    for index in range(n_members):
        k = int(rng.integers(low(data.k), high(data.k) + 1))
        column = member(names[index % len(names)], data.features, k, rng)
        if kind == "singletons":
            alone = rng.choice(len(column), len(column) // 20, replace=False)
            column = column.copy()
            column[alone] = column.max() + 1 + np.arange(len(alone))
        columns.append(column)
    return np.column_stack(columns)


#: Algorithms of the members in turn, and the least and the largest k of a member.
MEMBERS: dict[str, tuple[tuple[str, ...], Callable[[int], int], Callable[[int], int]]] = {
    "random k": (("kmeans",), lambda _: 2, lambda k: 3 * k),
    "true k": (("kmeans",), lambda k: k, lambda k: k),
    "finer": (("kmeans",), lambda k: 3 * k, lambda k: 8 * k),
    "mixed": (MIXTURE, lambda _: 2, lambda k: 3 * k),
    "singletons": (("kmeans",), lambda k: k, lambda k: 4 * k),
    "several, random k": (GOOD_MIXTURE, lambda _: 2, lambda k: 3 * k),
    "several, true k": (GOOD_MIXTURE, lambda k: k, lambda k: k),
}
