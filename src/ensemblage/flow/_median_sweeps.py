"""Sweeps of a local search for a median partition: every row goes where the loss is least.

A column of `rows` gives the count that each row adds to: for a clustering its cluster, and, after
these, all voters of a clustering (or, if no vote is missing, all rows at once). ``counts[r, c]``
are the objects of count r in cluster c of the estimate. An additive loss is a sum over columns of
coef · Σ φ(counts), and a move changes two entries for each column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._losses import loss_of_sums

#: Losses, times the number of objects, that differ by less are equal.
CLOSE = 1e-9


@kernel
def count(
    rows: Any, sizes: Any, labels: Any, phi: Any, counts: Any, steps: Any, inside: Any
) -> None:
    """Set the state for labels; rows without a label are in no cluster."""
    counts[:] = 0
    inside[:] = 0
    for i in range(len(labels)):
        if labels[i] >= 0:
            inside[labels[i]] += 1
            for j in range(rows.shape[1]):
                if rows[i, j] >= 0:
                    counts[rows[i, j], labels[i]] += sizes[i]
    for r in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            steps[r, c] = phi[counts[r, c] + 1] - phi[counts[r, c]]


@kernel
def column_sums(owner: Any, phi: Any, counts: Any, sums: Any) -> None:
    """Set ``sums[j]`` to Σ φ over the counts of column j."""
    sums[:] = 0.0
    for r in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            sums[owner[r]] += phi[counts[r, c]]


@kernel
def _move(
    i: Any,
    new: Any,
    rows: Any,
    sizes: Any,
    phi: Any,
    labels: Any,
    counts: Any,
    steps: Any,
    inside: Any,
) -> None:
    old, s = labels[i], sizes[i]
    for j in range(rows.shape[1]):
        r = rows[i, j]
        if r >= 0:
            if old >= 0:
                counts[r, old] -= s
                steps[r, old] = phi[counts[r, old] + 1] - phi[counts[r, old]]
            counts[r, new] += s
            steps[r, new] = phi[counts[r, new] + 1] - phi[counts[r, new]]
    if old >= 0:
        inside[old] -= 1
    inside[new] += 1
    labels[i] = new


@kernel
def _used(inside: Any) -> Any:
    """Return an upper bound of the numbers of clusters with rows."""
    used = 0
    for c in range(len(inside)):
        if inside[c] > 0:
            used = c + 1
    return used


@kernel
def _choose(old: Any, stay: Any, values: Any, inside: Any, width: Any, fixed: Any) -> Any:
    """Return the cluster with the least value, -1 to stay; of the empty ones only the first."""
    best, least = -1, stay
    seen_empty = fixed or (old >= 0 and inside[old] == 1)  # no gain for a single row
    for c in range(width):
        if c == old:
            continue
        if inside[c] == 0:
            if seen_empty:
                continue
            seen_empty = True
        if values[c] < least - CLOSE:
            best, least = c, values[c]
    return best


@kernel
def sweep(
    rows: Any,
    coef: Any,
    sizes: Any,
    order: Any,
    fixed: Any,
    phi: Any,
    labels: Any,
    counts: Any,
    steps: Any,
    inside: Any,
) -> Any:
    """Move each row of `order` to the cluster with the least additive loss; return the moves.

    With `fixed` no cluster is emptied and none is opened.
    """
    n_columns, most = rows.shape[1], counts.shape[1]
    values = np.empty(most)
    n_moves, used = 0, _used(inside)
    for place in range(len(order)):
        i = order[place]
        s, old = sizes[i], labels[i]
        if fixed and old >= 0 and inside[old] == 1:
            continue
        width = min(most, used + 1)
        for c in range(width):
            values[c] = 0.0
        stay = 0.0 if old >= 0 else np.inf
        for j in range(n_columns):
            r = rows[i, j]
            if r < 0:
                continue
            w = coef[j]
            if old >= 0:
                stay += w * (phi[counts[r, old]] - phi[counts[r, old] - s])
            if s == 1:
                for c in range(width):
                    values[c] += w * steps[r, c]
            else:
                for c in range(width):
                    if c != old:
                        values[c] += w * (phi[counts[r, c] + s] - phi[counts[r, c]])
        new = _choose(old, stay, values, inside, width, fixed)
        if new >= 0:
            _move(i, new, rows, sizes, phi, labels, counts, steps, inside)
            n_moves += 1
            used = max(used, new + 1)
    return n_moves


@kernel
def sweep_ratio(
    kind: Any,
    rows: Any,
    weight: Any,
    totals: Any,
    voters: Any,
    sizes: Any,
    order: Any,
    fixed: Any,
    phi: Any,
    labels: Any,
    counts: Any,
    steps: Any,
    inside: Any,
    sums: Any,
) -> Any:
    """Move each row of `order` as `sweep` does, for a loss that is a ratio of sums."""
    n_members, most = len(weight), counts.shape[1]
    shared = rows.shape[1] == n_members + 1  # one column of all rows: no vote is missing
    values, own = np.empty(most), np.empty(most)
    n_moves, used = 0, _used(inside)
    for place in range(len(order)):
        i = order[place]
        s, old = sizes[i], labels[i]
        if fixed and inside[old] == 1:
            continue
        width = min(most, used + 1)
        for c in range(width):
            values[c] = 0.0
        stay, less_own = 0.0, 0.0
        for m in range(n_members):
            r = rows[i, m]
            if r < 0:
                continue
            j = n_members if shared else n_members + m
            if m == 0 or not shared:
                z = rows[i, j]
                less_own = phi[counts[z, old]] - phi[counts[z, old] - s]
                for c in range(width):
                    if c != old:
                        own[c] = phi[counts[z, c] + s] - phi[counts[z, c]]
            A, B, T, N = sums[j], sums[m], totals[m], voters[m]
            L = phi[N]
            stay += weight[m] * loss_of_sums(kind, 1.0, A, B, T, float(N), L)
            A -= less_own
            B -= phi[counts[r, old]] - phi[counts[r, old] - s]
            for c in range(width):
                if c != old:
                    more = steps[r, c] if s == 1 else phi[counts[r, c] + s] - phi[counts[r, c]]
                    values[c] += weight[m] * loss_of_sums(
                        kind, 1.0, A + own[c], B + more, T, float(N), L
                    )
        new = _choose(old, stay, values, inside, width, fixed)
        if new >= 0:
            for j in range(rows.shape[1]):
                r = rows[i, j]
                if r >= 0:
                    sums[j] += phi[counts[r, new] + s] - phi[counts[r, new]]
                    sums[j] -= phi[counts[r, old]] - phi[counts[r, old] - s]
            _move(i, new, rows, sizes, phi, labels, counts, steps, inside)
            n_moves += 1
            used = max(used, new + 1)
    return n_moves
