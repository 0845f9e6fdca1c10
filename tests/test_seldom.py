"""Branches that ordinary input does not take: odd dtypes, failing threads, other systems."""

import os
import threading

import numpy as np
import pytest

import ensemblage as en
from ensemblage._validate import memory
from ensemblage.flow import _threads

VOTES = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1], [2, 1, 3], [2, 1, 3], [2, 2, 3]])


def labels(votes):
    return en.PTA(2).fit_predict(votes).tolist()


def test_votes_in_the_other_order_of_bytes():
    other = ">i4" if np.dtype("<i4").isnative else "<i4"
    assert labels(VOTES.astype(other)) == labels(VOTES)


def test_labels_past_the_range_of_int64():
    huge = np.uint64(2**64 - 1) - VOTES.astype(np.uint64)
    assert labels(huge) == labels(VOTES)
    assert en.Ensemble(huge).microclusters.table.tolist() == (
        en.Ensemble(VOTES).microclusters.table.tolist()
    )


def test_floats_past_the_whole_numbers_are_labels_too():
    votes = VOTES.astype(float)
    votes[votes == 0] = 2.0**60
    assert labels(votes) == labels(VOTES)


def test_infinity_is_no_label():
    votes = VOTES.astype(float)
    votes[0, 0] = np.inf
    with pytest.raises(ValueError, match=r"clustering 0 holds infinity \(inf\). Use -1 or NaN"):
        en.Ensemble(votes)


def test_negative_jobs_count_from_all_cores_down():
    cores = _threads.available_cores()
    assert _threads.n_threads(-1) == cores
    assert _threads.n_threads(-cores) == 1
    assert _threads.n_threads(-cores - 5) == 1


def test_cores_where_the_system_does_not_say_which(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert _threads.available_cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert _threads.available_cores() == 1


def test_a_failure_in_a_thread_is_raised_and_the_rest_is_not_begun():
    begun = []
    both = threading.Barrier(2, timeout=10)

    def work(item):
        begun.append(item)
        if item < 2:
            both.wait()
        if item == 0:
            raise ZeroDivisionError("item 0")
        if item == 1:
            threading.Event().wait(0.2)
        threading.Event().wait(0.01)

    with pytest.raises(ZeroDivisionError, match="item 0"):
        _threads.in_threads(work, range(1000), 2)
    assert len(begun) < 1000


def test_memory_of_a_system_without_proc(monkeypatch):
    def absent(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", absent)
    here = memory._available_to_system()
    monkeypatch.undo()
    assert here == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr("builtins.open", absent)
    monkeypatch.delattr(os, "sysconf")
    there = memory._available_to_system()
    monkeypatch.undo()
    assert there == 8 << 30


@pytest.mark.parametrize(
    ("n_bytes", "words"), [(12, "12 bytes"), (3_400, "3.4 kB"), (5e6, "5.0 MB"), (7e9, "7.0 GB")]
)
def test_sizes_are_formatted(n_bytes, words):
    assert memory._format_size(int(n_bytes)) == words
