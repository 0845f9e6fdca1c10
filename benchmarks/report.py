"""Time, memory and size of reports, from files of votes to the page, as a user runs them.

python -m benchmarks.report [--million]      --million adds the three ensembles of 10^6 objects
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.inputs import kdd_like, mixture

if TYPE_CHECKING:
    from collections.abc import Callable

#: The command, and then its peak memory in kB.
_RUN = """
import resource
from ensemblage.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def cases(*, million: bool) -> dict[str, Callable[[], np.ndarray]]:
    """Return what makes the ensembles, by their names."""
    found = {
        "8 objects, 3 members": lambda: np.random.default_rng(0).integers(0, 3, (8, 3)),
        "10,000 objects, 60 members": lambda: mixture(10_000, 60, 0.3),
    }
    if million:
        found["10^6 objects, 10 members"] = lambda: kdd_like(1_000_000)
        found["10^6 objects, 10 members, 4,000 rows"] = lambda: spread(mixture(4000, 10, 0.3))
        found["10^6 objects, 60 members, 4,000 rows"] = lambda: spread(mixture(4000, 60, 0.3))
    return found


def spread(rows: np.ndarray) -> np.ndarray:
    """Return a million objects with these votes."""
    return rows[np.random.default_rng(1).integers(0, len(rows), 1_000_000)]


def write_csv(path: Path, votes: np.ndarray) -> None:
    """Write votes with an id for each object, as a user has them."""
    header = ",".join(["id", *(f"member_{place}" for place in range(1, votes.shape[1] + 1))])
    ids = np.arange(len(votes))[:, None]
    np.savetxt(path, np.hstack([ids, votes]), fmt="%d", delimiter=",", header=header, comments="")


def prepare(path: Path, make: Callable[[], np.ndarray]) -> int:
    """Write the votes in a separate process, so that their memory is not counted here."""
    process = multiprocessing.get_context("fork").Process(target=lambda: write_csv(path, make()))
    process.start()
    process.join()
    return path.stat().st_size


def main() -> None:
    print(f"{'':40}{'CSV':>9}{'wall':>9}{'CPU':>9}{'peak':>9}{'page':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in cases(million="--million" in sys.argv).items():
            source, page = Path(folder, "votes.csv"), Path(folder, "report.html")
            n_bytes = prepare(source, make)
            k = "3" if name.startswith("8 ") else "20"
            begun, before = time.perf_counter(), os.times()
            done = subprocess.run(
                [sys.executable, "-c", _RUN, "report", source, "-k", k, "-o", page, "--quiet"],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            wall, after = time.perf_counter() - begun, os.times()
            cpu = sum(after[2:4]) - sum(before[2:4])
            print(
                f"{name:40}{n_bytes / 1e6:6.1f} MB{wall:7.1f} s{cpu:7.1f} s"
                f"{int(done.stdout) / 1e6:6.2f} GB{page.stat().st_size / 1e6:6.2f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
