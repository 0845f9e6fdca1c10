"""Scaling of features, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate
from ensemblage._messages import Message, Parameter
from ensemblage._validate.features import LARGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

SCALES = ("minmax", "standard")
#: Below this the square of a difference has lost digits, or is 0.
_LEAST_SPREAD = 1e-140
_ROWS = 4096


class Scaling(NamedTuple):
    """``(x - shift) / width``, learnt from one matrix and applied to others."""

    shift: FloatArray
    width: FloatArray

    def apply(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Return the scaled matrix, in float64 for float64 and in float32 for smaller types."""
        kind = np.dtype(np.float64 if matrix.dtype == np.float64 else np.float32)
        _validate.check_memory(
            matrix.size * kind.itemsize,
            f"A scaled copy of the features ({matrix.shape[0]} × {matrix.shape[1]}) as {kind}",
            Message("Pass them scaled, with {none}, or as float32.", none=Parameter("scale", None)),
        )
        scaled = np.empty(matrix.shape, dtype=kind)
        for start in range(0, len(matrix), _ROWS):  # in parts: one copy, not three
            rows = slice(start, start + _ROWS)
            with np.errstate(over="ignore"):  # checked below
                scaled[rows] = (matrix[rows] - self.shift) / self.width
        check_range(scaled, "scaling")
        return scaled


def learn_scaling(matrix: NDArray[Any], scale: str | None) -> Scaling | None:
    """Return the scaling of columns to [0, 1], or to mean 0 and variance 1; constant ones to 0."""
    if scale is None:
        return None
    least = matrix.min(axis=0).astype(np.float64)
    largest = matrix.max(axis=0).astype(np.float64)
    if scale == "minmax":
        shift, width = least, largest - least
    else:
        shift = matrix.mean(axis=0, dtype=np.float64)
        width = _deviations(matrix, shift, largest - least)
    # The mean of equal numbers may differ from them in the last digit, which is not a spread.
    constant = (least == largest) | (width == 0)
    return Scaling(np.where(constant, least, shift), np.where(constant, 1.0, width))


def learn_scales(matrix: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Return the standard deviation and the range of each column."""
    ranges = matrix.max(axis=0).astype(np.float64) - matrix.min(axis=0)
    return _deviations(matrix, matrix.mean(axis=0, dtype=np.float64), ranges), ranges


def _deviations(matrix: NDArray[Any], mean: FloatArray, spread: FloatArray) -> FloatArray:
    # In units near the spread, so that squares do not underflow; powers of two are exact.
    unit = np.ldexp(1.0, np.frexp(spread)[1])
    total = np.zeros(matrix.shape[1])
    for start in range(0, len(matrix), _ROWS):
        total += (((matrix[start : start + _ROWS] - mean) / unit) ** 2).sum(axis=0)
    deviations: FloatArray = np.sqrt(total / len(matrix)) * unit
    return deviations


def check_range(matrix: NDArray[Any], after: str) -> None:
    """Refuse numbers that have left the range in which distances can be computed.

    `after` says what has been done to the features, which were in it.
    """
    if matrix.dtype.kind != "f" or matrix.size == 0:
        return
    if float(matrix.min()) >= -LARGEST and float(matrix.max()) <= LARGEST:  # false for NaN
        return
    single = matrix.dtype == np.float32
    row = int(np.argwhere(~(np.abs(matrix.astype(np.float64)) <= LARGEST))[0, 0])
    raise ValueError(
        f"Features must not exceed {3.4e38 if single else LARGEST:g} after {after}, beyond which"
        f" {'float32 ends' if single else 'squared distances leave the range of numbers'}, but"
        f" those of row {row}, counted from 0, do. Rescale them first"
        f"{', or pass them as float64' if single else ''}."
    )


def check_spread(matrix: NDArray[Any]) -> None:
    """Refuse features that differ by so little that the squares of differences underflow."""
    if matrix.dtype != np.float64:  # squares of float32 have room in float64
        return
    spread = float((matrix.max(axis=0) - matrix.min(axis=0)).max())
    if 0 < spread < _LEAST_SPREAD:
        message = Message(
            "Features differ by {spread:g} at most, and the squares of such distances are too small"
            " for float64. Rescale them first, or use {scale}.",
            spread=spread,
            scale=Parameter("scale", "minmax"),
        )
        raise ValueError(message)
