"""One array in NumPy's format, if it is as long as its header says: nothing is taken on trust."""

from __future__ import annotations

import math
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import check_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class PickledError(ValueError):
    """An array of Python objects, which only running code of the file could bring back."""


def read_npy(stream: IO[bytes], n_bytes: int, name: str) -> NDArray[Any]:
    """Return the array in the next `n_bytes` of a stream that can seek; `name` is for messages.

    NumPy would take the memory that a header asks for before it looks whether the file has so much.
    """
    start = stream.tell()
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"a header of version {version}, which plain arrays do not have")
    shape, _, dtype = _HEADERS[version](stream)
    if dtype.hasobject:
        raise PickledError("an array of Python objects, which is not a type that is saved")
    found = n_bytes - (stream.tell() - start)
    count: int = math.prod(shape)
    claimed = count * dtype.itemsize
    endless = dtype.itemsize == 0 and count > 0  # empty texts, as many as the header likes
    if min(shape, default=0) < 0 or claimed != found or endless:
        raise ValueError(f"an array of shape {shape} and type {dtype} in {found} bytes")
    check_memory(claimed, name, "Read it on a larger machine, or save fewer of its columns.")
    stream.seek(start)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
