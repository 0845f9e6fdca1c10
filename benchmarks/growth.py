"""How cost grows with objects (N), microclusters (n), members (M) and clusters (k).

python -m benchmarks.growth                     up to N = 10**7 and n = 50,000: some minutes
python -m benchmarks.growth --axis N --largest  N = 10**8 too
python -m benchmarks.growth --axis n --largest  n = 100,000 and 10**6 too: half an hour, 16 GB
python -m benchmarks.growth --show              exponents and plots of what was measured before

Each point is measured in a separate process and kept in docs/growth.json, in place of an older
one of the same kind; docs/growth.png is drawn from it. CPU seconds of one thread, without
compilation; bytes are those above the input. Reading all votes once, as 64-bit words that are
summed, is the measure for what grows with N.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import ensemblage as en
from benchmarks.graph import gaussians
from benchmarks.inputs import distinct_rows
from benchmarks.measure import cost
from ensemblage import flow
from ensemblage._memory import peak_memory
from ensemblage.flow._jit import kernel

RECORDS = Path(__file__).parents[1] / "docs" / "growth.json"
PICTURE = RECORDS.with_suffix(".png")
MEMBERS = 30
SIZES: dict[str, tuple[list[int], list[int]]] = {  # usual, and with --largest
    "N": ([10**5, 10**6, 10**7], [10**8]),
    "n": ([1_000, 2_000, 5_000, 10_000, 20_000, 50_000], [100_000, 10**6]),
    "M": ([10, 20, 40, 80, 160], []),
    "k": ([2, 5, 10, 20, 50, 100, 200], []),
}


@kernel
def _sum_of_words(words: Any) -> Any:
    total = np.uint64(0)
    for i in range(len(words)):
        total += words[i]
    return total


def objects(n_objects: int) -> list[dict]:
    """Measure microclusters and the way back, beside one read of all votes."""
    records = []
    for n_distinct in (300, 100_000):
        en.microclusters(distinct_rows(200_000, n_distinct), n_jobs=1)  # compiles
        votes = distinct_rows(n_objects, n_distinct)
        words = votes.reshape(-1)[: votes.size // 8 * 8].view(np.uint64)
        read = cost(lambda words=words: _sum_of_words(words), 5).cpu
        with peak_memory() as taken:
            groups = en.microclusters(votes, n_jobs=1)
        found = cost(lambda votes=votes: en.microclusters(votes, n_jobs=1), 3, warm=False).cpu
        threads = cost(lambda votes=votes: en.microclusters(votes), 3, warm=False).wall
        labels = np.arange(len(groups.sizes))
        back = cost(lambda groups=groups: flow.spread(labels, groups.of_object), 3).cpu  # noqa: B023
        kind = f"{n_distinct:,} different rows"
        records += [
            _record("N", f"microclusters, {kind}", n_objects, found, taken.n_bytes, read, threads),
            _record("N", f"labels back, {kind}", n_objects, back, None, read),
        ]
    return records


def microclusters(n: int) -> list[dict]:
    """Measure PTGP and PTA, and stages of these, on the first `n` different rows."""
    # The larger the sample, the smaller the share of objects that are alone.
    factor = 1.9 if n < 10**5 else 2.3 if n < 10**6 else 5.0
    votes = gaussians(int(factor * n), MEMBERS)[0]
    table = en.microclusters(votes).table[:n]
    if len(table) < n:
        raise RuntimeError(f"only {len(table)} of {n} rows differ")
    votes = table.astype(np.uint8)
    en.PTGP(3, n_jobs=1).fit(gaussians(17_000, MEMBERS)[0])  # compiles, probes too
    records = _graph_and_walk(table)
    with peak_memory() as taken:
        _, seconds = _timed(lambda: en.PTGP(20, random_state=0, n_jobs=1).fit(votes))
    records.append(_record("n", "PTGP", n, seconds, taken.n_bytes))
    for kind, most in (("uint16", 20_000), ("exact", 10_000)):  # the larger last
        if n <= most:
            en.PTA(3, similarity=kind, n_jobs=1).fit(votes[:500])
            with peak_memory() as taken:
                _, seconds = _timed(
                    lambda kind=kind: en.PTA(20, similarity=kind, n_jobs=1).fit(votes)
                )
            records.append(_record("n", f"PTA, {kind}", n, seconds, taken.n_bytes))
    return records


def _graph_and_walk(table: np.ndarray) -> list[dict]:
    n = len(table)
    graph, for_graph = _timed(lambda: flow.elite_graph(table, 20, n_jobs=1))
    walk = flow.transition_matrix(graph, np.ones(n, dtype=np.int64))
    means, norms = flow.cluster_means(table)[:, :500], np.ones(n)
    _, for_walk = _timed(
        lambda: flow.similarity_product(walk, norms, means, 20, single=True, n_jobs=1)
    )
    return [
        _record("n", "elite graph", n, for_graph),
        _record("n", "walk, 500 clusters", n, for_walk),
    ]


def members(n_members: int) -> list[dict]:
    """Measure PTGP on 5,000 microclusters, by the number of members."""
    votes = en.microclusters(gaussians(20_000, n_members)[0]).table[:5_000].astype(np.uint8)
    en.PTGP(3, n_jobs=1).fit(votes[:500])
    with peak_memory() as taken:
        _, seconds = _timed(lambda: en.PTGP(20, random_state=0, n_jobs=1).fit(votes))
    graph = cost(lambda: flow.elite_graph(votes.astype(np.int32), 20, n_jobs=1), 1).cpu
    return [
        _record("M", "PTGP", n_members, seconds, taken.n_bytes),
        _record("M", "elite graph", n_members, graph),
    ]


def clusters(k: int) -> list[dict]:
    """Measure the cut of a fitted consensus into k clusters."""
    votes = gaussians(10_000, MEMBERS)[0]
    records = []
    for est in (en.PTGP(3, random_state=0, n_jobs=1), en.PTA(3, n_jobs=1)):
        est.fit(votes)
        est.cut(3)
        _, seconds = _timed(lambda est=est: est.cut(k))
        records.append(_record("k", f"{type(est).__name__}'s cut", k, seconds))
    return records


def _timed(call: Any) -> tuple[Any, float]:
    begin = time.process_time()
    result = call()
    return result, time.process_time() - begin


def _record(
    axis: str,
    stage: str,
    size: int,
    seconds: float,
    n_bytes: int | None = None,
    read: float | None = None,
    threads: float | None = None,
) -> dict:
    return {
        "axis": axis, "stage": stage, "size": size, "seconds": seconds, "bytes": n_bytes,
        "one read": read, "wall of all threads": threads,
    }  # fmt: skip


AXES = {"N": objects, "n": microclusters, "M": members, "k": clusters}


def measure(axes: list[str], *, largest: bool) -> None:
    """Measure each point in a new process, and keep it at once."""
    new = multiprocessing.get_context("spawn")
    for axis in axes:
        usual, large = SIZES[axis]
        for size in [*usual, *(large if largest else [])]:
            with ProcessPoolExecutor(1, mp_context=new) as alone:
                records = alone.submit(AXES[axis], size).result()
            _keep(records)
            for record in records:
                print(_line(record), flush=True)


def _line(record: dict) -> str:
    words = f"{record['axis']} = {record['size']:<12,} {record['stage']:38}"
    words += f"{record['seconds']:10.4f} CPU s"
    if record["bytes"] is not None:
        words += f"   {record['bytes'] / 1e6:8.1f} MB"
    if record["axis"] == "N":
        words += f"   {record['seconds'] / record['one read']:5.1f} reads"
        if record["bytes"] is not None:
            words += f" ({record['wall of all threads'] / record['one read']:.1f} by all threads)"
            words += f"   {record['bytes'] / record['size']:5.1f} bytes an object"
    return words


def _kept() -> list[dict]:
    return json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else []


def _keep(records: list[dict]) -> None:
    def key(record: dict) -> tuple:
        return (list(AXES).index(record["axis"]), record["stage"], record["size"])

    newer = {key(record): record for record in [*_kept(), *records]}
    lines = ",\n".join(json.dumps(newer[place]) for place in sorted(newer))
    RECORDS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def stages(axis: str) -> dict[str, np.ndarray]:
    """Return size, seconds and bytes of each stage, in order of size."""
    found: dict[str, list] = {}
    for record in _kept():
        if record["axis"] == axis:
            row = (record["size"], record["seconds"], record["bytes"] or np.nan)
            found.setdefault(record["stage"], []).append(row)
    return {stage: np.array(sorted(rows), dtype=float) for stage, rows in found.items()}


def exponents() -> None:
    """Print the slope of log seconds, over all sizes and over the larger half."""
    print("exponents of CPU seconds: over all sizes, over the larger half")
    for axis in AXES:
        for stage, rows in stages(axis).items():
            if len(rows) > 2:
                x, y = np.log(rows[:, 0]), np.log(np.maximum(rows[:, 1], 1e-7))
                upper = slice(len(x) // 2, None)
                slopes = np.polyfit(x, y, 1)[0], np.polyfit(x[upper], y[upper], 1)[0]
                print(f"  {axis}  {stage:38} {slopes[0]:5.2f} {slopes[1]:5.2f}")


def draw() -> None:
    """Draw seconds above and memory below, one column for each axis."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    words = {
        "N": "objects, N",
        "n": "microclusters, n (M = 30)",
        "M": "members, M (n = 5,000)",
        "k": "clusters, k (N = 10,000)",
    }
    figure, panels = plt.subplots(2, 4, figsize=(11.5, 6.2), sharex="col", layout="constrained")
    for column, axis in enumerate(AXES):
        upper, lower = panels[:, column]
        for stage, rows in stages(axis).items():
            (line,) = upper.loglog(rows[:, 0], rows[:, 1], "o-", markersize=4, label=stage)
            if np.isfinite(rows[:, 2]).any():
                lower.loglog(
                    rows[:, 0], rows[:, 2] / 1e6, "o-", markersize=4, color=line.get_color()
                )
        if upper.lines:
            upper.legend(fontsize=7, frameon=False)
        upper.set_title(words[axis], fontsize=10)
        for panel in (upper, lower):
            panel.grid(alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
        if not lower.lines:
            lower.set_axis_off()
            upper.tick_params(labelbottom=True)
    panels[0, 0].set_ylim(bottom=1e-6)  # room for the legend
    panels[0, 0].set_ylabel("CPU seconds, one thread")
    panels[1, 0].set_ylabel("MB above the input")
    figure.savefig(PICTURE, dpi=140)
    print(f"drawn: {PICTURE.name}")


def main(axes: list[str] | None = None, *, largest: bool = False) -> None:
    measure(axes or list(AXES), largest=largest)
    exponents()
    draw()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axis", choices=list(AXES), action="append")
    parser.add_argument("--largest", action="store_true", help="the sizes that take long, too")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    options = parser.parse_args()
    if options.show:
        exponents()
        draw()
    else:
        main(options.axis, largest=options.largest)
