"""Microclusters compared with numpy.unique and pandas.factorize."""

from __future__ import annotations

import numpy as np
import pandas as pd

import ensemblage as en
from benchmarks.inputs import distinct_rows, kdd_like, packed
from benchmarks.measure import cost


def main() -> None:
    print("                                          ours      baseline  ratio  baseline is")
    for dtype in (np.uint8, np.int64):
        votes = kdd_like(494_020, dtype)
        theirs = cost(lambda votes=votes: np.unique(votes, axis=0, return_inverse=True), 1)
        for jobs in (1, None):
            ours = cost(lambda votes=votes, jobs=jobs: en.microclusters(votes, n_jobs=jobs), 9)
            name = f"494,020 x 10 {dtype.__name__}, {_threads(jobs)}"
            _line(name, ours.wall, theirs.wall, "numpy.unique(axis=0)")
    for n_distinct in (300, 100_000):
        for dtype in (np.uint8, np.int64):
            votes = distinct_rows(10**7, n_distinct, dtype)
            keys = packed(votes)
            theirs = cost(lambda keys=keys: pd.factorize(keys), 3)
            for jobs in (1, None):
                ours = cost(lambda votes=votes, jobs=jobs: en.microclusters(votes, n_jobs=jobs))
                name = f"10^7 x 10, {n_distinct} distinct, {dtype.__name__}, {_threads(jobs)}"
                _line(name, ours.wall, theirs.wall, "pandas.factorize of packed keys")
    groups = en.microclusters(votes)
    first_seen = pd.factorize(keys)[0]
    print("agreement with pandas.factorize:", bool((groups.of_object == first_seen).all()))


def _threads(jobs: int | None) -> str:
    return "1 thread" if jobs == 1 else "all threads"


def _line(name: str, ours: float, theirs: float, what: str) -> None:
    ratio = f"1/{theirs / ours:.0f}" if ours < theirs / 10 else f"{ours / theirs:.2f}"
    print(f"{name:40} {1e3 * ours:7.1f} ms {1e3 * theirs:7.0f} ms  {ratio:>6}  {what}", flush=True)
