"""Speed by commit: measure revisions of this repository, and show which commit became slower.

python -m benchmarks.history run [REVISION ...]       measure and store; default: the working tree
python -m benchmarks.history show [--slower 1.3]      the table; exit status 1 if the last is slower

`run` checks out each revision in a temporary folder and measures it with the tasks of this file,
one thread, each task three times after a first run that compiles. A measurement is the least of the
three in CPU seconds, divided by the seconds of a fixed NumPy program in the same process; so
revisions measured on different machines, or under load, can be compared roughly. Results are lines
of benchmarks/history.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve()
RECORDS = HERE.with_name("history.jsonl")
REPEATS = 3
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "show", "measure"])
    parser.add_argument("revisions", nargs="*")
    parser.add_argument("--slower", type=float, default=1.3, help="ratio that counts as slower")
    given = parser.parse_args()
    if given.what == "measure":  # in the process of one revision
        print(json.dumps(measure()))
        return 0
    if given.what == "run":
        for revision in given.revisions or [None]:
            run(revision)
    return show(given.slower)


def run(revision: str | None) -> None:
    """Measure a revision, or the working tree, and append the record."""
    root = HERE.parents[1]
    if revision is None:
        store(git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain") else ""), root)
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git("worktree", "add", "--detach", str(tree), revision)
        try:
            store(git("rev-parse", revision), tree)
        finally:
            git("worktree", "remove", "--force", str(tree))


def store(commit: str, tree: Path) -> None:
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(tree / "src")}
    words = [sys.executable, str(HERE), "measure"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    date = git("show", "-s", "--format=%cI", commit.removesuffix("+"))
    record = {"commit": commit, "date": date, "ratios": json.loads(done.stdout)}
    with RECORDS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=HERE.parent, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def show(slower: float) -> int:
    """Print the ratios of the last revisions; return 1 if the last one became slower."""
    if not RECORDS.exists():
        sys.exit(f"There are no records in {RECORDS.name}. Run: python -m benchmarks.history run")
    records = {}
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        records[record["commit"]] = record  # the last measurement of a commit
    last = sorted(records.values(), key=lambda record: record["date"])[-6:]
    print("CPU time of tasks, in units of a fixed NumPy program")
    print(f"{'':22}" + "".join(f"{record['commit'][:8]:>10}" for record in last))
    status = 0
    for task in last[-1]["ratios"]:
        values = [record["ratios"].get(task) for record in last]
        line = f"{task:22}" + "".join(f"{'' if v is None else f'{v:.2f}':>10}" for v in values)
        before = [value for value in values[:-1] if value is not None]
        if before and values[-1] > slower * before[-1]:
            line += f"   {values[-1] / before[-1]:.1f} times the time of the revision before"
            status = 1
        print(line)
    return status


def measure() -> dict[str, float]:
    warnings.simplefilter("ignore")
    unit = least(yardstick)
    return {name: round(least(task) / unit, 4) for name, task in tasks().items()}


def least(task: Callable[[], object]) -> float:
    task()
    seconds = []
    for _ in range(REPEATS):
        begun = time.process_time()
        task()
        seconds.append(time.process_time() - begun)
    return min(seconds)


def yardstick() -> None:
    rows = np.random.default_rng(0).random((400, 400))
    for _ in range(10):
        np.sort(rows @ rows, axis=1)


def tasks() -> dict[str, Callable[[], object]]:
    """Return the tasks by name; they use public names only, which all revisions have."""
    import ensemblage as en

    few, many = noisy(2_000, 20), noisy(20_000, 20)
    repeated = noisy(500, 10)[np.random.default_rng(1).integers(0, 500, 1_000_000)]
    file = Path(tempfile.mkdtemp(), "votes.csv")
    header = ",".join(f"m{m}" for m in range(20))
    np.savetxt(file, many, fmt="%d", delimiter=",", header=header, comments="")
    return {
        "microclusters": lambda: en.microclusters(repeated),
        "Consensus, 2,000 rows": lambda: en.Consensus(10, random_state=0).fit(few),
        "Consensus, 20,000 rows": lambda: en.Consensus(10, random_state=0).fit(many),
        "PTGP, 2,000 rows": lambda: en.PTGP(10, random_state=0).fit(few),
        "PTA, 2,000 rows": lambda: en.PTA(10).fit(few),
        "EAC, 2,000 rows": lambda: en.EAC(10).fit(few),
        "Vote, 20,000 rows": lambda: en.Vote(10).fit(many),
        "choose_k, 2,000 rows": lambda: en.Consensus(random_state=0).fit(few),
        "read a CSV": lambda: en.tables.read(str(file)),
    }


def noisy(n: int, n_members: int) -> np.ndarray:
    """Return votes of members that each mistake a third of the objects of ten planted groups."""
    rng = np.random.default_rng(0)
    planted = rng.integers(0, 10, n)
    votes = np.tile(planted[:, None], (1, n_members))
    wrong = rng.random(votes.shape) < 0.3
    votes[wrong] = rng.integers(0, 10, wrong.sum())
    return votes


if __name__ == "__main__":
    sys.exit(main())
