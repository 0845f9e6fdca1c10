"""What is written comes back: every format, packing and way of naming files."""

import gzip
import io
import json
import sys
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import fs, orc
from pyarrow.feather import write_feather

from ensemblage import tables
from ensemblage.tables import FileFormatError, files

NAMES = ["l.csv", "l.tsv", "l.parquet", "l.arrow", "l.feather", "l.orc", "l.jsonl"]
WITH_NAMES = [*NAMES, "l.csv.gz", "l.csv.zst", "l.parquet.gz", "l.tsv.zst"]
COLUMNS = {
    "id": np.array(["a,1", 'b"', "ü"], dtype=object),
    "m1": np.array([0, 1, 0]),
    "m2": np.array(["T cell", None, "B"], dtype=object),
}
SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def votes(table):
    return [column.tolist() for column in tables.votes_of(table).arrays]


@pytest.mark.parametrize("name", WITH_NAMES)
def test_tables_come_back(tmp_path, name):
    tables.write(tmp_path / name, COLUMNS)
    table = tables.read(tmp_path / name)
    assert (table.id_name, table.ids.tolist()) == ("id", COLUMNS["id"].tolist())
    assert votes(table) == [[0, 1, 0], ["T cell", None, "B"]]
    features = tables.read_features(tmp_path / name)
    assert features.columns["m1"].tolist() == [0.0, 1.0, 0.0]
    assert features.columns["m2"].tolist() == ["T cell", None, "B"]


text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs"]), max_size=6)
names_column = st.lists(st.one_of(st.none(), text), min_size=4, max_size=4)
numbers_column = st.lists(
    st.one_of(st.none(), st.integers(-(2**62), 2**62)), min_size=4, max_size=4
)


@pytest.mark.parametrize("name", ["l.parquet", "l.arrow", "l.orc", "l.jsonl"])
@SETTINGS
@given(columns=st.lists(st.one_of(names_column, numbers_column), min_size=1, max_size=3))
def test_any_columns_with_types_come_back(tmp_path, name, columns):
    given_table = {f"m{i}": pa.array(column) for i, column in enumerate(columns)}
    tables.write(tmp_path / name, given_table | {"last": pa.array([1, 1, 2, 2])})
    table = tables.read(tmp_path / name, id_column=None)
    votes_of_columns = table.columns or list(table.matrix.T)
    for votes_of_one, column in zip(votes_of_columns, columns, strict=False):
        missing = None if votes_of_one.dtype == object else -1
        assert votes_of_one.tolist() == [missing if vote is None else vote for vote in column]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "cells",
    [
        [None, *(f"c{place}" for place in range(11))],
        [None, *range(11)],
        np.arange(12.0).tolist(),
        [*np.arange(11.0).tolist(), None],
    ],
)
def test_ids_with_a_gap_and_whole_floats_are_ids_in_every_format(tmp_path, name, cells):
    others = {"a": np.arange(12) % 3, "b": np.arange(12) % 2}
    tables.write(tmp_path / name, {"cell": cells, **others})
    table = tables.read(tmp_path / name)
    assert (table.id_name, table.names) == ("cell", ["a", "b"])
    assert tables.as_texts(table.ids) == ["" if cell is None else str(cell) for cell in cells]


@pytest.mark.parametrize("name", NAMES)
def test_fractions_and_several_gaps_are_no_ids_in_any_format(tmp_path, name):
    others = {"a": np.arange(12) % 3, "b": np.arange(12) % 2}
    tables.write(tmp_path / name, {"cell": [None, None, None, *range(9)], **others})
    assert tables.read(tmp_path / name).names == ["cell", "a", "b"]
    tables.write(tmp_path / name, {"cell": np.arange(12) + 0.5, **others})
    with pytest.raises(FileFormatError, match=r"column 'cell'.* is not a cluster label"):
        tables.read(tmp_path / name)


def test_standard_input_in_every_streamed_format(tmp_path, monkeypatch):
    for name in ["l.parquet", "l.arrow", "l.orc", "l.csv"]:
        tables.write(tmp_path / name, COLUMNS)
        stream = io.BytesIO((tmp_path / name).read_bytes())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        assert votes(tables.read("-")) == [[0, 1, 0], ["T cell", None, "B"]]


@pytest.mark.parametrize("name", ["l.csv.zst", "l.csv.gz"])
def test_truncated_packing_is_an_error(tmp_path, name):
    tables.write(tmp_path / name, {"a": np.arange(5000), "b": np.arange(5000) % 7})
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-30])
    with pytest.raises(FileFormatError, match=r"damaged or truncated (gzip|zstd) file"):
        tables.read(tmp_path / name)


class TestStoredLabels:
    """Databases store whole numbers as decimals, and names as bytes."""

    COLUMNS = (
        pa.array([Decimal(1), None, Decimal(-1), Decimal(7)], pa.decimal128(38, 0)),
        pa.array([Decimal("1.00"), None, Decimal("-1.00"), Decimal("7.00")], pa.decimal256(50, 2)),
        pa.array([b"T", None, b"", "ü".encode()]),
        pa.array([b"T", None, b"", "ü".encode()], pa.large_binary()),
    )
    NUMBERS, TEXTS = [1, -1, -1, 7], ["T", None, "", "ü"]

    @pytest.mark.parametrize("ending", ["parquet", "arrow"])
    def test_are_read_as_what_they_are(self, tmp_path, ending):
        file = tmp_path / f"v.{ending}"
        content = pa.table({f"m{i}": column for i, column in enumerate(self.COLUMNS)})
        pq.write_table(content, file) if ending == "parquet" else write_feather(content, file)
        assert votes(tables.read(file, id_column=None)) == [self.NUMBERS] * 2 + [self.TEXTS] * 2
        (source,) = tables.scan(file, id_column=None)
        (batch,) = source.batches()
        columns = source.votes(batch, [tables.Codes(name) for name in source.names])
        assert [column.tolist() for column in columns[:2]] == [self.NUMBERS] * 2

    @pytest.mark.skipif(not hasattr(pa, "bool8"), reason="pyarrow is older")
    def test_types_that_extend_others_are_read(self, tmp_path):
        flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, 1], pa.int8()))
        pq.write_table(pa.table({"a": flags, "b": [0, 0, 1]}), tmp_path / "v.parquet")
        table = tables.read(tmp_path / "v.parquet", id_column=None)
        assert table.matrix.tolist() == [[0, 0], [1, 0], [1, 1]]

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            ([Decimal("1.5"), Decimal(2)], "row 1: 1.5 is not a cluster label. Numbers with a"),
            ([Decimal(2), Decimal(10) ** 20], "row 2: 1e\\+20 is not a cluster label"),
            (
                [b"\xff", b"a"],
                "values of type binary are not cluster labels.* leave the column out",
            ),
            ([[1], [2]], "values of type list.* are not cluster labels.* leave the column out"),
        ],
    )
    def test_others_raise_an_error(self, tmp_path, column, message):
        pq.write_table(pa.table({"a": column, "b": [0, 1]}), tmp_path / "v.parquet")
        with pytest.raises(FileFormatError, match=message):
            tables.read(tmp_path / "v.parquet", id_column=None)


class TestJson:
    def test_lines_with_other_fields_and_nulls(self, tmp_path):
        (tmp_path / "v.jsonl").write_text('{"id":"a","m":1}\n{"id":"b"}\n{"id":"c","m":2.0}\n')
        assert tables.read(tmp_path / "v.jsonl").matrix.ravel().tolist() == [1, -1, 2]

    @pytest.mark.parametrize("content", ["", "[1, 2", '{"a": 1}\n{"a"', '[{"a": 1}]', "\x00"])
    def test_damaged(self, tmp_path, content):
        (tmp_path / "v.json").write_text(content)
        with pytest.raises(FileFormatError, match=r"v\.json"):
            tables.read(tmp_path / "v.json")

    @pytest.mark.parametrize("column", ["when", "a"])
    def test_texts_that_look_like_times_stay_as_they_are(self, tmp_path, column):
        times = ["2020-01-01T00:00:00+02:00", "2020-01-01", "2020-01-01 01:00:00"]
        rows = [json.dumps({column: time, "b": n}) for n, time in enumerate([*times, times[0]])]
        (tmp_path / "v.jsonl").write_text("\n".join(rows))
        table = tables.read(tmp_path / "v.jsonl", id_column="when" if column == "when" else None)
        found = table.ids if column == "when" else table.columns[0]
        assert found.tolist() == [*times, times[0]]

    def test_texts_that_look_like_times_stay_in_their_place(self, tmp_path):
        rows = [
            {"obs": f"s{i}", "a": i // 4, "b": i % 2, "day": f"2020-01-0{1 + i // 4}"}
            for i in range(8)
        ]
        for name, last in (("times.jsonl", 8), ("names.jsonl", 7)):
            part = [*rows[:last], *({**row, "obs": "s9", "day": "x"} for row in rows[last:])]
            (tmp_path / name).write_text("\n".join(map(json.dumps, part)))
        table = tables.read(tmp_path / "times.jsonl")
        assert (table.id_name, table.names) == ("obs", ["a", "b", "day"])
        both = [tmp_path / "times.jsonl", tmp_path / "names.jsonl"]
        assert tables.read(both, columns=["a", "b", "day"]).names == ["a", "b", "day"]

    @pytest.mark.parametrize("ids", [[2**63, 2**63 + 1, 2**63 + 2], [2.0**53, 1, 2]])
    def test_ids_that_floats_do_not_tell_apart_are_refused(self, tmp_path, ids):
        rows = [f'{{"id": {name}, "a": 1}}\n' for name in ids]
        (tmp_path / "v.jsonl").write_text("".join(rows))
        with pytest.raises(FileFormatError, match=r"'id'.* digits would be lost.* quotation marks"):
            tables.read(tmp_path / "v.jsonl")

    def test_so_are_kept_columns_but_no_other_ones(self, tmp_path):
        rows = [f'{{"id": "{acc}", "m": 0, "acc": {acc}}}\n' for acc in (2**53 + 1, 2**63, 1)]
        (tmp_path / "v.jsonl").write_text("".join(rows))
        assert tables.read(tmp_path / "v.jsonl", columns=["m"]).matrix.ravel().tolist() == [0, 0, 0]
        with pytest.raises(FileFormatError, match=r"'acc': 9.* digits would be lost"):
            tables.read(tmp_path / "v.jsonl", columns=["m"], keep=["acc"])

    def test_mixed_types_are_named(self, tmp_path):
        (tmp_path / "v.jsonl").write_text('{"a": 1, "b": 1}\n{"a": "x", "b": 1}\n')
        with pytest.raises(FileFormatError, match=r"'a' holds values of the types number and str"):
            tables.read(tmp_path / "v.jsonl")

    @pytest.mark.parametrize("megabytes", [3, 40])
    def test_long_rows(self, tmp_path, megabytes):
        row = json.dumps({"a": "x" * (megabytes << 20), "b": 1})
        (tmp_path / "v.jsonl").write_text(f"{row}\n{row}\n")
        if megabytes < 16:
            assert tables.read(tmp_path / "v.jsonl").names == ["a", "b"]
        else:
            with pytest.raises(FileFormatError, match=r"a row that is longer than 16 MB"):
                tables.read(tmp_path / "v.jsonl")

    @pytest.mark.parametrize("text", ['[{"id":"x","a":1}]', '[\n{"id":"x"},\n{"id":"y"}\n]'])
    def test_an_array_is_named(self, tmp_path, text):
        (tmp_path / "v.json").write_text(text)
        with pytest.raises(FileFormatError, match=r"v\.json holds a JSON array, but .* jq -c"):
            tables.read(tmp_path / "v.json")

    def test_is_not_streamed(self, tmp_path):
        (tmp_path / "v.jsonl").write_text('{"m":1}\n')
        with pytest.raises(FileFormatError, match="is JSON, and csv, tsv, parquet"):
            tables.scan(tmp_path / "v.jsonl")


class TestOrc:
    def test_numbers_that_it_has_no_type_for(self, tmp_path):
        with pytest.raises(FileFormatError, match=r"'id' holds numbers above 9.* Write Parquet"):
            tables.write(tmp_path / "v.orc", {"id": np.array([2**63, 1], dtype=np.uint64)})
        assert not (tmp_path / "v.orc").exists()

    def test_stripes_are_batches(self, tmp_path):
        table = pa.table({"a": np.arange(30_000) % 7, "b": ["x", "y", None] * 10_000})
        orc.write_table(table, tmp_path / "v.orc", stripe_size=1 << 16, batch_size=1024)
        (source,) = tables.scan(tmp_path / "v.orc", batch_rows=1000)
        codes = [tables.Codes(name) for name in source.names]
        found = [np.column_stack(source.coded(b, codes)) for b in source.batches(500, 29_000)]
        assert len(found) > 20
        expected = tables.read(tmp_path / "v.orc").columns
        np.testing.assert_array_equal(np.vstack(found)[:, 0], expected[0][500:29_000])

    def test_damaged(self, tmp_path):
        orc.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "v.orc")
        whole = (tmp_path / "v.orc").read_bytes()
        for content in (whole[:-20], b"ORC", b""):
            (tmp_path / "v.orc").write_bytes(content)
            with pytest.raises(FileFormatError, match=r"v\.orc cannot be read as ORC"):
                tables.read(tmp_path / "v.orc")


class TestManyFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "in").mkdir()
        tables.write(tmp_path / "in" / "a.csv", {"m": np.array([1, 2]), "n": np.array([1, 1])})
        tables.write(tmp_path / "in" / "b.parquet", {"m": np.array([3]), "n": np.array([7])})
        (tmp_path / "in" / "notes.md").write_text("not a table")
        return tmp_path / "in"

    def test_a_folder_and_a_pattern(self, folder):
        assert tables.read(folder).matrix.tolist() == [[1, 1], [2, 1], [3, 7]]
        assert tables.read(folder / "[ab].*").matrix.tolist() == [[1, 1], [2, 1], [3, 7]]
        assert tables.read([folder / "b.parquet", folder / "*.csv"]).matrix[0].tolist() == [3, 7]

    def test_a_link_that_leads_nowhere_is_not_left_out(self, folder):
        (folder / "c.csv").symlink_to("lost.csv")
        with pytest.raises(FileNotFoundError, match=r"c\.csv"):
            tables.read(folder)

    def test_two_asterisks_are_folders_of_any_depth(self, folder):
        (folder / "deeper" / "still").mkdir(parents=True)
        (folder / "deeper" / "still" / "c.csv").write_text("m,n\n5,6\n")
        expected = [[1, 1], [2, 1], [5, 6]]
        assert tables.read(folder / "**" / "[ac].csv", header=True).matrix.tolist() == expected
        (folder / "deeper" / "c.csv").mkdir()
        assert tables.read(folder / "**" / "[ac].csv", header=True).matrix.tolist() == expected

    def test_hidden_files_are_left_out(self, folder):
        for name in (".b.csv", "._a.csv", "_c.csv"):
            (folder / name).write_bytes(b"\0 not a table")
        assert tables.read(folder).matrix.tolist() == [[1, 1], [2, 1], [3, 7]]
        (folder / ".b.csv").write_text("m,n\n5,6\n")
        assert tables.read(folder / ".b.csv", header=True).matrix.tolist() == [[5, 6]]
        for name in ("a.csv", "b.parquet"):
            (folder / name).unlink()
        with pytest.raises(FileFormatError, match="does not begin with a dot or an underscore"):
            tables.read(folder)

    def test_uris_of_local_files(self, folder):
        assert tables.read(f"file://{folder}").matrix.tolist() == [[1, 1], [2, 1], [3, 7]]
        assert tables.read(f"file://{folder}/*.csv").matrix.tolist() == [[1, 1], [2, 1]]
        assert tables.read(f"file://{folder}/b.parquet").matrix.tolist() == [[3, 7]]


class TestFilesNamedTwice:
    @pytest.mark.parametrize("others", [["v.csv"], ["./v.csv"], ["*.csv"], ["link"], ["."]])
    def test_they_are_an_error(self, tmp_path, monkeypatch, others):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "v.csv").write_text("a,b\n1,1\n2,2\n")
        if others == ["link"]:
            (tmp_path / "link").symlink_to("v.csv")
        with pytest.raises(FileFormatError, match="is named twice"):
            tables.read(["v.csv", *others])
        with pytest.raises(FileFormatError, match="is named twice"):
            tables.scan(["v.csv", *others])

    def test_equal_files_are_not(self, tmp_path):
        paths = [tmp_path / name for name in ("a.csv", "b.csv")]
        for path in paths:
            path.write_text("a,b\n1,1\n2,2\n")
        assert tables.votes_of(tables.read(paths)).tolist() == [[1, 1], [2, 2]] * 2


class TestRemote:
    """A bucket, which here is a folder behind Arrow's interface of file systems."""

    @pytest.fixture
    def bucket(self, tmp_path, monkeypatch):
        root = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
        monkeypatch.setattr(
            files, "filesystem", lambda uri: (root, uri.removeprefix("s3://bucket").strip("/"))
        )
        (tmp_path / "v").mkdir()
        for place, name in enumerate(["a.csv", "b.parquet", "c.csv.gz", "d.arrow"]):
            columns = {"id": np.array([f"o{place}", f"p{place}"]), "m": np.array([place, 5])}
            tables.write(tmp_path / "v" / name, columns)
        tables.write(tmp_path / "v" / "_x.tsv", {"id": np.array(["x"]), "m": np.array([9])})
        for name in (".b.csv", "._a.csv"):
            (tmp_path / "v" / name).write_bytes(b"\0 not a table")
        return tmp_path

    @pytest.mark.parametrize(
        ("uri", "expected"),
        [
            ("s3://bucket/v/a.csv", [0, 5]),
            ("s3://bucket/v/b.parquet", [1, 5]),
            ("s3://bucket/v/c.csv.gz", [2, 5]),
            ("s3://bucket/v/d.arrow", [3, 5]),
            ("s3://bucket/v/*.csv*", [0, 5, 2, 5]),
            ("s3://bucket/v/_*", [9]),
            ("s3://bucket/v", [0, 5, 1, 5, 2, 5, 3, 5]),
        ],
    )
    @pytest.mark.usefixtures("bucket")
    def test_is_read(self, uri, expected):
        table = tables.read(uri, id_column="id")
        assert table.matrix.ravel().tolist() == expected
        (first, *_) = tables.scan(uri, id_column="id")
        assert first.path == table.origin[0].path
        assert not first.has_changed()

    def test_a_change_is_noticed(self, bucket):
        (source,) = tables.scan("s3://bucket/v/a.csv")
        (bucket / "v" / "a.csv").write_text("id,m\nx,1\n")
        assert source.has_changed()

    @pytest.mark.usefixtures("bucket")
    def test_what_is_not_there(self):
        with pytest.raises(FileNotFoundError, match=r"no file s3://bucket/v/z\.csv"):
            tables.read("s3://bucket/v/z.csv")
        with pytest.raises(FileNotFoundError, match=r"No file matches s3://bucket/v/z\*"):
            tables.read("s3://bucket/v/z*")

    def test_an_unknown_scheme(self):
        with pytest.raises(FileFormatError, match="pyarrow cannot open ftp://"):
            tables.read("ftp://host/v.csv")

    def test_is_not_written(self):
        with pytest.raises(OSError, match="written to local files"):
            tables.write("s3://bucket/l.csv", {"label": np.arange(3)})


def test_packed_text_is_streamed(tmp_path):
    (tmp_path / "v.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n1,3\n"))
    (source,) = tables.scan(tmp_path / "v.csv.gz")
    codes = [tables.Codes(name) for name in source.names]
    (batch,) = source.batches()
    assert [column.tolist() for column in source.coded(batch, codes)] == [[1, 1], [2, 3]]
