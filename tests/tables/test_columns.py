"""Which columns of a wide table are votes, and which are passed through."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import stream
from ensemblage.tables import FileFormatError, OptionError

TEXT = (
    "cell,leiden_1,leiden_2,kmeans,size,note,when\n"
    "a,0,1,x,1.5,first,2020-01-01\n"
    "b,0,1,x,2.5,,2020-01-02\n"
    'c,1,,y,0.5,"q, r",2020-01-03\n'
)


@pytest.fixture(params=["csv", "parquet", "arrow"])
def file(request, tmp_path):
    (tmp_path / "v.csv").write_text(TEXT)
    if request.param == "csv":
        return tmp_path / "v.csv"
    columns = {
        "cell": ["a", "b", "c"],
        "leiden_1": [0, 0, 1],
        "leiden_2": [1, 1, None],
        "kmeans": ["x", "x", "y"],
        "size": [1.5, 2.5, 0.5],
        "note": ["first", "", "q, r"],
        "when": ["2020-01-01", "2020-01-02", "2020-01-03"],
    }
    path = tmp_path / f"v.{request.param}"
    if request.param == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        tables.write(path, {name: pa.array(values) for name, values in columns.items()})
    return path


def test_patterns_pick_the_votes_and_leave_the_others_alone(file):
    table = tables.read(file, columns=["leiden_*"])
    assert (table.names, table.id_name) == (["leiden_1", "leiden_2"], "cell")
    assert table.matrix.tolist() == [[0, 1], [0, 1], [1, -1]]
    table = tables.read(file, columns=["kmeans", "leiden_[2]"])
    assert table.names == ["kmeans", "leiden_2"]


def test_without_them_measurements_are_an_error(file):
    with pytest.raises(FileFormatError, match="'size'"):
        tables.read(file)


def test_kept_columns_come_along_as_they_are(file):
    table = tables.read(file, columns=["leiden_*"], keep=["note", "when"])
    assert table.kept["note"].tolist() == ["first", "", "q, r"]
    assert table.kept["when"].tolist() == ["2020-01-01", "2020-01-02", "2020-01-03"]
    table = tables.read(file, columns=["leiden_*"], keep=["size"])
    assert [str(size) for size in table.kept["size"].tolist()] == ["1.5", "2.5", "0.5"]


def test_kept_columns_are_not_votes(file):
    table = tables.read(file, keep=["size", "note", "when", "kmeans"])
    assert table.names == ["leiden_1", "leiden_2"]
    assert list(table.kept) == ["size", "note", "when", "kmeans"]


def test_true_labels_are_set_apart(file):
    table = tables.read(file, columns=["leiden_*"], truth="kmeans")
    assert table.names == ["leiden_1", "leiden_2"]
    labels, rest = tables.take_column(table, "kmeans")
    assert labels.tolist() == ["x", "x", "y"]
    assert rest.extra == {}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"columns": ["louvain_*"]}, OptionError, r"No column of .* matches 'louvain_\*'.*'cell'"),
        ({"columns": ["leiden_3"]}, FileFormatError, "no column 'leiden_3'. Did you mean"),
        ({"columns": ["kmeans", "kmeans"]}, FileFormatError, "'kmeans' .* is named twice"),
        ({"columns": ["cell"], "id_column": "cell"}, FileFormatError, "'cell' .* holds the ids"),
        ({"keep": ["nothing"]}, FileFormatError, "no column 'nothing'"),
        ({"columns": "leiden_*"}, TypeError, "'columns' is a list of names"),
    ],
)
def test_what_is_refused(file, options, error, words):
    with pytest.raises(error, match=words):
        tables.read(file, **options)


@pytest.mark.parametrize("name", ["l.csv", "l.parquet"])
def test_a_stream_passes_them_through(file, name, tmp_path):
    options = {"columns": ["leiden_*"], "keep": ["note", "size"], "id_column": "cell"}
    stream.consensus(file, en.EAC(2), tmp_path / name, n_jobs=1, **options)
    found = tables.read_features(tmp_path / name)
    assert list(found.columns) == ["label", "note", "size"]
    assert found.ids.tolist() == ["a", "b", "c"]
    assert [note or "" for note in found.columns["note"]] == ["first", "", "q, r"]
    assert [str(size) for size in found.columns["size"]] == ["1.5", "2.5", "0.5"]
    assert np.asarray(found.columns["label"], dtype=float).tolist() == [0, 0, 1]


def test_a_kept_column_with_the_name_of_a_result(tmp_path):
    (tmp_path / "v.csv").write_text("id,label,m,n\na,1,1,1\nb,2,2,2\n")
    with pytest.raises(FileFormatError, match="column to keep is called 'label'"):
        stream.consensus(
            tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv", keep=["label"], id_column="id"
        )
