"""Quotation marks that are not around whole cells: rows are never merged or left out silently."""

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ensemblage import tables
from ensemblage.tables import FileFormatError
from ensemblage.tables.marks import Marks, OtherwiseError


def is_around_cells(text):
    """Return whether every mark opens or closes a whole cell, or is doubled within one."""
    outside, is_inside, place = "", False, 0
    while place < len(text):
        if text[place] != '"':
            outside += "" if is_inside else text[place]
        elif is_inside and text[place + 1 : place + 2] == '"':
            place += 1
        elif is_inside:
            is_inside = False
            if text[place + 1 : place + 2] not in {"", ",", "\r", "\n"}:
                return False
        else:
            is_inside = True
            if text[:place] and text[place - 1] not in ",\r\n":
                return False
        place += 1
    return not is_inside


@example('"a",b\n', [2])
@example('a"\n"b', [])
@example('"a\n"b",c"\n', [4])
@given(st.text(alphabet='",a\n\r', max_size=20), st.lists(st.integers(0, 20), max_size=3))
def test_marks_in_any_parts(text, cuts):
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    marks = Marks(",")
    try:
        for start, end in pairwise(places):
            marks.check(text[start:end].encode())
        marks.close()
    except OtherwiseError:
        assert not is_around_cells(text)
    else:
        assert is_around_cells(text)


@given(st.lists(st.text(alphabet='"a1 ,', max_size=6), min_size=4, max_size=12))
def test_files_are_read_as_the_csv_module_does_or_not_at_all(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("marks") / "v.csv"
    lines = ["id,m", *(f"o{i},{cell}" for i, cell in enumerate(cells))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        expected = list(csv.reader(io.StringIO("\n".join(lines)), strict=True))
    except csv.Error:
        expected = []
    try:
        table = tables.read(path)
    except FileFormatError:
        return
    assert table.ids.tolist() == [row[0] for row in expected[1:]]


def test_a_header_with_a_mark_in_a_name_ends_at_its_line(tmp_path):
    path = tmp_path / "v.csv"
    rows = "".join(f"u{i},{i % 2},{i % 3}\n" for i in range(150))
    path.write_text(f'id,height5",b\n{rows}')
    table = tables.read(path)
    assert table.names == ['height5"', "b"]
    assert table.ids.tolist() == [f"u{i}" for i in range(150)]
    path.write_text(f'id;height5";b\n{rows.replace(",", ";")}')
    assert tables.read(path).names == ['height5"', "b"]
    lines = "\n" * 120
    path.write_text(f'id,"a{lines}",b\n{rows}')
    with pytest.raises(FileFormatError, match="more than 100 lines"):
        tables.read(path)


@pytest.mark.parametrize(
    "rows", ['"u1,0,1\nu2,0,1\n"u3,0,1\nu4,1,1\n', '"Big" Bob,0,1\nx,1,1\n', 'x,"T"1,0\ny,T1,1\n']
)
def test_cells_that_are_quoted_in_part_are_an_error(tmp_path, rows):
    path = tmp_path / "v.csv"
    path.write_text(f"id,a,b\n{rows}")
    with pytest.raises(FileFormatError, match="',' expected after '\"'"):
        tables.read(path)


def test_files_that_were_joined_with_their_headers(tmp_path):
    path = tmp_path / "v.csv"
    parts = ["".join(f"{name}{i},L{i % 2},T{i % 3}\n" for i in range(20)) for name in "cd"]
    path.write_text("cell,leiden,expert\n" + "cell,leiden,expert\n".join(parts))
    with pytest.raises(FileFormatError, match="row 22 repeats the first row"):
        tables.read(path)
    path.write_text("c0,L0,T0\n" + "".join(parts))  # an object that is there twice
    with pytest.raises(FileFormatError, match="row 2 repeats the first row"):
        tables.read(path)
    path.write_text("L0,T0\n" + "L1,T1\nL0,T0\n" * 9)
    assert len(tables.read(path).columns[0]) == 19


def test_a_header_below_numbers_is_told(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("id,a,b\n1,1,1\n2,1,2\nid,a,b\n3,2,2\n")
    with pytest.raises(FileFormatError, match=r"row 4, column 'a': .* joined with their headers"):
        tables.read(path)
    path.write_text("id,a,b\n1,1,1\n2,1,2\n3,x,1\n")
    with pytest.raises(FileFormatError, match=r"row 4, column 'a': .* vote is missing\.$"):
        tables.read(path)
