"""Calls of a stream that cannot mean what they say are refused before anything is read or lost."""

from pathlib import Path

import numpy as np
import pytest

import ensemblage as en
from ensemblage.scale import stream

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def votes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {name: np.arange(30) % 3 for name in "abc"}
    pq.write_table(pa.table({"id": np.arange(30), **columns}), "v.parquet")
    return tmp_path / "v.parquet"


def run(source="v.parquet", output="l.parquet", **options):
    return stream.consensus(source, en.EAC(2), output, n_jobs=1, **options)


@pytest.mark.usefixtures("votes")
class TestArguments:
    @pytest.mark.parametrize("cuts", [[2.7], ["3"], [True], [None], [2, 0]])
    def test_numbers_of_clusters_are_whole(self, cuts):
        with pytest.raises(ValueError, match="must be a whole number from 1 up"):
            run(cuts=cuts)

    @pytest.mark.parametrize("cuts", [5, "23"])
    def test_cuts_are_a_list(self, cuts):
        with pytest.raises(TypeError, match=r"'cuts' is a list of numbers.*Got"):
            run(cuts=cuts)

    @pytest.mark.parametrize("columns", ["abc", [0, 1]])
    def test_columns_are_a_list_of_names(self, columns):
        with pytest.raises(TypeError, match="'columns' is a list of names"):
            run(columns=columns)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"columns": ["a", "b", "a"]}, "'a' of v.parquet .* is named twice"),
            ({"columns": ["a", "id"], "id_column": "id"}, "'id' .* holds the ids"),
            ({"columns": ["a", "b"], "truth": "b"}, "'b' .* holds true labels"),
        ],
    )
    def test_a_column_has_one_part(self, options, words):
        with pytest.raises(ValueError, match=words):
            run(**options)

    def test_true_of_numpy_is_true(self):
        Path("v.csv").write_text("a,b\n1,1\n1,2\n2,2\n")
        result = run("v.csv", confidence=np.True_, by_size=np.False_, header=np.True_)
        assert pq.read_table(result.output).column_names == ["row", "label", "confidence"]

    @pytest.mark.parametrize(
        ("option", "words"),
        [
            ({"confidence": "no"}, "'confidence'.*True or False"),
            ({"by_size": 2}, "'by_size'.*True or False"),
            ({"batch_rows": 10**30}, "'batch_rows'.*whole number from 1 to 2,147,483,647"),
            ({"checkpoint": True}, "'checkpoint'.*the path of a folder"),
        ],
    )
    def test_options_of_other_types(self, option, words):
        with pytest.raises(en.ParameterError, match=words):
            run(**option)

    @pytest.mark.parametrize("source", [None, 5])
    def test_sources_are_paths(self, source):
        with pytest.raises(TypeError, match="a path, or a list of paths"):
            run(source)


class TestOutput:
    @pytest.mark.parametrize("name", ["v.parquet", "./v.parquet", "link.parquet"])
    def test_votes_are_not_replaced(self, name, votes):
        (votes.parent / "link.parquet").symlink_to("v.parquet")
        before = votes.read_bytes()
        with pytest.raises(ValueError, match="is one of the inputs"):
            run(output=name)
        assert votes.read_bytes() == before

    def test_no_name_is_not_this_folder(self, votes):
        with pytest.raises(FileNotFoundError, match="name of the output is empty"):
            run(output="")
        assert [path.name for path in votes.parent.iterdir()] == ["v.parquet"]
