"""Texts as 64-bit keys: equal texts have equal keys, and others nearly never do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The constants of FNV-1a for 64 bits.
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


def text_keys(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the FNV-1a hash of each text; text i is ``data[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.frombuffer(b"ababc", np.uint8)
    >>> first, second, third = text_keys(np.array([0, 2, 4, 5]), data)
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    keys = np.empty(len(offsets) - 1, dtype=np.uint64)
    _fill(offsets, data, keys)
    return keys


@kernel
def _fill(offsets: Any, data: Any, keys: Any) -> None:
    for i in range(len(keys)):
        key = _BASIS
        for j in range(offsets[i], offsets[i + 1]):
            key = (key ^ np.uint64(data[j])) * _PRIME
        keys[i] = key
