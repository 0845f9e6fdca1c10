"""Writing: what goes in comes out again, and an existing file is never damaged."""

import datetime as dt
import errno
import gzip
import json
import os
import stat
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ensemblage import tables
from ensemblage._messages import ParameterError
from ensemblage.tables import FileFormatError, check_writable, lost_errors, read_labels, writing

COLUMNS = {
    "id": np.array(["a,1", 'b"', "ü"], dtype=object),
    "label": np.array([0, 1, 0]),
    "confidence": np.array([0.25, 1 / 3, 1.0]),
}
SUFFIXES = [".csv", ".tsv", ".parquet", ".arrow", ".orc", ".jsonl", ".npy", ".npz"]
LABELS = {"id": COLUMNS["id"], "label": COLUMNS["label"]}


@pytest.mark.parametrize(
    "name", ["l.csv", "l.tsv", "l.csv.gz", "l.tsv.gz", "l.parquet", "l", "L.CSV"]
)
def test_tables_come_back(tmp_path, name):
    tables.write(tmp_path / name, LABELS)
    table = tables.read(tmp_path / name)
    assert table.ids.tolist() == COLUMNS["id"].tolist()
    assert table.matrix.ravel().tolist() == [0, 1, 0]


def last_column(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id,label,confidence"
    return [line.rpartition(",")[2] for line in lines[1:]]


def test_csv_keeps_every_digit_unless_told(tmp_path):
    tables.write(tmp_path / "l.csv", COLUMNS)
    assert list(map(float, last_column(tmp_path / "l.csv"))) == COLUMNS["confidence"].tolist()
    tables.write(tmp_path / "l.csv", COLUMNS, decimals={"confidence": 6})
    assert last_column(tmp_path / "l.csv") == ["0.25", "0.333333", "1.0"]
    tables.write(tmp_path / "l.npz", COLUMNS, decimals={"confidence": 6})
    with np.load(tmp_path / "l.npz") as archive:
        np.testing.assert_array_equal(archive["confidence"], COLUMNS["confidence"])


@pytest.mark.parametrize(
    ("dates", "texts"),
    [
        (["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02"]),
        (["2020-01-01T12", "NaT"], ["2020-01-01T12:00:00", ""]),
        (["2020-01-01T00:00:00.5", "2020-01-01"], ["2020-01-01T00:00:00.500000", "2020-01-01"]),
        (["2020-01-01T00:00:00.000000001"], ["2020-01-01T00:00:00.000000001"]),
    ],
)
def test_dates_are_iso_texts_and_dates_in_parquet(tmp_path, dates, texts):
    ids = np.array(dates, dtype="datetime64[ns]")
    tables.write(tmp_path / "l.csv", {"id": ids})
    assert (tmp_path / "l.csv").read_text().splitlines()[1:] == [text or '""' for text in texts]
    tables.write(tmp_path / "l.jsonl", {"id": ids})
    rows = (tmp_path / "l.jsonl").read_text().splitlines()
    assert [json.loads(row)["id"] for row in rows] == [text or None for text in texts]
    tables.write(tmp_path / "l.parquet", {"id": ids, "label": np.arange(len(ids))})
    np.testing.assert_array_equal(tables.read(tmp_path / "l.parquet").ids, ids)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names on Windows")
@pytest.mark.parametrize("name", ["l.csv", "l.npz", "l.npy", "l.parquet"])
def test_every_format_goes_through_gzip_and_pipes(tmp_path, name):
    columns = {"label": COLUMNS["label"]}
    tables.write(tmp_path / f"{name}.gz", columns)
    pipe = tmp_path / name
    os.mkfifo(pipe)
    came = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()
    tables.write(pipe, columns)
    reader.join()
    (tmp_path / "copy").write_bytes(came[0])
    for file in (tmp_path / f"{name}.gz", tmp_path / "copy"):
        assert read_labels(file, format=name[2:]).labels.tolist() == [0, 1, 0]


def test_a_name_as_long_as_names_may_be(tmp_path):
    file = tmp_path / ("\N{PANDA FACE}" * 60 + ".csv")
    tables.write(file, LABELS)
    assert [left.name for left in tmp_path.iterdir()] == [file.name]


def test_npz_holds_every_column_without_pickles(tmp_path):
    tables.write(tmp_path / "l.npz", COLUMNS | {"file": np.arange(3)})
    with np.load(tmp_path / "l.npz", allow_pickle=False) as archive:
        assert archive["id"].tolist() == COLUMNS["id"].tolist()
        np.testing.assert_array_equal(archive["label"], COLUMNS["label"])
        np.testing.assert_array_equal(archive["confidence"], COLUMNS["confidence"])
        np.testing.assert_array_equal(archive["file"], np.arange(3))


def test_npy_holds_a_vector_or_a_table(tmp_path):
    tables.write(tmp_path / "l.npy", {"label": COLUMNS["label"]})
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), COLUMNS["label"])
    tables.write(tmp_path / "l.npy", {"k2": np.array([0, 1]), "k3": np.array([2, 3])})
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), [[0, 2], [1, 3]])


def test_standard_output(capfdbinary):
    tables.write("-", {"id": np.array([0, 1]), "label": np.array([0, 1])})
    assert capfdbinary.readouterr().out == b"id,label\n0,0\n1,1\n"


def test_compressed_output_does_not_depend_on_the_time(tmp_path):
    tables.write(tmp_path / "a.csv.gz", LABELS)
    tables.write(tmp_path / "b.csv.gz", LABELS)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"id,label\n")


@pytest.mark.parametrize("name", ["l.csv", "l.csv.gz", "l.parquet", "l.npy", "l.npz"])
def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name):
    file = tmp_path / name
    file.write_bytes(b"precious")

    def fail(stream, columns):
        stream.write(b"half of it")
        raise OSError(28, "No space left on device")

    format_name = name.split(".")[1]
    monkeypatch.setattr(writing, f"write_{format_name}", fail)
    with pytest.raises(OSError, match="No space left"):
        tables.write(file, LABELS)
    assert file.read_bytes() == b"precious"
    assert [left.name for left in tmp_path.iterdir()] == [name]


def test_columns_that_cannot_be_written_leave_the_old_file(tmp_path):
    file = tmp_path / "l.csv"
    file.write_bytes(b"precious")
    with pytest.raises(UnicodeEncodeError):
        tables.write(file, {"a": ["x", "\ud800"]})
    assert file.read_bytes() == b"precious"


def test_permissions_and_links_survive(tmp_path):
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    tables.write(link, LABELS)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8").startswith("id,label")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    def forbid(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.listdir", forbid)
    assert tables.identity(str(tmp_path / "l.csv")) != tables.identity(str(tmp_path / "m.csv"))
    tables.write(tmp_path / "l.csv", LABELS)
    assert (tmp_path / "l.csv").exists()


def test_a_device_is_written_to_and_not_replaced():
    check_writable("/dev/null")
    tables.write("/dev/null", LABELS)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_dev_stdout_goes_on_where_standard_output_is(tmp_path):
    file = tmp_path / "log"
    code = (
        "import numpy as np; from ensemblage import tables; print('before', flush=True);"
        "tables.write('/dev/stdout', {'label': np.arange(2)}); print('after')"
    )
    with file.open("w") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert file.read_text() == "before\nlabel\n0\n1\nafter\n"


class TestCheckWritable:
    def test_leaves_everything_as_it_was(self, tmp_path):
        (tmp_path / "old.csv").write_text("old")
        check_writable(tmp_path / "old.csv")
        check_writable(tmp_path / "new.csv")
        check_writable("-")
        assert [file.name for file in tmp_path.iterdir()] == ["old.csv"]
        assert (tmp_path / "old.csv").read_text() == "old"

    def test_misses_the_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
            check_writable(tmp_path / "nowhere" / "l.csv")
        (tmp_path / "file").write_text("")
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            check_writable(tmp_path / "file" / "l.csv")

    def test_wants_a_file(self, tmp_path):
        (tmp_path / "l.csv").mkdir()
        with pytest.raises(IsADirectoryError, match="names a directory"):
            check_writable(tmp_path / "l.csv")
        with pytest.raises(IsADirectoryError, match="names a directory"):
            check_writable(f"{tmp_path}/new/")

    def test_notices_what_the_system_forbids(self, tmp_path, monkeypatch):
        def forbid(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.open", forbid)
        with pytest.raises(PermissionError, match=r"l\.csv cannot be written: Permission denied"):
            check_writable(tmp_path / "l.csv")

    def test_wants_a_name_that_leads_somewhere(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="name of the output is empty"):
            check_writable("")
        (tmp_path / "a").symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(tmp_path / "a")
        with pytest.raises(OSError, match="cannot be written: Too many levels of symbolic links"):
            check_writable(tmp_path / "a")
        with pytest.raises(OSError, match="cannot be written: File name too long"):
            check_writable(tmp_path / ("x" * 300))

    def test_wants_standard_output_to_be_open(self, monkeypatch):
        monkeypatch.setattr(sys, "stdout", None)
        with pytest.raises(OSError, match="Standard output is closed"):
            check_writable("-")
        with pytest.raises(OSError, match="Standard output is closed"):
            tables.write("-", LABELS)

    @pytest.mark.parametrize("name", ["l.xlsx", "l.mat", "l.txt"])
    def test_knows_the_formats(self, name):
        with pytest.raises(FileFormatError, match="cannot be written as"):
            check_writable(name)


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (errno.ENOENT, FileNotFoundError, "its folder was removed meanwhile. Start again; what"),
        (errno.EROFS, PermissionError, "Read-only file system. Make its folder writable and sta"),
        (errno.ENOSPC, OSError, "No space left on device. Make room, or write elsewhere."),
    ],
)
def test_work_that_cannot_be_kept(number, kind, words):
    with pytest.raises(kind) as caught, lost_errors("d/part"):
        raise OSError(number, os.strerror(number))
    assert str(caught.value).startswith(f"d/part cannot be written: {words}")


WRONG_COLUMNS = [
    ({"a": [1, 2], "b": [1]}, r"2 values of 'a' and 1 of 'b'"),
    (5, r"Got 5 .*dict\(frame\)"),
    ({}, "at least one column"),
    ({1: [1, 2]}, "Names are texts"),
    ({"a": [[1, 2], [3]]}, "'a' with values of different lengths"),
    ({"a": 7}, r"'a' of shape \(\)"),
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("columns", "expected"), WRONG_COLUMNS)
def test_wrong_columns_are_named(tmp_path, suffix, columns, expected):
    with pytest.raises(ParameterError, match=f"'columns' parameter of tables.write.*{expected}"):
        tables.write(tmp_path / f"l{suffix}", columns)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".orc"])
def test_a_matrix_is_not_a_column(tmp_path, suffix):
    with pytest.raises(ParameterError, match=r"'a' of shape \(2, 2\)"):
        tables.write(tmp_path / f"l{suffix}", {"a": np.zeros((2, 2))})


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "as_given", [list, np.array, pd.Series, lambda a: pd.Series(a, dtype="Int64")]
)
def test_columns_may_be_lists_and_series(tmp_path, suffix, as_given):
    path = tmp_path / f"l{suffix}"
    tables.write(path, {"a": as_given([1, 2, 1]), "b": as_given([0, 0, 1])})
    if suffix != ".npz":
        assert tables.read(path, id_column=None).matrix.astype(int).tolist() == [
            [1, 0],
            [2, 0],
            [1, 1],
        ]


@pytest.mark.parametrize("as_given", [pd.array, pd.Index, pd.Series])
def test_columns_of_pandas_keep_digits_and_gaps(tmp_path, as_given):
    given = {"a": ([2**60 + 1, None], "Int64"), "b": (["x", None], "string")}
    given |= {"c": ([True, None], "boolean"), "d": (["y", None], "category")}
    columns = {name: as_given(values, dtype=kind) for name, (values, kind) in given.items()}
    tables.write(tmp_path / "l.csv", columns)
    assert (tmp_path / "l.csv").read_text() == f"a,b,c,d\n{2**60 + 1},x,True,y\n,,,\n"
    tables.write(tmp_path / "l.jsonl", columns)
    rows = [json.loads(row) for row in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert rows == [{"a": 2**60 + 1, "b": "x", "c": True, "d": "y"}, dict.fromkeys("abcd")]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_lengths_of_time_and_decimals_are_texts(tmp_path, suffix):
    lengths = np.array([90_000, "NaT"], "timedelta64[s]")
    columns = {unit: lengths.astype(f"timedelta64[{unit}]") for unit in ("h", "s", "ns")}
    columns |= {"weeks": np.array([1, "NaT"], "timedelta64[W]")}
    columns |= {"given": [dt.timedelta(days=1, hours=1), None]}
    columns |= {"tiny": np.array([1, 10**9], "timedelta64[ns]"), "cost": [Decimal("1.50"), None]}
    columns |= {"clock": [dt.time(1, 2), None], "months": np.array([1, 2], "timedelta64[M]")}
    tables.write(tmp_path / f"l{suffix}", columns)
    if suffix == ".csv":
        found = pd.read_csv(tmp_path / "l.csv", dtype=str).fillna("").to_dict("list")
    else:
        rows = [json.loads(row) for row in (tmp_path / "l.jsonl").read_text().splitlines()]
        found = {name: [row[name] or "" for row in rows] for name in columns}
    expected = {name: ["1 day, 1:00:00", ""] for name in ("h", "s", "ns", "given")}
    expected |= {"tiny": ["0:00:00.000000001", "0:00:01"], "cost": ["1.50", ""]}
    expected |= {"weeks": ["7 days, 0:00:00", ""]}
    assert found == {**expected, "clock": ["01:02:00", ""], "months": ["1 months", "2 months"]}


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".orc", ".jsonl"])
def test_columns_that_a_format_has_no_type_for_are_named(tmp_path, suffix):
    odd = {"mixed": [1, "x"], "large": [2**70, 1], "complex": np.array([1j, 2])}
    odd |= {"length": [dt.timedelta(1)] * 2} if suffix == ".orc" else {}
    odd |= {"bytes": [b"x", b"y"]} if suffix == ".jsonl" else {}
    for name, values in odd.items():
        with pytest.raises(FileFormatError, match=rf"Column '{name}' .*written as .*\. Write CSV"):
            tables.write(tmp_path / f"l{suffix}", {"a": [1, 2], name: values})
        assert not list(tmp_path.iterdir())
        tables.write(tmp_path / "l.csv", {"a": [1, 2], name: values})
        (tmp_path / "l.csv").unlink()


@pytest.mark.parametrize("decimals", [2, {"zz": 1}, {"a": "x"}, {"b": 1}])
def test_wrong_decimals_are_named(tmp_path, decimals):
    with pytest.raises(ParameterError, match=r"'decimals' parameter of tables\.write"):
        tables.write(tmp_path / "l.csv", {"a": [1.5], "b": ["x"]}, decimals=decimals)


def test_a_path_is_a_path():
    with pytest.raises(ParameterError, match=r"'path' parameter of tables\.write"):
        tables.write(None, {"a": [1]})
