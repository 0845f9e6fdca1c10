"""What a file holds is weighed as it is in memory, before it is unpacked."""

import gzip
import io

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables
from ensemblage.tables.columns import plain
from ensemblage.tables.orc import _all, _Sizes, _sizes

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


LONG = [letter * 50_000 for letter in "ab"]


def few_long_names(n):
    """Return a table of two names in all rows, as codes; decoded they are 50 kB a row."""
    codes = pa.array(np.arange(n) % 2, pa.int32())
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, LONG), "b": np.arange(n) % 3})


def long_parquet(path):
    """Write a Parquet file of 1 GB of names in 6 kB."""
    pq.write_table(few_long_names(20_000), path, store_schema=False)


def allocated(call):
    """Return the most that pyarrow has allocated at a time beyond what it had."""
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    old = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        call()
    finally:
        pa.set_memory_pool(old)
    return pool.max_memory()


def test_names_of_parquet_are_judged_as_codes(tmp_path, monkeypatch):
    long_parquet(tmp_path / "v.parquet")
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "300MB")
    assert allocated(lambda: tables.read(tmp_path / "v.parquet")) < 10_000_000


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
def test_names_of_every_type_are_read_as_codes(kind, tmp_path):
    names = pa.array(LONG * 200, kind)
    pq.write_table(pa.table({"a": names, "b": np.arange(400) % 3}), tmp_path / "v.parquet")
    assert allocated(lambda: tables.read(tmp_path / "v.parquet")) < 10_000_000


def test_names_of_an_arrow_file_are_judged_as_codes(tmp_path, monkeypatch):
    path = tmp_path / "v.arrow"
    path.write_bytes(written(few_long_names(200_000), "zstd").getvalue())
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "300MB")
    assert allocated(lambda: tables.read(path)) < 20_000_000


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("use", [{"id_column": "a"}, {"id_column": None, "keep": ["a"]}])
def test_long_ids_and_kept_columns_are_refused_in_memory_and_short_in_batches(
    suffix, use, tmp_path, monkeypatch
):
    path = tmp_path / f"v{suffix}"
    if suffix == ".parquet":
        long_parquet(path)
    else:
        path.write_bytes(written(few_long_names(20_000), "zstd").getvalue())
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "300MB")
    with pytest.raises(en.MemoryBudgetError, match=r"ids and kept columns of .* 2\.0 GB"):
        tables.read(path, **use)
    (source,) = tables.scan([str(path)], **use)
    types = source.carried_types()
    rows = [
        len(source.carried_arrays(batch, types)[0])
        for batch, _ in zip(source.batches(carried=True), range(3), strict=False)
    ]
    assert max(rows) <= 2000


def test_an_orc_file_of_long_names_is_refused(tmp_path, monkeypatch):
    orc = pytest.importorskip("pyarrow.orc")
    path = tmp_path / "v.orc"
    names = pa.array([LONG[0]] * 300)
    options = {"compression": "zstd", "dictionary_key_size_threshold": 1.0}
    orc.write_table(pa.table({"a": names, "b": np.arange(300) % 3}), path, **options)
    assert path.stat().st_size < 2000
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "40MB")
    with pytest.raises(en.MemoryBudgetError, match=r"A stripe of .* 45\.0 MB"):
        tables.read(path)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "50MB")
    assert tables.read(path).names == ["a", "b"]


def test_orc_files_of_several_stripes_have_all_rows(tmp_path):
    orc = pytest.importorskip("pyarrow.orc")
    n = 300_000
    votes = {"a": np.random.default_rng(0).integers(9, size=n), "b": np.arange(n) % 7}
    orc.write_table(pa.table(votes), tmp_path / "v.orc", stripe_size=100_000, batch_size=1000)
    (source,) = tables.scan([str(tmp_path / "v.orc")])
    assert len(source.spans(1)) > 1
    np.testing.assert_array_equal(
        tables.read(tmp_path / "v.orc").matrix, np.column_stack([*votes.values()])
    )


def test_json_lines_are_measured_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "v.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.writelines(b'{"a": "%s", "b": 1}\n' % NAMES[0].encode() for _ in range(10_000))
    assert path.stat().st_size < 1_000_000
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "60MB")
    with pytest.raises(en.MemoryBudgetError, match=r"The rows of .*v\.jsonl\.gz would take"):
        tables.read(path)


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


def test_ids_of_all_parts_count(tmp_path, monkeypatch):
    (tmp_path / "v.arrow").write_bytes(written(few_long_names(2000), None, 100).getvalue())
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "60MB")
    with pytest.raises(en.MemoryBudgetError, match=r"ids and kept columns of .*v\.arrow"):
        tables.read(tmp_path / "v.arrow", id_column="a")


def test_codes_are_measured_before_they_are_decoded(monkeypatch):
    names = long_names(300, coded=True)["a"].chunk(0)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "5MB")
    with pytest.raises(en.MemoryBudgetError, match=r"column 'a' would take 6\.0 MB"):
        plain(pa.chunked_array([names, names]), "column 'a'")


def test_numbers_of_an_orc_file_take_room(tmp_path, monkeypatch):
    orc = pytest.importorskip("pyarrow.orc")
    zeros = np.zeros(500_000, np.int8)
    orc.write_table(pa.table({"a": zeros, "b": zeros}), tmp_path / "v.orc")
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "7MB")
    with pytest.raises(en.MemoryBudgetError, match=r"A stripe of .* 8\.0 MB"):
        tables.read(tmp_path / "v.orc")


def test_the_largest_stripe_must_fit(tmp_path, monkeypatch):
    orc = pytest.importorskip("pyarrow.orc")
    votes = {"a": np.random.default_rng(0).integers(9, size=2500), "b": np.arange(2500) % 7}
    orc.write_table(pa.table(votes), tmp_path / "v.orc", stripe_size=1000, batch_size=1000)
    (source,) = tables.scan([str(tmp_path / "v.orc")])
    assert [stop - start for start, stop in source.spans(1)] == [1000, 1000, 500]
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "15kB")
    with pytest.raises(en.MemoryBudgetError, match=r"A stripe of .* 16\.0 kB"):
        tables.scan([str(tmp_path / "v.orc")])


def test_sizes_in_the_footer_of_an_orc_file(tmp_path):
    orc = pytest.importorskip("pyarrow.orc")
    table = pa.table({"a": ["xyz"] * 5, "b": pa.array([b"0123456789"] * 5)})
    orc.write_table(table, tmp_path / "v.orc")
    footer = orc.ORCFile(tmp_path / "v.orc").reader.serialized_file_tail()
    assert _sizes(footer) == ([5], 15 + 50)
    assert _all(b"\x09" + bytes(8) + b"\x15" + bytes(4) + b"\x18\x96\x01", 3) == [150]


def test_rows_of_stripes_are_compared_with_all_rows(tmp_path, monkeypatch):
    orc = pytest.importorskip("pyarrow.orc")
    orc.write_table(pa.table({"a": [1, 2], "b": [1, 1]}), tmp_path / "v.orc")
    monkeypatch.setattr("ensemblage.tables.orc._sizes", lambda _: _Sizes([1], 0))
    with pytest.raises(tables.FileFormatError, match="1 rows in stripes where 2 are listed"):
        tables.read(tmp_path / "v.orc")


def test_rows_of_parquet_are_measured_before_they_are_read(tmp_path, monkeypatch):
    names = [f"{place}{LONG[0]}" for place in range(60)]
    pq.write_table(pa.table({"id": names, "a": np.arange(60) % 3}), tmp_path / "v.parquet")
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "2MB")
    with pytest.raises(en.MemoryBudgetError, match=r"^\d+ rows of .*v\.parquet would"):
        tables.read(tmp_path / "v.parquet")
