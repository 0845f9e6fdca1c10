"""Ids in files that do not fit in memory: none may occur twice in a file.

While rows are read, their ids leave 64-bit keys in the folder of finished work, sorted, some
millions in a file. Afterwards these are merged by ranges of keys. Equal keys are suspects only: the
rows that have one are read again and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.tables import id_keys, raise_repeated, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ensemblage.scale._checkpoint import Folder
    from ensemblage.tables import Batch, Ids, Source

    Keys = NDArray[np.uint64]

#: Keys in a file, keys that are merged at once, and the distance of those that ranges are made of.
_IN_FILE = 1 << 22
_AT_ONCE = 1 << 22
_STEP = 1 << 12
#: Suspects that are looked for; of more, only these.
_MOST_SUSPECTS = 1 << 20


def keys_of(source: Source, batch: Batch) -> Keys | None:
    """Return the keys of the ids of a batch; None where ids may repeat."""
    return id_keys(source.ids(batch).values) if source.ids_differ else None


class KeyFiles:
    """The keys of rows that are read in order, on their way to files."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._begin = (0, 0)
        self._parts: list[Keys] = []

    def add(self, place: int, first: int, keys: Keys | None) -> None:
        """Add the keys of rows from `first` on of the source at `place`."""
        if keys is None:
            return
        if (place, first) <= self._begin:  # rows are read again, and their files replaced
            self._parts = []
        if self._parts and (place != self._begin[0] or sum(map(len, self._parts)) >= _IN_FILE):
            self.write()
        if not self._parts:
            self._begin = (place, first)
        self._parts.append(keys)

    def write(self) -> None:
        """Write the keys that are not in a file yet."""
        if self._parts:
            keys = np.sort(np.concatenate(self._parts))
            self._folder.write_keys(*self._begin, keys)
            self._parts = []


def check_ids(sources: list[Source], folder: Folder) -> None:
    """Raise where an id occurs twice in a source; then remove the keys."""
    for place, source in enumerate(sources):
        if source.ids_differ:
            suspects = _repeated_keys([keys for keys in folder.read_keys(place) if len(keys)])
            if len(suspects):
                raise_repeated(source.path, source.id_name, _suspicious(source, suspects))
    folder.forget_keys((0, 0))


def _repeated_keys(files: list[Keys]) -> Keys:
    """Return keys that occur twice in some sorted arrays, of which parts are in memory."""
    if not files:
        return np.zeros(0, dtype=np.uint64)
    sample = np.sort(np.concatenate([keys[::_STEP] for keys in files]))
    edges = np.unique(sample[:: _AT_ONCE // _STEP])[1:]
    bounds = [[0, *np.searchsorted(keys, edges).tolist(), len(keys)] for keys in files]
    found: list[Keys] = []
    for part in range(len(edges) + 1):
        keys = [all_[at[part] : at[part + 1]] for all_, at in zip(files, bounds, strict=True)]
        found.append(np.unique(repeated(np.sort(np.concatenate(keys)))))
        if sum(map(len, found)) > _MOST_SUSPECTS:
            break
    return np.concatenate(found)[:_MOST_SUSPECTS]


def _suspicious(source: Source, suspects: Keys) -> Iterator[Ids]:
    """Yield the ids of a source whose keys are among the suspects."""
    import pyarrow as pa

    for batch in source.batches(carried=True):
        ids = source.ids(batch)
        places = np.flatnonzero(np.isin(id_keys(ids.values), suspects))
        yield ids._replace(rows=ids.rows[places], values=ids.values.take(pa.array(places)))
