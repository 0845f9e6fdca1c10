"""How many clusters the members of EnsembleClustering should have, at the true number of clusters.

python -m benchmarks.member_range [--quick] [--jobs 2]

The range that `EnsembleClustering(k)` uses (2k to 4k, or more for many objects) beside members of
k clusters, of k to 2k, and a quarter of the members with k. Mean ARI of `Consensus` on the 40 sets
of blobs and the 25 datasets of `benchmarks.default`; the paired difference to the range in use,
with its standard error over sets. Scores are kept in .benchmarks/member_range.jsonl.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import ensemblage as en
from benchmarks.quality_records import fitted, run, score, table
from benchmarks.quality_sets import DATASETS, N_BLOBS, blobs

if TYPE_CHECKING:
    from benchmarks.quality_records import Record, Task

RECORDS = Path(".benchmarks/member_range.jsonl")
SIZES = (10, 20, 50)
IN_USE = "2k to 4k"
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    options = parser.parse_args()
    names = [*(f"blobs {seed}" for seed in range(N_BLOBS)), *DATASETS]
    tasks = [{"data": name} for name in names[:: 8 if options.quick else 1]]
    records = run(tasks, measure, options.records, options.jobs)
    for kind in ("blobs", "datasets"):
        show(kind, [r for r in records if r["data"].startswith("blobs ") == (kind == "blobs")])


def measure(task: Task) -> list[Record]:
    name = task["data"]
    data = blobs(int(name[6:])) if name.startswith("blobs ") else DATASETS[name](SEED)
    k = data.k
    # With n_clusters and no range, generate uses the range of EnsembleClustering.
    ranges = {IN_USE: None, "k": (k, k), "k to 2k": (k, 2 * k)}
    votes = {
        name: en.ensembles.generate(
            data.features,
            max(SIZES),
            n_clusters=k,
            n_clusters_range=bounds,
            random_state=SEED,
            n_jobs=1,
        )
        for name, bounds in ranges.items()
    }
    found = []
    for size in SIZES:
        some = {name: columns[:, :size] for name, columns in votes.items()}
        quarter = round(size / 4)
        some["a quarter k"] = np.hstack([votes["k"][:, :quarter], votes[IN_USE][:, quarter:size]])
        aris = {n: score(data.truth, fitted("Consensus", v, k).labels_)[1] for n, v in some.items()}
        found.append({"members": size, "ari": aris})
    return found


def show(kind: str, records: list[Record]) -> None:
    names = list(records[0]["ari"])
    rows = []
    for size in SIZES:
        ari = {n: np.array([r["ari"][n] for r in records if r["members"] == size]) for n in names}
        less = {name: ari[name] - ari[IN_USE] for name in names}
        error = {name: less[name].std(ddof=1) / np.sqrt(len(less[name])) for name in names}
        rows.append(
            [
                size,
                f"{ari[IN_USE].mean():.3f}",
                *(
                    f"{ari[name].mean():.3f} ({less[name].mean():+.3f} ± {error[name]:.3f})"
                    for name in names
                    if name != IN_USE
                ),
            ]
        )
    n_sets = len({record["data"] for record in records})
    print(f"\n## {kind}: {n_sets} sets\n")
    print(table(["M", *names], rows))


if __name__ == "__main__":
    main()
