"""How often `metrics.splits` is right about clusters that are two groups.

python -m benchmarks.two_groups [--sets 40] [--seed 1000]

Blobs of random number, size and spread, clustered by k-means many times; a consensus at the true
number of clusters, at two and one less, and at two more. A cluster is pure if 95 % of it are of one
blob, and merged if a second blob has a quarter of it or more. On clear sets, where the default
method finds the blobs (ARI above 0.99), merged clusters are mistakes that a report should name.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import ensemblage as en


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40, help="sets of each kind")
    parser.add_argument("--seed", type=int, default=1000, help="the first seed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("called two groups, of how many")
    print(f"{'members':10} {'method':10} {'sets':10} {'pure':>12} {'merged':>12}")
    for members in ("random k", "true k"):
        counts: dict[tuple[str, str], list[int]] = {}
        for seed in range(given.seed, given.seed + given.sets):
            votes, truth = made(seed, random_k=members == "random k")
            k = int(truth.max()) + 1
            n_groups = len(en.Ensemble(votes).microclusters.sizes)
            best = en.Consensus(min(k, n_groups), random_state=0).fit(votes)
            kind = "clear" if en.metrics.ari(truth, best.labels_) > 0.99 else "others"
            for name, method in (("Consensus", en.Consensus), ("PTGP", en.PTGP)):
                for asked in sorted({max(2, k - 2), max(2, k - 1), k, k + 2}):
                    if asked <= n_groups:
                        count(counts, name, kind, method(asked, random_state=0).fit(votes), truth)
        for (name, kind), (pure, wrong, merged, right) in sorted(counts.items()):
            print(
                f"{members:10} {name:10} {kind:10} {wrong:5d} / {pure:4d} {right:5d} / {merged:4d}"
            )


def made(seed: int, *, random_k: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return votes of k-means on blobs, and the blob of each object."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(3, 12)), int(rng.integers(300, 800))
    features, truth = make_blobs(
        n,
        centers=k,
        cluster_std=float(rng.uniform(0.3, 2.0)),
        center_box=(-12, 12),
        n_features=int(rng.integers(2, 5)),
        random_state=seed,
    )
    n_members = int(rng.choice([10, 20, 50]))
    ks = rng.integers(2, 2 * k + 4, n_members) if random_k else np.full(n_members, k)
    runs = [
        KMeans(int(size), n_init=1, random_state=place).fit_predict(features)
        for place, size in enumerate(ks)
    ]
    return np.column_stack(runs), truth


def count(
    counts: dict[tuple[str, str], list[int]], name: str, kind: str, model: object, truth: np.ndarray
) -> None:
    """Add up: pure clusters, those called two groups; merged clusters, those called two groups."""
    found = en.metrics.splits(model)
    tally = counts.setdefault((name, kind), [0, 0, 0, 0])
    for cluster, called in enumerate(found.two_groups):
        shares = np.sort(np.bincount(truth[model.labels_ == cluster]))[::-1]  # type: ignore[attr-defined]
        shares = shares / shares.sum()
        if shares[0] >= 0.95:
            tally[0] += 1
            tally[1] += int(called)
        elif len(shares) > 1 and shares[1] >= 0.25:
            tally[2] += 1
            tally[3] += int(called)


if __name__ == "__main__":
    main()
