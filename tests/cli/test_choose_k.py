"""``ensemblage choose-k`` and ``ensemblage consensus -k auto``."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app

runner = CliRunner()


@pytest.fixture
def votes(tmp_path):
    """Write eight noisy copies of four groups, with ids and the truth; return the file."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 30)
    path = tmp_path / "votes.csv"
    columns = {"id": np.array([f"o{i}" for i in range(120)], dtype=object)}
    for m in range(8):
        wrong = rng.random(120) < 0.08
        columns[f"run{m}"] = np.where(wrong, rng.integers(0, 4, 120), truth)
    tables.write(path, columns | {"truth": truth})
    return path


def invoke(*words, verb="choose-k"):
    return runner.invoke(app, [verb, *map(str, words)])


def test_a_table_a_recommendation_and_reasons(votes):
    found = invoke(votes, "--truth", "truth")
    assert found.exit_code == 0, found.stderr
    table, _, words = found.stdout.partition("\n\n")
    header, *rows = table.splitlines()
    assert " ".join(header.split()) == "k support recurrence balance NMI confidence lifetime"
    assert [int(row.split()[0]) for row in rows] == list(range(2, 21))
    assert [row.split()[0] for row in rows if row.split()[1].endswith("*")] == ["4"]
    assert words.startswith("Recommended: k = 4\n  Strong evidence for 4 clusters: halves of the")
    assert "No other number stands out." in words
    assert "  Not computed: eigengap. Consensus does not cut by eigenvectors." in words
    assert words.endswith("The true labels have 4 classes.\n")


def test_scores_are_those_of_the_library(votes, tmp_path):
    out = tmp_path / "scores.csv"
    arguments = ("-m", "PTA", "--k-range", "2:6", "--criteria", "lifetime,pac", "--seed", 3)
    found = invoke(votes, "--truth", "truth", *arguments, "-o", out, "--refits", 4)
    assert found.exit_code == 0, found.stderr
    table = pd.read_csv(out)
    assert list(table) == ["k", "support", "lifetime", "pac"]
    matrix = pd.read_csv(votes).drop(columns=["id", "truth"])
    expected = en.metrics.choose_k(
        en.PTA(2).fit(matrix), range(2, 7), criteria="all", n_refits=4, random_state=3
    )
    for name in ("support", "lifetime", "pac"):
        assert table[name].to_numpy() == pytest.approx(expected.scores[name], abs=1e-6)


def test_json(votes):
    found = invoke(votes, "--truth", "truth", "--json", "--criterion", "ensemble-nmi")
    assert found.exit_code == 0, found.stderr
    choice = json.loads(found.stdout)
    assert choice["k"] == choice["recommended"]["ensemble_nmi"]
    assert choice["criterion"] == "ensemble_nmi"
    assert choice["evidence"] == "strong"
    assert choice["null"]["excess"] > choice["null"]["limit"]
    assert choice["ks"] == list(range(2, 21))


def test_scores_to_standard_output_leave_the_words_aside(votes):
    found = invoke(votes, "--truth", "truth", "--k-range", "2:4", "-o", "-")
    assert found.exit_code == 0, found.stderr
    assert found.stdout.splitlines()[0].startswith("k,support,recurrence,balance")
    assert len(found.stdout.splitlines()) == 4
    assert "Recommended: k = 4" in found.stderr


def test_one_group_of_objects(tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("a,b\n1,1\n1,1\n1,1\n")
    found = invoke(path)
    assert found.exit_code == 0, found.stderr
    assert found.stdout.startswith("Recommended: k = 1\n")


def test_votes_without_structure(tmp_path):
    path = tmp_path / "noise.csv"
    noise = np.random.default_rng(0).integers(0, 4, (120, 8))
    pd.DataFrame(noise).add_prefix("run").to_csv(path, index=False)
    found = invoke(path)
    assert found.exit_code == 0, found.stderr
    assert "Recommended: k = 1\n  No structure: the clusterings agree no more" in found.stdout
    labels = tmp_path / "labels.csv"
    found = invoke(path, "-k", "auto", "-o", labels, verb="consensus")
    assert found.exit_code == 0, found.stderr
    assert "formed a single cluster" in found.stderr
    assert pd.read_csv(labels)["label"].nunique() == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--k-range", "1:5"], 2, "--k-range must begin at 2 or later"),
        (["--k-range", "5"], 2, "--k-range must be two numbers with a colon"),
        (
            ["--k-range", "2:5000"],
            1,
            "5000 clusters were asked for, but the votes distinguish only",
        ),
        (["--criteria", "lifetme"], 2, "Unknown criterion 'lifetme'. Did you mean 'lifetime'?"),
        (["--criteria", ","], 2, "--criteria needs names"),
        (["--criterion", "gap"], 2, "Unknown criterion 'gap'"),
        (
            ["-m", "ptgp", "--criterion", "lifetime"],
            1,
            "PTGP does not support the criterion 'lifetime'",
        ),
        (["-m", "ptpg"], 2, "Unknown method 'ptpg'. Did you mean 'ptgp'?"),
        (["-o", "scores.npy"], 2, "ends in one of .csv, .tsv, .parquet"),
        (["-o", "-", "--json"], 2, "where the result would go too"),
        (["--refits", 1], 2, "--refits"),
    ],
)
def test_wrong_calls(votes, words, code, message):
    found = invoke(votes, "--truth", "truth", *words)
    assert found.exit_code == code
    assert message in " ".join(found.stderr.split())


def test_an_output_does_not_replace_the_votes(votes):
    found = invoke(votes, "-o", votes)
    assert found.exit_code == 2
    assert "which it would replace" in found.stderr


# -- consensus -k auto -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_consensus_chooses(votes, tmp_path, engine):
    out = tmp_path / "labels.csv"
    words = (votes, "-k", "auto", "--truth", "truth", "--engine", engine, "-o", out)
    found = invoke(*words, "--confidence", verb="consensus")
    assert found.exit_code == 0, found.stderr
    assert "k = 4 (chosen), Consensus" in found.stderr
    assert "Recommended: k = 4\n" in found.stderr
    matrix = pd.read_csv(votes).drop(columns=["id", "truth"])
    labels = pd.read_csv(out)
    assert list(labels) == ["id", "label", "confidence"]
    assert labels["label"].tolist() == en.Consensus(4, random_state=0).fit(matrix).labels_.tolist()


def test_quiet_tells_nothing(votes, tmp_path):
    words = (votes, "-k", "AUTO", "--truth", "truth", "-o", tmp_path / "l.csv", "-q")
    assert "Recommended" not in invoke(*words, verb="consensus").stderr


@pytest.mark.parametrize("k", ["0", "-1", "two", "2.5", ""])
def test_k_is_a_number_or_auto(votes, k):
    found = invoke(votes, "-k", k, verb="consensus")
    assert found.exit_code == 2
    assert "-k must be auto or a whole number from 1 up" in found.stderr


def test_auto_and_a_range_exclude_each_other(votes):
    found = invoke(votes, "-k", "auto", "--k-range", "2:5", verb="consensus")
    assert found.exit_code == 2
    assert "both were given" in found.stderr


def test_a_warning_of_no_structure_names_the_option(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    np.savetxt(
        path, rng.integers(0, 3, (40, 4)), fmt="%d", delimiter=",", header="a,b,c,d", comments=""
    )
    found = CliRunner().invoke(app, ["consensus", str(path), "-o", str(tmp_path / "l.csv")])
    assert found.exit_code == 0, found.stderr
    assert "formed a single cluster" in found.stderr
    assert "Pass -k to form more." in found.stderr
    assert "n_clusters" not in found.stderr
