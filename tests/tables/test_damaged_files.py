"""Binary files that are damaged, odd or of other types: always a FileFormatError, never a guess."""

import datetime
import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from ensemblage import tables
from ensemblage.tables import FileFormatError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VOTES = np.array([[1, 1], [1, 2], [2, 2]])


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.fixture
def npz(tmp_path):
    def write(members):
        with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return tmp_path / "v.npz"

    return write


@pytest.fixture
def parquet(tmp_path):
    def read(columns, **options):
        pq.write_table(pa.table(columns), tmp_path / "v.parquet")
        return tables.read(tmp_path / "v.parquet", **options)

    return read


class TestNpz:
    def test_other_members_are_no_concern(self, npz):
        file = npz({"votes.npy": npy_bytes(VOTES), "readme.txt": b"hello"})
        np.testing.assert_array_equal(tables.read(file).matrix, VOTES)

    def test_without_arrays(self, npz):
        with pytest.raises(FileFormatError, match=r"v\.npz holds no arrays"):
            tables.read(npz({"xl/workbook.xml": b"<x/>"}))

    def test_a_compression_that_does_not_exist(self, npz):
        file = npz({"votes.npy": npy_bytes(VOTES)})
        content = bytearray(file.read_bytes())
        for header, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            content[content.index(header) + offset] = 77
        file.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"read as NPZ.*compression"):
            tables.read(file)

    def test_marked_as_encrypted(self, npz):
        file = npz({"votes.npy": npy_bytes(VOTES)})
        content = bytearray(file.read_bytes())
        for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.index(header) + offset] |= 1
        file.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"read as NPZ.*encrypted"):
            tables.read(file)


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
def test_any_changed_byte_gives_a_table_or_a_format_error(tmp_path, suffix):
    rng = np.random.default_rng(0)
    file = tmp_path / f"v.{suffix}"
    columns = {"a": VOTES[:, 0], "b": VOTES[:, 1]}
    tables.write(file, {"votes": VOTES} if suffix == "npz" else columns)
    whole = file.read_bytes()
    for place in rng.integers(0, min(len(whole), 400), 150):
        changed = bytearray(whole)
        changed[place] = rng.integers(256)
        file.write_bytes(changed)
        try:
            tables.read(file)
        except FileFormatError as error:
            assert file.name in str(error)  # noqa: PT017


class TestParquet:
    def test_string_views(self, parquet):
        views = pa.array(["x", "x", None], pa.string_view())
        table = parquet({"id": pa.array(["a", "b", "c"], pa.string_view()), "m": views})
        assert table.ids.tolist() == ["a", "b", "c"]
        assert table.columns[0].tolist() == ["x", "x", None]

    def test_numbers_with_no_room_for_a_missing_vote(self, parquet):
        with pytest.raises(FileFormatError, match=r"v\.parquet, column 'm': 18446744073709551615"):
            parquet({"m": pa.array([2**64 - 1, None], pa.uint64())})
        assert parquet({"m": pa.array([2**64 - 1, 0], pa.uint64())}).matrix.dtype == np.uint64

    def test_bytes_that_are_no_text(self, parquet):
        buffers = [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
        broken = pa.Array.from_buffers(pa.string(), 2, buffers)
        for columns in ({"m": broken}, {"id": ["a", "b"], "m": broken}):
            with pytest.raises(FileFormatError, match=r"v\.parquet, column 'm' cannot be read"):
                parquet(columns)
        with pytest.raises(FileFormatError, match=r"v\.parquet, column 'id' cannot be read"):
            parquet({"id": broken, "m": [1, 2]})

    @pytest.mark.parametrize(
        ("values", "texts"),
        [
            (pa.array([datetime.time(1, 2), None]), ["01:02:00", None]),
            (pa.array([1.5, 2.0]), ["1.5", "2.0"]),
            (pa.array([b"ab", b"\xff"]), ["ab", "\\xff"]),
            (pa.array([7, None]), [7, None]),
            (
                pa.array([datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)] * 2),
                ["2020-01-01T00:00:00+00:00"] * 2,
            ),
        ],
    )
    def test_ids_of_any_type(self, parquet, values, texts):
        assert parquet({"id": values, "m": [1, 2]}).ids.tolist() == texts


class TestPandasIndex:
    @pytest.fixture
    def two_levels(self, tmp_path):
        index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 3)], names=["batch", "cell"])
        pd.DataFrame({"m": [1, 1, 2]}, index=index).to_parquet(tmp_path / "v.parquet")
        return tmp_path / "v.parquet"

    def test_of_several_levels_is_not_guessed_at(self, two_levels):
        with pytest.raises(FileFormatError, match=r"2 levels \('batch', 'cell'\)"):
            tables.read(two_levels)

    def test_is_never_a_clustering(self, two_levels):
        table = tables.read(two_levels, id_column="cell")
        assert (table.names, table.ids.tolist()) == (["m"], [1, 2, 3])
        assert tables.read(two_levels, id_column=None).names == ["m"]

    def test_of_dates(self, tmp_path):
        index = pd.date_range("2020-01-01", periods=3, name="day")
        pd.DataFrame({"m": [1, 1, 2]}, index=index).to_parquet(tmp_path / "v.parquet")
        table = tables.read(tmp_path / "v.parquet")
        np.testing.assert_array_equal(table.ids, index.to_numpy())
        (tmp_path / "v.csv").write_text("day,m\n2020-02-01,1\n2020-02-02,1\n2020-02-03,1\n")
        both = tables.read([tmp_path / "v.parquet", tmp_path / "v.csv"])
        assert both.ids[[0, 3]].tolist() == ["2020-01-01", "2020-02-01"]
