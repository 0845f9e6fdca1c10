"""Writing: what goes in comes out again, and an existing file is never damaged."""

import gzip
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from quorate.files import FileFormatError, check_writable, read_table, write_table
from quorate.files import _write as write_module

COLUMNS = {
    "id": np.array(["a,1", 'b"', "ü"], dtype=object),
    "label": np.array([0, 1, 0]),
    "confidence": np.array([0.25, 1 / 3, 1.0]),
}
LABELS = {"id": COLUMNS["id"], "label": COLUMNS["label"]}


@pytest.mark.parametrize(
    "name", ["l.csv", "l.tsv", "l.csv.gz", "l.tsv.gz", "l.parquet", "l", "L.CSV"]
)
def test_tables_come_back(tmp_path, name):
    write_table(tmp_path / name, LABELS)
    table = read_table(tmp_path / name)
    assert table.ids.tolist() == COLUMNS["id"].tolist()
    assert table.matrix.ravel().tolist() == [0, 1, 0]


def test_csv_keeps_every_digit(tmp_path):
    write_table(tmp_path / "l.csv", COLUMNS)
    last = (tmp_path / "l.csv").read_text(encoding="utf-8").splitlines()
    assert last[0] == "id,label,confidence"
    assert [float(line.rpartition(",")[2]) for line in last[1:]] == COLUMNS["confidence"].tolist()


def test_npz_holds_every_column_without_pickles(tmp_path):
    write_table(tmp_path / "l.npz", COLUMNS | {"file": np.arange(3)})
    with np.load(tmp_path / "l.npz", allow_pickle=False) as archive:
        assert archive["id"].tolist() == COLUMNS["id"].tolist()
        np.testing.assert_array_equal(archive["label"], COLUMNS["label"])
        np.testing.assert_array_equal(archive["confidence"], COLUMNS["confidence"])
        np.testing.assert_array_equal(archive["file"], np.arange(3))


def test_npy_holds_a_vector_or_a_table(tmp_path):
    write_table(tmp_path / "l.npy", {"label": COLUMNS["label"]})
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), COLUMNS["label"])
    write_table(tmp_path / "l.npy", {"k2": np.array([0, 1]), "k3": np.array([2, 3])})
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), [[0, 2], [1, 3]])


def test_standard_output(capfdbinary):
    write_table("-", {"id": np.array([0, 1]), "label": np.array([0, 1])})
    assert capfdbinary.readouterr().out == b"id,label\n0,0\n1,1\n"


def test_compressed_output_does_not_depend_on_the_time(tmp_path):
    write_table(tmp_path / "a.csv.gz", LABELS)
    write_table(tmp_path / "b.csv.gz", LABELS)
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
    monkeypatch.setitem(write_module._WRITERS, format_name, fail)
    with pytest.raises(OSError, match="No space left"):
        write_table(file, LABELS)
    assert file.read_bytes() == b"precious"
    assert [left.name for left in tmp_path.iterdir()] == [name]


def test_columns_that_cannot_be_written_leave_the_old_file(tmp_path):
    file = tmp_path / "l.csv"
    file.write_bytes(b"precious")
    with pytest.raises(ValueError, match="zip"):
        write_table(file, {"a": np.arange(3), "b": np.arange(2)})
    assert file.read_bytes() == b"precious"


def test_permissions_and_links_survive(tmp_path):
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write_table(link, LABELS)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8").startswith("id,label")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    check_writable("/dev/null")
    write_table("/dev/null", LABELS)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_dev_stdout_goes_on_where_standard_output_is(tmp_path):
    file = tmp_path / "log"
    code = (
        "import numpy as np; from quorate.files import write_table; print('before', flush=True);"
        "write_table('/dev/stdout', {'label': np.arange(2)}); print('after')"
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
        def forbid(self, *_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("pathlib.Path.open", forbid)
        with pytest.raises(PermissionError, match=r"l\.csv cannot be written: Permission denied"):
            check_writable(tmp_path / "l.csv")

    @pytest.mark.parametrize("name", ["l.xlsx", "l.mat", "l.txt"])
    def test_knows_the_formats(self, name):
        with pytest.raises(FileFormatError, match="cannot be written as"):
            check_writable(name)

    def test_asks_for_pyarrow(self, tmp_path, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(FileFormatError, match=r'pip install "quorate\[io\]"'):
            check_writable(tmp_path / "l.parquet")
