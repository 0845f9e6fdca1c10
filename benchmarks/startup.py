"""What starting costs: importing, asking for help, the first and later runs on a small file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    ensemblage = str(Path(sys.executable).with_name("ensemblage"))
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "votes.csv"
        lines = [f"o{i},{i % 3},{i % 4},{i // 30}" for i in range(90)]
        votes.write_text("\n".join(["id,a,b,c", *lines]) + "\n")
        consensus = [ensemblage, "consensus", str(votes), "-k", "3", "-o", f"{folder}/out.csv"]
        fresh = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        _report("import numpy", [sys.executable, "-c", "import numpy"])
        _report("import ensemblage", [sys.executable, "-c", "import ensemblage"])
        _report("ensemblage --help", [ensemblage, "--help"])
        for name in ("first consensus ever (kernels compile)", "second", "third"):
            _report(name, consensus, fresh)


def _report(name: str, command: list[str], env: dict[str, str] | None = None) -> None:
    before, begun = _cpu_of_children(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=env)
    wall, cpu = time.perf_counter() - begun, _cpu_of_children() - before
    print(f"{name:40} {wall:6.2f} s, CPU {cpu:6.2f} s", flush=True)


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
