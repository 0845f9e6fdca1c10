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

from ensemblage import flow
from ensemblage._messages import Message, Parameter

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

DEVICES = ("cpu", "cuda", "auto")
#: With device="auto" the GPU is used from this number of microclusters on; see docs/scale.md.
WORTH_A_GPU = 1_000
#: Columns of a panel.
_BLOCK = 512
#: Where most of a long walk ends up, and how often random signs are walked at first.
_DIRECTIONS, _STEPS_TO_SETTLE, _FIRST_PROBES = 128, 8, 64
#: Beyond so many nodes products are in single precision, as on a processor.
_MOST_DOUBLE = 15_000

#: A sparse matrix times a matrix whose rows are in one piece, plus another; one thread a result.
_TIMES_SOURCE = """
extern "C" __global__ void times(const int* starts, const int* columns, const REAL* values,
                                 const REAL* X, const REAL* plus, REAL* Y, int n, int width) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (row >= n || column >= width) return;
    REAL sum = plus ? plus[(long long)row * width + column] : 0;
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

    def sent(self, matrix: Any, dtype: Any = None) -> Any:
        """Return a sparse matrix on the device, in single precision if it has many rows."""
        if dtype is None:
            dtype = np.float64 if max(matrix.shape) <= _MOST_DOUBLE else np.float32
        return _sent(matrix.tocsr(), self, dtype)

    def times(self, matrix: Any, block: Any, plus: Any = None) -> Any:
        """Return a sparse matrix times an array, plus another, in the precision of the matrix."""
        block = block.astype(matrix.dtype, copy=False)
        if self.arrays is np:
            return matrix @ block if plus is None else matrix @ block + plus
        width = block.shape[1]
        result = self.arrays.empty((matrix.shape[0], width), dtype=block.dtype)
        grid = (-(-matrix.shape[0] // 8), -(-width // 32))
        parts = (matrix.indptr, matrix.indices, matrix.data, self.arrays.ascontiguousarray(block))
        numbers = np.int32(matrix.shape[0]), np.int32(width)
        plus = np.uintp(0) if plus is None else plus
        _kernel(self.arrays, str(block.dtype))(grid, (32, 8), (*parts, plus, result, *numbers))
        return result


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


def estimated_norms(
    P: Any, n_steps: int, n_probes: int, rng: np.random.Generator, on: Library, *, error: float
) -> FloatArray:
    """Return lengths to a relative error; see `ensemblage.flow.estimated_norms`."""
    n, xp = P.shape[0], on.arrays
    draws = xp.random.default_rng(int(rng.integers(2**63)))
    walk = _sent(P, on, np.float32)
    forward = walk.T.tocsr()
    panel = draws.standard_normal((n, _DIRECTIONS), dtype=np.float32)
    for _ in range(min(n_steps, _STEPS_TO_SETTLE)):
        panel = on.times(forward, panel)
    basis = xp.linalg.qr(panel)[0]

    def squares(panel: Any) -> Any:
        totals = xp.zeros(n)
        for step in range(n_steps):
            panel = on.times(walk, panel)
            if step > 0:
                totals += (panel * panel).sum(axis=1)
        return totals

    def probed(n_columns: int) -> Any:
        signs = draws.integers(0, 2, size=(n, n_columns), dtype=np.int8)
        panel = (2 * signs - 1).astype(np.float32)
        return squares(panel - basis @ (basis.T @ panel))

    known = squares(basis) + xp.asarray(P.power(2).sum(axis=1)).ravel()
    done, rest = _FIRST_PROBES, probed(_FIRST_PROBES)
    wanted = flow.probes_for(error, on.fetched(known), on.fetched(rest / done))
    wanted = min(max(wanted, done), n_probes)
    while done < wanted:
        more = min(wanted - done, _BLOCK)
        rest += probed(more)
        done += more
    norms: FloatArray = on.fetched(xp.sqrt(known + rest / done))
    return norms


def similarity_product(
    P: Any, norms: FloatArray, columns: Any, n_steps: int, on: Library
) -> FloatArray:
    """Return PTS @ columns; see `ensemblage.flow.similarity_product`."""
    product = SimilarityProduct(P, norms, n_steps, on)
    out = np.empty(columns.shape)
    for start in range(0, columns.shape[1], _BLOCK):
        some = columns[:, start : start + _BLOCK]
        some = some if isinstance(some, np.ndarray) else some.toarray()
        out[:, start : start + _BLOCK] = on.fetched(product(on.arrays.asarray(some)))
    return out


class SimilarityProduct:
    """Multiplies arrays of a device with PTS; the walk is sent there once."""

    def __init__(self, P: Any, norms: FloatArray, n_steps: int, on: Library) -> None:
        self._sweeps, xp = _Sweeps(P, n_steps, on), on.arrays
        self._scale = _inverse(xp.asarray(norms), xp)[:, None].astype(self._sweeps.dtype)
        self._alone = xp.asarray(np.flatnonzero(norms == 0))

    def __call__(self, columns: Any) -> Any:
        """Return PTS times an array of few columns."""
        product = self._scale * self._sweeps(self._scale * columns)
        product[self._alone] = columns[self._alone]
        return product


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
        back = steps.pop()
        while steps:
            back = self._on.times(self._walk, back, steps.pop())
        return self._on.times(self._walk, back)


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
