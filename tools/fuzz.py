"""All tests that draw their input, repeated with new seeds for a number of minutes.

python tools/fuzz.py [--minutes 10] [--examples 200]

Files take turns, in a new order in every run, since a short run does not reach all of them. A
failure is printed with the smallest case and the seed that shows it again, and makes the exit code
1. The plain tests always draw the same cases, so a find becomes an @example.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PASSED = re.compile(r"- (\d+) passing, \d+ failing")
STATISTICS = "= Hypothesis Statistics ="


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--examples", type=int, default=200, help="of each test in one turn")
    asked = parser.parse_args()
    files = [path for path in sorted(TESTS.rglob("test_*.py")) if "@given" in path.read_text()]
    random.SystemRandom().shuffle(files)
    begun, drawn, failed = time.monotonic(), 0, 0
    turns = 0
    while time.monotonic() - begun < 60 * asked.minutes:
        path = files[turns % len(files)]
        seed = random.SystemRandom().randrange(2**32)
        code, count, output = _turn(path, seed, asked.examples)
        turns, drawn = turns + 1, drawn + count
        if code:
            failed += 1
            print(output, f"\nfailed: {path.relative_to(TESTS)} --hypothesis-seed={seed}")
        minutes = (time.monotonic() - begun) / 60
        print(f"{minutes:6.1f} min  {drawn:9,} cases  {path.relative_to(TESTS)}", flush=True)
    print(f"{drawn:,} cases in {turns} turns over {len(files)} files; {failed} turns failed")
    return bool(failed)


def _turn(path: Path, seed: int, n_examples: int) -> tuple[int, int, str]:
    """Run the drawing tests of a file; return the exit code, the cases that passed, the output."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", str(path), "-q", "-m", "hypothesis",
            "--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}",
            "--hypothesis-show-statistics",
        ],
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "ENSEMBLAGE_EXAMPLES": str(n_examples)},
    )  # fmt: skip
    count = sum(int(number) for number in PASSED.findall(done.stdout))
    failures, _, _ = done.stdout.partition(STATISTICS)
    return done.returncode, count, failures[-6000:]


if __name__ == "__main__":
    sys.exit(main())
