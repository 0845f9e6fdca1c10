"""Every method at the size of KDD99: 494,021 objects, 10 clusterings made from the features.

python -m benchmarks.kdd99 [--methods NAME ...] [-k 23]

Base clusterings are k-means and RPCL in turn, k drawn from 2..50; they are made once and kept
under .benchmarks/. Prints seconds, CPU
seconds, memory above the votes, and NMI with the classes, each method in a separate process.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import ensemblage as en
from benchmarks.measure import cost, peak_memory

KEPT = Path(".benchmarks/kdd99_pool.npy")


def votes(features: np.ndarray) -> np.ndarray:
    """Return ten clusterings, from disk if they were made before."""
    if not KEPT.exists():
        begun = time.perf_counter()
        made = en.ensembles.generate(
            features, 10, ["kmeans", "rpcl"], random_state=0, checkpoint=KEPT.with_suffix(".parts")
        )
        print(f"ten clusterings in {time.perf_counter() - begun:.0f} s")
        np.save(KEPT, made)
    return np.load(KEPT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--methods", nargs="+", default=list(en.METHODS))
    parser.add_argument("-k", type=int, default=23)
    parser.add_argument("--objects", type=int, default=20_000, help="for the object-level run")
    options = parser.parse_args()
    data = en.datasets.load("KDD99")
    matrix, truth = votes(data.features), data.truth
    groups = en.microclusters(matrix)
    print(f"{len(matrix):,} objects, {matrix.shape[1]} clusterings, {len(groups.sizes)} distinct")
    print("method     wall s    CPU s  NMI (max)  clusters  MB above the votes")
    for name in options.methods:
        _measure(name, matrix, truth, options.k)
    _beside_objects(matrix[:: len(matrix) // options.objects][: options.objects], options.k)


def _by_objects(votes: np.ndarray, height: float) -> np.ndarray:
    share = sum((column[:, None] == column[None, :]) for column in votes.T) / votes.shape[1]
    return fcluster(linkage(squareform(1 - share, checks=False), "average"), height, "distance")


def _beside_objects(matrix: np.ndarray, k: int) -> None:
    """Compare EAC with SciPy's linkage of the N × N matrix, at an N where that still fits."""
    ours = cost(lambda: en.EAC(k).fit(matrix), 5).wall
    heights = en.EAC(k).fit(matrix).linkage_matrix_[:, 2]
    theirs = cost(lambda: _by_objects(matrix, heights[-k]), 1, warm=False).wall
    print(
        f"EAC on {len(matrix):,} of the objects: {1e3 * ours:.1f} ms; by objects"
        f" {theirs:.1f} s, {theirs / ours:.0f} times as long"
    )


def _measure(name: str, matrix: np.ndarray, truth: np.ndarray, k: int) -> None:
    def fit() -> Any:
        est = en.METHODS[name](k)
        if "random_state" in est.get_params():
            est.set_params(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", en.FewerClustersWarning)
            return est.fit(matrix)

    def report() -> None:
        spent = cost(fit, 1)
        est = fit()
        print(
            f"{name:8} {spent.wall:8.3f} {spent.cpu:8.3f}"
            f"      {en.metrics.nmi(truth, est.labels_):.3f} {est.n_clusters_:9d}",
            end="",
            flush=True,
        )

    print(f" {peak_memory(report) / 1e6:12.0f}", flush=True)


if __name__ == "__main__":
    main()
