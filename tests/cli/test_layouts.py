"""Votes out of wider tables (--columns, --keep) and in other shapes (--layout)."""

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ensemblage.cli import app

CELLS = range(12)
LEIDEN = [i // 4 for i in CELLS]
KMEANS = ["xyz"[(i + i % 5 // 4) // 4 % 3] for i in CELLS]
EXPERT = [i // 6 for i in CELLS]
MEMBERS = {"leiden_1": LEIDEN, "leiden_2": EXPERT, "kmeans": KMEANS}


def table(columns):
    lines = zip(*columns.values(), strict=True)
    return "".join(",".join(map(str, line)) + "\n" for line in (columns, *lines))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Stand in a folder with the same votes in several shapes."""
    monkeypatch.chdir(tmp_path)
    ids = [f"c{i}" for i in CELLS]
    age, kind = [30 + i for i in CELLS], ["TB"[i // 6] for i in CELLS]
    Path("votes.csv").write_text(table({"cell": ids, **MEMBERS}))
    wider = {"cell": ids, "age": age, "leiden_1": LEIDEN, "kind": kind, "batch": [1] * 12}
    Path("wider.csv").write_text(table(wider | {"leiden_2": EXPERT, "kmeans": KMEANS}))
    rows = [(ids[i], name, labels[i]) for name, labels in MEMBERS.items() for i in CELLS]
    long = dict(zip(("cell", "member", "label"), zip(*rows, strict=True), strict=True))
    Path("long.csv").write_text(table(long))
    Path("members").mkdir()
    for place, (name, labels) in enumerate(MEMBERS.items()):
        columns = {"cell": ids, "label": labels}
        turned = {title: column[::-1] for title, column in columns.items()}
        Path(f"members/{name}.csv").write_text(table(turned if place == 1 else columns))
    return tmp_path


def run(call, code=0):
    result = CliRunner().invoke(app, call.split(), prog_name="ensemblage")
    assert result.exit_code == code, result.output
    return result


def labels(call):
    run(f"{call} -k 2 -q -o labels.csv")
    return Path("labels.csv").read_text()


@pytest.mark.parametrize("engine", ["memory", "stream"])
class TestColumns:
    def test_other_columns_are_left_alone(self, engine):
        expected = labels(f"consensus votes.csv --engine {engine}")
        assert expected.startswith("cell,label\n")
        for columns in ("--columns leiden_*,kmeans", "--columns leiden_* --columns kmeans"):
            assert labels(f"consensus wider.csv {columns} --engine {engine}") == expected

    def test_kept_columns_are_copied_and_do_not_vote(self, engine):
        expected = labels(f"consensus votes.csv --confidence --engine {engine}").splitlines()
        columns = f"--keep age,kind --keep batch --confidence --engine {engine}"
        given = labels(f"consensus wider.csv {columns}").splitlines()
        assert given[0] == "cell,label,confidence,age,kind,batch"
        assert given[1:] == [
            f"{line},{30 + i},{'TB'[i // 6]},1" for i, line in enumerate(expected[1:])
        ]

    def test_a_model_labels_wider_tables(self, engine):
        expected = labels("consensus votes.csv --save m.ensemblage").splitlines()
        run(f"predict m.ensemblage wider.csv --keep age -q -o again.csv --engine {engine}")
        given = Path("again.csv").read_text().splitlines()
        assert given == [
            "cell,label,age",
            *(f"{line},{30 + i}" for i, line in enumerate(expected[1:])),
        ]

    def test_the_truth_need_not_be_among_them(self, engine):
        call = f"consensus wider.csv --columns leiden_* --truth kind -k 2 --engine {engine}"
        shown = run(f"{call} -o labels.csv").stderr
        assert "2 clusterings" in shown
        assert "label" in shown

    def test_a_folder_of_that_name_holds_no_truth(self, engine):
        Path("kind").mkdir()
        for columns in ("", "--columns leiden_*", "--keep kind"):
            call = f"consensus wider.csv {columns} --truth kind -k 2 --engine {engine}"
            assert "NMI" in run(f"{call} -o labels.csv").stderr

    def test_a_column_goes_before_a_file_of_that_name(self, engine):
        def scores(columns):
            call = f"consensus wider.csv {columns} --truth kind -k 2 --engine {engine} -o out.csv"
            return re.search(r"\nlabel .*", run(call).stderr)[0]

        choices = ("", "--columns leiden_*", "--keep kind")
        expected = [scores(columns) for columns in choices]
        Path("kind").write_text("label\n" + "1\n2\n3\n" * 4)
        assert [scores(columns) for columns in choices] == expected

    @pytest.mark.parametrize("apart", ["--keep *", "--keep * --truth kind"])
    def test_columns_that_are_all_set_apart_leave_no_votes(self, engine, apart):
        shown = run(f"consensus wider.csv {apart} -k 2 -o labels.csv --engine {engine}", 1).stderr
        assert "All columns of wider.csv are set apart" in " ".join(shown.split())

    @pytest.mark.parametrize("keep", ["kind", "ki*"])
    def test_the_truth_may_be_kept_too(self, engine, keep):
        call = f"consensus wider.csv --truth kind --keep {keep} --keep age -k 2 --engine {engine}"
        assert "NMI" in run(f"{call} -o labels.csv").stderr
        assert Path("labels.csv").read_text().splitlines()[0] == "cell,label,kind,age"

    def test_names_that_are_not_there(self, engine):
        call = f"consensus wider.csv -k 2 -o labels.csv --engine {engine}"
        assert "Did you mean 'leiden_1'?" in run(f"{call} --columns leidn_1", 2).stderr
        for option, none in (("--columns", ""), ("--columns", ","), ("--keep", "")):
            result = CliRunner().invoke(app, [*call.split(), option, none])
            assert (result.exit_code, f"{option} names no column" in result.stderr) == (2, True)
        assert "matches 'louvain_*'" in run(f"{call} --columns louvain_*", 2).stderr
        assert "Did you mean 'age'?" in run(f"{call} --keep agee", 2).stderr

    def test_a_kept_column_with_the_name_of_a_label(self, engine):
        text = Path("wider.csv").read_text().replace("batch", "label", 1)
        Path("wider.csv").write_text(text)
        call = f"consensus wider.csv -k 2 -o labels.csv --engine {engine}"
        assert "'label'" in run(f"{call} --keep label", 1).stderr

    def test_a_kept_column_with_the_name_of_row_numbers(self, engine):
        text = Path("wider.csv").read_text().replace("batch", "row", 1)
        Path("wider.csv").write_text(text)
        call = f"consensus wider.csv --columns leiden_* --keep row -k 2 --engine {engine}"
        shown = run(f"{call} --id-column none -o labels.csv", 1).stderr
        assert "A column to keep is called 'row'" in shown
        assert not Path("labels.csv").exists()
        run(f"{call} -o labels.csv")
        assert Path("labels.csv").read_text().splitlines()[0] == "cell,label,row"


@pytest.mark.parametrize("votes", ["long.csv --layout long", "members --layout members"])
class TestLayouts:
    def test_labels_are_those_of_a_wide_table(self, votes):
        given, expected = labels(f"consensus {votes}"), labels("consensus votes.csv")
        assert given.splitlines()[1:] == expected.splitlines()[1:]  # the ids may have another name

    def test_every_verb_reads_them(self, votes, folder):
        run(f"consensus {votes} -k 2 -q -o labels.csv --save m.ensemblage")
        run(f"predict m.ensemblage {votes} -q -o again.csv")
        assert Path("again.csv").read_text() == Path("labels.csv").read_text()
        assert "Recommended: k = " in run(f"choose-k {votes}").stdout
        assert "eac" in run(f"compare {votes} -k 2 --methods eac,vote").stdout
        run(f"report {votes} -k 2 -q")
        assert (folder / "report.html").exists()

    def test_members_are_chosen_by_name(self, votes):
        shown = run(f"consensus {votes} --columns leiden_* -k 2 -o labels.csv").stderr
        assert "2 clusterings" in shown

    def test_they_are_not_streamed_nor_have_other_columns(self, votes):
        call = f"consensus {votes} -k 2 -o labels.csv"
        assert "is read in memory" in run(f"{call} --engine stream", 2).stderr
        stderr = run(f"{call} --keep age", 2).stderr
        assert "--keep is for wide tables" in stderr


def test_an_unknown_layout():
    stderr = run("consensus votes.csv -k 2 --layout lnog", 2).stderr
    assert "Unknown layout 'lnog'. Did you mean 'long'? Known: wide, long, members." in stderr


@pytest.mark.parametrize(
    "call",
    [
        "consensus members --layout members --truth members/truth.csv -k 2",
        "consensus members --layout members --align-to ./members/truth.csv -k 2",
        "consensus members/leiden_1.csv members/truth.csv --truth link.csv -k 2",
        "compare members/truth.csv --truth members/truth.csv -k 2 --methods eac,vote",
        "choose-k members/*.csv --layout members --truth members/truth.csv",
        "generate numbers.csv --truth numbers.csv -m 2 -k 2 -o pool.csv",
    ],
)
def test_a_file_of_votes_holds_no_true_and_no_earlier_labels(call):
    Path("members/truth.csv").write_text(Path("members/leiden_1.csv").read_text())
    Path("link.csv").symlink_to("members/truth.csv")
    Path("numbers.csv").write_text("x,label\n" + "".join(f"{i}.5,{i % 2}\n" for i in CELLS))
    stderr = " ".join(run(call, 2).stderr.split())
    assert " must be a file of labels alone, got one that is read as " in stderr
    assert "Leave it out of the" in stderr


def test_a_column_may_be_called_as_the_file_of_its_votes():
    Path("kind").write_text(Path("wider.csv").read_text())
    Path("members/kind.csv").write_text(Path("members/leiden_2.csv").read_text())
    for votes in ("kind --columns leiden_*", "kind --keep kind", "members --layout members"):
        call = f"consensus {votes} --truth kind -k 2 --engine memory -o labels.csv"
        assert "NMI (max)" in run(call).stderr


def test_votes_that_can_be_read_once_have_true_labels_in_a_file():
    votes = Path("wider.csv").read_text()
    call = "consensus - --columns leiden_* --truth truth.csv -k 2 -o labels.csv"
    Path("truth.csv").write_text(table({"cell": [f"c{i}" for i in CELLS], "label": EXPERT}))
    result = CliRunner().invoke(app, call.split(), input=votes)
    assert result.exit_code == 0, result.output
    assert "2 clusterings" in result.stderr
    assert "NMI (max)" in result.stderr


def test_files_of_other_lengths_are_named():
    Path("members/leiden_1.csv").write_text("label\n" + "1\n" * 9)
    Path("members/leiden_2.csv").write_text("label\n" + "1\n" * 7 + "2\n")
    stderr = run("consensus members --layout members -k 2", 1).stderr
    assert "leiden_1.csv" in stderr
    assert "leiden_2.csv" in stderr or "kmeans.csv" in stderr


def test_the_command_in_a_report_has_the_columns(folder):
    run("report wider.csv --columns leiden_* --columns kmeans,batch -k 2 -q")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "--columns &#39;leiden_*&#39; --columns kmeans,batch" in page
    run("report long.csv --layout long -k 2 -q")
    assert "--layout long" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_vector_beside_an_array_is_the_truth():
    votes = np.column_stack([LEIDEN, EXPERT, LEIDEN])
    np.savez("votes.npz", votes=votes, gt=np.array(EXPERT))
    shown = run("consensus votes.npz --columns c1,c2 --truth gt -k 2 -o labels.csv").stderr
    assert "2 clusterings" in shown
    assert "label     1.0000" in shown
