"""Balanced parts: limits on their weights, and moves that satisfy them.

Partitions into k parts are made by bisection, the larger side to be bisected again. A side that
is to become k₀ of k parts should have the share k₀/k of the weight. The limits here can always be
satisfied: they leave room to round to the nearest vertex.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray


def spread_by_weight(weights: IntArray, n_parts: int) -> NDArray[np.int64]:
    """Return parts of nearly equal weight: the heaviest vertex first, always to the lightest."""
    parts = np.empty(len(weights), dtype=np.int64)
    loads = [(0, 0, part) for part in range(n_parts)]
    for vertex in np.argsort(-weights, kind="stable").tolist():
        load, count, part = loads[0]
        parts[vertex] = part
        heapq.heapreplace(loads, (load + int(weights[vertex]), count + 1, part))
    return parts


def giants(weights: IntArray, n_parts: int) -> NDArray[np.int64]:
    """Return the vertices that alone weigh more than a part should, the heaviest first.

    Each becomes a separate part; later ones are judged without the earlier ones.
    """
    giants: list[int] = []
    left = int(weights.sum())
    for vertex in np.argsort(-weights, kind="stable").tolist():
        parts_left = n_parts - len(giants)
        if parts_left <= 1 or weights[vertex] * parts_left <= left:
            break
        giants.append(vertex)
        left -= int(weights[vertex])
    return np.array(giants, dtype=np.int64)


def side_limits(
    weights: IntArray, n_parts: tuple[int, int], tolerance: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the target and the limit of the weight of either side of a bisection.

    A side has its share, in proportion to its number of parts. It should not exceed it by more than
    `tolerance` of the whole weight, half of a mean vertex, or the needs of the parts of
    `spread_by_weight`, whichever is most. It may exceed it by half of the heaviest vertex, which is
    always sufficient.
    """
    total, whole = int(weights.sum()), sum(n_parts)
    shares = np.array(n_parts) * (total / whole)
    in_second = spread_by_weight(weights, whole) >= n_parts[0]
    greedy = np.abs(np.bincount(in_second, weights, 2) - shares).max()
    room = max(tolerance * total, total / len(weights) / 2, greedy)
    most = max(room, int(weights.max()) / 2)
    return (shares + room + 1e-9).astype(np.int64), (shares + most + 1e-9).astype(np.int64)


class Gains(Protocol):
    """Reduction of the cut if one vertex changed sides."""

    def of(self, vertices: IntArray) -> FloatArray:
        """Return the gain of moving each of the vertices to the other side."""
        ...

    def move(self, vertex: int) -> None:
        """Record a move."""
        ...


def settle(
    sides: NDArray[np.int64],
    weights: IntArray,
    n_parts: tuple[int, int],
    limits: IntArray,
    gains: Gains,
) -> NDArray[np.int64]:
    """Return sides with a vertex for each of their parts, within the limits.

    Vertices change sides as needed, those with the least cost to the cut first. If moves of single
    vertices do not suffice, the sides come from the parts of `spread_by_weight`.
    """
    sides = sides.copy()
    loads = np.bincount(sides, weights, 2).astype(np.int64)
    counts = np.bincount(sides, minlength=2)

    def move_best(vertices: IntArray) -> None:
        vertex = int(vertices[gains.of(vertices).argmax()])
        old, new = sides[vertex], 1 - sides[vertex]
        sides[vertex] = new
        loads[old] -= weights[vertex]
        loads[new] += weights[vertex]
        counts[old] -= 1
        counts[new] += 1
        gains.move(vertex)

    for side in (0, 1):
        while counts[side] < n_parts[side]:
            move_best(np.flatnonzero(sides != side))
    while (loads > limits).any():
        side = int((loads - limits).argmax())
        vertices = np.flatnonzero((sides == side) & (weights > 0))
        excess = loads[1 - side] + weights[vertices] - limits[1 - side]
        better = excess <= 0
        if not better.any():
            better = excess < loads[side] - limits[side]
        if not better.any() or counts[side] == n_parts[side]:
            return (spread_by_weight(weights, sum(n_parts)) >= n_parts[0]).astype(np.int64)
        move_best(vertices[better])
    return sides
