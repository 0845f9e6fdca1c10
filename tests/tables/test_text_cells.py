"""Text files on the edge: separators that are not known, numbers that are too large, parts."""

import threading
import time
import warnings
import weakref

import numpy as np
import pytest
from pyarrow import csv as arrow_csv

from ensemblage import tables
from ensemblage.tables import FileFormatError, OptionError, read_labels
from ensemblage.tables.rows import delimiter


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="votes.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write_text


ROWS = ["u1", " u2", "u3 ", "'  u4'", "' u''5,'"]


class TestSpaces:
    """A quoted cell after a space changes no other cell."""

    @pytest.mark.parametrize("last", ["u6", "'u6'", "o'6"])
    def test_ids_keep_their_spaces(self, last, write):
        rows = "".join(f"{i % 2},{i % 2},{cell}\n" for i, cell in enumerate(ROWS))
        file = write(f"a,b,id\n{rows}1,1, {last}\n".replace("'", '"'))
        read = ["u1", " u2", "u3 ", "  u4", ' u"5,']
        assert tables.read(file).ids.tolist()[:-1] == read
        (source,) = tables.scan(file)
        carried = [i for one in source.batches(carried=True) for i in one.carried[0].to_pylist()]
        assert carried[:-1] == read

    def test_a_quoted_cell_far_below(self, write):
        rows = "".join(f"{i % 2},{i % 2}, u{i}\n" for i in range(200_000))
        (source,) = tables.scan(write(f'a,b,id\n{rows}1,1, "u,"\n'))
        ids = [i for one in source.batches(carried=True) for i in one.carried[0].to_pylist()]
        assert ids == [*(f" u{i}" for i in range(200_000)), "u,"]

    def test_quoted_cells_of_many_lines(self, write):
        file = write('id,a\n "u, \n "" x",0\n"u\n","0"\nu", 1\n, "1"\n')
        assert tables.read(file).ids.tolist() == ['u, \n " x', "u\n", 'u"', ""]


class TestSeparators:
    def test_a_table_that_R_writes_with_spaces(self, write):
        file = write('"a" "b c"\n"1" 1 2\n"2" 1 1\n')
        with pytest.raises(FileFormatError, match=r"cells by spaces, as write\.table of R does"):
            tables.read(file)

    @pytest.mark.parametrize(
        ("text", "called"),
        [
            ("1 2 1\n1 2 2\n2 2 2\n", "spaces"),
            ("m1 m2 m3\n1 2 1\n1 2 2\n", "spaces"),
            ("m1 m2\nc1 1 2\nc2 1 2\n", "spaces"),  # as R writes it, without a name for the ids
            ("1   2\n 1   3\n", "spaces"),
            ("a|b|c\nx|y|z\nx|y|y\n", r"bars \(\|\)"),
            ("1:2:3\n1:2:2\n", "colons"),
            ("1 2 3\n", "spaces"),
            ("1|2\n3|\n|4\n", "bars"),
        ],
    )
    def test_that_are_not_known_are_told(self, write, text, called):
        with pytest.raises(FileFormatError, match=f"one column, but {called}.*commas, semicolons"):
            tables.read(write(text))

    @pytest.mark.parametrize("mark", [";", "\t"])
    def test_commas_in_names_are_no_separators(self, mark, write):
        rows = [["id", "a, b", "c"], ["u1", "0", "0"], ["u2", "1", "1"], ["u3", "1", "0"]]
        table = tables.read(write("".join(f"{mark.join(row)}\n" for row in rows)))
        assert table.names == ["a, b", "c"]
        assert table.ids.tolist() == ["u1", "u2", "u3"]

    @pytest.mark.parametrize(
        ("mark", "below", "suffix"),
        [
            (";", "T cell, CD4, naive", "csv"),  # more commas than in the header
            ("\t", "T cell, CD4, naive", "txt"),
            ("\t", "T cell, CD4", "txt"),  # as many
            ("\t", "T cell, CD4", "csv"),
        ],
    )
    def test_commas_in_names_and_labels_are_no_separators(self, mark, below, suffix, write):
        rows = [["cell", "type, coarse"], *([f"u{i}", (below, "B, x")[i % 2]] for i in range(4))]
        text = "".join(f"{mark.join(row)}\n" for row in rows)
        table = tables.read(write(text, f"votes.{suffix}"))
        assert table.names == ["type, coarse"]
        assert table.ids.tolist() == ["u0", "u1", "u2", "u3"]
        assert table.columns[0].tolist() == [below, "B, x"] * 2

    def test_another_mark_must_be_as_often_in_both_rows(self):
        assert [delimiter("a,b;c", ",", row) for row in ("1;2", "1;2;3", "")] == [";", ",", ","]
        assert delimiter("a,b", ",", "1;2") == ","

    @pytest.mark.parametrize("text", ["a;b,c;d\n0;0,1;1\n", "a;b,c\n0,1\n1,1\n"])
    def test_commas_in_the_row_below_are_separators(self, text, write):
        table = tables.read(write(text))
        assert table.names[0].startswith("a;b")

    def test_quoted_cells_between_spaces(self, write):
        with pytest.raises(FileFormatError, match="separated by commas, semicolons or tabs"):
            tables.read(write('"m1" "m2"\n"a" 1\n'))

    def test_spaces_in_names_are_no_separators_for_sure(self, write):
        file = write("type\nT cell\nB cell\nT cell\n")
        with pytest.warns(UserWarning, match="names have equally many spaces"):
            assert tables.read(file).columns[0].tolist() == ["T cell", "B cell", "T cell"]
        with pytest.warns(UserWarning, match="names have equally many spaces"):
            tables.scan(file)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_labels(file).labels.tolist() == ["T cell", "B cell", "T cell"]
            tables.read(write("type\nT cell\nB\nhelper T cell\n"))
            tables.read(write("type,n\nT cell,1\nB cell,2\n"))

    def test_in_quotes_are_none(self, write):
        table = tables.read(write('"x, y";b;c\n1;2;2\n2;2;3\n'))
        assert table.names == ["x, y", "b", "c"]
        assert tables.read(write('"a,\nb";c\n1;2\n2;2\n')).names == ["a,\nb", "c"]


class TestLargeNumbers:
    @pytest.mark.parametrize("cell", ["99999999999999999999", "-" + "9" * 5000, "1e30", "1e999"])
    def test_are_told_as_such(self, write, cell):
        with pytest.raises(
            FileFormatError, match=r"row 3, column 'a': .* is too large for a label"
        ):
            tables.read(write(f"a,b\n1,1\n{cell},1\n1,2\n"))

    def test_up_to_64_bits_are_labels(self, write):
        text = f"a,b\n{2**63 - 1},1\n{-(2**63)},1\n{'0' * 30}7,2\n"
        table = tables.read(write(text), id_column=None)
        assert table.matrix[:, 0].tolist() == [2**63 - 1, -(2**63), 7]


class TestOptions:
    def test_that_the_format_has_no_use_for(self, write, tmp_path):
        np.save(tmp_path / "v.npy", np.eye(3, dtype=int))
        with pytest.raises(OptionError, match=r"key is for NPZ and MAT, but .*votes\.csv"):
            tables.read(write("a,b\n1,2\n"), key="votes")
        with pytest.raises(OptionError, match="key is for NPZ and MAT"):
            read_labels(tmp_path / "v.npy", key="gt")
        for header in (True, False):
            with pytest.raises(OptionError, match=r"header is for CSV and TSV, but .*v\.npy"):
                tables.read(tmp_path / "v.npy", header=header)

    def test_empty_names(self):
        with pytest.raises(FileNotFoundError, match="name of a file to read is empty"):
            tables.read("")


class TestParts:
    def test_without_votes_in_a_column_fit_names_and_numbers(self, write):
        named = write("id,a,b\nx,1,u\ny,1,v\n", "p1.csv")
        empty = write("id,a,b\nz,2,\nw,3,\n", "p2.csv")
        numbers = write("id,a,b\nq,2,7\n", "p3.csv")
        assert tables.read([named, empty]).columns[1].tolist() == ["u", "v", None, None]
        assert tables.read([empty, named]).columns[1].tolist() == [None, None, "u", "v"]
        assert tables.read([empty, numbers]).matrix[:, 1].tolist() == [-1, -1, 7]
        message = r"'b' holds numbers in .*p3\.csv, but names in .*p1\.csv"
        with pytest.raises(FileFormatError, match=message):
            tables.read([empty, named, numbers])

    def test_of_very_different_size_stay_exact(self, write, tmp_path):
        first = write(f"id,a\nx,{2**53 + 1}\n", "p1.csv")
        assert tables.read([first, write("id,a\ny,\n", "p2.csv")]).matrix.ravel().tolist() == [
            2**53 + 1,
            -1,
        ]
        np.save(tmp_path / "a.npy", np.array([[2**64 - 1, 1]], dtype=np.uint64))
        np.save(tmp_path / "b.npy", np.array([[-1, 1]]))
        with pytest.raises(FileFormatError, match="no 64-bit integer holds both"):
            tables.read([tmp_path / "a.npy", tmp_path / "b.npy"])

    def test_with_ids_of_two_kinds(self, write):
        parts = [write("id,a\n7,1\n", "p1.csv"), write("id,a\nx,1\n", "p2.csv")]
        assert tables.read(parts).ids.tolist() == ["7", "x"]


def read_in_batches(file):
    (source,) = tables.scan(file)
    for batch in source.batches():
        source.votes(batch, [tables.Codes(name) for name in source.names])


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_no_thread_of_pyarrow_holds_the_file_after_an_error(engine, tmp_path, monkeypatch):
    """A thread that releases a file object while Python exits would abort the process."""
    held = []

    def slow(read):
        def reading(file, **options):
            held.append(weakref.ref(file))
            threading.Thread(target=lambda _: time.sleep(0.1), args=(file,)).start()
            return read(file, **options)

        return reading

    for name in ("read_csv", "open_csv"):
        monkeypatch.setattr(arrow_csv, name, slow(getattr(arrow_csv, name)))
    file = tmp_path / "votes.csv"
    file.write_text("cell,age,m\n" + "".join(f"x{i},{i}.5,{i % 3}\n" for i in range(9)))
    read = tables.read if engine == "memory" else read_in_batches
    with pytest.raises(FileFormatError, match="not a cluster label"):
        read(file)
    assert held
    assert not any(one() for one in held)


def test_a_cell_that_is_too_long_is_named(write):
    file = write(f'id,a\nx,"y"\nz,{"q" * 140_000}\nw, "y"\n')
    with pytest.raises(FileFormatError, match=r"line 3: a cell has more than 131,072 characters"):
        tables.read(file)
