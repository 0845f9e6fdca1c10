"""Mistakes made by hand outside the kernels, and which of them no test notices.

python tools/hand_mutants.py [WORD ...] [--list FILE] [--jobs 1]

Each entry of tools/hand_mutants.toml changes one place of one module, as a hurried person might: a
check left out, a border off by one, axes swapped, a seed or a weight not used. It is run against
the tests of that module that the entry names, in a process of its own, without a change of any
file. With words, only entries whose file or description holds one of them. A survivor that changes
no result says why under `survives`. Others that survive, and entries that no longer fit the code,
are printed and make the exit code 1.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import multiprocessing
import os
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "ensemblage"
LIST = ROOT / "tools" / "hand_mutants.toml"
SECONDS = 900.0
_OPTIONS = (
    *("-q", "-x", "--assert=plain", "-p", "no:cacheprovider", "--tb=no"),
    "--hypothesis-profile=quick",
)
_FORK = multiprocessing.get_context("fork")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="parts of files or descriptions")
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    entries = tomllib.loads(asked.list.read_text(encoding="utf-8"))["mutant"]
    wanted = [
        entry
        for entry in entries
        if not asked.words or any(word in entry["file"] + entry["what"] for word in asked.words)
    ]
    _preload()
    outcomes: list[str] = []
    running: list[tuple[dict[str, Any], Any, float]] = []
    for entry in wanted:
        changed = changed_text(entry)
        if changed is None:
            outcomes.append(_told(entry, "does not fit", 0.0))
            continue
        child = _FORK.Process(target=_ask, args=(entry["file"], changed, entry["tests"]))
        child.start()
        running.append((entry, child, time.monotonic()))
        running = _settled(running, outcomes, asked.jobs - 1)
    _settled(running, outcomes, 0)
    kinds = ("noticed", "explained", "survived", "does not fit")
    print(f"{len(wanted)} mutants: " + ", ".join(f"{outcomes.count(k)} {k}" for k in kinds))
    return int(any(outcome in kinds[2:] for outcome in outcomes))


def changed_text(entry: dict[str, Any]) -> str | None:
    """Return the module with the mistake in it, or None if its place is not there once."""
    text = (PACKAGE / entry["file"]).read_text(encoding="utf-8")
    if text.count(entry["old"]) != 1 or entry["old"] == entry["new"]:
        return None
    return text.replace(entry["old"], entry["new"])


def _settled(running: list[Any], outcomes: list[str], n_left: int) -> list[Any]:
    """Wait until no more than so many run; print what became of the others."""
    while len(running) > n_left:
        time.sleep(0.05)
        still = []
        for entry, child, begun in running:
            late = time.monotonic() - begun > SECONDS
            if child.is_alive() and not late:
                still.append((entry, child, begun))
                continue
            child.kill()
            child.join()
            survived = not late and child.exitcode == 0
            outcome = "noticed" if not survived else "survived"
            if survived and entry.get("survives"):
                outcome = "explained"
            outcomes.append(_told(entry, outcome, time.monotonic() - begun))
        running = still
    return running


def _told(entry: dict[str, Any], outcome: str, seconds: float) -> str:
    print(f"{outcome:12} {seconds:5.0f} s  {entry['file']}: {entry['what']}", flush=True)
    return outcome


def _preload() -> None:
    """Import once what every forked process needs, but nothing of ensemblage."""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    sys.dont_write_bytecode = True
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in (
        *("pytest", "hypothesis.extra.numpy", "pandas", "scipy.sparse.linalg", "sklearn.cluster"),
        *("scipy.cluster.hierarchy", "scipy.optimize", "typer.testing", "jinja2"),
        *("pyarrow.parquet", "pyarrow.csv", "numba"),
    ):
        importlib.import_module(name)


def _ask(file: str, changed: str, tests: list[str]) -> None:
    """Run tests with a changed module; the exit code is 0 if all pass. For a process of its own."""
    import pytest

    plain = importlib.machinery.SourceFileLoader.get_code
    name_of = ".".join(["ensemblage", *Path(file).with_suffix("").parts]).removesuffix(".__init__")

    def get_code(self: Any, name: str) -> Any:
        if name == name_of:
            return compile(changed, str(PACKAGE / file), "exec")
        return plain(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(ROOT)
    os._exit(int(pytest.main([*_OPTIONS, *tests])))


if __name__ == "__main__":
    sys.exit(main())
