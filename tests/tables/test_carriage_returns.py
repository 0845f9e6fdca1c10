"""A carriage return within a cell does not end a row: neither read, nor rewritten, nor written."""

import csv

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import stream

IDS = ["x\ry", "z\rw", "q\r\n", "r"]
TEXT = '"x\ry",1,{0}\n"z\rw",1,{0}\n"q\r\n",2,B\nr,2,B\n'
ROWS = [["id", "label"], ["x\ry", "0"], ["z\rw", "0"], ["q\r\n", "1"], ["r", "1"]]


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("name", ["T", 'say "hi"', ' "T"', '"T\rcell"'])
def test_cells_are_read(tmp_path, name):
    (tmp_path / "v.csv").write_bytes(f"id,a,b\n{TEXT.format(name)}".encode())
    table = tables.read(tmp_path / "v.csv")
    assert (table.names, table.ids.tolist()) == (["a", "b"], IDS)
    assert [column.tolist()[2:] for column in table.columns] == [[2, 2], ["B", "B"]]


def test_rows_of_one_column_are_not_split(tmp_path):
    (tmp_path / "v.csv").write_bytes(b'a\n"x\ry"\n "x\ry"\nB\n')
    assert tables.read(tmp_path / "v.csv").columns[0].tolist() == ["x\ry", "x\ry", "B"]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_cells_are_written(tmp_path, ending):
    columns = {"a\rb": np.array(IDS, dtype=object), "n": np.array([1.0, 2.5, 3.0, 4.0])}
    tables.write(tmp_path / f"l{ending}", columns)
    separator = "," if ending == ".csv" else "\t"
    text = (tmp_path / f"l{ending}").read_bytes().decode()
    assert text.replace(separator, ",") == (
        '"a\rb",n\n"x\ry",1.0\n"z\rw",2.5\n"q\r\n",3.0\nr,4.0\n'
    )


def test_a_stream_writes_them_too(tmp_path):
    (tmp_path / "v.csv").write_bytes(f"id,a,b\n{TEXT.format('T')}".encode())
    options = {"id_column": "id", "n_jobs": 1}
    stream.consensus(tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv", **options)
    assert rows_of(tmp_path / "l.csv") == ROWS
