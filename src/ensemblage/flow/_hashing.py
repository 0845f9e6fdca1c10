"""Kernels of the microcluster index: rows of votes to packed keys, keys to numbers by hashing."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from ensemblage.flow._jit import intrinsic, kernel

#: Odd, near 2**64 divided by the golden ratio: its multiples spread over the upper bits.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_BLOCK = 32
_SLOTS_IN_CACHE = 1 << 16


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of ``array[index]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        i32 = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        prefetch = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(prefetch, [address, i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@kernel
def pack(rows: Any, shift: Any, base: Any, first_column: Any, keys: Any) -> None:
    """Write each row as one or more 64-bit words.

    Word w of a row holds columns ``first_column[w]`` up to ``first_column[w + 1]``, each shifted to
    its position; ``base[w]`` is the word of the lowest votes, so that words start at 0. Sums are
    modulo 2**64, so signs do not matter. Votes must lie within the layout's ranges.
    """
    for w in range(keys.shape[1]):
        # Unsigned counters: signed indices would be tested for negative values each time.
        first, last = np.uint64(first_column[w]), np.uint64(first_column[w + 1])
        for i in range(rows.shape[0]):
            key = np.uint64(0)
            for m in range(first, last):
                key += np.uint64(np.int64(rows[i, m])) << shift[m]
            keys[i, w] = key - base[w]


@kernel
def fingerprints(keys: Any, prints: Any) -> None:
    """Write 64 bits for each row: the key itself if it is one word, else a mixture."""
    for i in range(len(prints)):
        mixed = keys[i, 0]
        for w in range(1, keys.shape[1]):
            mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX + keys[i, w]
        prints[i] = mixed


@kernel
def _differ(keys: Any, i: Any, known: Any, number: Any) -> bool:
    """Tell whether keys of several words with the same fingerprint are equal."""
    for w in range(keys.shape[1]):
        if keys[i, w] != known[number, w]:
            return True
    return False


@kernel
def insert(
    prints: Any,
    keys: Any,
    start: Any,
    slots: Any,
    spare_bits: Any,
    known: Any,
    n_known: Any,
    numbers: Any,
) -> tuple[int, int]:
    """Assign numbers to the rows from `start` on, new ones in order of appearance.

    `slots` is an open-addressing table of pairs (fingerprint, number + 1). Return the number of
    numbered rows (fewer than all if `known` is full; the caller enlarges it and calls again) and
    the number of known keys.
    """
    n_rows = len(prints)
    mask = len(slots) // 2 - 1
    one_word = keys.shape[1] == 1
    for block in range(start, n_rows, _BLOCK):
        stop = min(block + _BLOCK, n_rows)
        if len(slots) > _SLOTS_IN_CACHE:
            for i in range(block, stop):
                _prefetch(slots, 2 * np.int64((prints[i] * SPREAD) >> spare_bits))
        for i in range(block, stop):
            fingerprint = prints[i]
            place = np.int64((fingerprint * SPREAD) >> spare_bits)
            while True:
                while slots[2 * place + 1] != 0 and slots[2 * place] != fingerprint:
                    place = (place + 1) & mask
                number = np.int64(slots[2 * place + 1]) - 1
                if one_word or number < 0 or not _differ(keys, i, known, number):
                    break
                place = (place + 1) & mask
            if number < 0:
                if n_known == len(known):
                    return i, n_known
                number = n_known
                n_known += 1
                slots[2 * place] = fingerprint
                slots[2 * place + 1] = np.uint64(n_known)
                for w in range(keys.shape[1]):  # assigning rows whole takes seconds to compile
                    known[number, w] = keys[i, w]
            numbers[i] = number
    return n_rows, n_known


@kernel
def look_up(prints: Any, keys: Any, slots: Any, spare_bits: Any, known: Any, numbers: Any) -> None:
    """Write the number of each row, -1 for rows that are not in the table."""
    n_rows = len(prints)
    mask = len(slots) // 2 - 1
    one_word = keys.shape[1] == 1
    for block in range(0, n_rows, _BLOCK):
        stop = min(block + _BLOCK, n_rows)
        if len(slots) > _SLOTS_IN_CACHE:
            for i in range(block, stop):
                _prefetch(slots, 2 * np.int64((prints[i] * SPREAD) >> spare_bits))
        for i in range(block, stop):
            place = np.int64((prints[i] * SPREAD) >> spare_bits)
            while slots[2 * place + 1] != 0 and (
                slots[2 * place] != prints[i]
                or (not one_word and _differ(keys, i, known, np.int64(slots[2 * place + 1]) - 1))
            ):
                place = (place + 1) & mask
            numbers[i] = np.int64(slots[2 * place + 1]) - 1


@kernel
def fill_slots(prints: Any, slots: Any, spare_bits: Any) -> None:
    """Insert distinct keys into an empty table."""
    mask = len(slots) // 2 - 1
    for number in range(len(prints)):
        place = np.int64((prints[number] * SPREAD) >> spare_bits)
        while slots[2 * place + 1] != 0:
            place = (place + 1) & mask
        slots[2 * place] = prints[number]
        slots[2 * place + 1] = np.uint64(number + 1)


@kernel
def renumber(keys: Any, shift: Any, bits: Any, missing: Any, code_of: Any, codes: Any) -> int:
    """Write one column's votes as codes in order of appearance; return the number of codes.

    `code_of` is -1 everywhere, with an entry for each value that fits in `bits`; it ends with the
    code of each. The offset `missing` gets no code.
    """
    mask = (np.uint64(1) << bits) - np.uint64(1)
    n_codes = 0
    for i in range(len(keys)):
        offset = (keys[i] >> shift) & mask
        if code_of[offset] < 0 and offset != missing:
            code_of[offset] = n_codes
            n_codes += 1
        codes[i] = code_of[offset]
    return n_codes


@kernel
def count(numbers: Any, sizes: Any) -> None:
    """Add to `sizes` how often each number occurs."""
    for i in range(len(numbers)):
        sizes[numbers[i]] += 1


@kernel
def take(values: Any, places: Any, out: Any) -> None:
    """Write ``values[places]`` to `out` without widening the places first."""
    for i in range(len(places)):
        out[i] = values[places[i]]
