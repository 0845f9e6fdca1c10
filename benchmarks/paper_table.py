"""Methods on the authors' pools beside the paper's table: ours, theirs, the difference.

python -m benchmarks.paper_table [METHOD ...] [--draws 100] [--records FILE]

Methods are named as in the paper (default: PTA-AL and PTGP). NMI is the paper's (max), averaged
over draws of M = 10; see `benchmarks.draws` for the protocol. Needs the folder QUORATE_DATA
(default ../shared) with `pools/` and `paper/`. Interrupt it and start it again: finished draws are
kept.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks import draws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("methods", nargs="*", default=["PTA-AL", "PTGP"], metavar="METHOD")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--records", type=Path, default=draws.RECORDS)
    options = parser.parse_args()
    unknown = sorted(set(options.methods) - set(draws.variants()))
    if unknown:
        parser.error(f"no method {', '.join(unknown)}; there are {', '.join(draws.variants())}")
    records = draws.run(options.methods, options.draws, records=options.records)
    paper = json.loads((draws.DATA / "paper" / "tables.json").read_text())["comparison_nmi"]
    print(f"{options.draws} draws of 10 members; mean NMI (max) ± standard error")
    for method in options.methods:
        print(f"\n{method:8} k      ours             paper   difference")
        differences = []
        for pool in draws.POOLS:
            mine = [r for r in records if (r["pool"], r["method"]) == (pool, method)]
            for which in ("best", "true"):
                scores = np.array([r[f"nmi_{which}"] for r in mine], dtype=float)
                theirs = paper.get(method, {}).get(pool, {}).get(f"{which}_k")
                print(_line(pool, which, scores, theirs, differences))
        if differences:
            size = np.abs(differences)
            print(f"mean absolute difference {size.mean():.4f}, largest {size.max():.4f}")


def _line(
    pool: str, which: str, scores: np.ndarray, theirs: float | None, differences: list[float]
) -> str:
    if np.isnan(scores).any():
        return f"{pool:8} {which}   not measured (no cheap cut)"
    error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    ours = scores.mean()
    text = f"{pool:8} {which}   {ours:.4f} ±{error:.4f}"
    if theirs is None:
        return f"{text}     -"
    differences.append(ours - theirs)
    return f"{text}    {theirs:.3f}   {ours - theirs:+.4f}"


if __name__ == "__main__":
    main()
