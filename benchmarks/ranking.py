"""An honest ranking: all methods on the same draws of the authors' pools.

python -m benchmarks.ranking [--draws 100] [--members 10 20 30] [--methods NAME ...] [--report]

Prints Markdown. Scores are means over pools and draws; ranks are means over all (pool, draw) of the
rank by NMI at the true k. The difference to PTGP is paired: the same ensembles. Its first error is
the standard error over draws (each the mean over pools), its second the standard error over pools
(each the mean over draws), which says how far the result may depend on the choice of datasets. The
seed spread is the standard deviation of NMI at the true k over five seeds, averaged over pools and
the first five draws. `--report` renders what is recorded and runs nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import draws

REFERENCE = "PTGP"
SCORES = ("nmi_true", "nmi_best", "ari_true", "ari_best")
SLOW = ("ECMC-AL", "NMF", "CSPA", "HGPA")
SLOW_DRAWS = 10
SEEDS = range(5)
SEED_DRAWS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--members", type=int, nargs="+", default=[10, 20, 30])
    parser.add_argument("--methods", nargs="+", default=None)
    parser.add_argument("--records", type=Path, default=draws.RECORDS)
    parser.add_argument("--report", action="store_true", help="run nothing, show what there is")
    options = parser.parse_args()
    names = options.methods or [
        name for name in draws.variants() if name[-3:] not in ("-CL", "-SL")
    ]
    if not options.report:
        _run(names, options.draws, options.members, options.records)
    records = [r for r in draws.read(options.records) if r["method"] in names]
    print("# Ranking on the authors' pools\n")
    print(_about(records))
    for members in options.members:
        print(report([r for r in records if r["members"] == members], members))


def _run(names: list[str], n_draws: int, members: list[int], records: Path) -> None:
    fast = [name for name in names if name not in SLOW]
    slow = [name for name in names if name in SLOW]
    for m in members:
        draws.run(fast, n_draws, [m], records=records)
        draws.run(slow, min(n_draws, SLOW_DRAWS), [m], records=records)
    draws.run(names, min(n_draws, SEED_DRAWS), [10], SEEDS, records=records)


def report(records: list[dict[str, Any]], members: int) -> str:
    """Return the table for one size of ensembles."""
    first = [r for r in records if r["seed"] == 0]
    cells = {(r["method"], r["pool"], r["draw"]): r for r in first}
    names = sorted({r["method"] for r in first}, key=lambda name: -_mean(cells, name, "nmi_true"))
    ranks = _mean_ranks(cells, names)
    lines = [
        f"\n## M = {members}\n",
        (
            "| method | draws | NMI true k | NMI best k | ARI true k | ARI best k | mean rank |"
            f" NMI true k less {REFERENCE} (± over draws, ± over pools) | CPU s | seed spread |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        n_draws = len({draw for method, _, draw in cells if method == name})
        scores = " | ".join(_shown(_mean(cells, name, score)) for score in SCORES)
        seconds = _mean(cells, name, "cpu_seconds")
        lines.append(
            f"| {name} | {n_draws} | {scores} | {ranks.get(name, '-')} |"
            f" {_difference(cells, name)} | {seconds:.2f} | {_spread(records, name)} |"
        )
    return "\n".join(lines)


def _about(records: list[dict[str, Any]]) -> str:
    """Return what the tables show, in words."""
    text = (__doc__ or "").split("\n\n")[-1].replace("\n", " ").strip()
    pools = ", ".join(sorted({r["pool"] for r in records}))
    return (
        f"Pools: {pools}. {text.partition(' `--report`')[0].removeprefix('Prints Markdown. ')}"
        " Made by `python -m benchmarks.ranking`; the protocol is in `benchmarks/draws.py`."
    )


def _values(cells: dict[Any, Any], name: str, score: str) -> dict[tuple[str, int], float]:
    return {
        (pool, draw): r[score]
        for (method, pool, draw), r in cells.items()
        if method == name and r[score] is not None
    }


def _mean(cells: dict[Any, Any], name: str, score: str) -> float:
    values = list(_values(cells, name, score).values())
    return float(np.mean(values)) if values else float("nan")


def _mean_ranks(cells: dict[Any, Any], names: list[str]) -> dict[str, str]:
    """Return mean ranks among the methods that were run on every ensemble."""
    scores = {name: _values(cells, name, "nmi_true") for name in names}
    most = max(len(found) for found in scores.values())
    complete = [name for name in names if len(scores[name]) == most]
    table = np.array([[scores[name][key] for key in scores[complete[0]]] for name in complete])
    better = (table[None, :, :] > table[:, None, :]).sum(axis=1)
    ties = (table[None, :, :] == table[:, None, :]).sum(axis=1) - 1
    ranks = (1 + better + ties / 2).mean(axis=1)
    return {name: f"{rank:.1f}" for name, rank in zip(complete, ranks, strict=True)}


def _difference(cells: dict[Any, Any], name: str) -> str:
    ours, reference = (_values(cells, method, "nmi_true") for method in (name, REFERENCE))
    common = set(ours) & set(reference)
    if name == REFERENCE or not common:
        return "-"
    pools = sorted({p for p, _ in common})
    numbers = sorted({d for _, d in common if all((p, d) in common for p in pools)})
    table = np.array([[ours[p, d] - reference[p, d] for d in numbers] for p in pools])
    over_draws, over_pools = (_error(table.mean(axis=axis)) for axis in (0, 1))
    return f"{table.mean():+.4f} (± {over_draws:.4f}, ± {over_pools:.4f})"


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _spread(records: list[dict[str, Any]], name: str) -> str:
    found: dict[Any, list[float]] = {}
    for r in records:
        if r["method"] == name and r["draw"] < SEED_DRAWS:
            found.setdefault((r["pool"], r["draw"]), []).append(r["nmi_true"])
    spreads = [np.std(values, ddof=1) for values in found.values() if len(values) > 1]
    return f"{np.mean(spreads):.4f}" if spreads else "not measured"


def _shown(value: float) -> str:
    return "not measured" if np.isnan(value) else f"{value:.4f}"


if __name__ == "__main__":
    main()
