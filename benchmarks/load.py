"""Inputs at the edge of what fits: each must work, or be refused early with the reason.

python -m benchmarks.load [CASE ...] [--methods auto,ptgp,eac,pta,vote] [--seconds 600]

Each case runs each method in a separate process, which prints one line: what became of it, wall
and CPU seconds, and the memory at the peak above that of the votes. A refusal is a
`MemoryBudgetError`; its line shows how long it took and what it had taken by then.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import ensemblage as en
from benchmarks.inputs import kdd_like, mixture
from ensemblage._memory import peak_memory

if TYPE_CHECKING:
    from collections.abc import Callable


def many_objects() -> tuple[Any, int]:
    """10^8 objects, 10 clusterings, about 300 different rows, in bytes."""
    return kdd_like(10**8), 23


def many_members() -> tuple[Any, int]:
    """1,000 clusterings of 5,000 objects into 2 to 10 clusters, no two rows alike."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(5000, 4)) + 3 * rng.integers(0, 4, (5000, 1))
    members = []
    for _ in range(1000):
        seeds = points[rng.choice(5000, rng.integers(2, 11), replace=False)]
        members.append(((points[:, None] - seeds) ** 2).sum(axis=2).argmin(axis=1))
    return np.column_stack(members).astype(np.uint8), 10


def wide() -> tuple[Any, int]:
    """5,000 clusterings of 1,000 objects into 10 clusters each, a fifth of the votes wrong."""
    rng = np.random.default_rng(0)
    votes = np.repeat((np.arange(1000) % 10)[:, None], 5000, axis=1)
    wrong = rng.random(votes.shape) < 0.2
    votes[wrong] = rng.integers(0, 10, wrong.sum())
    return votes.astype(np.uint8), 10


def tall_with_gaps() -> tuple[Any, int]:
    """200,000 objects, 30 clusterings, no two rows alike, a fifth of the votes missing."""
    votes = all_different()[0].astype(np.int16)
    votes[np.random.default_rng(1).random(votes.shape) < 0.2] = -1
    votes[(votes < 0).all(axis=1), 0] = 0
    return votes, 20


def many_clusters_wanted() -> tuple[Any, int]:
    """20,000 objects, 30 clusterings, cut into 5,000 clusters."""
    return mixture(20_000, 30, 0.4), 5000


def all_different() -> tuple[Any, int]:
    """200,000 objects, 30 clusterings, no two rows alike."""
    votes = mixture(230_000, 30, 0.8)
    return np.unique(votes, axis=0)[:200_000], 20


def many_clusters_given() -> tuple[Any, int]:
    """200,000 objects; one clustering has 100,000 clusters, nine have 20 to 55."""
    votes = kdd_like(200_000, np.int32)
    votes[:, 3] = np.random.default_rng(0).permutation(200_000) // 2
    return votes, 20


def crossed() -> tuple[Any, int]:
    """Two clusterings that cross: 19,881 rows, each tied with 280 others."""
    rows = np.arange(141 * 141)
    return np.column_stack([rows // 141, rows % 141]), 20


CASES: dict[str, Callable[[], tuple[Any, int]]] = {
    "objects": many_objects,
    "members": many_members,
    "wide": wide,
    "wanted": many_clusters_wanted,
    "different": all_different,
    "gaps": tall_with_gaps,
    "given": many_clusters_given,
    "crossed": crossed,
}


def attempt(method: str, votes: Any, n_clusters: int, send: Any) -> None:
    """Fit, and send what became of it."""
    estimator = en.METHODS[method](n_clusters)
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(), peak_memory() as peak:
        warnings.simplefilter("ignore")
        try:
            estimator.fit(votes)
            said = (
                f"works, {estimator.n_microclusters_:,} microclusters, k = {estimator.n_clusters_}"
            )
        except (en.MemoryBudgetError, ValueError) as error:
            said = f"refused: {error}"
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    taken = "?" if peak.n_bytes is None else f"{peak.n_bytes / 1e6:,.0f}"
    send.send(f"{wall:7.1f} s {cpu:7.1f} CPU-s {taken:>7} MB  {said}")


def run(case: str, methods: list[str], seconds: float) -> None:
    """Make the votes once, and give them to each method in a fork."""
    votes, n_clusters = CASES[case]()
    print(f"{case}: {CASES[case].__doc__} Votes: {votes.nbytes / 1e6:,.0f} MB.", flush=True)
    for method in methods:
        receive, send = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=attempt, args=(method, votes, n_clusters, send)
        )
        process.start()
        send.close()
        try:
            line = receive.recv() if receive.poll(seconds) else f"not done in {seconds:.0f} s"
        except EOFError:
            line = "died"
        if process.is_alive():
            process.kill()
        process.join()
        print(f"  {method:7}{line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--methods", default="auto,ptgp,eac,pta,vote", help="names, or all")
    parser.add_argument("--seconds", type=float, default=600.0, help="at most, for each")
    given = parser.parse_args()
    methods = list(en.METHODS) if given.methods == "all" else given.methods.split(",")
    unknown = sorted(({*given.cases} - {*CASES}) | ({*methods} - {*en.METHODS}))
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; cases: {', '.join(CASES)}")
    for case in given.cases or CASES:
        run(case, methods, given.seconds)


if __name__ == "__main__":
    main()
