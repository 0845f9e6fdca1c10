"""Cases that tell the command from one with a small mistake (tools/hand_mutants.toml)."""

import errno
import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app
from ensemblage.cli.compare import _report
from ensemblage.cli.consensus import _sampled
from ensemblage.cli.errors import UsageError
from ensemblage.cli.generate import _sizes
from ensemblage.cli.inputs import check_apart
from ensemblage.cli.output import to_json
from ensemblage.cli.session import split_names, warn_of_truth
from ensemblage.methods import estimating
from ensemblage.scale import stream

pq = pytest.importorskip("pyarrow.parquet")


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def test_a_sample_of_several_files_has_every_second_fourth_row(tmp_path, monkeypatch):
    monkeypatch.setattr(estimating, "MOST_SAMPLED", 8)
    first = 0
    for name, n in {"a": 5, "b": 7, "c": 23, "d": 6}.items():
        rows = [f"{first + i},{(first + i) % 2}" for i in range(n)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,y", *rows]))
        first += n
    reading = {"format": None, "columns": None, "header": "auto"}
    session = SimpleNamespace(
        reading=lambda: reading,
        id_column="none",
        truth=None,
        paths=sorted(map(str, tmp_path.glob("*.csv"))),
    )
    sample, n_objects = _sampled(session)
    taken = sorted(np.asarray(sample.labels[0]).tolist())
    step = taken[1] - taken[0]
    assert n_objects == 41
    assert step in (2, 4, 8)
    assert taken == list(range(0, 41, step))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_true_labels_are_not_sampled(suffix, engine, tmp_path):
    columns = {"a": np.arange(30) % 3, "b": np.arange(30) % 3, "c": np.arange(30) % 2}
    tables.write(tmp_path / f"v.{suffix}", columns)
    words = ["consensus", tmp_path / f"v.{suffix}", "-k", 3, "--truth", "c", "--json", "--dry-run"]
    done = run(*words, "--engine", engine, "-o", tmp_path / "l.csv")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["n_clusterings"], facts["n_microclusters"]) == (2, 3)
    assert not (tmp_path / "l.csv").exists()


def test_a_replaced_model_does_not_resume(tmp_path):
    """Labels of microclusters that an interrupted run has kept are those of its model."""
    rows = [f"{i % 3},{i % 3},{i % 2}" for i in range(60)]
    (tmp_path / "v.csv").write_text("\n".join(["a,b,c", *rows]))
    digests = []
    for k in (2, 3):
        model = tmp_path / "m.ensemblage"
        words = ["-k", k, "-m", "eac", "-o", tmp_path / "l.csv", "--save", model]
        assert run("consensus", tmp_path / "v.csv", *words).exit_code == 0
        with pytest.MonkeyPatch.context() as patch:
            from ensemblage.scale import stream

            def seen(_, estimator, *rest, **options):
                del rest, options
                digests.append(estimator.get_params())
                raise ValueError("seen")

            patch.setattr(stream, "consensus", seen)
            done = run(
                "predict", model, tmp_path / "v.csv", "-o", tmp_path / "p.csv", "--engine", "stream"
            )
        assert "seen" in done.stderr
    assert digests[0] != digests[1]


def test_names_are_split_at_commas_without_their_spaces():
    assert split_names(["a, b", " c ,,d"], "--keep") == ["a", "b", "c", "d"]


def test_the_best_method_is_first():
    scores = {"low": 0.1, "none": None, "high": 0.9}
    rows = [
        {"method": name, "clusters": 2, "nmi": None, "nmi_with_votes": score, "outlier": False}
        for name, score in scores.items()
    ]
    lines = _report(rows, ["method", "nmi_with_votes"], {}).splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["high", "low", "none"]


def test_numbers_that_json_lacks_are_null():
    assert to_json({"a": [np.inf, -np.inf, np.nan, 1.5], "b": np.array([np.nan])}) == {
        "a": [None, None, None, 1.5],
        "b": [None],
    }


@pytest.mark.parametrize(("seed", "other"), [(0, 1)])
def test_the_seed_reaches_the_method(seed, other, tmp_path):
    rng = np.random.default_rng(0)
    rows = [",".join(map(str, row)) for row in rng.integers(0, 6, (200, 5)).tolist()]
    (tmp_path / "v.csv").write_text("\n".join(["a,b,c,d,e", *rows]))
    found = []
    for asked in (seed, other, seed):
        words = [
            "-k",
            6,
            "-m",
            "nmf",
            "--seed",
            asked,
            "-o",
            tmp_path / "l.csv",
            "--id-column",
            "none",
        ]
        done = run("consensus", tmp_path / "v.csv", *words)
        assert done.exit_code == 0, done.stderr
        found.append((tmp_path / "l.csv").read_bytes())
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("how", ["same", "spelled", "link"])
def test_an_output_is_not_an_input(how, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("a,b\n0,1\n1,0\n0,0\n1,1\n")
    before = path.read_bytes()
    output = {"same": path, "spelled": tmp_path / "x" / ".." / "v.csv", "link": tmp_path / "l.csv"}
    (tmp_path / "x").mkdir()
    (tmp_path / "l.csv").symlink_to(path)
    for words in (["consensus", path, "-k", 2], ["compare", path, "-k", 2, "--methods", "eac"]):
        done = run(*words, "-o", output[how])
        assert done.exit_code == 2
        assert "which it would replace" in done.stderr
    assert path.read_bytes() == before


def test_only_objects_without_any_vote_are_silent(tmp_path):
    np.save(tmp_path / "f.npy", np.random.default_rng(0).normal(size=(40, 2)))
    words = ["-m", 2, "--subsample", 0.5, "-o", tmp_path / "pool.npy", "--jobs", 1]
    done = run("generate", tmp_path / "f.npy", *words)
    assert done.exit_code == 0, done.stderr
    missing = np.load(tmp_path / "pool.npy") < 0
    n_silent = int(missing.all(axis=1).sum())
    assert 0 < n_silent < missing.any(axis=1).sum()
    assert f"{n_silent} object(s) have no vote" in done.stderr


def test_two_outputs_are_two_files(tmp_path):
    (tmp_path / "v.csv").write_text("a,b\n0,1\n1,0\n0,0\n1,1\n")
    (tmp_path / "x").mkdir()
    other = tmp_path / "x" / ".." / "l.csv"
    for option in ("--member-table", "--cluster-table", "--save"):
        done = run(
            "consensus", tmp_path / "v.csv", "-k", 2, "-o", tmp_path / "l.csv", option, other
        )
        assert done.exit_code == 2
        assert "are the same file" in done.stderr
        assert not (tmp_path / "l.csv").exists()


def test_redirected_output_is_not_an_input(tmp_path, monkeypatch):
    path = tmp_path / "v.csv"
    with path.open("a") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(UsageError, match="The output standard output is the input"):
            check_apart("-", [str(path)])
        check_apart("-", [str(tmp_path / "w.csv"), None])
    check_apart(os.devnull, [os.devnull])  # as a terminal, which is read and written


def test_names_with_spaces_are_quoted(capsys):
    warn_of_truth(["kmeans_1", "kmeans_2", "cell type"])
    assert (
        "column 'cell type' counts as a clustering; --truth 'cell type'" in capsys.readouterr().err
    )


def test_a_column_beside_a_pool_may_be_the_truth(capsys):
    warn_of_truth(["kmeans++_01", "rpcl_02", "kmeans_03", "kind"])
    assert "column 'kind' counts as a clustering" in capsys.readouterr().err
    warn_of_truth(["kmeans_02", "kind"])  # not the first of a pool
    assert not capsys.readouterr().err


def test_a_table_replaces_no_labels_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "0,1\n1,0\n" * 30)
    call = ["consensus", "a.csv", "b.csv", "-k", 2, "--method", "eac", "-o", "out/"]
    refused = run(*call, "--member-table", "out/b.csv")
    assert refused.exit_code == 2
    assert "--member-table out/b.csv and -o out/b.csv are the same file" in refused.stderr


def test_features_in_a_folder_are_not_replaced(tmp_path):
    (tmp_path / "x").mkdir()
    path, content = tmp_path / "x" / "a.csv", "f,g\n" + "0.5,1\n1.5,0\n" * 30
    path.write_text(content)
    refused = run("generate", tmp_path / "x", "-m", 2, "-o", path)
    assert (refused.exit_code, path.read_text()) == (2, content)


def test_numbers_of_clusters_in_words():
    sizes = [(1, 1), (3, 3), (2, 4)]
    assert [_sizes(*each) for each in sizes] == ["1 cluster", "3 clusters", "2 to 4 clusters"]


def test_more_members_than_memory_holds(generate, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1GB")
    result = generate("cells.csv", "-m", 300_000_000, "-k", 2, "--drop", "kind", "-o", "pool.csv")
    assert result.exit_code == 1
    assert "Votes of 300000000 members" in " ".join(result.stderr.split())
    assert "Use fewer members" in " ".join(result.stderr.split())


def test_the_folder_of_finished_work_gets_advice_for_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,0\n" * 30)
    call = ["consensus", "v.csv", "-k", "2", "--engine", "stream", "-o", "l.csv"]
    parts = tmp_path / "l.csv.parts"
    parts.write_text("")
    shown = " ".join(CliRunner().invoke(app, call).stderr.split())
    assert "is a file. Delete it, or name another output (-o)." in shown
    parts.unlink()
    parts.mkdir()
    (parts / "mine").write_text("")
    shown = " ".join(CliRunner().invoke(app, call).stderr.split())
    assert "holds other files" in shown
    assert "Delete it, or name another output (-o)." in shown
    (parts / "mine").unlink()
    monkeypatch.setattr("ensemblage.scale._checkpoint.lock", _refused)
    shown = " ".join(CliRunner().invoke(app, call).stderr.split())
    assert "cannot be made: Permission denied. It is next to the output" in shown
    assert "a new folder here (-o ./labels/)" in shown
    with pytest.raises(PermissionError, match=r"Name another output or checkpoint\."):
        stream.consensus("v.csv", en.EAC(2), "l.csv")


def _refused(path):
    raise PermissionError(errno.EACCES, "Permission denied", str(path))


def test_an_output_folder_that_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,0\n" * 30)
    (tmp_path / "l.csv").write_text("")
    result = CliRunner().invoke(app, ["consensus", "v.csv", "-k", "2", "-o", "l.csv/"])
    assert (result.exit_code, "or the file without a slash." in result.stderr) == (1, True)
    result = CliRunner().invoke(app, ["demo", "-o", "l.csv"])
    assert (result.exit_code, "-o l.csv is a file" in result.stderr) == (1, True)


def test_memory_of_pta_has_advice_that_the_command_can_follow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    votes = np.random.default_rng(0).integers(0, 20, (3000, 6))
    tables.write("v.csv", {f"a{place}": column for place, column in enumerate(votes.T)})
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "100MB")
    call = ["consensus", "v.csv", "-k", "2", "--method", "pta", "-o", "l.csv"]
    result = CliRunner().invoke(app, call)
    shown = " ".join(result.stderr.split())
    assert result.exit_code == 1
    assert "PTGP need no such matrix." in shown
    assert "similarity" not in shown
    with pytest.raises(en.MemoryBudgetError, match='similarity="uint16" takes a sixteenth'):
        en.PTA(2).fit(votes)
