"""PTA-AL and PTGP on the authors' pools beside the paper's table: ours, theirs, the difference.

python -m benchmarks.paper_table [--runs 100] [--members 10] [--seed 0]

Protocol: M columns of a pool drawn without replacement, K and T "auto", NMI (max) with the
classes; best-k is the maximum over k in {2..20, 25, 30, 35, 40, 45, 50, true k}, true-k the number
of classes; both averaged over draws. Needs the folder QUORATE_DATA (default ../shared) with
`pools/` and `paper/`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
from scipy.io import loadmat

import quorate as qr

DATA = Path(os.environ.get("QUORATE_DATA", "../shared"))
POOLS = ("MF", "IS", "ODR", "LS", "PD")
CLUSTER_NUMBERS = (*range(2, 21), 25, 30, 35, 40, 45, 50)


def scores(name: str, method: str, runs: int, members: int, seed: int) -> np.ndarray:
    """Return best-k and true-k NMI of each draw."""
    pool = loadmat(DATA / "pools" / f"bc_pool_{name}.mat")
    votes, truth = pool["members"], pool["gt"].ravel().astype(int)
    true_k = len(np.unique(truth))
    found = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        columns = rng.choice(votes.shape[1], members, replace=False)
        est = qr.METHODS[method](true_k)
        if method == "ptgp":
            est.set_params(random_state=run)
        est.fit(votes[:, columns])
        by_k = {true_k: qr.metrics.nmi(truth, est.labels_)}
        for k in CLUSTER_NUMBERS:
            if k not in by_k and k <= est.n_microclusters_:
                by_k[k] = qr.metrics.nmi(truth, est.cut(k))
        found.append((max(by_k.values()), by_k[true_k]))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    paper = json.loads((DATA / "paper" / "tables.json").read_text())["comparison_nmi"]
    print(f"{options.runs} draws of {options.members} members; mean NMI (max) ± standard error")
    print("pool  method   k     ours          paper  difference")
    differences = []
    begun = time.perf_counter()
    for name in POOLS:
        for method, row in (("pta", "PTA-AL"), ("ptgp", "PTGP")):
            found = scores(name, method, options.runs, options.members, options.seed)
            error = found.std(axis=0, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else (0, 0)
            for place, which in enumerate(("best_k", "true_k")):
                ours, theirs = found[:, place].mean(), paper[row][name][which]
                differences.append(ours - theirs)
                print(
                    f"{name:5} {row:8} {which[:4]}  {ours:.4f} ±{error[place]:.4f}"
                    f"  {theirs:.3f}   {ours - theirs:+.4f}",
                    flush=True,
                )
    size = np.abs(differences)
    print(f"mean absolute difference {size.mean():.4f}, largest {size.max():.4f}")
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
