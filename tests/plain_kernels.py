"""A pytest plugin that runs every kernel as the Python it is written in (-p plain_kernels).

A tracer then sees the branches that kernels take, and a changed line needs no compiler. What is
written in LLVM's own instructions is replaced by what it says it does. Tests that Python is too
slow for are skipped after `SECONDS` of the processor.
"""

from __future__ import annotations

import signal
import sys

import numba
import numpy as np
import pytest
from numba import extending

SECONDS = 5
#: What ends a test that is too slow. Where an endless loop is a find, TimeoutError tells it.
TOO_SLOW: type[BaseException] = pytest.skip.Exception


def count_tile(strips, strip, votes, counts, slot, levels, hits):
    for r in range(4):
        counts[slot, r] = (strips[strip] == votes[:, r, None]).sum(axis=0)
        hits[r] = reaching(counts[slot], r, levels[r])


def reaching(counts, row, level):
    found = np.flatnonzero(counts.reshape(-1, 64)[row] >= level)
    return np.uint64(sum(1 << bit for bit in found.tolist()))


def lowest_bit(bits):
    number = int(bits)
    return (number & -number).bit_length() - 1


def _row_product(indices, data, start, stop, panel, result, row, keep):
    product = data[start:stop] @ panel[indices[start:stop]]
    result[row] = result[row] + product if keep else product


def _add_squares(panel, n_rows, totals):
    totals += (panel[:n_rows] ** 2).sum(axis=0)


def _prefetch(array, index):
    pass


_TWINS = {
    twin.__name__: twin
    for twin in (count_tile, reaching, lowest_bit, _row_product, _add_squares, _prefetch)
}


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    # Before conftest.py, which imports kernels.
    if "ensemblage.flow" in sys.modules:
        raise pytest.UsageError("kernels were imported before plain_kernels could change them")
    numba.config.DISABLE_JIT = True
    extending.intrinsic = lambda function: _TWINS[function.__name__]


def pytest_configure(config):
    # Sums modulo 2**64 are meant.
    config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")
    # A test that is stopped half-way leaves files open.
    config.addinivalue_line("filterwarnings", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    running = True

    def stop(*_):
        if running:  # the last call of a test may have kept the signal waiting
            raise TOO_SLOW(f"takes more than {SECONDS} CPU-s without a compiler")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return (yield)
    finally:
        running = False
        signal.setitimer(signal.ITIMER_PROF, 0)
