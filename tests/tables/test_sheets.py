"""Spreadsheets: the first sheet is a table, its cells are never split, and its size is checked."""

import sys
import zipfile
from types import SimpleNamespace

import pytest
from spreadsheets import bare, cell, placed, workbook

from ensemblage import tables
from ensemblage._validate import MemoryBudgetError
from ensemblage.tables import FileFormatError
from ensemblage.tables.sheets import _cell, _extent


@pytest.fixture
def read(tmp_path):
    pytest.importorskip("python_calamine")

    def read_sheet(rows, **options):
        with zipfile.ZipFile(tmp_path / "v.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in workbook(rows).items():
                archive.writestr(name, content)
        return tables.read(tmp_path / "v.xlsx", **options)

    return read_sheet


def test_without_its_reader(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (tmp_path / "v.xlsx").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(FileFormatError, match=r'pip install "ensemblage\[xlsx\]"'):
        tables.read(tmp_path / "v.xlsx")


def test_the_first_sheet_is_a_table(tmp_path, monkeypatch):
    sheet = SimpleNamespace(to_python=lambda: [["id", "m"], ["a", 1.0], ["b", ""], ["c", 2.0]])
    book = SimpleNamespace(get_sheet_by_index=lambda _: sheet)
    reader = SimpleNamespace(
        CalamineError=ValueError, CalamineWorkbook=SimpleNamespace(from_filelike=lambda _: book)
    )
    monkeypatch.setitem(sys.modules, "python_calamine", reader)
    (tmp_path / "v.xlsx").write_bytes(b"PK\x03\x04")
    table = tables.read(tmp_path / "v.xlsx")
    assert (table.ids.tolist(), table.matrix.ravel().tolist()) == (["a", "b", "c"], [1, -1, 2])
    assert tables.read_features(tmp_path / "v.xlsx").columns["m"][2] == 2.0


def test_a_real_one(read, tmp_path):
    (tmp_path / "w.xlsx").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(FileFormatError, match="cannot be read as XLSX"):
        tables.read(tmp_path / "w.xlsx")
    table = read(bare(["id", "m", "n"], ["a", 1, 5], ["b", 2, 5]))
    assert (table.ids.tolist(), table.matrix.tolist()) == (["a", "b"], [[1, 5], [2, 5]])


@pytest.mark.parametrize("mark", [";", "\t", ",", " ;", '"', "|x"])
def test_a_cell_is_not_split(read, mark):
    names = ["m", f"a{mark}b", f"a{mark}b", "c", "d"]
    table = read(bare(*([name] for name in names)), header=True)
    assert [column.tolist() for column in table.columns] == [names[1:]]
    table = read(bare(*([name] for name in names[1:])), header=False)
    assert [column.tolist() for column in table.columns] == [names[1:]]


def test_blank_rows_above_the_table_are_counted(read):
    rows = {"A2": "m", "A3": 1, "A4": "x", "A5": 2}
    with pytest.raises(FileFormatError, match="row 4, column 'm': 'x' is not a whole number"):
        read(placed(rows))
    assert read(placed(rows | {"A4": 7})).matrix.tolist() == [[1], [7], [2]]


@pytest.mark.parametrize(
    "rows",
    [
        placed({"A1": 1, "XFD1048576": 1}),
        f"<row>{'<c/>' * 16000}{cell(1)}</row>{'<row/>' * 100_000}{bare([1])}",
        f'<row r="1">{"<c/>" * 16000}{cell(1)}</row><row r="1048576">{cell(1)}</row>',
    ],
)
def test_cells_that_do_not_fit_are_refused_before_they_are_made(read, monkeypatch, rows):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1GB")
    with pytest.raises(MemoryBudgetError, match="Delete cells far from the table"):
        read(rows)


@pytest.mark.parametrize(("place", "size"), [("A1", (1, 1)), ("Z3", (3, 26)), ("AA2", (2, 27))])
def test_the_size_of_a_sheet(place, size):
    assert _extent(iter([placed({place: 1}).encode()])) == size


def test_a_cell_takes_64_bytes(read, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1GB")
    with pytest.raises(MemoryBudgetError, match=r"1048576 by 26 cells, would take 1\.7 GB"):
        read(placed({"A1": 1, "Z1048576": 1}))


def test_whole_numbers_are_shown_without_a_point():
    assert [_cell(value) for value in (2.0, 2.5, 7, "2.0", "")] == ["2", "2.5", "7", "2.0", ""]


def test_empty_cells_far_away_take_no_room(read, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1GB")
    empty = '<row r="1048576"><c r="XFC1048576" s="1"></c><c r="XFD1048576" s="1"/></row>'
    assert read(placed({"A1": "m", "A2": 1, "A3": 2}) + empty).matrix.tolist() == [[1], [2]]


class TestLargeNumbers:
    """A number of a spreadsheet is a float, which has 53 bits."""

    def rows(self, first):
        votes = [[1, 7], [1, 7], [2, 8], [2, 8], [2, 7], [1, 8], [1, 7], [2, 7], [1, 8]]
        ids = [[first + 2 * place, *row, 10**300] for place, row in enumerate(votes)]
        return bare(["key", "m", "n", "size"], *ids)

    @pytest.mark.parametrize("column", ["key", "auto"])
    def test_ids_are_refused(self, read, column):
        with pytest.raises(FileFormatError, match=r"'key': 9.* digits would be lost.* as text"):
            read(self.rows(2**53), id_column=column, columns=["m", "n"])
        table = read(self.rows(2**53 - 100), id_column=column, columns=["m", "n"])
        assert table.ids.tolist() == [2**53 - 100 + 2 * place for place in range(9)]

    def test_kept_columns_and_votes_too_but_no_other_column(self, read):
        for options in ({"keep": ["key"]}, {"columns": ["key"]}):
            with pytest.raises(FileFormatError, match=r"'key': .* digits would be lost"):
                read(self.rows(2**60), id_column=None, **{"columns": ["m"], **options})
        assert read(self.rows(2**60), id_column=None, columns=["m"]).names == ["m"]

    def test_of_features_only_ids(self, read, tmp_path):
        read(self.rows(5), id_column=None, columns=["m"])
        assert tables.read_features(tmp_path / "v.xlsx").columns["size"][0] == 1e300
