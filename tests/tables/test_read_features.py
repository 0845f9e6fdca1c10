"""Features from files: numbers, texts, ids, and what several files must have in common."""

import gzip

import numpy as np
import pytest
from scipy.io import savemat

from ensemblage import tables

NUMBERS = np.random.default_rng(0).normal(size=(40, 3)).round(4)
IDS = np.array([f"c{place}" for place in range(40)], dtype=object)
COLUMNS = {f"f{place}": column for place, column in enumerate(NUMBERS.T)}


def matrix(table):
    return np.column_stack(list(table.columns.values()))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_tables(tmp_path, name):
    tables.write(tmp_path / name, {"cell": IDS, **COLUMNS, "kind": IDS})
    table = tables.read_features([tmp_path / name])
    assert list(table.columns) == ["f0", "f1", "f2", "kind"]
    assert (table.id_name, table.ids.tolist()) == ("cell", IDS.tolist())
    assert table.columns.pop("kind").tolist() == IDS.tolist()
    assert np.array_equal(matrix(table), NUMBERS)


def test_arrays(tmp_path):
    np.save(tmp_path / "t.npy", NUMBERS)
    names = np.array(["a", "b", "c"])
    np.savez(tmp_path / "t.npz", X=NUMBERS, y=np.arange(40), columns=names, other=NUMBERS)
    savemat(tmp_path / "t.mat", {"fea": NUMBERS, "gnd": np.arange(40)[:, None]})
    for name, columns in [("t.npy", "c1 c2 c3"), ("t.npz", "a b c"), ("t.mat", "c1 c2 c3")]:
        table = tables.read_features([tmp_path / name])
        assert " ".join(table.columns) == columns
        assert np.array_equal(matrix(table), NUMBERS)
        assert table.ids is None
    assert list(tables.read_features([tmp_path / "t.npz"]).extra) == ["y"]
    table = tables.read_features([tmp_path / "t.npz"], key="other", id_column=0)
    assert (table.id_name, list(table.columns)) == ("a", ["b", "c"])


def test_whole_numbers_become_floats_and_floats_stay(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((4, 2), dtype=np.uint8))
    np.save(tmp_path / "b.npy", np.ones((4, 2), dtype=np.float32))
    assert matrix(tables.read_features([tmp_path / "a.npy"])).dtype == np.float64
    assert matrix(tables.read_features([tmp_path / "b.npy"])).dtype == np.float32


class TestText:
    def read(self, tmp_path, text, **options):
        (tmp_path / "t.csv").write_text(text)
        return tables.read_features([tmp_path / "t.csv"], **options)

    def test_no_header(self, tmp_path):
        table = self.read(tmp_path, "1.5,2\n2.5,3\n3.5,5\n")
        assert list(table.columns) == ["c1", "c2"]
        assert matrix(table).tolist() == [[1.5, 2], [2.5, 3], [3.5, 5]]
        table = self.read(tmp_path, "1.5,2\n2.5,3\n", header=True)
        assert list(table.columns) == ["1.5", "2"]

    def test_gaps_are_not_numbers_and_minus_one_is(self, tmp_path):
        table = self.read(tmp_path, "a,b\n1,-1\n,-1.0\nNA,2\n")
        assert table.columns["b"].tolist() == [-1, -1, 2]
        assert np.isnan(table.columns["a"]).tolist() == [False, True, True]

    def test_texts_stay_as_they_are(self, tmp_path):
        table = self.read(tmp_path, "a,kind,code\n1,T,007\n2,,008\n3,B,x\n")
        assert table.columns["kind"].tolist() == ["T", None, "B"]
        assert table.columns["code"].tolist() == ["007", "008", "x"]

    def test_a_column_of_text_may_begin_with_numbers(self, tmp_path):
        text = "a,b\n" + "1.5,2\n" * 5000 + "1,x\n"
        column = self.read(tmp_path, text).columns["b"]
        assert (column.dtype, column[0], column[-1]) == (object, "2", "x")

    @pytest.mark.parametrize(
        ("first", "name"),
        [(["x", "y", "z"], "obj"), (["0", "1", "2"], "obj"), (["1", "2", "3"], "")],
    )
    def test_ids_by_content(self, tmp_path, first, name):
        rows = "".join(f"{text},{place}.5\n" for place, text in enumerate(first))
        table = self.read(tmp_path, f"{name},f\n{rows}")
        assert [str(i) for i in table.ids.tolist()] == first
        assert list(table.columns) == ["f"]

    def test_measurements_are_no_ids(self, tmp_path):
        table = self.read(tmp_path, "income,f\n100,1.5\n205,2.5\n301,3.5\n")
        assert table.ids is None
        assert self.read(tmp_path, "id,f\n7,1.5\n9,2\n").ids.tolist() == [7, 9]
        assert self.read(tmp_path, "id,f\n07,1.5\n9,2\n").ids.tolist() == ["07", "9"]
        assert self.read(tmp_path, "id,f\n7,1.5\n9,2\n", id_column="none").ids is None

    def test_many_rows_come_in_blocks(self, tmp_path):
        numbers = np.random.default_rng(1).normal(size=(10_000, 2))
        text = "\n".join(f"{a!r},{b!r}" for a, b in numbers.tolist())
        assert np.array_equal(matrix(self.read(tmp_path, text)), numbers)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "is empty. A table of features has a row"),
            ("\n\na,b\n1.5,2\n", "begins with a blank line. Remove it"),
            ("a,b\n", "has a header and no rows"),
            ("a,b\n1,2\n3\n", "row 3 has 1 cell"),
            ("a,a\n1,2\n", "several columns called 'a'"),
        ],
    )
    def test_what_is_wrong(self, tmp_path, text, words):
        with pytest.raises(tables.FileFormatError, match=words):
            self.read(tmp_path, text)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(5.0), "a 2-D array of numbers"),
        (np.array([["a", "b"]]), "a 2-D array of numbers"),
        (np.zeros((0, 3)), "a 2-D array of numbers"),
    ],
)
def test_arrays_that_are_no_features(tmp_path, array, words):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(tables.FileFormatError, match=words):
        tables.read_features([tmp_path / "t.npy"])


class TestSeveralFiles:
    def test_are_one_table(self, tmp_path):
        for name, part in [("a.csv", slice(0, 15)), ("b.csv.gz", slice(15, 40))]:
            content = {"id": IDS[part], **{n: c[part] for n, c in COLUMNS.items()}}
            tables.write(tmp_path / name, content)
        assert gzip.decompress((tmp_path / "b.csv.gz").read_bytes()).startswith(b"id,f0")
        table = tables.read_features([tmp_path / "a.csv", tmp_path / "b.csv.gz"])
        assert np.array_equal(matrix(table), NUMBERS)
        assert table.ids.tolist() == IDS.tolist()
        assert [part.n_rows for part in table.origin] == [15, 25]

    def test_few_rows_do_not_decide_about_ids(self, tmp_path):
        (tmp_path / "a.csv").write_text("what,x,y\na,1.5,2\n")
        (tmp_path / "b.csv").write_text("what,x,y\nb,1,2.5\nc,3,4\nd,5,6\n")
        table = tables.read_features([tmp_path / "a.csv", tmp_path / "b.csv"])
        assert table.ids.tolist() == ["a", "b", "c", "d"]

    def test_ids_may_repeat(self, tmp_path):
        (tmp_path / "a.csv").write_text("what,x,y\na,1.5,2\nb,1,2.5\nc,3,4\n")
        (tmp_path / "b.csv").write_text("what,x,y\nd,1,2.5\nd,3,4\nd,5,6\n")
        table = tables.read_features([tmp_path / "a.csv", tmp_path / "b.csv"])
        assert table.ids.tolist() == ["a", "b", "c", "d", "d", "d"]

    def test_must_have_the_same_columns(self, tmp_path):
        (tmp_path / "a.csv").write_text("f,g\n1,2\n")
        (tmp_path / "b.csv").write_text("f,h\n1,2\n")
        with pytest.raises(tables.FileFormatError, match=r"it has 'h' too; it lacks 'g'"):
            tables.read_features([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_options_that_do_not_apply(tmp_path):
    np.save(tmp_path / "t.npy", NUMBERS)
    with pytest.raises(tables.OptionError, match="header is for CSV"):
        tables.read_features([tmp_path / "t.npy"], header=True)
