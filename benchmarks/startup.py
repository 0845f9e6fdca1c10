"""What starting costs: importing, asking for help, the first and later runs on a small file.

python -m benchmarks startup

The first run of a command has an empty cache of kernels, the second finds what the first has
compiled. CPU seconds are those of the whole process, user and system; kernels are specialisations
that were compiled and kept.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

OBJECTS, MEMBERS = 200, 10
COMMANDS = {
    "consensus": "consensus votes.csv -k 3 -o labels.csv",
    "consensus, k chosen": "consensus votes.csv -k auto -o labels.csv",
    **{
        f"consensus by {name}": f"consensus votes.csv -k 3 -m {name} -o labels.csv"
        for name in ("lwea", "lwgp", "eac", "ptgp", "vote")
    },
    "report": "report votes.csv -k 3 -o report.html",
    "generate": f"generate features.csv -m {MEMBERS} -o members.csv",
}


def main() -> None:
    ensemblage = [sys.executable, "-m", "ensemblage"]
    print(f"{'':32} {'wall s':>7} {'CPU s':>7} {'kernels':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write(folder)
        for name in ("numpy", "ensemblage", "ensemblage.methods"):
            _line(f"import {name}", [sys.executable, "-c", f"import {name}"], folder, "cache")
        _line("ensemblage --help", [*ensemblage, "--help"], folder, "cache")
        for name, words in COMMANDS.items():
            call = [*ensemblage, *words.split()]
            _line(f"{name}: first", call, folder, name)
            _line(f"{name}: second", call, folder, name)


def _write(folder: Path) -> None:
    """Write features of three groups, and clusterings of them that mostly agree."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, OBJECTS)
    features = rng.normal(size=(3, 4))[groups] * 4 + rng.normal(size=(OBJECTS, 4))
    wrong = rng.random((OBJECTS, MEMBERS)) < 0.15
    finer = groups[:, None] * 3 + rng.integers(0, 3, (OBJECTS, MEMBERS))
    votes = np.where(wrong, rng.integers(0, 9, (OBJECTS, MEMBERS)), finer)
    for name, table in (("votes", votes), ("features", features.round(4))):
        lines = [f"o{i}," + ",".join(map(str, row)) for i, row in enumerate(table.tolist())]
        header = ",".join(["id", *(f"c{m}" for m in range(table.shape[1]))])
        (folder / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")


def _line(name: str, call: list[str], folder: Path, cache: str) -> None:
    """Print what a call in `folder` costs, with the cache of that name."""
    kernels = folder / "caches" / cache
    kept = len(list(kernels.rglob("*.nbc")))
    before, begun = _cpu_of_children(), time.perf_counter()
    env = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
    subprocess.run(call, check=True, capture_output=True, env=env, cwd=folder)
    wall, cpu = time.perf_counter() - begun, _cpu_of_children() - before
    n_kernels = len(list(kernels.rglob("*.nbc"))) - kept
    print(f"{name:32} {wall:7.2f} {cpu:7.2f} {n_kernels:8}", flush=True)


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
