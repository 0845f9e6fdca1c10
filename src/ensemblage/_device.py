"""The random walk on a GPU: the same three results as `ensemblage.flow.walk`, by other recursions.

On a processor, panels of sixteen columns that stay in its cache are fastest. A GPU has no such
cache and much faster memory, so whole sparse products win there: S = P (I + S) Pᵀ, repeated
T times, for the similarity, and the two sweeps of S·V in wide blocks for the products. The code
is written against NumPy and SciPy or CuPy, whichever is passed as `on`; so the tests run on any
machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from ensemblage._messages import Message, Parameter

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

DEVICES = ("cpu", "cuda", "auto")
#: With device="auto" the GPU takes over from this many microclusters on; see docs/scale.md.
WORTH_A_GPU = 1_000
_BLOCK = 1024


class DeviceError(RuntimeError):
    """A device that was asked for is not there."""


@dataclass(frozen=True)
class Library:
    """Arrays and sparse arrays of one kind: `arrays` like numpy, `sparse` like scipy.sparse."""

    arrays: Any
    sparse: Any

    def fetched(self, array: Any) -> Any:
        """Return an array as NumPy's."""
        return array if self.arrays is np else self.arrays.asnumpy(array)

    def free_memory(self) -> int | None:
        """Return the free bytes of the device, None where that is the machine's memory."""
        return None if self.arrays is np else int(self.arrays.cuda.Device().mem_info[0])


HOST = Library(np, scipy.sparse)


def chosen(device: str, n_microclusters: int) -> Library | None:
    """Return where the walk is to be computed; None is the processor.

    "auto" takes a GPU if there is one and the work is worth sending there.
    """
    if device == "cpu" or (device == "auto" and n_microclusters < WORTH_A_GPU):
        return None
    try:
        import cupy
        import cupyx.scipy.sparse

        n_devices = cupy.cuda.runtime.getDeviceCount()
    except ImportError as error:
        if device == "auto":
            return None
        message = Message(
            "{cuda} needs CuPy, which is not installed. Install it with: pip install"
            " 'ensemblage[gpu]', or use {cpu}.",
            cuda=Parameter("device", "cuda"),
            cpu=Parameter("device", "cpu"),
        )
        raise ImportError(message) from error
    except Exception as error:  # CuPy has its own classes for a missing driver or device
        if device == "auto":
            return None
        message = Message(
            "{cuda} was asked for, but CuPy finds no CUDA device ({error}). Use {cpu}.",
            cuda=Parameter("device", "cuda"),
            error=error,
            cpu=Parameter("device", "cpu"),
        )
        raise DeviceError(message) from error
    if n_devices == 0:
        if device == "auto":
            return None
        missing = "{cuda} was asked for, but there is no CUDA device."
        raise DeviceError(Message(missing, cuda=Parameter("device", "cuda")))
    return Library(cupy, cupyx.scipy.sparse)


def trajectory_similarity(P: Any, n_steps: int, on: Library) -> FloatArray:
    """Return PTS; see `ensemblage.flow.trajectory_similarity`.

    In double precision where three n × n matrices of it fit the device, else in single, whose
    error is about 3e-7.
    """
    n, xp = P.shape[0], on.arrays
    free = on.free_memory()
    dtype = np.float64 if free is None or 26 * n * n < free else np.float32
    walk = _sent(P, on, dtype)
    S = xp.zeros((n, n), dtype=dtype)
    everywhere = xp.arange(n)
    for _ in range(n_steps):
        S[everywhere, everywhere] += 1.0
        half = walk @ S  # P (I + S); times Pᵀ it is symmetric, so P times its transpose will do
        S = walk @ xp.ascontiguousarray(half.T)
        del half
    norms = xp.sqrt(xp.diagonal(S).copy())
    scale = _inverse(norms, xp)
    S *= scale[:, None]
    S *= scale[None, :]
    S[everywhere, everywhere] = 1.0
    # Rounding differs above and below the diagonal; linkage wants one number for each pair.
    for start in range(0, n, _BLOCK):
        stop = start + _BLOCK
        S[:start, start:stop] = S[start:stop, :start].T
        square = xp.tril(S[start:stop, start:stop])
        S[start:stop, start:stop] = square + xp.tril(square, -1).T
    result: FloatArray = on.fetched(S).astype(np.float64, copy=False)
    return result


def trajectory_norms(P: Any, n_steps: int, on: Library) -> FloatArray:
    """Return the lengths of all trajectories, exactly; see `ensemblage.flow.trajectory_norms`."""
    n, xp = P.shape[0], on.arrays
    forward = _sent(P.T.tocsr(), on, np.float64)
    squares = xp.zeros(n)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        panel = xp.zeros((n, stop - start))
        panel[xp.arange(start, stop), xp.arange(stop - start)] = 1.0
        for _ in range(n_steps):
            panel = forward @ panel
            squares[start:stop] += (panel * panel).sum(axis=0)
    norms: FloatArray = on.fetched(xp.sqrt(squares))
    return norms


def similarity_product(
    P: Any, norms: FloatArray, columns: Any, n_steps: int, on: Library
) -> FloatArray:
    """Return PTS @ columns; see `ensemblage.flow.similarity_product`."""
    xp = on.arrays
    walk, forward = _sent(P, on, np.float64), _sent(P.T.tocsr(), on, np.float64)
    scale = _inverse(xp.asarray(norms), xp)[:, None]
    out = np.empty(columns.shape)
    width = max(1, _BLOCK // max(n_steps, 1) * 4)  # all steps of a block are kept
    for start in range(0, columns.shape[1], width):
        some = columns[:, start : start + width]
        some = some if isinstance(some, np.ndarray) else some.toarray()
        step = scale * xp.asarray(some, dtype=np.float64)
        steps = []
        for _ in range(n_steps):
            step = forward @ step
            steps.append(step)
        back = xp.zeros_like(step)
        for step in reversed(steps):
            back = walk @ (step + back)
        out[:, start : start + width] = on.fetched(scale * back)
    alone = np.flatnonzero(norms == 0)
    rest = columns[alone]
    out[alone] = rest if isinstance(rest, np.ndarray) else rest.toarray()
    return out


def _sent(matrix: Any, on: Library, dtype: Any) -> Any:
    """Return a sparse matrix on the device."""
    xp = on.arrays
    parts = (
        xp.asarray(matrix.data.astype(dtype, copy=False)),
        xp.asarray(matrix.indices.astype(np.int32, copy=False)),
        xp.asarray(matrix.indptr.astype(np.int32, copy=False)),
    )
    return on.sparse.csr_matrix(parts, shape=matrix.shape)


def _inverse(norms: Any, xp: Any) -> Any:
    """Return 1 / norms, 0 for nodes without a trajectory."""
    known = norms > 0
    return xp.where(known, 1.0 / xp.where(known, norms, 1.0), 0.0)
