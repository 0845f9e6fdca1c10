"""``ensemblage consensus --member-table --cluster-table``: tables of a consensus."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage.cli import app

VOTES = pd.DataFrame(
    {"one": [0, 0, 0, 1, 1, 1], "two": [5, 5, 5, 6, 6, 6], "flat": 1, "three": [0, 0, 1, 1, 1, 1]}
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    VOTES.to_csv("votes.csv", index=False)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["consensus", "votes.csv", *map(str, arguments)])

    return invoke


def test_both_tables(run):
    made = run(
        "-k", 2, "-o", "labels.csv", "--member-table", "members.csv", "--cluster-table", "c.csv"
    )
    assert made.exit_code == 0, made.stderr
    est = en.Consensus(n_clusters=2, random_state=0).fit(VOTES)
    members, clusters = pd.read_csv("members.csv"), pd.read_csv("c.csv")
    expected = en.metrics.members(est)
    assert members["member"].tolist() == ["one", "two", "flat", "three"]
    np.testing.assert_allclose(members["agreement"], expected.agreement, atol=1e-6)
    assert members["look_at"].tolist() == ["no", "yes", "yes", "no"]
    assert members["reasons"].fillna("").tolist() == expected.reasons
    found = en.metrics.clusters(est)
    assert clusters["label"].tolist() == [0, 1]
    assert clusters["size"].tolist() == found.sizes.tolist()
    np.testing.assert_allclose(clusters["consensus"], found.consensus, atol=1e-6)
    assert clusters["nearest"].tolist() == [1, 0]


def test_parquet_too(run):
    assert run("-k", 2, "-o", "labels.csv", "--cluster-table", "c.parquet").exit_code == 0
    assert pd.read_parquet("c.parquet")["size"].sum() == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k-range", "1:2", "--member-table", "m.csv"], "--member-table needs one consensus"),
        (["-k", "2", "--member-table", "-"], "name a .csv, .tsv, .parquet or .npz file"),
        (["-k", "2", "--cluster-table", "c.npy"], "--cluster-table c.npy: name a .csv"),
        (["-k", "2", "--cluster-table", "votes.csv"], "is the input votes.csv"),
        (["-k", "2", "--member-table", "labels.csv"], "and -o labels.csv are the same file"),
        (
            ["-k", "2", "--member-table", "m.csv", "--cluster-table", "./m.csv"],
            "and --member-table m.csv are the same file",
        ),
        (
            ["-k", "2", "--member-table", "m.csv", "--engine", "stream"],
            "need the votes in memory (--engine memory)",
        ),
    ],
)
def test_what_is_refused(run, arguments, message):
    made = run("-o", "labels.csv", *arguments)
    assert made.exit_code == 2
    assert message in made.stderr
