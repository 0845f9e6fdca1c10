"""Runs of the command killed at random points again and again, and what is left compared.

python tools/kill.py [--minutes 10] [--seed 0]        (`make faults`)

Each round takes a job, kills it (SIGKILL, all its processes) one to three times at random points,
and lets it end: the output must be that of an undisturbed run. Prints how many kills there were, at
how many different points, and ends with an error at the first difference.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import fault_jobs


def main():
    parser = argparse.ArgumentParser(description="Kill runs at random points.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    until = time.monotonic() + 60 * given.minutes
    kills, points = Counter(), {name: set() for name in fault_jobs.JOBS}
    n_twice = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        whole = {
            name: fault_jobs.undisturbed(job, folder / name)
            for name, job in fault_jobs.JOBS.items()
        }
        n_rounds = 0
        while time.monotonic() < until:
            name = list(fault_jobs.JOBS)[n_rounds % len(fault_jobs.JOBS)]
            expected, n_pieces = whole[name]
            at = sorted(rng.integers(0, n_pieces + 1, rng.integers(1, 4)).tolist())
            pause = float(rng.random() * 0.2)
            done = fault_jobs.kill_and_go_on(
                fault_jobs.JOBS[name], folder / f"round-{n_rounds}", expected, at, pause
            )
            once = [piece for piece in done if not piece.endswith((".json", ".npz"))]
            n_twice += len(once) - len(set(once)) if name != "dask" else 0
            kills[name] += len(at)
            points[name] |= {(n_done, round(pause, 2)) for n_done in at}
            n_rounds += 1
    for name, n_kills in kills.items():
        print(f"{name:10} {n_kills:5} kills at {len(points[name]):5} points: all as undisturbed")
    print(f"{n_rounds} rounds; {n_twice} finished pieces were made again")


if __name__ == "__main__":
    main()
