"""EnsembleClustering compared with its members and beside k-means, from features, over many seeds.

python -m benchmarks.features [NAME ...] [--seeds 20]

Prints NMI (max) with the classes, mean ± standard error over seeds: of a member on average, of
k-means at the same k (scikit-learn's, k-means++ and ten starts) and of EnsembleClustering with
its defaults; and the paired differences. IS is scaled to [0, 1] (min-max) for all three, as the
authors of the paper did. PBMC68k_reduced is clustered in its principal components, which come with
the data, and Pollen as it is.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from rich.progress import track
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import minmax_scale

import ensemblage as en

NAMES = ("digits", "IS", "PD", "Pollen", "PBMC68k_reduced")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print("data              k   mean member     k-means at k    EnsembleClustering", end="")
    print("   less members     less k-means")
    for name in options.names:
        features, truth = _load(name)
        k = len(np.unique(truth))
        scores = np.array(
            [_scores(features, truth, k, seed) for seed in track(range(options.seeds), name)]
        )
        member, single, ours = scores.T
        columns = (member, single, ours, ours - member, ours - single)
        print(f"{name:16} {k:2d}   " + "   ".join(map(_shown, columns)), flush=True)


def _load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "PBMC68k_reduced":
        folder = Path(os.environ.get("ENSEMBLAGE_DATA", "../shared")) / "data"
        with np.load(folder / f"{name}.npz", allow_pickle=False) as content:
            return content["X_pca"], content["y"]
    data = en.datasets.load(name)
    features = data.features if data.scale is None else minmax_scale(data.features)
    return features, data.truth


def _scores(features: np.ndarray, truth: np.ndarray, k: int, seed: int) -> tuple[float, ...]:
    ours = en.EnsembleClustering(k, random_state=seed).fit(features)
    single = KMeans(k, n_init=10, random_state=seed).fit(features)
    members = [en.metrics.nmi(truth, votes) for votes in ours.votes_.T]
    return (
        float(np.mean(members)),
        en.metrics.nmi(truth, single.labels_),
        en.metrics.nmi(truth, ours.labels_),
    )


def _shown(values: np.ndarray) -> str:
    return f"{values.mean():+.4f} ±{values.std(ddof=1) / len(values) ** 0.5:.4f}"


if __name__ == "__main__":
    main()
