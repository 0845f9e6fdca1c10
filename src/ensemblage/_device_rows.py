"""Comparisons of all rows of votes on a GPU: nearest rows, and the leader of each row.

The code is written against NumPy or CuPy, whichever is passed as `on`. Where that is CuPy two
kernels compare the rows; where it is NumPy the same is computed block by block, for the tests.

Votes are sent as planes of bits: bit m of word w of plane b is bit b of the vote in clustering
32·w + m. Two rows agree where no plane differs, so a count takes a few instructions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow import Leaders, Neighbours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._device import Library
    from ensemblage._types import FloatArray

#: Words of a row that a thread can hold in its registers.
_MOST_WORDS = 64
#: Clusterings whose votes a thread can hold there.
_MOST_CLUSTERINGS = 128
_ROWS_PER_BLOCK = 256

_NEAREST_SOURCE = """
#define THREADS 128
__device__ __forceinline__ int agreements(const unsigned int* own, const unsigned int* other) {
    int different = 0;
    #pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        unsigned int differs = 0;
        #pragma unroll
        for (int b = 0; b < PLANES; ++b)
            differs |= own[b * WORDS + w] ^ other[b * WORDS + w];
        different += __popc(differs);
    }
    return CLUSTERINGS - different;
}

extern "C" __global__ void thresholds(const unsigned int* planes, int n, int n_neighbors,
                                      int* levels, int* lengths) {
    __shared__ unsigned int tile[THREADS * PLANES * WORDS];
    int row = blockIdx.x * THREADS + threadIdx.x;
    unsigned int own[PLANES * WORDS];
    int seen[CLUSTERINGS + 1];
    for (int c = 0; c <= CLUSTERINGS; ++c) seen[c] = 0;
    #pragma unroll
    for (int w = 0; w < PLANES * WORDS; ++w)
        own[w] = row < n ? planes[(long long)row * PLANES * WORDS + w] : 0;
    int level = 1, reached = 0;
    for (int start = 0; start < n; start += THREADS) {
        int rows = min(THREADS, n - start);
        __syncthreads();
        for (int p = threadIdx.x; p < rows * PLANES * WORDS; p += THREADS)
            tile[p] = planes[(long long)start * PLANES * WORDS + p];
        __syncthreads();
        for (int j = 0; j < rows; ++j) {
            int count = agreements(own, tile + j * PLANES * WORDS);
            if (count >= level) {  /* seldom, after the first rows; the row itself is one */
                ++seen[count];
                ++reached;
                while (reached - seen[level] > n_neighbors) reached -= seen[level++];
            }
        }
    }
    if (row < n) {
        levels[row] = level;
        lengths[row] = reached - 1;
    }
}

extern "C" __global__ void neighbours(const unsigned int* planes, int n, const int* levels,
                                      const long long* starts, int* places,
                                      unsigned short* counts) {
    __shared__ unsigned int tile[THREADS * PLANES * WORDS];
    int row = blockIdx.x * THREADS + threadIdx.x;
    unsigned int own[PLANES * WORDS];
    #pragma unroll
    for (int w = 0; w < PLANES * WORDS; ++w)
        own[w] = row < n ? planes[(long long)row * PLANES * WORDS + w] : 0;
    int level = row < n ? levels[row] : CLUSTERINGS + 1;
    long long place = row < n ? starts[row] : 0;
    for (int start = 0; start < n; start += THREADS) {
        int rows = min(THREADS, n - start);
        __syncthreads();
        for (int p = threadIdx.x; p < rows * PLANES * WORDS; p += THREADS)
            tile[p] = planes[(long long)start * PLANES * WORDS + p];
        __syncthreads();
        for (int j = 0; j < rows; ++j) {
            int count = agreements(own, tile + j * PLANES * WORDS);
            if (count >= level && start + j != row) {
                places[place] = start + j;
                counts[place++] = count;
            }
        }
    }
}
"""

_LEADER_SOURCE = """
extern "C" __global__ void join(const unsigned short* codes, const float* worth, int n_codes,
                                const unsigned short* leaders, int n_leaders, int n,
                                int* group, float* similarity) {
    __shared__ unsigned short tile[128 * CLUSTERINGS];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short own[CLUSTERINGS];
    float value[CLUSTERINGS];
    #pragma unroll
    for (int m = 0; m < CLUSTERINGS; ++m) {
        own[m] = row < n ? codes[(long long)row * CLUSTERINGS + m] : 0;
        value[m] = worth[m * n_codes + own[m]];
    }
    float best = -1.0f;
    int nearest = 0;
    for (int start = 0; start < n_leaders; start += 128) {
        int rows = min(128, n_leaders - start);
        __syncthreads();
        for (int p = threadIdx.x; p < rows * CLUSTERINGS; p += blockDim.x)
            tile[p] = leaders[start * CLUSTERINGS + p];
        __syncthreads();
        for (int j = 0; j < rows; ++j) {
            float sum = 0.0f;
            #pragma unroll
            for (int m = 0; m < CLUSTERINGS; ++m)
                sum += tile[j * CLUSTERINGS + m] == own[m] ? value[m] : 0.0f;
            if (sum > best) {
                best = sum;
                nearest = start + j;
            }
        }
    }
    if (row < n) {
        group[row] = nearest;
        similarity[row] = best;
    }
}
"""


def can_compare(table: NDArray[np.int32], weights: FloatArray | None = None) -> bool:
    """Tell whether `nearest_rows` can take these votes: none is missing, and all count alike."""
    n_planes, n_words = _shape_of_planes(table)
    return weights is None and n_planes * n_words <= _MOST_WORDS and int(table.min()) >= 0


def nearest_rows(table: NDArray[np.int32], n_neighbors: int, on: Library) -> Neighbours:
    """Return for each row the `n_neighbors` that agree most with it, and all that tie.

    Rows that agree nowhere are not neighbours, and a row is not its own. O(n²·M) comparisons.
    """
    n, n_clusterings = table.shape
    if on.arrays is np:
        return _nearest_by_blocks(table, n_neighbors)
    xp = on.arrays
    n_planes, n_words = _shape_of_planes(table)
    kernels = _nearest_kernels(xp, n_planes, n_words, n_clusterings)
    planes = xp.asarray(bit_planes(table))
    levels, lengths = xp.empty(n, dtype=np.int32), xp.empty(n, dtype=np.int32)
    grid = (-(-n // 128),)
    kernels.get_function("thresholds")(
        grid, (128,), (planes, np.int32(n), np.int32(n_neighbors), levels, lengths)
    )
    ends = xp.cumsum(lengths, dtype=np.int64)
    starts = ends - lengths
    n_links = int(ends[-1])
    places, counts = xp.empty(n_links, dtype=np.int32), xp.empty(n_links, dtype=np.uint16)
    kernels.get_function("neighbours")(
        grid, (128,), (planes, np.int32(n), levels, starts, places, counts)
    )
    return Neighbours(
        on.fetched(levels).astype(np.uint16),
        on.fetched(lengths).astype(np.int64),
        on.fetched(places),
        on.fetched(counts),
    )


def bit_planes(table: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Return votes as words of bits, of shape (n, planes, words).

    Examples
    --------
    >>> import numpy as np
    >>> bit_planes(np.array([[0, 1, 2], [3, 0, 1]], dtype=np.int32)).tolist()
    [[[2], [4]], [[5], [1]]]
    """
    n, n_clusterings = table.shape
    n_planes, n_words = _shape_of_planes(table)
    planes = np.zeros((n, n_planes, n_words), dtype=np.uint32)
    for m in range(n_clusterings):
        votes = table[:, m].astype(np.uint32)
        for plane in range(n_planes):
            bit = (votes >> np.uint32(plane)) & np.uint32(1)
            planes[:, plane, m // 32] |= bit << np.uint32(m % 32)
    return planes


def _shape_of_planes(table: NDArray[np.int32]) -> tuple[int, int]:
    return max(int(table.max()).bit_length(), 1), -(-table.shape[1] // 32)


@cache
def _nearest_kernels(xp: Any, n_planes: int, n_words: int, n_clusterings: int) -> Any:
    source = f"#define PLANES {n_planes}\n#define WORDS {n_words}\n"
    source += f"#define CLUSTERINGS {n_clusterings}\n" + _NEAREST_SOURCE
    return xp.RawModule(code=source)


def _nearest_by_blocks(table: NDArray[np.int32], n_neighbors: int) -> Neighbours:
    n = len(table)
    levels, lengths = np.empty(n, dtype=np.uint16), np.empty(n, dtype=np.int64)
    places, counts = [], []
    for row in range(n):
        agreements = (table == table[row]).sum(axis=1)
        agreements[row] = 0
        kth = np.sort(agreements)[max(n - n_neighbors, 0)]
        levels[row] = max(int(kth), 1)
        near = np.flatnonzero(agreements >= levels[row])
        lengths[row] = len(near)
        places.append(near.astype(np.int32))
        counts.append(agreements[near].astype(np.uint16))
    return Neighbours(levels, lengths, np.concatenate(places), np.concatenate(counts))


def can_join(table: NDArray[np.int32]) -> bool:
    """Tell whether `join_leaders` can take these votes: none is missing, none is too large."""
    few = table.shape[1] <= _MOST_CLUSTERINGS and int(table.max()) < 2**16
    return few and int(table.min()) >= 0


def join_leaders(
    table: NDArray[np.int32],
    rows: NDArray[np.int64],
    weight: FloatArray,
    weights: FloatArray,
    on: Library,
) -> Leaders:
    """Return the groups of the rows that lead; see `ensemblage.flow.join_leaders`."""
    n_codes = table.max(axis=0) + 1
    worth = np.zeros((table.shape[1], int(n_codes.max())), dtype=np.float32)
    worth[np.arange(worth.shape[1]) < n_codes[:, None]] = weight
    if on.arrays is np:
        group, similarity = _joined_by_blocks(table, rows, worth)
    else:
        group, similarity = _joined(table, rows, worth, on)
    group = group.astype(np.int64)
    group[rows] = np.arange(len(rows))
    return Leaders(rows, group, (similarity / np.float32(weights.sum())).astype(np.float32))


def _joined(table: Any, rows: Any, worth: Any, on: Library) -> Any:
    xp, (n, n_clusterings) = on.arrays, table.shape
    codes = xp.asarray(table.astype(np.uint16))
    leaders = codes[xp.asarray(rows)]
    group, similarity = xp.empty(n, dtype=np.int32), xp.empty(n, dtype=np.float32)
    numbers = np.int32(worth.shape[1]), np.int32(len(rows)), np.int32(n)
    parts = (codes, xp.asarray(worth), numbers[0], leaders, *numbers[1:], group, similarity)
    _leader_kernel(xp, n_clusterings)((-(-n // 128),), (128,), parts)
    return on.fetched(group), on.fetched(similarity)


@cache
def _leader_kernel(xp: Any, n_clusterings: int) -> Any:
    return xp.RawKernel(f"#define CLUSTERINGS {n_clusterings}\n" + _LEADER_SOURCE, "join")


def _joined_by_blocks(table: Any, rows: Any, worth: Any) -> Any:
    members = np.arange(table.shape[1])
    group, similarity = [], []
    for start in range(0, len(table), _ROWS_PER_BLOCK):
        some = table[start : start + _ROWS_PER_BLOCK]
        values = worth[members, some][:, None, :]
        sums = np.where(some[:, None, :] == table[rows], values, np.float32(0)).sum(axis=2)
        group.append(sums.argmax(axis=1))
        similarity.append(sums.max(axis=1))
    return np.concatenate(group), np.concatenate(similarity)
