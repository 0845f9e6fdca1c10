"""CSV and TSV: what is recognised without being told, and what is refused with which words."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import tables
from ensemblage.tables import FileFormatError, votes_of


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="votes.csv", **options):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return tables.read(file, **options)

    return read_text


def test_plain_numbers_are_votes_in_the_smallest_type(read):
    table = read("1,1\n1,2\n2,300\n")
    assert table.names == ["c1", "c2"]
    assert table.ids is None
    assert table.matrix.dtype == np.uint16
    np.testing.assert_array_equal(table.matrix, [[1, 1], [1, 2], [2, 300]])


def test_a_blank_name_never_equals_a_real_one(read):
    text = ",c0,c1,\nx,0,1,1\ny,0,1,1\nz,1,0,0\n"
    table = read(text)
    assert table.ids.tolist() == ["x", "y", "z"]
    assert table.names == ["c0", "c1", "c4"]
    assert read(text, id_column=None).names == ["c1_", "c0", "c1", "c4"]
    assert read(text.replace("c0", "c4")).names == ["c4", "c1", "c4_"]


def test_missing_votes_are_minus_one(read):
    table = read("m1,m2,m3\n0,NA,nan\nNaN,1,2\n,-1,3.0\n")
    assert table.matrix.dtype == np.int8
    np.testing.assert_array_equal(table.matrix, [[0, -1, -1], [-1, 1, 2], [-1, -1, 3]])


def test_other_spellings_of_missing_are_not_guessed(read):
    with pytest.raises(FileFormatError, match="row 2, column 'm1': 'N/A'"):
        read("m1,m2\nN/A,1\n1,1\n2,1\n")


def test_names_are_labels_too(read):
    table = read("cell,type,cluster\nx1,T cell,0\nx2,,1\nx3,T cell,1\n")
    assert table.matrix is None
    assert table.columns[0].tolist() == ["T cell", None, "T cell"]
    assert table.columns[1].tolist() == [0, 1, 1]
    assert votes_of(table).names == ["type", "cluster"]


def test_names_that_look_like_numbers_stay_apart_among_names(read):
    table = read("m,n\nT,1\nB,1\nT,1\n01,2\n1,2\n")
    assert table.columns[0].tolist() == ["T", "B", "T", "01", "1"]


def test_quotes_and_separators_inside_cells(read):
    table = read('id,m\n"a,1","T ""x"" cell"\n"b\n2",B\nc,B\n')
    assert table.ids.tolist() == ["a,1", "b\n2", "c"]
    assert table.columns[0].tolist() == ['T "x" cell', "B", "B"]


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.txt", "v"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found(read, name, separator):
    table = read(separator.join("ab") + "\n" + separator.join("12") + "\n", name=name)
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.matrix, [[1, 2]])


def test_windows_line_ends_and_byte_order_mark(read):
    table = read("\ufeffm1,m2\r\n1,2\r\n1,3\r\n\r\n")
    assert table.names == ["m1", "m2"]
    np.testing.assert_array_equal(table.matrix, [[1, 2], [1, 3]])


@pytest.mark.parametrize("header", ["m", "\ufeffm", "é", '"m\nn"', '"é\r\n\r\nö"'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("others", ["", ",n"])
def test_the_rest_of_a_header_is_not_an_object(read, header, end, others):
    rows = ["T,0", "B,1"] * 20 if others else ["T", "B"] * 20
    table = read(end.join([f"{header}{others}", *rows, ""]))
    assert table.names[0] == header.strip('\ufeff"')
    assert table.columns[0].tolist() == ["T", "B"] * 20


def test_one_column_may_have_blank_lines_for_missing_votes(read):
    table = read("m\n1\n\n2\n\n\n")
    assert table.matrix.ravel().tolist() == [1, -1, 2]


@pytest.mark.parametrize("packed_name", ["votes.csv.gz", "votes.csv", "votes.tsv.gz"])
def test_gzip_is_unpacked_whatever_the_name(tmp_path, packed_name):
    file = tmp_path / packed_name
    file.write_bytes(gzip.compress(b"m1,m2\n1,2\n"))
    assert tables.read(file).matrix.tolist() == [[1, 2]]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch, pack):
    buffer = io.BytesIO(pack(b"m1,m2\n1,2\n"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
    assert tables.read("-").matrix.tolist() == [[1, 2]]
    assert not buffer.closed


class TestHeader:
    @pytest.mark.parametrize(
        ("text", "n_rows"),
        [
            ("a,b\n1,2\n1,3\n", 2),  # names over numbers
            ("1,2\n1,3\n", 2),  # numbers only
            ("a,b\nx,y\nx,z\n", 2),  # names that are met nowhere below
            ("x,y\nx,z\nx,y\n", 3),  # labels: they come again
            ("x,x\ny,z\n", 2),  # equal cells are no names of columns
            (",0,1\n0,5,6\n1,5,7\n", 2),  # pandas: an index without a name, numbered columns
            ("id,2,3\na,5,6\nb,5,7\n", 2),  # an id column with its name, numbered columns
            ("a,1,2\nb,1,2\nc,1,3\n", 3),  # ids, and no names
        ],
    )
    def test_is_recognised(self, read, text, n_rows):
        table = read(text)
        assert len(table.matrix if table.matrix is not None else table.columns[0]) == n_rows

    def test_can_be_overridden(self, read):
        assert read("a,b\nx,y\n", header=False).columns[0].tolist() == ["a", "x"]
        assert read("1,2\n5,6\n", header=True).names == ["1", "2"]

    def test_a_row_that_counts_from_zero_draws_a_warning(self, read):
        with pytest.warns(UserWarning, match="reads 0, 1, 2.* use header=True"):
            assert len(read("0,1,2\n5,5,6\n5,6,6\n").matrix) == 3

    def test_a_bad_cell_in_the_first_of_many_rows_is_not_taken_for_a_name(self, read):
        with pytest.raises(FileFormatError, match="row 1, column 'c1': '3x'"):
            read("3x,1\n1,1\n2,1\n1,2\n")

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("id,a,b,\nx,T,B,\ny,T,B,\nz,S,C,\n", ["a", "b", "c4"]),
            ("id,a,b,,\nx,T,B,,\ny,T,B,,\nz,S,C,,\n", ["a", "b", "c4", "c5"]),
            (",a,b\nx,T,B\n,T,B\nz,S,C\n", ["a", "b"]),
            ("id,,\nx,1,T\ny,1,T\nz,2,B\n", ["c2", "c3"]),
            ("id,\nx,T\ny,\nz,B\n", ["c2"]),
        ],
    )
    def test_blank_names_do_not_make_it_an_object(self, read, text, names):
        table = read(text)
        assert table.names == names
        assert table.ids.tolist() == ["x", "y" if text[0] == "i" else "", "z"]

    @pytest.mark.parametrize("text", ["x,\ny,T\nz,\nw,T\n", "x,T,\ny,T,B\nz,S,B\n"])
    def test_an_object_with_missing_votes_is_none(self, read, text):
        table = read(text, id_column=0)
        assert len(table.ids) == text.count("\n")


class TestIdColumn:
    @pytest.mark.parametrize("name", ["id", "ID", "Index", "barcode", "Unnamed: 0", "cell_id", ""])
    def test_is_recognised_by_its_name(self, read, name):
        table = read(f"{name},m1,m2\n7,1,1\n8,1,2\n")
        assert table.id_name == name
        assert table.ids.tolist() == [7, 8]
        assert table.names == ["m1", "m2"]

    def test_may_be_a_batch_if_its_values_repeat(self, read):
        assert read("m,sample\n1,a\n1,b\n").id_name == "sample"
        assert read("m,sample\n1,a\n1,a\n").names == ["m", "sample"]

    def test_is_recognised_by_its_content(self, read):
        table = read("who,x,y\n10,1,1\n20,1,2\n30,2,2\n")
        assert table.id_name == "who"
        assert read("a1,1,1\na2,1,2\na3,2,2\n").ids.tolist() == ["a1", "a2", "a3"]

    def test_is_not_seen_where_names_go_on_counting(self, read):
        assert read("m1,m2,m3\n1,1,1\n2,1,2\n3,2,2\n").names == ["m1", "m2", "m3"]

    def test_is_not_seen_where_another_column_differs_everywhere_too(self, read):
        assert read("x,y\n1,3\n2,2\n3,1\n").names == ["x", "y"]

    def test_is_not_a_column_of_measurements(self, read):
        with pytest.raises(FileFormatError, match="EnsembleClustering"):
            read("x,y\n1.5,1\n2.5,1\n3.5,2\n")

    @pytest.mark.parametrize("asked", ["b", 1, "1"])
    def test_can_be_named(self, read, asked):
        table = read("a,b\n1,2\n1,3\n", id_column=asked)
        assert (table.names, table.ids.tolist()) == (["a"], [2, 3])

    @pytest.mark.parametrize("asked", [None, "none"])
    def test_can_be_denied(self, read, asked):
        assert read("id,b\n1,2\n1,3\n", id_column=asked).names == ["id", "b"]

    def test_stays_as_it_was_written(self, read):
        assert read("id,m\n007,1\n8,1\n").ids.tolist() == ["007", "8"]

    def test_that_is_not_there(self, read):
        with pytest.raises(FileFormatError, match=r"no column 'z' to take ids from.*'a', 'b'"):
            read("a,b\n1,2\n1,3\n", id_column="z")

    def test_without_votes_beside_it(self, read):
        with pytest.raises(FileFormatError, match="no votes beside it"):
            read("id\n1\n2\n", id_column="id")

    def test_that_was_missed_draws_a_warning_of_the_fit(self, read):
        rows = "".join(f"{i % 3},{100 + i}\n" for i in range(12))
        votes = votes_of(read("a,b\n" + rows))
        with pytest.warns(en.IdsAsVotesWarning, match="Column 1, .* looks like ids"):
            en.EAC(2).fit(votes)


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("a,b\n", "a header and no rows"),
            ("a,b\n1,2\n1\n", "row 3 has 1 cell, but the first row has 2"),
            ("a,b\n1,2\n1,2,3\n", "row 3 has 3 cells, but the first row has 2"),
            ("a,b\n1,2\n\n1,2\n", "row 3 is blank"),
            ("a,b\n1,2\n1,3x\n1,4\n", "row 3, column 'b': '3x' is not a whole number"),
            ("a,b\n1,2\n1,2\n1,2.5\n", "row 4, column 'b': '2.5' is not a whole number"),
            ("a,b\n0.1,2\n0.2,2\n0.1,3\n", "row 2, column 'a': 0.1 .*EnsembleClustering"),
            ("a,a,b\n1,2,3\n", "several columns called 'a' .columns 1, 2."),
            ('a,b\n1,"2\n', "line 2: unexpected end of data"),
            ("a;b\n1,0;3\n2,05;3\n", "column 'a': '2,05' is a number with a decimal comma"),
            ("a;b\n1,0;3\n2,5;3\n", "column 'a': '2,5' is a number with a decimal comma"),
            ("sep=;\na;b\n1;2\n", "begins with the line sep="),
            ('"sep=,"\na,b\n1,2\n', "begins with the line sep="),
        ],
    )
    def test_are_clear(self, read, text, words):
        with pytest.raises(FileFormatError, match=words):
            read(text)

    @pytest.mark.parametrize(
        ("text", "n_labels"),
        [
            ('a,b\n"1,2",3\n"2,1",3\n', 2),
            ("a;b\n1,0;3\n2,0;3\n", 2),
            ("a\tb\n3,1\t3\n3,0\t3\n0\t3\n3,0\t3\n4,1\t3\n", 4),
            ("a\tb\n3,0\t3\n3,2\t3\n3,0\t3\n1,0\t3\n1,1\t3\n", 4),  # part 3,1 is lost
        ],
    )
    def test_spare_commas_in_labels(self, read, text, n_labels):
        assert len(set(read(text).columns[0])) == n_labels

    def test_of_a_large_file_of_measurements_come_early(self, read, monkeypatch):
        rng = np.random.default_rng(0)
        text = "\n".join(",".join(map(str, row)) for row in rng.random((9000, 3)).tolist())
        with pytest.raises(FileFormatError, match=r"columns of .* hold no labels.*Ensemble"):
            read(text)

    def test_of_bytes_that_are_not_text(self, tmp_path):
        file = tmp_path / "votes.csv"
        file.write_bytes(b"m\n\xff\xfe1\n")
        with pytest.raises(FileFormatError, match="not UTF-8"):
            tables.read(file)
        file.write_bytes("m1,m2\n1,2\n".encode("utf-16"))
        with pytest.raises(FileFormatError, match="UTF-16"):
            tables.read(file)
        file.write_bytes(b"PAR1....")
        with pytest.raises(FileFormatError, match="looks like parquet"):
            tables.read(file)

    def test_of_damaged_gzip(self, tmp_path):
        file = tmp_path / "votes.csv.gz"
        file.write_bytes(gzip.compress(b"m1,m2\n" + b"1,2\n" * 1000)[:-20])
        with pytest.raises(FileFormatError, match="damaged or truncated gzip"):
            tables.read(file)

    def test_of_what_is_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere\.csv"):
            tables.read(tmp_path / "nowhere.csv")
        with pytest.raises(FileFormatError, match="holds no file of votes"):
            tables.read(tmp_path)
        with pytest.raises(IsADirectoryError, match="is a directory"):
            tables.read_labels(tmp_path)

    def test_of_an_unknown_format(self, read):
        with pytest.raises(FileFormatError, match=r"Unknown format 'xls'. Known: csv"):
            read("1,2\n", format="xls")


class TestSeveralFiles:
    @pytest.fixture
    def write(self, tmp_path):
        def write_text(name, text):
            (tmp_path / name).write_text(text, encoding="utf-8")
            return tmp_path / name

        return write_text

    def test_are_one_table(self, write):
        a = write("a.csv", "id,m1,m2\nx,1,1\ny,1,\n")
        b = write("b.csv", "id,m1,m2\nz,300,1\n")
        table = tables.read([a, b])
        assert table.ids.tolist() == ["x", "y", "z"]
        np.testing.assert_array_equal(table.matrix, [[1, 1], [1, -1], [300, 1]])

    def test_look_for_the_ids_of_the_first(self, write):
        a = write("a.csv", "1,1,1\n2,1,2\n3,1,2\n")
        b = write("b.csv", "4,1,1\n")
        assert tables.read([a, b]).ids.tolist() == [1, 2, 3, 4]

    @pytest.mark.parametrize("rows", ["", "a,5,5\n", "a,5,5\nb,6,5\n"])
    def test_few_rows_do_not_decide_about_ids(self, write, rows):
        a = write("a.csv", f"what,m,n\n{rows}")
        again = write("again.csv", f"what,m,n\n{rows}")
        b = write("b.csv", "what,m,n\nc,1,1\nd,1,2\ne,2,2\n")
        for files in ([a, b], [b, a], [a, again, b]):
            table = tables.read(files)
            assert (table.id_name, table.names) == ("what", ["m", "n"])
        write("b.csv", "id,m,n\nc,1,1\nc,1,2\ne,2,2\n")
        with pytest.raises(FileFormatError, match=r"'c' is in rows 2 and 3"):
            tables.read([write("a.csv", f"id,m,n\n{rows}"), b])

    def test_the_first_of_three_rows_decides_about_ids(self, write):
        a = write("a.csv", "what,m,n\nc,1,1\nd,1,2\ne,2,2\n")
        b = write("b.csv", "what,m,n\nc,1,1\nc,1,2\nd,2,2\nd,1,1\n")
        with pytest.raises(FileFormatError, match=r"b\.csv looks like ids, but 'c' is in rows"):
            tables.read([a, b])
        assert tables.read([b, a]).id_name is None

    @pytest.mark.parametrize(
        ("other", "words"),
        [
            ("id,m1\nz,1\n", "b.csv are not those of .*a.csv: it lacks 'm2'"),
            ("id,m1,m2,m3\nz,1,1,1\n", "it has 'm3' too"),
            ("id,m2,m1\nz,1,1\n", "another order"),
            ("m1,m2\n1,1\n", "b.csv has no column 'id'"),
            ("id,m1,m2\nz,1,B\ny,1,B\n", "'m2' holds names in .*b.csv, but numbers in"),
        ],
    )
    def test_must_have_the_same_columns(self, write, other, words):
        a = write("a.csv", "id,m1,m2\nx,1,1\ny,1,2\n")
        with pytest.raises(FileFormatError, match=words):
            tables.read([a, write("b.csv", other)])


votes = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.one_of(st.none(), st.integers(-3, 10**6)), min_size=width, max_size=width),
        min_size=1,
        max_size=12,
    )
)


@given(votes, st.sampled_from(",;\t"), st.booleans())
def test_any_table_of_integers_survives(tmp_path_factory, rows, separator, named):
    file = tmp_path_factory.mktemp("csv") / "votes.csv"
    lines = [separator.join("" if vote is None else str(vote) for vote in row) for row in rows]
    names = [separator.join(f"m{place}" for place in range(len(rows[0])))] if named else []
    text = "\n".join([*names, *(line or '""' for line in lines)])
    file.write_text(text + "\n", encoding="utf-8")
    table = tables.read(file, header=named, id_column=None)
    expected = [[-1 if vote is None else vote for vote in row] for row in rows]
    np.testing.assert_array_equal(table.matrix, expected)
