"""Agreement counts of four rows of votes with a strip of 64 others, in vector registers.

Votes are stored by strip: 64 rows, clustering by clustering. Four rows are compared with a strip at
once, so each vector of votes is loaded once and counted four times, and the counts stay in
registers until all clusterings are counted. Compilers do not generate this code, so it is written
in LLVM's own vectors, which every CPU's back end translates: bytes if votes and counts fit in
bytes, else 16 or 32 bits.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from ensemblage.flow._jit import intrinsic

STRIP = 64
ROWS = 4

_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


def _vector(array_type: Any) -> Any:
    """Return LLVM's type of a strip of entries of an array of unsigned integers."""
    return ir.VectorType(ir.IntType(array_type.dtype.bitwidth), STRIP)


def _data_of(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


def _strip_at(builder: Any, data: Any, number: Any, vector: Any) -> Any:
    """Return the pointer to a strip, strips being numbered from the start of the array."""
    address = builder.gep(data, [builder.mul(number, _I64(STRIP))])
    return builder.bitcast(address, vector.as_pointer())


def _splat(builder: Any, value: Any, vector: Any) -> Any:
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(_I32, STRIP), [0] * STRIP)
    return builder.shuffle_vector(builder.insert_element(nothing, value, _I32(0)), nothing, first)


@intrinsic
def count_tile(
    typing_context: Any,
    strips: Any,
    strip: Any,
    votes: Any,
    counts: Any,
    slot: Any,
    levels: Any,
    hits: Any,
) -> Any:
    """Count agreements of four rows with a strip, and mark those that reach a level.

    For ``strips[strip]`` (clusterings × 64) and ``votes`` (clusterings × 4), writes the counts to
    ``counts[slot]`` (4 × 64), and to ``hits[r]`` a bit for each that is at least ``levels[r]``.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        strip_data, vote_data, count_data, level_data, hit_data = (
            _data_of(context, builder, signature.args[place], arguments[place])
            for place in (0, 2, 3, 5, 6)
        )
        shape = context.make_array(strips)(context, builder, arguments[0]).shape
        n_clusterings = builder.extract_value(shape, 1)
        code, count = _vector(strips), _vector(counts)
        zero = ir.Constant(count, [0] * STRIP)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(ROWS)]
        first = builder.mul(arguments[1], n_clusterings)
        with cgutils.for_range(builder, n_clusterings) as loop:
            place = builder.add(first, loop.index)
            others = builder.load(
                _strip_at(builder, strip_data, place, code), align=strips.dtype.bitwidth // 8
            )
            for r in range(ROWS):
                address = builder.add(builder.mul(loop.index, _I64(ROWS)), _I64(r))
                vote = builder.load(builder.gep(vote_data, [address]))
                same = builder.icmp_unsigned("==", others, _splat(builder, vote, code))
                # A true bit extended by its sign is -1.
                total = builder.sub(builder.load(totals[r]), builder.sext(same, count))
                builder.store(total, totals[r])
        for r in range(ROWS):
            total = builder.load(totals[r])
            place = builder.add(builder.mul(arguments[4], _I64(ROWS)), _I64(r))
            target = _strip_at(builder, count_data, place, count)
            builder.store(total, target, align=counts.dtype.bitwidth // 8)
            level = builder.load(builder.gep(level_data, [_I64(r)]))
            bits = builder.icmp_unsigned(">=", total, _splat(builder, level, count))
            builder.store(builder.bitcast(bits, _I64), builder.gep(hit_data, [_I64(r)]))
        return context.get_dummy_value()

    return types.void(strips, types.int64, votes, counts, types.int64, levels, hits), generate


@intrinsic
def reaching(typing_context: Any, counts: Any, row: Any, level: Any) -> Any:
    """Return a bit for each of the 64 counts in row `row` that is at least `level`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _vector(counts)
        data = _data_of(context, builder, counts, arguments[0])
        strip = builder.load(
            _strip_at(builder, data, arguments[1], vector), align=counts.dtype.bitwidth // 8
        )
        level = builder.trunc(arguments[2], vector.element)
        bits = builder.icmp_unsigned(">=", strip, _splat(builder, level, vector))
        return builder.bitcast(bits, _I64)

    return types.uint64(counts, types.int64, types.int64), generate


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """Return the position of the lowest set bit; at least one must be set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate
