"""The three numbers of the README: accuracy, speed, size.

python -m benchmarks.headline [accuracy] [speed]      default: both

- accuracy: mean ARI of k-means (true k, n_init=10) and of `EnsembleClustering` (true k, default
  settings) on the 25 datasets of `benchmarks.quality_sets`, five seeds each.
- speed: seconds of the textbook program (a co-association matrix of all pairs, SciPy's average
  link) and of `EAC`, which has the same result, on the same votes.

The size of streamed files is measured by `python -m benchmarks.stream --rows 1e8`.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans

import ensemblage as en
from benchmarks.inputs import mixture
from benchmarks.quality_sets import DATASETS

SEEDS = range(5)
SIZES = (2_000, 5_000, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    warnings.simplefilter("ignore")
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()


def accuracy() -> None:
    rows = []
    for name, make in DATASETS.items():
        scores = []
        for seed in SEEDS:
            data = make(seed)
            single = KMeans(data.k, n_init=10, random_state=seed).fit(data.features).labels_
            model = en.EnsembleClustering(data.k, random_state=seed).fit(data.features)
            scores.append([en.metrics.ari(data.truth, one) for one in (single, model.labels_)])
        rows.append(np.mean(scores, axis=0))
        print(f"{name:24} k-means {rows[-1][0]:.3f}   EnsembleClustering {rows[-1][1]:.3f}")
    gain = np.diff(rows, axis=1)[:, 0]
    means, error = np.mean(rows, axis=0), gain.std(ddof=1) / np.sqrt(len(gain))
    print(
        f"mean of {len(rows)} datasets: k-means {means[0]:.3f}, EnsembleClustering {means[1]:.3f};"
        f" difference {gain.mean():+.3f} (standard error {error:.3f}), better on"
        f" {(gain > 0.01).sum()}, worse on {(gain < -0.01).sum()}"
    )


def speed() -> None:
    for n in SIZES:
        votes = mixture(n, 20, 0.1)
        en.EAC(10).fit(votes[:500])
        begun = time.perf_counter()
        here = en.EAC(10).fit_predict(votes)
        ours = time.perf_counter() - begun
        begun = time.perf_counter()
        there = textbook(votes, 10)
        theirs = time.perf_counter() - begun
        print(
            f"{n:,} objects, 20 clusterings: textbook program {theirs:.2f} s, EAC {ours:.3f} s,"
            f" {theirs / ours:.0f} times; ARI of the two {en.metrics.ari(here, there):.3f}",
            flush=True,
        )


def textbook(votes: np.ndarray, k: int) -> np.ndarray:
    """Return labels by evidence accumulation as articles print it."""
    together = np.zeros((len(votes), len(votes)))
    for column in votes.T:
        together += column[:, None] == column
    distance = 1.0 - together / votes.shape[1]
    return fcluster(linkage(squareform(distance, checks=False), "average"), k, "maxclust")


PARTS = {"accuracy": accuracy, "speed": speed}

if __name__ == "__main__":
    main()
