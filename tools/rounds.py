"""Every test repeated on a busy machine, to find tests whose outcome depends on timing.

python tools/rounds.py [--rounds 10] [--workers 4] [--busy 1]

By default pytest has twice as many workers as there are cores, beside a process that only computes.
Cases of hypothesis are the same in each round, so few are generated (the profile "quick").
Failures are printed as they occur, with one line for each round; any makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--busy", type=int, default=1, help="processes that compute all the time")
    asked = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(asked.busy)]
    try:
        failed = sum(_round(number, asked.workers) > 0 for number in range(1, asked.rounds + 1))
    finally:
        for process in busy:
            process.kill()
    print(f"{asked.rounds} rounds, {failed} with a failure")
    return bool(failed)


def _round(number: int, workers: int) -> int:
    """Run all tests once, print the failures, and return their number."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        done = subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", f"--numprocesses={workers}",
                "--dist=worksteal", "--hypothesis-profile=quick", f"--junit-xml={report}",
            ],
            capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
        if done.returncode not in {0, 1} or not report.exists():
            sys.exit(f"round {number} was not finished:\n{done.stdout[-6000:]}\n{done.stderr}")
        cases = list(ElementTree.parse(report).iter("testcase"))
    failures = [(case, what) for case in cases for what in case if what.tag in {"failure", "error"}]
    for case, what in failures:
        print(f"failed: {case.get('classname')}::{case.get('name')}\n{(what.text or '')[-3000:]}")
    minutes, load = (time.monotonic() - begun) / 60, os.getloadavg()[2]
    counts = f"{len(cases):,} tests, {len(failures)} failed"
    print(f"round {number}: {counts}, {minutes:.1f} min, load {load:.0f}", flush=True)
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
