"""Arrow IPC files of other writers: messages where the footer says, texts as views."""

import struct

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables
from ensemblage.tables import FileFormatError

pa = pytest.importorskip("pyarrow")

IDS = ["x", "y", "a name that is longer than twelve bytes", "q"]
VOTES = {"a": [1, 1, 2, 2], "b": ["T", "T", None, "B"]}


def write(path, columns, compression=None):
    table = pa.table(columns)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(str(path), table.schema, options=options) as file:
        file.write_table(table)
    return path


def coded(texts):
    """Return texts as a dictionary of views."""
    codes = pa.array([None if text is None else place for place, text in enumerate(texts)])
    return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string_view()))


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_files_of_polars(tmp_path, compression):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"id": IDS, "c": pl.Series(IDS, dtype=pl.Categorical), **VOTES})
    for options in ({}, {"record_batch_size": 2}):
        frame.write_ipc(tmp_path / "v.arrow", compression=compression, **options)
        table = tables.read(tmp_path / "v.arrow", columns=["a", "b"], keep=["c"])
        assert table.ids.tolist() == table.kept["c"].tolist() == IDS
        assert [column.tolist() for column in table.columns] == list(VOTES.values())


def test_messages_may_stand_anywhere(tmp_path):
    """Padding after the mark at the front moves the record batch, and the footer says where to."""
    path = write(tmp_path / "v.arrow", {"id": IDS, **VOTES}, "zstd")
    whole = path.read_bytes()
    (n_schema,) = struct.unpack("<i", whole[12:16])
    (n_footer,) = struct.unpack("<i", whole[-10:-6])
    first = struct.pack("<q", 16 + n_schema)
    place = whole.index(first, len(whole) - 10 - n_footer)
    footer = whole[place:].replace(first, struct.pack("<q", 16 + n_schema + 64), 1)
    path.write_bytes(whole[:8] + bytes(64) + whole[8:place] + footer)
    assert tables.read(path).ids.tolist() == IDS


def test_ids_and_kept_columns_as_codes_of_views(tmp_path):
    columns = {"id": coded(IDS), "note": coded(["n", None, "n", "m"]), **VOTES}
    path = write(tmp_path / "v.arrow", {**columns, "c": coded(["T", "T", "B", None])})
    for options in ({}, {"id_column": "id"}):
        table = tables.read(path, keep=["note"], **options)
        assert table.ids.tolist() == IDS
        assert table.kept["note"].tolist() == ["n", None, "n", "m"]
        assert table.columns[-1].tolist() == ["T", "T", "B", None]


@pytest.mark.parametrize("in_codes", [True, False])
def test_views_of_the_same_bytes_are_refused_where_they_would_fill_the_memory(
    tmp_path, monkeypatch, in_codes
):
    n, length = 1000, 1_000_000
    views = np.zeros((n, 4), np.int32)
    views[:, 0] = length
    views[:, 1] = int.from_bytes(b"xxxx", "little")
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"x" * length)]
    texts = pa.Array.from_buffers(pa.string_view(), n, buffers)
    column = pa.DictionaryArray.from_arrays(pa.array(range(n)), texts) if in_codes else texts
    path = write(tmp_path / "v.arrow", {"a": column, "b": np.arange(n) % 3})
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "300MB")
    with pytest.raises(en.MemoryBudgetError, match=r"names of a record batch of .* 2\.0 GB"):
        tables.read(path)


@pytest.mark.parametrize("place", [-10, -14, -30, -60, -90])
def test_a_damaged_footer_is_an_error(tmp_path, place):
    path = tmp_path / "v.arrow"
    write(path, {"id": IDS, **VOTES})
    content = bytearray(path.read_bytes())
    for value in (0x7F, 0xFF, 0x01):
        content[place] ^= value
        path.write_bytes(bytes(content))
        try:
            assert len(tables.read(path).ids) == 4
        except (FileFormatError, MemoryError):
            continue
