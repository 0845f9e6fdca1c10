"""What a file holds is weighed as it is in memory, before it is unpacked."""

import io

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("ensemblage.tables.ipc")
pq = pytest.importorskip("pyarrow.parquet")
NAMES = [letter * 5000 for letter in "ab"]


def written(table, compression, rows=None):
    stream = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(stream, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)
    return stream


def long_names(n, *, coded):
    codes = pa.array(np.arange(n) % 2, pa.int32())
    names = pa.DictionaryArray.from_arrays(codes, NAMES)
    return pa.table({"a": names if coded else names.dictionary_decode(), "b": np.arange(n) % 3})


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("rows", [None, 100, 7])
def test_sizes_are_those_of_the_batches(compression, coded, rows):
    table = long_names(300, coded=coded)
    stream = written(table, compression, rows)
    with pa.ipc.open_file(stream) as file:
        batches = [file.get_batch(place) for place in range(file.num_record_batches)]
    sizes, in_dictionaries = ipc.batch_sizes(stream, len(batches))
    assert [size.n_rows for size in sizes] == [batch.num_rows for batch in batches]
    for size, batch in zip(sizes, batches, strict=True):
        own = sum(
            buffer.size
            for column in batch.columns
            for buffer in (
                column.indices if coded and column is batch.column(0) else column
            ).buffers()
            if buffer is not None
        )
        assert own - 64 * 6 <= size.n_bytes <= own + 64 * 6  # parts are padded
    assert (in_dictionaries >= 10_000) == coded


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_an_arrow_file_of_long_names_is_refused(compression, tmp_path, monkeypatch):
    path = tmp_path / "votes.arrow"
    path.write_bytes(written(long_names(20_000, coded=False), compression).getvalue())
    assert path.stat().st_size < 2_000_000
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "150MB")
    for call in (tables.read, lambda path: tables.scan([str(path)])):
        with pytest.raises(en.MemoryBudgetError, match=r"A record batch of .* would take 200"):
            call(path)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "300MB")
    assert tables.read(path).names == ["a", "b"]


def test_a_parquet_file_of_long_names_takes_the_names_once(tmp_path):
    """Names come as codes: 20,000 rows of 5 kB would be 100 MB."""
    path = tmp_path / "votes.parquet"
    pq.write_table(long_names(20_000, coded=False), path)
    before = pa.total_allocated_bytes()
    (source,) = tables.scan([str(path)])
    most = 0
    for batch in source.batches():
        most = max(most, pa.total_allocated_bytes() - before)
        assert batch.n_rows
    assert most < 20_000_000


def test_damaged_metadata_are_an_error(tmp_path):
    content = bytearray(written(long_names(50, coded=True), "zstd", 20).getvalue())
    rng = np.random.default_rng(0)
    path = tmp_path / "votes.arrow"
    for _ in range(200):
        damaged = content.copy()
        for place in rng.integers(len(damaged), size=3):
            damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        try:
            tables.read(path)
        except (tables.FileFormatError, MemoryError):
            continue
