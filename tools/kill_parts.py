"""Streams killed at random moments, their parts cut, changed, lengthened, swapped or removed.

python tools/kill_parts.py [--kills 200] [--seed 0]

Prints how many kills and damages there were, and ends with an error at the first output with a row
lost, a row twice, or another label.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import fault_parts


def main():
    parser = argparse.ArgumentParser(description="Kill streams and damage their parts.")
    parser.add_argument("--kills", type=int, default=200, help="kills and damages together")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        counts = fault_parts.kill_and_damage(Path(place), given.kills, given.seed)
    for name, count in counts.items():
        print(f"{name:22}{count:6}")
    print(f"every output as undisturbed; {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
