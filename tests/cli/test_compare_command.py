import json

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app

runner = CliRunner()


@pytest.fixture
def votes(tmp_path):
    """Write six noisy copies of three groups, with ids and the truth; return the file."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 30)
    path = tmp_path / "votes.csv"
    columns = {"id": np.array([f"o{i}" for i in range(90)], dtype=object)}
    for m in range(6):
        wrong = rng.random(90) < 0.15
        columns[f"run{m}"] = np.where(wrong, rng.integers(0, 3, 90), truth)
    tables.write(path, columns | {"truth": truth})
    return path


def invoke(*words):
    return runner.invoke(app, ["compare", *map(str, words)])


def test_a_table_and_the_agreement_of_methods(votes):
    found = invoke(votes, "-k", 3, "--truth", "truth", "--methods", "ptgp,PTA")
    assert found.exit_code == 0, found.stderr
    table, _, pairs = found.stdout.partition("How the methods agree with each other (ARI)")
    assert "NMI (max)" in table
    assert "NMI with the votes" in table
    assert {"pta", "ptgp"} <= set(table.split()) & set(pairs.split())
    assert "1.00" in pairs


def test_numbers_are_those_of_the_library(votes, tmp_path):
    out = tmp_path / "table.json"
    found = invoke(votes, "-k", 3, "--truth", "truth", "--methods", "ptgp,pta", "-o", out)
    assert found.exit_code == 0, found.stderr
    content = json.loads(out.read_text())
    table, truth = tables.take_column(tables.read(votes), "truth")[::-1]
    for row in content["methods"]:
        est = en.METHODS[row["method"]](3)
        if "random_state" in est.get_params():
            est.set_params(random_state=0)
        labels = est.fit(table.matrix).labels_
        assert row["nmi"] == pytest.approx(en.metrics.nmi(truth, labels))
        assert row["ari"] == pytest.approx(en.metrics.ari(truth, labels))
        assert row["nmi_with_votes"] == pytest.approx(en.metrics.ensemble_nmi(labels, table.matrix))
        assert row["clusters"] == 3
        assert row["seconds"] > 0
    assert content["agreement"]["pta"]["pta"] == 1.0


def test_all_methods_and_a_csv_without_truth(votes, tmp_path):
    out = tmp_path / "table.csv"
    found = invoke(votes, "-k", 3, "-o", out, "--quiet")
    assert found.exit_code == 0, found.stderr
    header, *lines = out.read_text().splitlines()
    assert header == "method,clusters,nmi_with_votes,seconds,memory_mb,outlier"
    assert [line.partition(",")[0] for line in lines] == [
        name for name in en.METHODS if name != "auto"
    ]


def test_outliers_are_marked(tmp_path):
    """Two groups that a few microclusters make up: the walks of PTA and PTGP get lost."""
    rows = ["0,0,0"] * 40 + ["1,1,1"] * 40 + ["0,0,1"]
    path = tmp_path / "few.csv"
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    found = invoke(path, "-k", 2, "--methods", "auto,eac,lwea,lwgp,usenc,ptgp")
    assert found.exit_code == 0, found.stderr
    marked = [line.split()[0] for line in found.stdout.splitlines() if line.endswith("outlier")]
    assert marked == ["ptgp"]
    assert "Outliers, which agree with the other methods far less" in found.stdout
    assert "ptgp. Do not rely on them here." in found.stdout


def test_a_method_that_fails_does_not_stop_the_others(votes, monkeypatch):
    def refuse(self, X, y=None):
        raise en.MemoryBudgetError("this would not fit.")

    monkeypatch.setattr(en.PTA, "fit", refuse)
    found = invoke(votes, "-k", 3, "--methods", "pta,ptgp")
    assert found.exit_code == 0
    assert "warning: pta has no result: this would not fit." in found.stderr
    alone = invoke(votes, "-k", 3, "--methods", "pta")
    assert alone.exit_code == 1
    assert "No method gave a result" in alone.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-k", 3, "--methods", "ptpg"], 2, "Unknown method 'ptpg'. Did you mean 'ptgp'?"),
        (["-k", 3, "--methods", ","], 2, "--methods needs names"),
        (["-k", 0], 2, "-k must be a whole number from 1 up, got '0'"),
        ([], 2, "-k or --clusters is missing. See: "),
        (["-k", 3, "-o", "no/such/folder/x.csv"], 1, "there is no folder"),
        (["-k", 3, "-o", "table.npy"], 2, "ends in one of .csv, .tsv, .parquet, .npz, .json"),
        (["-k", 3, "--jobs", 0], 2, "--jobs must be a number from 1 up"),
        (["-k", 3, "--key", "votes"], 2, "--key is for NPZ and MAT"),
        (["-k", 3, "--format", "xls"], 2, "Unknown format 'xls'"),
        (["-k", 500], 1, "500 clusters were asked for, but the votes distinguish only"),
        (["-k", 3, "-o", "table.xlsx"], 2, "xlsx"),
    ],
)
def test_wrong_calls(votes, words, code, message):
    found = invoke(votes, *words)
    assert found.exit_code == code
    assert message in " ".join(found.stderr.split())


def test_a_table_on_standard_output_stands_there_alone(votes):
    found = invoke(votes, "-k", 3, "--methods", "pta,ptgp", "-o", "-")
    assert found.exit_code == 0, found.stderr
    assert found.stdout.startswith("method,clusters,nmi_with_votes")
    assert len(found.stdout.splitlines()) == 3
    assert "How the methods agree" in found.stderr


def test_a_score_of_zero_is_a_score():
    from ensemblage.cli.compare import _report

    def row(name, nmi):
        return {"method": name, "clusters": 2, "nmi": nmi, "ari": nmi, "nmi_with_votes": 0.9,
                "seconds": 1.0, "memory_mb": None}  # fmt: skip

    lines = _report([row("zero", 0.0), row("good", 0.3)], ["method", "nmi"], {}).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["good", "zero"]
