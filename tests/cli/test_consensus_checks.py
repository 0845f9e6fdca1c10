"""``ensemblage consensus``: what is refused before the work, in the words of files and options."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage.cli import app
from ensemblage.cli.errors import describe
from ensemblage.cli.parsers import parse_range

TEXT = "id,a,b,c\nx,1,1,1\ny,1,1,2\nz,2,2,2\nw,2,2,1\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text(TEXT)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["consensus", *map(str, arguments)])

    return invoke


@pytest.fixture
def no_fit(monkeypatch):
    """Let no method begin: what is checked before must be refused before."""

    def fit(self, X, y=None):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(en.PTGP, "fit", fit)


def assert_refused(result, code, words):
    assert result.exit_code == code, result.stderr
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.usefixtures("no_fit")
class TestBeforeTheWork:
    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            (["--jobs", 0], 2, "--jobs must be a number from 1 up, or -1"),
            (["--truth", "id"], 2, "--truth id: that column holds the ids"),
            (["--key", "votes"], 2, "--key is for NPZ and MAT, but v.csv is read as CSV"),
            (["--neighbors", "9" * 5000], 2, "--neighbors must be auto, all or a whole number"),
            (["--truth", "empty.csv"], 1, "--truth empty.csv: all of these labels are missing"),
            (["--truth", "folder"], 1, "folder is a directory"),
            (["-o", ""], 1, "The name of the output is empty"),
            (["--truth", ""], 1, "The name of a file to read is empty"),
            (["-o", "loop"], 1, "Too many levels of symbolic links"),
        ],
    )
    def test_calls(self, run, tmp_path, arguments, code, words):
        (tmp_path / "empty.csv").write_text("id,truth\nx,\ny,\nz,\nw,\n")
        (tmp_path / "folder").mkdir()
        (tmp_path / "loop").symlink_to("loop")
        assert_refused(run("v.csv", "-k", 2, *arguments), code, words)

    def test_an_empty_input_and_a_header_of_arrays(self, run, tmp_path):
        assert_refused(run("", "-k", 2), 1, "The name of a file to read is empty")
        np.save(tmp_path / "v.npy", np.eye(3, dtype=int))
        for option in ("--header", "--no-header"):
            result = run("v.npy", "-k", 2, option)
            assert_refused(result, 2, "--header is for CSV and TSV, but v.npy is read as NPY")

    @pytest.mark.parametrize("largest", [5, 20_000_000, 10**30])
    def test_more_clusters_than_groups(self, run, largest):
        words = f"{largest} clusters were asked for, but the votes distinguish only 4 group(s)"
        assert_refused(run("v.csv", "-k", largest), 1, words)
        assert_refused(run("v.csv", "--k-range", f"2:{largest}"), 1, words)

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("label", ["-k", 2]),
            ("confidence", ["-k", 2, "--confidence"]),
            ("k3", ["--k-range", "2:4"]),
        ],
    )
    def test_ids_called_as_a_column_of_the_output(self, run, tmp_path, name, arguments):
        (tmp_path / "v.csv").write_text(TEXT.replace("id", name, 1))
        options = ["--id-column", name, *arguments]
        assert_refused(run("v.csv", *options), 1, f"id column is called {name!r}, which is")

    def test_objects_without_votes_by_their_own_names(self, run, tmp_path):
        (tmp_path / "v.csv").write_text("id,a,b\nx,1,1\ny,,NA\nz,2,2\n")
        (tmp_path / "w.csv").write_text("id,a,b\nq,1,1\nr,-1,\n")
        words = "2 object(s) have no vote in any clustering: 'y' (v.csv, row 3); 'r' (w.csv, row 3)"
        assert_refused(run("v.csv", "w.csv", "-k", 2), 1, words)
        (tmp_path / "v.csv").write_text("1,1\n,\n2,2\n")
        assert_refused(run("v.csv", "-k", 2), 1, "in any clustering: v.csv, row 2.")
        (tmp_path / "v.csv").write_text("a,b,truth\n1,1,1\n,,2\n1,2,2\n")
        assert_refused(run("v.csv", "-k", 2, "--truth", "truth"), 1, "v.csv, row 3.")


class TestTruthByIds:
    @pytest.fixture
    def truth(self, run, tmp_path):
        def scored(text):
            (tmp_path / "t.csv").write_text(text)
            return run("v.csv", "-k", 2, "-q", "--truth", "t.csv", "-o", "l.csv")

        return scored

    def test_may_know_more_objects_in_any_order(self, truth):
        result = truth("id,truth\nq,9\nw,2\nz,2\nr,9\nr,9\ny,1\nx,1\n")
        assert result.exit_code == 0, result.stderr
        assert "label     1.0000  1.0000" in result.stderr

    def test_must_know_each_object_once(self, truth, tmp_path):
        result = truth("id,truth\nw,2\nz,2\ny,1\nq,1\nr,2\n")
        assert_refused(result, 1, "t.csv has no true label for the object 'x'")
        result = truth("id,truth\nw,2\nz,2\ny,1\nx,1\nx,2\n")
        assert_refused(result, 1, "t.csv has several true labels for the object 'x'")
        assert not (tmp_path / "l.csv").exists()


def test_dates_as_ids_come_out_as_dates(run, tmp_path):
    index = pd.date_range("2020-01-01", periods=4, name="day")
    pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 1]}, index=index).to_parquet("v.parquet")
    found = run("v.parquet", "-k", 2).stdout.splitlines()
    assert [line.partition(",")[0] for line in found] == ["day", *map(str, index.date)]
    (tmp_path / "t.csv").write_text("day,truth\n" + "".join(f"{d},1\n" for d in index.date[::-1]))
    assert run("v.parquet", "-k", 2, "--truth", "t.csv").exit_code == 0


def test_many_k_take_no_memory():
    assert parse_range("2:20000000") == range(2, 20_000_001)


def test_a_case_that_is_not_known_is_one_paragraph():
    _, message = describe(RuntimeError("Failed in nopython mode\n\n   over many\nlines\n"))
    assert "RuntimeError: Failed in nopython mode over many lines. This is a bug" in message
