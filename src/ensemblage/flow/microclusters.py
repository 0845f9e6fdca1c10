"""Microclusters: objects with identical votes (the paper's Definition 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage._types import Microclusters
from ensemblage.flow import _hashing
from ensemblage.flow._index import MicroclusterIndex
from ensemblage.flow._packing import layout_of, ranges
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray

#: Steps of NumPy for a vote in sorting.
_STEPS_OF_SORTING = 16


def microclusters(
    votes: IntArray, *, n_jobs: int | None = None
) -> tuple[Microclusters, list[NDArray[np.int64]]]:
    """Return the microclusters of integer `votes`, and the vote of each code."""
    if votes.size and not worth_a_kernel(_STEPS_OF_SORTING * votes.size):
        return _microclusters_of_few(votes)
    index = MicroclusterIndex(votes.shape[1])
    of_object = index.add(votes, n_jobs=n_jobs)
    codes, labels = index.codes()
    return Microclusters(codes, index.sizes(), of_object), labels


def _microclusters_of_few(votes: IntArray) -> tuple[Microclusters, list[NDArray[np.int64]]]:
    """Do the same by sorting."""
    layout_of(*ranges(votes))  # rejects the same votes
    codes, labels = np.empty(votes.shape, dtype=np.int32), []
    of_object = np.zeros(len(votes), dtype=np.int64)
    for m, column in enumerate(votes.T):
        values, numbers = _by_appearance(column.astype(np.int64))
        voted = values != -1
        code_of = np.where(voted, np.cumsum(voted) - 1, -1)
        codes[:, m] = code_of[numbers]
        labels.append(values[voted])
        of_object = _by_appearance(of_object * len(values) + numbers)[1]
    first = np.unique(of_object, return_index=True)[1]
    sizes = np.bincount(of_object)
    return Microclusters(codes[first], sizes, of_object.astype(np.int32)), labels


def _by_appearance(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values in order of appearance, and the number of each value in it."""
    distinct, first, numbers = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[numbers]


def find_rows(rows: IntArray, known: IntArray) -> NDArray[np.int32]:
    """Return the position of each row of votes in `known`, whose rows differ; -1 if absent."""
    if worth_a_kernel(_STEPS_OF_SORTING * (rows.size + known.size)):
        index = MicroclusterIndex(known.shape[1])
        index.add(known)
        return index.lookup(rows)
    places = microclusters(np.concatenate([known, rows]))[0].of_object[len(known) :]
    return np.where(places < len(known), places, np.int32(-1))


def spread(values: IntArray, of_object: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each object the value of its microcluster."""
    if not worth_a_kernel(_STEPS_OF_SORTING * len(of_object)):
        return values[of_object].astype(np.int64, copy=False)
    out = np.empty(len(of_object), dtype=np.int64)
    _hashing.take(np.ascontiguousarray(values), of_object, out)
    return out
