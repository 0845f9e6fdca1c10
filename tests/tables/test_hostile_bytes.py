"""Files that mean harm, or look as if they did: refused or bounded, and never executed.

The cases that tools/fuzz_bytes.py has found are here too, each as small as it could be made.
"""

import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import ensemblage as en
from ensemblage import tables
from ensemblage.experiments import records
from ensemblage.tables import FileFormatError, read_features, rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
TARGETS = pytest.importorskip("fuzz_targets").TARGETS

VOTES = np.array([[0, 0], [0, 1], [2, 1]])
SMALL = 100_000  # bytes of memory that are said to be free


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(SMALL))


def saved(save, *content, **named):
    out = io.BytesIO()
    save(out, *content, **named)
    return out.getvalue()


def written(path, content):
    path.write_bytes(content)
    return path


def npy_claiming(shape, descr, body=b""):
    out = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + body


class Trap:
    """An object whose unpickling leaves a trace."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


class TestNothingIsExecuted:
    def test_pickles_in_npy_and_npz(self, tmp_path):
        array = np.array([[Trap(tmp_path / "sprung"), 1]], dtype=object)
        for name, save in (("v.npy", np.save), ("v.npz", np.savez)):
            file = written(tmp_path / name, saved(save, array))
            for read in (tables.read, lambda path: read_features([path])):
                with pytest.raises(FileFormatError, match=r"Python objects|type object"):
                    read(file)
        assert not (tmp_path / "sprung").exists()

    def test_a_pickle_as_a_file(self, tmp_path):
        import pickle

        content = pickle.dumps(Trap(tmp_path / "sprung"))
        for name in ("v.npy", "v.npz", "v.mat", "v.parquet", "v.csv"):
            with pytest.raises(FileFormatError, match=r"cannot be read as|UTF-8"):
                tables.read(written(tmp_path / name, content))
        with pytest.raises(FileFormatError, match="not a saved model"):
            en.load(written(tmp_path / "v.ensemblage", content))
        assert not (tmp_path / "sprung").exists()

    def test_cells_and_structures_of_mat(self, tmp_path):
        cell = np.empty((1, 2), dtype=object)
        cell[0, 0], cell[0, 1] = "a", VOTES
        for content in ({"c": cell}, {"s": {"x": VOTES}}):
            file = written(tmp_path / "v.mat", saved(savemat, content))
            with pytest.raises(
                FileFormatError, match="cells, structures, sparse matrices or Python objects"
            ):
                tables.read(file)
        file = written(tmp_path / "v.mat", saved(savemat, {"c": cell, "votes": VOTES}))
        np.testing.assert_array_equal(tables.read(file).matrix, VOTES)


class TestBombs:
    @pytest.mark.parametrize("shape", [(10**9, 10**3), (3, 3), (-1, 2)])
    def test_an_array_that_is_longer_than_its_file(self, tmp_path, shape):
        content = npy_claiming(shape, "<i8", VOTES.tobytes())
        with pytest.raises(FileFormatError, match=r"an array of shape .* in 48 bytes"):
            tables.read(written(tmp_path / "v.npy", content))

    def test_an_array_of_a_trillion_empty_names(self, tmp_path):
        content = npy_claiming((10**6, 10**6), "<U0")
        with pytest.raises(FileFormatError, match="in 0 bytes"):
            tables.read(written(tmp_path / "v.npy", content))

    @pytest.mark.usefixtures("small_memory")
    def test_arrays_that_unpack_to_more_than_there_is(self, tmp_path):
        zeros = np.zeros((100, 1000), dtype=np.int32)
        content = {
            "v.npz": saved(np.savez_compressed, votes=zeros),
            "v.mat": saved(savemat, {"votes": zeros}, do_compression=True),
            "v.npy.gz": gzip.compress(saved(np.save, zeros)),
            "v.npy": saved(np.save, zeros),
        }
        for name, packed in content.items():
            with pytest.raises(
                en.MemoryBudgetError, match=r"would take .* 100\.0 kB are available"
            ):
                tables.read(written(tmp_path / name, packed))

    @pytest.mark.usefixtures("small_memory")
    def test_parquet_of_equal_values(self, tmp_path):
        pq.write_table(pa.table({"m": np.zeros(10**6, np.int8)}), tmp_path / "v.parquet")
        assert (tmp_path / "v.parquet").stat().st_size < SMALL
        for read in (tables.read, lambda path: read_features([path])):
            with pytest.raises(en.MemoryBudgetError, match=r"1000000 rows .*--engine stream"):
                read(tmp_path / "v.parquet")

    def test_a_line_without_an_end(self, tmp_path, monkeypatch):
        monkeypatch.setattr(rows, "LONGEST_LINE", 1 << 20)
        for start in (b"", b"a,b\n1,2\n"):
            file = written(tmp_path / "v.csv.gz", gzip.compress(start + b"1" * (3 << 20)))
            with pytest.raises(FileFormatError, match=r"v\.csv\.gz has a line of more than 1 MB"):
                tables.read(file)
        short = (b"1," * 1000 + b"1\r") * 2000  # 4 MB, and ends of lines as old as the Mac
        assert tables.read(written(tmp_path / "v.csv", short)).matrix.shape == (2000, 1001)

    @pytest.mark.usefixtures("small_memory")
    def test_more_columns_than_fit(self, tmp_path):
        file = written(tmp_path / "v.csv", b"1," * 2000 + b"1\n")
        with pytest.raises(en.MemoryBudgetError, match=r"The 2001 columns of .*v\.csv would take"):
            tables.read(file)

    def test_more_rows_than_fit(self, tmp_path, monkeypatch):
        file = written(tmp_path / "v.csv.gz", gzip.compress(b"1,2\n" * 100_000))
        assert tables.read(file).matrix.shape == (100_000, 2)
        monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(SMALL))
        for read in (tables.read, lambda path: read_features([path])):
            with pytest.raises(en.MemoryBudgetError, match=r"so far, would take .*--engine stream"):
                read(file)

    def test_records_on_a_line_without_an_end(self, tmp_path):
        good = b'{"what": {"kind": "k", "dataset": "IS"}, "skipped": "no data"}\n'
        (tmp_path / records.PACKED).write_bytes(gzip.compress(b" " * (3 << 20) + b"\n" + good))
        assert len(records.read(tmp_path)) == 1


class TestFound:
    """What coverage-guided search has found."""

    def test_names_beyond_unicode(self, tmp_path):
        content = npy_claiming((1, 1), "<U1", b"\xff\xff\xff\x7f")
        with pytest.raises(FileFormatError, match=r"row 1, column 1 and on: these names are not"):
            tables.read(written(tmp_path / "v.npy", content))

    def test_names_that_are_no_utf8(self, tmp_path):
        content = npy_claiming((2, 1), "|S1", b"a\xc3")
        with pytest.raises(FileFormatError, match="not valid Unicode text"):
            tables.read(written(tmp_path / "v.npy", content))

    def test_whole_numbers_that_floats_round(self, tmp_path):
        pq.write_table(pa.table({"x": [2**60 + 1, 2]}), tmp_path / "f.parquet")
        assert read_features([tmp_path / "f.parquet"]).columns["x"].tolist() == [2.0**60, 2.0]

    def test_a_damaged_cell_ends_no_process(self, tmp_path):
        cell = np.empty((1, 1), dtype=object)
        cell[0, 0] = "a"
        content = bytearray(saved(savemat, {"c": cell}))
        # The text in the cell loses its dimensions: scipy 1.17 then reads where nothing is.
        dimensions = content.rindex(b"\x05\0\0\0\x08\0\0\0")
        content[dimensions + 4] = 0
        with pytest.raises(FileFormatError, match=r"v\.mat"):
            tables.read(written(tmp_path / "v.mat", content))

    def test_damaged_arrow_files(self, tmp_path):
        """Offsets and lengths in IPC files are taken at their word by Arrow."""
        from fuzz_targets import TARGETS

        read, rng = TARGETS["arrow in batches"].read, np.random.default_rng(0)
        out = io.BytesIO()
        feather.write_feather(
            pa.table({"id": ["a", "b", "c"], "m": ["x", None, "y"]}),
            out,
            compression="uncompressed",
        )
        for place in rng.integers(0, len(out.getvalue()), 300):
            changed = bytearray(out.getvalue())
            changed[place] = rng.choice([0, 1, 127, 128, 255])
            read(bytes(changed), tmp_path)  # raises what is no kind error

    @pytest.mark.parametrize("method", [en.EAC, en.Vote])
    def test_models_that_lack_what_a_cut_needs(self, tmp_path, method):
        import json

        method(2).fit(VOTES).save(tmp_path / "m.ensemblage")
        with zipfile.ZipFile(tmp_path / "m.ensemblage") as archive:
            parts = {n: archive.read(n) for n in archive.namelist() if "linkage" not in n}
        header = json.loads(parts["model.json"]) | {"left_out": []}
        parts["model.json"] = json.dumps(header).encode()
        with zipfile.ZipFile(tmp_path / "m.ensemblage", "w") as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
        with pytest.raises(ValueError, match=r"its tree is missing|and the file that it"):
            en.load(tmp_path / "m.ensemblage").cut(1)

    def test_a_header_that_ends_too_early(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "m.ensemblage", "w") as archive:
            archive.writestr("model.json", "{}")
            header = b"{'descr': (" + b" " * 20 + b"\n"
            size = len(header).to_bytes(2, "little")
            archive.writestr("table.npy", b"\x93NUMPY\1\0" + size + header)
        with pytest.raises(FileFormatError, match="not a saved model, or it is damaged"):
            en.load(tmp_path / "m.ensemblage")


FOUND = sorted(path for path in (Path(__file__).parent / "found").rglob("*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_the_search_has_found(path, tmp_path):
    """Bytes that once ended in something else than a result or a kind error."""
    target = TARGETS[path.parent.name.replace("-", " ")]
    target.read(path.read_bytes(), tmp_path)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_half_a_surrogate_in_an_array_is_an_error(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    names = np.array([["a", "\ud800"], ["b", "c"]])
    if suffix == ".npy":
        np.save(path, names)
    else:
        np.savez(path, votes=names)
    with pytest.raises(FileFormatError, match="not valid Unicode text"):
        tables.read(path)
