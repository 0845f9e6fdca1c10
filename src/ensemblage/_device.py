"""The random walk on a GPU: the results of `ensemblage.flow.walk`, by other recursions.

As on a CPU, columns pass through the two sweeps of S·V in panels; here a panel has some hundred
columns, which stay in the cache shared by all multiprocessors. The code runs on NumPy and SciPy or
CuPy, whichever is passed as `on`; so the tests run on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from ensemblage._messages import Message, Parameter

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

DEVICES = ("cpu", "cuda", "auto")
#: With device="auto" the GPU is used from this number of microclusters on; see docs/scale.md.
WORTH_A_GPU = 1_000
#: Columns of a panel.
_BLOCK = 512
#: Above this number of nodes products are in single precision, as on a CPU.
_MOST_DOUBLE = 15_000

#: Rows of a sparse matrix times a contiguous matrix, one thread for each result.
_TIMES_SOURCE = """
extern "C" __global__ void times(const int* starts, const int* columns, const REAL* values,
                                 const REAL* X, REAL* Y, int n, int width) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (row >= n || column >= width) return;
    REAL sum = 0;
    for (int p = starts[row]; p < starts[row + 1]; ++p)
        sum += values[p] * X[(long long)columns[p] * width + column];
    Y[(long long)row * width + column] = sum;
}
"""


class DeviceError(RuntimeError):
    """A requested device is not available."""


@dataclass(frozen=True)
class Library:
    """Arrays and sparse arrays of one library: `arrays` like numpy, `sparse` like scipy.sparse."""

    arrays: Any
    sparse: Any

    def fetched(self, array: Any) -> Any:
        """Return an array as a NumPy array."""
        return array if self.arrays is np else self.arrays.asnumpy(array)

    def times(self, matrix: Any, block: Any) -> Any:
        """Return a sparse matrix times a contiguous array."""
        if self.arrays is np:
            return matrix @ block
        width = block.shape[1]
        result = self.arrays.empty((matrix.shape[0], width), dtype=block.dtype)
        grid = (-(-matrix.shape[0] // 8), -(-width // 32))
        parts = (matrix.indptr, matrix.indices, matrix.data, self.arrays.ascontiguousarray(block))
        numbers = np.int32(matrix.shape[0]), np.int32(width)
        _kernel(self.arrays, str(block.dtype))(grid, (32, 8), (*parts, result, *numbers))
        return result

    def free_memory(self) -> int | None:
        """Return the free bytes of the device, None if it uses main memory."""
        return None if self.arrays is np else int(self.arrays.cuda.Device().mem_info[0])


HOST = Library(np, scipy.sparse)


def chosen(device: str, n_microclusters: int) -> Library | None:
    """Return the device for the walk; None is the CPU.

    "auto" uses a GPU if there is one and the work is large enough.
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
    except Exception as error:  # CuPy raises its own classes for a missing driver or device
        if device == "auto":
            return None
        message = Message(
            "{cuda} needs a CUDA device, but CuPy found none ({error}). Use {cpu}.",
            cuda=Parameter("device", "cuda"),
            error=error,
            cpu=Parameter("device", "cpu"),
        )
        raise DeviceError(message) from error
    if n_devices == 0:
        if device == "auto":
            return None
        message = Message(
            "{cuda} needs a CUDA device, but there is none. Use {cpu}.",
            cuda=Parameter("device", "cuda"),
            cpu=Parameter("device", "cpu"),
        )
        raise DeviceError(message)
    return Library(cupy, cupyx.scipy.sparse)


@cache
def _kernel(arrays: Any, dtype: str) -> Any:
    real = {"float64": "double", "float32": "float"}[dtype]
    return arrays.RawKernel(_TIMES_SOURCE.replace("REAL", real), "times")


def trajectory_similarity(P: Any, n_steps: int, on: Library, *, fetch: bool = True) -> Any:
    """Return PTS; see `ensemblage.flow.trajectory_similarity`.

    Above 15,000 nodes in single precision, with an error of about 3e-7. Without `fetch` it stays on
    the device.
    """
    n, xp = P.shape[0], on.arrays
    sweeps = _Sweeps(P, n_steps, on)
    S = xp.empty((n, n), dtype=sweeps.dtype)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        S[:, start:stop] = sweeps(_unit_columns(n, start, stop, sweeps.dtype, xp))
    everywhere = xp.arange(n)
    scale = _inverse(xp.sqrt(S[everywhere, everywhere]), xp)
    S *= scale[:, None]
    S *= scale[None, :]
    S[everywhere, everywhere] = 1.0
    # Rounding differs above and below the diagonal; linkage needs a symmetric matrix.
    for start in range(0, n, _BLOCK):
        stop = start + _BLOCK
        S[:start, start:stop] = S[start:stop, :start].T
        square = xp.tril(S[start:stop, start:stop])
        S[start:stop, start:stop] = square + xp.tril(square, -1).T
    return on.fetched(S).astype(np.float64, copy=False) if fetch else S


def trajectory_norms(P: Any, n_steps: int, on: Library) -> FloatArray:
    """Return the exact lengths of all trajectories; see `ensemblage.flow.trajectory_norms`."""
    n, xp = P.shape[0], on.arrays
    forward = _sent(P, on, np.float64).T.tocsr()
    squares = xp.zeros(n)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        panel = _unit_columns(n, start, stop, np.float64, xp)
        for _ in range(n_steps):
            panel = on.times(forward, panel)
            squares[start:stop] += (panel * panel).sum(axis=0)
    norms: FloatArray = on.fetched(xp.sqrt(squares))
    return norms


def similarity_product(
    P: Any, norms: FloatArray, columns: Any, n_steps: int, on: Library
) -> FloatArray:
    """Return PTS @ columns; see `ensemblage.flow.similarity_product`."""
    xp = on.arrays
    sweeps = _Sweeps(P, n_steps, on)
    scale = _inverse(xp.asarray(norms), xp)[:, None].astype(sweeps.dtype)
    out = np.empty(columns.shape)
    for start in range(0, columns.shape[1], _BLOCK):
        some = columns[:, start : start + _BLOCK]
        some = some if isinstance(some, np.ndarray) else some.toarray()
        walked = sweeps(scale * xp.asarray(some, dtype=sweeps.dtype))
        out[:, start : start + _BLOCK] = on.fetched(scale * walked)
    alone = np.flatnonzero(norms == 0)
    rest = columns[alone]
    out[alone] = rest if isinstance(rest, np.ndarray) else rest.toarray()
    return out


class _Sweeps:
    """Multiplies panels with S = Σ P^t (P^t)ᵀ on a device: t steps forward, and back."""

    def __init__(self, P: Any, n_steps: int, on: Library) -> None:
        self.dtype = np.float64 if P.shape[0] <= _MOST_DOUBLE else np.float32
        self._walk = _sent(P, on, self.dtype)
        self._forward = self._walk.T.tocsr()  # transposed on the device, where it is fast
        self._n_steps, self._on = n_steps, on

    def __call__(self, panel: Any) -> Any:
        steps = []
        for _ in range(self._n_steps):
            panel = self._on.times(self._forward, panel)
            steps.append(panel)
        back = self._on.arrays.zeros_like(panel)
        while steps:
            back += steps.pop()
            back = self._on.times(self._walk, back)
        return back


def _unit_columns(n: int, start: int, stop: int, dtype: Any, xp: Any) -> Any:
    panel = xp.zeros((n, stop - start), dtype=dtype)
    panel[xp.arange(start, stop), xp.arange(stop - start)] = 1.0
    return panel


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
    linked = norms > 0
    return xp.where(linked, 1.0 / xp.where(linked, norms, 1.0), 0.0)
