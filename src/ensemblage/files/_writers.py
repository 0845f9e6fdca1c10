"""Columns as bytes, one writer a format. Each writes forward only, to files and pipes alike."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ensemblage.files._formats import need_pyarrow
from ensemblage.files._ids import iso_dates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Table = Mapping[str, NDArray[Any]]

_ROWS_AT_ONCE = 1 << 16


class Forward(io.BufferedIOBase):
    """A stream that can do nothing but take the next bytes.

    Formats that would go back and fill in a number where they can (NPZ) then write the same bytes
    everywhere, and need not find out half way that a pipe or gzip does not let them.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def writable(self) -> bool:
        """Tell that this is for writing."""
        return True

    def write(self, data: Any) -> int:
        """Pass the bytes on."""
        return int(self._stream.write(data))


def _write_csv(stream: Forward, columns: Table, delimiter: str = ",") -> None:
    text = io.TextIOWrapper(cast("Any", stream), encoding="utf-8", newline="")
    shown = [iso_dates(v) if v.dtype.kind == "M" else v for v in columns.values()]
    try:
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        for start in range(0, len(shown[0]) if shown else 0, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            writer.writerows(zip(*(values[part].tolist() for values in shown), strict=True))
    finally:
        text.detach()


def _write_tsv(stream: Forward, columns: Table) -> None:
    _write_csv(stream, columns, delimiter="\t")


def _write_parquet(stream: Forward, columns: Table) -> None:
    need_pyarrow("the output")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), stream)


def _write_npy(stream: Forward, columns: Table) -> None:
    arrays = [_without_objects(values) for values in columns.values()]
    whole = arrays[0] if len(arrays) == 1 else np.column_stack(arrays)
    np.lib.format.write_array(stream, whole, allow_pickle=False)


def _write_npz(stream: Forward, columns: Table) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _without_objects(values), allow_pickle=False)


def _without_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Return strings as numpy's own, since objects could only be pickled."""
    if values.dtype != object:
        return values
    return np.array(["" if value is None else str(value) for value in values.tolist()])


WRITERS = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "npy": _write_npy,
    "npz": _write_npz,
}
