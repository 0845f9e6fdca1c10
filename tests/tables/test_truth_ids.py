"""Labels of another file are matched by ids also where one of them occurs twice there."""

import numpy as np
import pytest
from typer.testing import CliRunner

from ensemblage import tables
from ensemblage.cli import app
from ensemblage.tables import FileFormatError

VOTES = "donor,a,b\nc1,0,0\nc2,0,0\nc3,1,1\nc4,1,1\n"
TWICE = "donor,label\nc4,1\nc2,0\nc2,1\nc1,0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "twice.csv").write_text(TWICE)
    return tmp_path


@pytest.mark.parametrize(
    ("option", "noun"), [("--truth", "true labels"), ("--align-to", "earlier labels")]
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_id_with_several_labels_is_an_error(folder, option, noun, suffix):
    tables.write(
        folder / "twice.parquet",
        {"donor": np.array(["c4", "c2", "c2", "c1"]), "label": np.array([1, 0, 1, 0])},
    )
    call = ["consensus", "votes.csv", "-k", "2", option, f"twice.{suffix}", "-o", "labels.csv"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 1
    assert f"several {noun} for the object 'c2'" in " ".join(result.stderr.split())


def test_other_columns_are_left_as_they_are(folder):
    ids = np.array(["c1", "c2", "c3", "c4"])
    for text in ("label\n0\n1\n2\n3\n", "donor\n0\n1\n2\n3\n", "0\n1\n2\n3\n"):
        (folder / "truth.csv").write_text(text)
        assert tables.read_truth("truth.csv", ids, "donor", 4, []).tolist() == [0, 1, 2, 3]
    (folder / "truth.csv").write_text("row,donor,label\n1,c4,0\n2,c3,1\n3,c2,2\n4,c1,3\n")
    assert tables.read_truth("truth.csv", ids, "donor", 4, []).tolist() == [3, 2, 1, 0]
    for column in (["p", "p", "q", "q"], ["0.5", "1.5", "2.5", "3.5"]):  # no ids
        rows = "".join(f"{cell},{label}\n" for label, cell in enumerate(column))
        (folder / "truth.csv").write_text(f"patient,label\n{rows}")
        assert tables.read_labels("truth.csv").ids is None
        assert tables.read_truth("truth.csv", ids, "donor", 4, []).tolist() == [0, 1, 2, 3]
    with pytest.raises(FileFormatError, match="3 columns of labels"):
        tables.read_labels("votes.csv", id_column=None, id_name="donor")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("age,label\n61,0\n62,0\n63,1\n64,1\n", "'age'"),
        (",cell,label\n0,c4,0\n1,c3,0\n2,c2,1\n3,c1,1\n", "its first column"),  # of pandas
    ],
)
def test_an_error_names_the_column_that_was_taken_for_ids(folder, text, column):
    ids = np.array(["c1", "c2", "c3", "c4"], dtype=object)
    (folder / "truth.csv").write_text(text)
    with pytest.raises(FileFormatError, match=f"object 'c1' of the votes, by the ids in {column}"):
        tables.read_truth("truth.csv", ids, "donor", 4, [])


def test_earlier_labels_stand_before_the_ids_of_the_votes(folder):
    (folder / "earlier.csv").write_text("label,donor\n5,c4\n5,c3\n9,c2\n9,c1\n")
    call = ["consensus", "votes.csv", "-k", "2", "--align-to", "earlier.csv", "-o", "labels.csv"]
    assert CliRunner().invoke(app, call).exit_code == 0
    assert (folder / "labels.csv").read_text() == "donor,label\nc1,9\nc2,9\nc3,5\nc4,5\n"
