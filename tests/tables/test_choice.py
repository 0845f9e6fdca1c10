"""Options and paths that mean nothing are refused before anything is read."""

import numpy as np
import pytest

import ensemblage as en
from ensemblage import ParameterError, tables
from ensemblage.scale import stream

READERS = [tables.read, tables.read_labels, tables.read_features, tables.scan]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("cell,c1,age,label\na,1,7,1\nb,1,8,2\nc,2,8,2\nd,2,8,2\n")
    return tmp_path


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        *(("header", value, "True, False or 'auto'") for value in ("no", "False", 1, None, [])),
        *(("id_column", value, "its place from 0 up") for value in (False, True, 1.5, -1, ["a"])),
    ],
)
def test_header_and_ids(read, option, value, expected):
    with pytest.raises(ParameterError, match=expected) as caught:
        read("v.csv", **{option: value})
    assert (caught.value.owner, caught.value.parameter) == (read.__name__, option)


def test_numbers_of_numpy():
    table = tables.read("v.csv", id_column=np.int64(0), header=np.True_)
    assert (table.id_name, table.ids.tolist()) == ("cell", list("abcd"))


NUMBERED = ",0,1,2\nx,0,0,1\ny,0,0,1\nz,1,1,0\n"  # as pandas writes it


@pytest.mark.parametrize("read", [tables.read, tables.read_features])
def test_a_number_that_is_a_name_and_the_place_of_another_column(read, folder):
    (folder / "n.csv").write_text(NUMBERED)
    with pytest.raises(tables.OptionError, match="the name of one and the place of") as caught:
        read("n.csv", id_column="0")
    assert "id_column='01' for the one of that name, or id_column='00' for" in str(caught.value)
    assert [read("n.csv", id_column=asked).id_name for asked in ("00", "01", 0, "3", "auto")] == [
        *("", "0", "", "2", "")
    ]


def test_numbered_columns_that_are_detected_as_ids(folder):
    for name in ("n.csv", "o.csv"):
        rows = (f"{name}{i},{i % 2},{i % 3}\n" for i in range(9))
        (folder / name).write_text("".join(["1,a,b\n", *rows]))
    assert tables.read(["n.csv", "o.csv"], header=True).id_name == "1"
    with pytest.raises(tables.OptionError, match="id_column='0' for the one of that name"):
        tables.read("n.csv", header=True, id_column="1")


def test_the_first_file_with_rows_enough_decides_what_ids_are(folder):
    short, other = "x,a,b\nu,0,1\nv,1,1\n", "x,a,b\nw,0,1\nw,1,1\n"
    (folder / "s.csv").write_text(short)
    (folder / "l.csv").write_text("x,a,b\n" + "".join(f"w{i},{i % 2},1\n" for i in range(9)))
    for files, n_before in ((["s.csv", "l.csv"], 2), (["l.csv", "s.csv"], 0)):
        table = tables.read(files)
        assert (table.id_name, table.names) == ("x", ["a", "b"])
        assert table.ids.tolist()[n_before : n_before + 9] == [f"w{i}" for i in range(9)]
    (folder / "s.csv").write_text(short.replace("x", "cell"))
    (folder / "o.csv").write_text(other.replace("x", "cell"))
    assert tables.read(["s.csv", "o.csv"]).ids.tolist() == ["u", "v", "w", "w"]  # none: the first
    assert tables.read(["o.csv", "s.csv"]).ids is None


@pytest.mark.parametrize("read", [tables.read, tables.scan])
class TestOfVotes:
    @pytest.mark.parametrize("option", ["columns", "keep"])
    @pytest.mark.parametrize("value", ["c1", 5, [2], [None]])
    def test_names_are_a_list(self, read, option, value):
        with pytest.raises(TypeError, match=f"'{option}' is a list of names"):
            read("v.csv", **{option: value})

    def test_no_clusterings(self, read):
        with pytest.raises(TypeError, match=r"'columns' is a list of names.* Got \[\]"):
            read("v.csv", columns=[])

    def test_names_that_are_given_once(self, read):
        found = read("v.csv", columns=(name for name in ("c1", "label")))
        assert (found if read is tables.read else found[0]).names == ["c1", "label"]

    @pytest.mark.parametrize("value", [["c1"], 5, b"c1"])
    def test_truth_is_a_name(self, read, value):
        with pytest.raises(ParameterError, match="None or the name of a column"):
            read("v.csv", truth=value)


@pytest.mark.parametrize("read", READERS)
def test_a_format_is_a_name(read):
    with pytest.raises(tables.FileFormatError, match="Unknown format 5"):
        read("v.csv", format=5)


@pytest.mark.parametrize("value", ["x", 0, 2.5])
def test_rows_of_a_batch(value):
    with pytest.raises(ParameterError, match="a whole number from 1 up"):
        tables.scan("v.csv", batch_rows=value)


@pytest.mark.parametrize("read", [*READERS, tables.read_arrays])
@pytest.mark.parametrize("path", ["a\0b.csv", "x" * 5000, "loop.csv"])
def test_paths_that_lead_nowhere(read, path, folder):
    (folder / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(OSError, match=r"cannot be opened.*Check the name") as caught:
        read(path)
    assert len(str(caught.value)) < 200
    with pytest.raises(OSError, match="cannot be opened"):
        stream.consensus(path, en.EAC(2), "labels.csv")


@pytest.mark.parametrize("read", [*READERS, tables.read_arrays])
@pytest.mark.parametrize("path", [5, b"v.csv"])
def test_what_is_no_path(read, path):
    with pytest.raises(TypeError, match="a path, or a list of paths"):
        read(path)


@pytest.mark.parametrize("keep", [["cell"], ["age", "age"], ["age", "cell", "a*"]])
def test_a_column_is_kept_once(keep):
    options = {"keep": keep, "columns": ["c1"], "id_column": "cell"}
    table = tables.read("v.csv", **options)
    assert list(table.kept) == list(dict.fromkeys(keep[:2]))
    assert table.ids.tolist() == list("abcd")
    stream.consensus("v.csv", en.EAC(2), "o.parquet", n_jobs=1, **options)
    found = tables.read_features("o.parquet", id_column="cell")
    assert found.ids.tolist() == list("abcd")
    assert list(found.columns) == ["label", *(["age"] if "age" in keep else [])]
