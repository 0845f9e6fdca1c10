"""Whether low confidence finds wrong labels, and how often labels of each confidence are right.

python -m benchmarks.confidence [blobs|pools|all] [--quick] [--jobs 2] [--plot FILE.png]

- blobs: 24 sets of strongly and 24 of mildly overlapping blobs (nearest centres 2 to 3.5, and 3 to
  4.5 standard deviations apart), 12 members of several algorithms (k-means, Ward, average link,
  Gaussian mixture, spectral), of random k and of the true k.
- pools: the authors' pools MF, IS, ODR, LS and PD, M = 20, 10 draws (slow methods fewer), every
  method.

A label is wrong if it is not the class that a Hungarian matching gives the cluster. The AUC is the
chance that a right object has a larger confidence than a wrong one. "before" is the confidence by
trajectory similarity, which PTA and PTGP gave earlier. Only ensembles count where every method
of the table has at least 1 % wrong; how many were left out is printed. Scores are kept in
.benchmarks/confidence.jsonl, so a run that was interrupted is resumed. `--plot` draws the
reliability of all that was measured.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

import ensemblage as en
from benchmarks.quality_records import fitted, run, table
from benchmarks.quality_sets import blobs, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.quality_records import Record, Task

RECORDS = Path(".benchmarks/confidence.jsonl")
#: Seeds of the sets, and distances of their nearest centres.
BLOBS = {"strong": (range(100, 124), 2.0, 3.5), "mild": (range(200, 224), 3.0, 4.5)}
KINDS = ("several, random k", "several, true k")
N_MEMBERS = 12
MAIN = ("Consensus", "PTA", "PTGP", "EAC", "LWGP")
POOLS = ("MF", "IS", "ODR", "LS", "PD")
POOL_SIZE = 20
DRAWS = 10
FEWER_DRAWS = {"CSPA": 2, "ECMC": 1}
BEFORE = " before"
LEAST_WRONG = 0.01
N_BINS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("part", nargs="?", default="all", choices=("blobs", "pools", "all"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    found: list[Record] = []
    if options.part != "pools":
        found += run(blob_tasks(quick=options.quick), measure, options.records, options.jobs)
        show_blobs(found)
    if options.part != "blobs":
        tasks = pool_tasks(quick=options.quick)
        pools = run(tasks, measure, options.records, options.jobs)
        show_pools(pools)
        found += pools
    if options.plot:
        draw(found, options.plot)


# -- measuring -------------------------------------------------------------------------------------


def blob_tasks(*, quick: bool) -> list[Task]:
    return [
        {"part": "blobs", "data": f"{overlap} {seed}", "kind": kind, "draw": seed, "methods": MAIN}
        for overlap, (seeds, *_) in BLOBS.items()
        for kind in KINDS
        for seed in (seeds[::8] if quick else seeds)
    ]


def pool_tasks(*, quick: bool) -> list[Task]:
    names = sorted({kind.__name__ for kind in en.METHODS.values()})
    return [
        {
            "part": "pools",
            "data": name,
            "kind": f"M = {POOL_SIZE}",
            "draw": draw,
            "methods": [one for one in names if draw < FEWER_DRAWS.get(one, DRAWS)],
        }
        for draw in range(1 if quick else DRAWS)
        for name in POOLS
    ]


@lru_cache(maxsize=len(POOLS))
def _pool(name: str) -> en.datasets.Pool:
    return en.datasets.load_pool(name)


def measure(task: Task) -> list[Record]:
    """Return how the confidence of each method does on one ensemble."""
    if task["part"] == "blobs":
        seeds, low, high = BLOBS[task["data"].split()[0]]
        gap = low + (high - low) * seeds.index(task["draw"]) / (len(seeds) - 1)
        data = blobs(task["draw"], gap)
        votes, truth = members(task["kind"], data, N_MEMBERS, task["draw"]), data.truth
    else:
        pool = _pool(task["data"])
        votes, truth = pool.draw(POOL_SIZE, task["draw"]), pool.truth
    ensemble, k = en.Ensemble(votes), len(np.unique(truth))
    found: dict[str, Any] = {}
    for name in task["methods"]:
        model = fitted(name, ensemble, k)
        right = is_right(model.labels_, truth)
        found[name] = judged(model.confidence_, right)
        if hasattr(model, "trajectory_confidence_"):
            found[name + BEFORE] = judged(model.trajectory_confidence_, right)
    return [{"results": found}]


def is_right(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return which objects are of the class that a Hungarian matching gives their cluster."""
    counts = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(counts, (labels, truth), 1)
    class_of = np.full(len(counts), -1)
    clusters, classes = linear_sum_assignment(counts, maximize=True)
    class_of[clusters] = classes
    return class_of[labels] == truth


def judged(confidence: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Return the share of wrong labels, the AUC, mean confidences, and counts in bins."""
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    return {
        "wrong": float(1 - right.mean()),
        "auc": auc(confidence, right),
        "of wrong": float(confidence[~right].mean()) if (~right).any() else None,
        "of right": float(confidence[right].mean()) if right.any() else None,
        "objects": np.bincount(bins, minlength=N_BINS).tolist(),
        "right": np.bincount(bins[right], minlength=N_BINS).tolist(),
    }


def auc(confidence: np.ndarray, right: np.ndarray) -> float | None:
    """Return the chance that a right object has more confidence than a wrong one, ties half."""
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    if not n_right or not n_wrong:
        return None
    ranks = rankdata(confidence)
    return float((ranks[right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong))


# -- showing ---------------------------------------------------------------------------------------


def show_blobs(records: Sequence[Record]) -> None:
    print(f"\n## Overlapping blobs, {N_MEMBERS} members of several algorithms\n")
    names = [*MAIN, *(name + BEFORE for name in ("PTA", "PTGP"))]
    for overlap, kind in [(overlap, kind) for kind in KINDS for overlap in BLOBS]:
        some = [r for r in records if r["kind"] == kind and r["data"].startswith(overlap)]
        kept = enough_wrong(some, MAIN)
        out = sorted({record["draw"] for record in some} - {record["draw"] for record in kept})
        print(f"{overlap} overlap, members: {kind}. {len(kept)} sets; left out: {out or 'none'}\n")
        print(summary(kept, names), "\n")
    for kind in KINDS:
        kept = enough_wrong([record for record in records if record["kind"] == kind], MAIN)
        print(f"Strong and mild, members: {kind}. {len(kept)} sets\n")
        print(summary(kept, names), "\n")


def enough_wrong(records: Iterable[Record], names: Sequence[str]) -> list[Record]:
    return [
        record
        for record in records
        if all(LEAST_WRONG <= record["results"][name]["wrong"] < 1 for name in names)
    ]


def show_pools(records: Sequence[Record]) -> None:
    print(f"\n## Pools {', '.join(POOLS)}, M = {POOL_SIZE}\n")
    names = sorted({name for record in records for name in record["results"]})
    names.sort(key=lambda name: (name.removesuffix(BEFORE) not in MAIN, name))
    print(summary(records, names, draws=True), "\n\nAUC on each pool.\n")
    shown = [name for name in names if name.removesuffix(BEFORE) in MAIN]
    rows = []
    for pool in POOLS:
        some = [record["results"] for record in records if record["data"] == pool]
        rows.append([pool, *(f"{np.mean([row[n]['auc'] for row in some]):.3f}" for n in shown)])
    print(table(["pool", *shown], rows))


def summary(records: Sequence[Record], names: Sequence[str], *, draws: bool = False) -> str:
    """Return means over datasets of the means over their ensembles."""
    rows = []
    for name in names:
        by_data = defaultdict(list)
        for record in records:
            if name in record["results"]:
                found = record["results"][name]
                row = [found[what] for what in ("wrong", "auc", "of wrong", "of right")]
                by_data[record["data"]].append(row)
        means = np.mean([np.mean(some, axis=0) for some in by_data.values()], axis=0)
        number = [max(len(some) for some in by_data.values())] if draws else []
        rows.append([name, *number, *(f"{mean:.3f}" for mean in means)])
    head = ["method", *(["draws"] if draws else [])]
    head += ["wrong", "AUC", "confidence of wrong", "confidence of right"]
    return table(head, rows)


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw the share of right labels by confidence, and how many objects have it."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    lines = {
        "Consensus": ("#0b5fa5", "o-"),
        "PTGP": ("#cc3311", "s-"),
        "PTGP" + BEFORE: ("#999999", "^--"),
    }
    titles = {"blobs": "Overlapping blobs, 12 members", "pools": "Pools, 20 members"}
    parts = [part for part in titles if any(record["part"] == part for record in records)]
    figure, axes = plt.subplots(
        2,
        len(parts),
        figsize=(4.5 * len(parts), 5.2),
        layout="constrained",
        sharex=True,
        squeeze=False,
        height_ratios=[3, 1.3],
    )
    places = (np.arange(N_BINS) + 0.5) / N_BINS
    for (above, below), part in zip(axes.T, parts, strict=True):
        above.plot([0, 1], [0, 1], color="#dddddd", zorder=0)
        for shift, (name, (colour, style)) in enumerate(lines.items()):
            some = [record["results"][name] for record in records if record["part"] == part]
            objects, right = (np.sum([row[what] for row in some], axis=0) for what in _COUNTS)
            seen = objects >= 30
            label = name.replace(BEFORE, ", by trajectories (before)")
            above.plot(
                places[seen], right[seen] / objects[seen], style, color=colour, label=label, ms=4
            )
            below.bar(places + (shift - 1) * 0.028, objects / objects.sum(), 0.026, color=colour)
        above.set_title(f"{titles[part]}: {objects.sum():,} labels", loc="left", fontsize=10)
        above.set_ylim(0, 1.02)
        below.set_xlabel("confidence")
    axes[0, 0].set_ylabel("share of right labels")
    axes[1, 0].set_ylabel("share of objects")
    axes[0, -1].legend(loc="lower right", fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)


_COUNTS = ("objects", "right")

if __name__ == "__main__":
    main()
