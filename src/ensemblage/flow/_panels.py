"""Sparse matrix times a panel of sixteen columns: the one kernel under all random walks.

A panel is an n × 16 array, row by row. Sixteen float64 are two AVX-512 (four AVX2, eight NEON)
registers, so a row of the product is summed in registers, and a panel of a few thousand rows stays
in the L2 cache while the matrix streams past. The compiler does not find this by itself (a plain
loop is five times slower), so the row product is written in LLVM's own vectors, which every CPU's
back end translates. In float32, with matrix and panels of that type, the same registers hold 32
columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from ensemblage.flow._jit import intrinsic, kernel

WIDTH = 16
WIDTH_SINGLE = 32

_I64 = ir.IntType(64)


def _vector(array_type: Any) -> Any:
    """Return LLVM's type of a row of a panel."""
    if array_type.dtype == types.float32:
        return ir.VectorType(ir.FloatType(), WIDTH_SINGLE)
    return ir.VectorType(ir.DoubleType(), WIDTH)


def _splat(builder: Any, value: Any, vector: Any) -> Any:
    """Return a vector that holds `value` in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(
        builder.insert_element(nothing, value, ir.IntType(32)(0)), nothing, first
    )


def _data_of(context: Any, builder: Any, signature: Any, arguments: Any, place: int) -> Any:
    """Return the pointer to the data of an array argument."""
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _row(builder: Any, data: Any, number: Any, vector: Any) -> Any:
    """Return the pointer to a row of a panel."""
    address = builder.gep(data, [builder.mul(number, _I64(vector.count))])
    return builder.bitcast(address, vector.as_pointer())


def _multiply_add(builder: Any, factor: Any, values: Any, total: Any) -> None:
    """Add ``factor * values`` to the vector stored at `total`."""
    vector = values.type
    function_type = ir.FunctionType(vector, [vector] * 3)
    name = f"llvm.fmuladd.v{vector.count}f{64 if vector.count == WIDTH else 32}"
    function = cgutils.get_or_insert_function(builder.module, function_type, name)
    builder.store(builder.call(function, [factor, values, builder.load(total)]), total)


@intrinsic
def _row_product(
    typing_context: Any,
    indices: Any,
    data: Any,
    start: Any,
    stop: Any,
    panel: Any,
    result: Any,
    row: Any,
    keep: Any,
) -> Any:
    """Do ``result[row] = data[start:stop] @ panel[indices[start:stop]]``, added if `keep`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        index_data, weight_data, panel_data, result_data = (
            _data_of(context, builder, signature, arguments, place) for place in (0, 1, 4, 5)
        )
        start, stop, row, keep = (arguments[place] for place in (2, 3, 6, 7))
        vector, align = _vector(panel), panel.dtype.bitwidth // 8
        zero = ir.Constant(vector, [0.0] * vector.count)

        def add_entry(place: Any, total: Any) -> None:
            number = builder.zext(builder.load(builder.gep(index_data, [place])), _I64)
            weight = builder.load(builder.gep(weight_data, [place]))
            values = builder.load(_row(builder, panel_data, number, vector), align=align)
            _multiply_add(builder, _splat(builder, weight, vector), values, total)

        target = _row(builder, result_data, row, vector)
        old = builder.load(target, align=align)
        even = cgutils.alloca_once_value(builder, builder.select(keep, old, zero))
        odd = cgutils.alloca_once_value(builder, zero)
        # Two running sums hide the latency of the multiply-adds.
        pairs_end = builder.sub(stop, builder.and_(builder.sub(stop, start), _I64(1)))
        with cgutils.for_range_slice(builder, start, pairs_end, _I64(2), inc=True) as (place, _):
            add_entry(place, even)
            add_entry(builder.add(place, _I64(1)), odd)
        with cgutils.for_range_slice(builder, pairs_end, stop, _I64(1), inc=True) as (place, _):
            add_entry(place, even)
        builder.store(builder.fadd(builder.load(even), builder.load(odd)), target, align=align)
        return context.get_dummy_value()

    return types.void(
        indices, data, types.int64, types.int64, panel, result, types.int64, types.boolean
    ), generate


@intrinsic
def _add_squares(typing_context: Any, panel: Any, n_rows: Any, totals: Any) -> Any:
    """Do ``totals += (panel ** 2).sum(axis=0)``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector, align = _vector(panel), panel.dtype.bitwidth // 8
        panel_data = _data_of(context, builder, signature, arguments, 0)
        total_data = _data_of(context, builder, signature, arguments, 2)
        target = _row(builder, total_data, _I64(0), vector)
        total = cgutils.alloca_once_value(builder, builder.load(target, align=align))
        with cgutils.for_range(builder, arguments[1]) as loop:
            values = builder.load(_row(builder, panel_data, loop.index, vector), align=align)
            _multiply_add(builder, values, values, total)
        builder.store(builder.load(total), target, align=align)
        return context.get_dummy_value()

    return types.void(panel, types.int64, totals), generate


@kernel
def _multiply(indptr: Any, indices: Any, data: Any, panel: Any, result: Any, keep: Any) -> None:
    """Do ``result = matrix @ panel`` (+ result if keep)."""
    for row in range(len(indptr) - 1):
        _row_product(
            indices,
            data,
            np.int64(indptr[row]),
            np.int64(indptr[row + 1]),
            panel,
            result,
            row,
            keep,
        )


@kernel
def walk_product(forward: Any, backward: Any, n_steps: Any, panels: Any, result: Any) -> None:
    """Write S·V to `result` for the panel V in ``panels[0]``; the other panels are scratch.

    With S = Σ_{t=1..T} P^t (P^t)ᵀ:  u_t = (Pᵀ)^t V for t = 1..T, then r = 0 and, for t = T..1,
    r ← P(u_t + r), which ends as S·V. The sum u_t + r is written over u_t.

    `forward` is Pᵀ and `backward` is P, each as (indptr, indices, data).
    """
    for t in range(n_steps):
        _multiply(forward[0], forward[1], forward[2], panels[t], panels[t + 1], False)
    for t in range(n_steps, 1, -1):
        _multiply(backward[0], backward[1], backward[2], panels[t], panels[t - 1], True)
    _multiply(backward[0], backward[1], backward[2], panels[1], result, False)


@kernel
def walk_steps(matrix: Any, n_steps: Any, panel: Any, other: Any) -> Any:
    """Return matrix^T @ panel, in one of the two arrays, both of which are overwritten."""
    for _ in range(n_steps):
        _multiply(matrix[0], matrix[1], matrix[2], panel, other, False)
        panel, other = other, panel
    return panel


@kernel
def column_squares(matrix: Any, n_steps: Any, panel: Any, other: Any, totals: Any) -> None:
    """Add to `totals` the squares of matrix^t @ panel, t = 1..T, summed down each column.

    With Pᵀ and unit vectors this is diag S.
    """
    for _ in range(n_steps):
        _multiply(matrix[0], matrix[1], matrix[2], panel, other, False)
        panel, other = other, panel
        _add_squares(panel, panel.shape[0], totals)


@kernel
def row_squares(matrix: Any, n_steps: Any, panel: Any, other: Any, totals: Any) -> None:
    """Add to `totals` the squares of matrix^t @ panel, t = 2..T, summed along each row.

    With P and an orthonormal basis this is diag S less its first term; with P and random signs,
    that times the number of columns, on average.
    """
    for step in range(n_steps):
        _multiply(matrix[0], matrix[1], matrix[2], panel, other, False)
        panel, other = other, panel
        if step > 0:
            for i in range(panel.shape[0]):
                for w in range(panel.shape[1]):
                    totals[i] += panel[i, w] * panel[i, w]
