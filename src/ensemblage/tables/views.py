"""Texts that Arrow holds as views, as polars writes them: many views may be of the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._validate import check_memory

_BYTES_OF_VIEW = 16  # the first four are the length of the text


def without_coded_views(batch: Any, path: str) -> Any:
    """Return a record batch whose categories are not views, which few kernels of Arrow accept.

    Raise where the texts of views do not fit in memory.
    """
    import pyarrow as pa

    for place, column in enumerate(batch.columns):
        is_coded = pa.types.is_dictionary(column.type)
        texts = column.dictionary if is_coded else column
        if str(texts.type) != "string_view":
            continue
        advice = "Save the file with shorter names, or with fewer rows in a batch."
        check_memory(2 * _n_bytes(texts), f"The names of a record batch of {path}", advice)
        if is_coded:
            names = texts.cast(pa.large_string())
            coded = pa.DictionaryArray.from_arrays(column.indices, names)
            batch = batch.set_column(place, batch.schema.names[place], coded)
    return batch


def _n_bytes(texts: Any) -> int:
    """Return how many bytes the texts of views take by themselves."""
    views = texts.buffers()[1]
    if views is None or not len(texts):
        return 0
    lengths = np.frombuffer(views, np.int32, 4 * len(texts), _BYTES_OF_VIEW * texts.offset)[::4]
    present = texts.is_valid().to_numpy(zero_copy_only=False)
    return int(lengths[present].sum(dtype=np.int64))
