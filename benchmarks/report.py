"""Time, memory and size of reports, from files of votes to the page, as a user runs them.

python -m benchmarks.report [--million]      --million adds the three ensembles of 10^6 objects
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.inputs import kdd_like, mixture

_RUN = "from quorate.cli import main; main()"


def cases(*, million: bool) -> dict[str, np.ndarray]:
    """Return the ensembles by name."""
    found = {
        "8 objects, 3 members": np.random.default_rng(0).integers(0, 3, (8, 3)),
        "10,000 objects, 60 members": mixture(10_000, 60, 0.3),
    }
    if million:
        found["10^6 objects, 10 members"] = kdd_like(1_000_000)
        found["10^6 objects, 10 members, 4,000 rows"] = spread(mixture(4000, 10, 0.3))
        found["10^6 objects, 60 members, 4,000 rows"] = spread(mixture(4000, 60, 0.3))
    return found


def spread(rows: np.ndarray) -> np.ndarray:
    """Return a million objects with these votes."""
    return rows[np.random.default_rng(1).integers(0, len(rows), 1_000_000)]


def write_csv(path: Path, votes: np.ndarray) -> None:
    """Write votes with an id for each object, as a user has them."""
    header = ",".join(["id", *(f"member_{place}" for place in range(1, votes.shape[1] + 1))])
    ids = np.arange(len(votes))[:, None]
    np.savetxt(path, np.hstack([ids, votes]), fmt="%d", delimiter=",", header=header, comments="")


def main() -> None:
    print(f"{'':40}{'CSV':>9}{'wall':>9}{'CPU':>9}{'peak':>9}{'page':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, votes in cases(million="--million" in sys.argv).items():
            source, page = Path(folder, "votes.csv"), Path(folder, "report.html")
            write_csv(source, votes)
            command = ["report", str(source), "-k", "3" if len(votes) < 10 else "20"]
            begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-c", _RUN, *command, "-o", str(page), "--quiet"], check=True
            )
            wall = time.perf_counter() - begun
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"{name:40}{source.stat().st_size / 1e6:6.1f} MB{wall:7.1f} s{cpu:7.1f} s"
                f"{after.ru_maxrss / 1e6:6.2f} GB{page.stat().st_size / 1e6:6.2f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
