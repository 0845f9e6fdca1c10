"""Files of formats that are not read: the message says what they are, and what to do."""

import bz2
import lzma

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app
from ensemblage.tables import FileFormatError

VOTES = b"id,a,b\nx,1,1\ny,1,1\nz,2,2\n"
HDF5 = b"\x89HDF\r\n\x1a\n" + bytes(600)
UNREAD = [
    ("v.csv.bz2", bz2.compress(VOTES), "bzip2, which is not read. Unpack it, or compress it with"),
    ("v.csv", bz2.compress(VOTES), "compressed with bzip2"),
    ("v.csv.xz", lzma.compress(VOTES), "compressed with xz, which is not read. Unpack it"),
    ("v.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Save it as .xlsx"),
    ("v.h5ad", HDF5, r"HDF5 file, .* use ensemblage\.sc in Python"),
    ("v.zip", b"PK\x03\x04" + bytes(600), "is a zip archive, .*; else unpack it"),
    ("v.csv", b"PK\x03\x04" + bytes(600), r"a zip archive \(XLSX, NPZ, or a file to unpack\)"),
    ("v.mat", HDF5, "version 7.3, .* with the option '-v7'"),
]


@pytest.mark.parametrize(("name", "content", "words"), UNREAD)
@pytest.mark.parametrize("reader", [tables.read, tables.scan, tables.read_features])
def test_the_message_has_a_way_out(tmp_path, name, content, words, reader):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=words if reader != tables.scan else "read|batches"):
        reader(tmp_path / name)


def test_text_that_begins_alike_is_read(tmp_path):
    (tmp_path / "v.csv").write_text("BZh,b\n1,1\n1,2\n")
    assert tables.read(tmp_path / "v.csv").names == ["BZh", "b"]


@pytest.mark.parametrize("name", ["m.ensemblage", "m.npz", "m"])
def test_a_saved_model_is_not_a_table(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    en.EAC(2).fit([[0, 0], [0, 1], [1, 1]]).save(name)
    with pytest.raises(FileFormatError, match=r"saved model, .*ensemblage\.load\(path\)"):
        tables.read(name)
    for call in (f"consensus {name} -k 2", f"generate {name} -o o.csv"):
        result = CliRunner().invoke(app, call.split())
        assert result.exit_code == 1
        assert "ensemblage predict MODEL VOTES" in " ".join(result.stderr.split())


def test_several_arrays_name_the_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("two.npz", a=np.ones((3, 2), int), b=np.ones((3, 2), int))
    result = CliRunner().invoke(app, ["consensus", "two.npz", "-k", "2"])
    assert "Choose one with --key." in " ".join(result.stderr.split())
