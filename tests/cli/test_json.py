"""``--json``: one object on standard output, with the same keys every time, and nothing else."""

import json
import math

import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage.cli import app
from ensemblage.cli.output import to_json

VOTES = "cell,a,b,c,kind\n" + "".join(
    f"c{i},{i % 3},{(i + (i % 7 == 0)) % 3},{i % 2},{'xyz'[i % 3]}\n" for i in range(30)
)
CELLS = "cell,size,light,kind\n" + "".join(
    f"c{i},{i % 3 * 4 + i / 50},{i % 3 * 2 - i / 60},{'xyz'[i % 3]}\n" for i in range(30)
)
COUNTS = {"n_objects": 30, "n_clusterings": 3, "id_column": "cell"}
SECONDS = {"seconds", "compile_seconds"}
RESULT = {"method", "ks", "n_microclusters", "output", *SECONDS, *COUNTS}
CHOICE = {"k", "evidence", "criterion", "reasons", "runners_up", "ks", "scores", "recommended"}
CHOICE |= {"absent", "null", "cdf"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text(VOTES)
    (tmp_path / "cells.csv").write_text(CELLS)
    return tmp_path


def run(call, code=0):
    result = CliRunner().invoke(app, call.split(), prog_name="ensemblage")
    assert result.exit_code == code, result.output
    return result


def facts(call):
    """Return the object that a call prints; it must be alone on one line, and strict JSON."""
    result = run(call)
    assert result.stdout.count("\n") == 1
    assert "\x1b" not in result.stdout

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    found = json.loads(result.stdout, parse_constant=refuse)
    assert list(found)[:2] == ["command", "version"]
    assert found["command"] == call.split()[0]
    assert found["version"] == en.__version__
    return {name: found[name] for name in list(found)[2:]}, result


@pytest.mark.parametrize(
    ("call", "keys", "told"),
    [
        (
            "consensus v.csv -k 3 -o l.csv --truth kind",
            RESULT | {"engine", "scores", "choice", "method_taken", "reasons"},
            COUNTS | {"method": "auto", "ks": [3], "engine": "memory", "choice": None},
        ),
        (
            "consensus v.csv --k-range 2:3 -o l.parquet --truth kind -m EAC --engine stream",
            RESULT | {"engine", "scores", "choice", "method_taken", "reasons"},
            COUNTS | {"method": "eac", "ks": [2, 3], "engine": "stream"},
        ),
        (
            "generate cells.csv -m 5 --method rpcl,kmeans --truth kind -o p.csv",
            {"methods", "n_features", "n_clusters", "truth", "output", *SECONDS, *COUNTS},
            {"methods": ["rpcl", "kmeans"], "n_features": 2, "n_clusterings": 5, "truth": "kind"},
        ),
        (
            "choose-k v.csv --truth kind",
            RESULT | CHOICE | {"n_classes"},
            COUNTS | {"n_classes": 3, "output": None, "criterion": "balance"},
        ),
        (
            "compare v.csv -k 3 --methods eac,vote --truth kind",
            (RESULT - {"method"}) | {"methods", "agreement"},
            COUNTS | {"ks": [3], "output": None},
        ),
        (
            "report v.csv -k 3 -m eac -o r.html --truth kind",
            RESULT | {"choice", "model"},
            COUNTS | {"method": "eac", "ks": [3], "output": "r.html", "choice": None},
        ),
    ],
)
def test_one_object_with_these_keys(call, keys, told):
    found, result = facts(f"{call} --json")
    assert set(found) == keys
    assert {name: found[name] for name in told} == told
    assert found["seconds"] > 0
    assert result.stderr == ""
    assert facts(f"{call} --json --quiet")[0].keys() == found.keys()


def test_scores_are_those_of_the_text(folder):
    found, _ = facts("consensus v.csv -k 3 -o l.csv --truth kind --json")
    shown = run("consensus v.csv -k 3 -o l.csv --truth kind -q").stderr.splitlines()[-1].split()
    scores = found["scores"]["label"]
    assert list(scores) == ["nmi", "ari", "nmi_with_votes"]
    assert [f"{score:.4f}" for score in scores.values()] == shown[1:]
    plainly, _ = facts("consensus v.csv -k 3 -o l.csv --json")
    assert plainly["scores"] is None


def test_a_chosen_k_has_its_reasons():
    found, _ = facts("consensus v.csv -k auto -o l.csv --json")
    assert found["ks"] == [found["choice"]["k"]]
    assert set(found["choice"]) == CHOICE
    assert found["choice"]["reasons"]


def test_compare_has_every_key_for_every_method(monkeypatch):
    def fail(self, X, y=None):
        raise ValueError("No.")

    monkeypatch.setattr(en.EAC, "fit", fail)
    found, result = facts("compare v.csv -k 3 --methods eac,vote --json")
    keys = {"method", "clusters", "nmi", "ari", "nmi_with_votes", "seconds", "memory_mb"}
    keys |= {"outlier", "error"}
    assert [set(row) for row in found["methods"]] == [keys, keys]
    failed, good = found["methods"]
    assert (failed["error"], failed["clusters"]) == ("No.", None)
    assert (good["error"], good["nmi"]) == (None, None)
    assert found["agreement"] == {"vote": {"vote": 1.0}}
    assert result.stderr == "warning: eac has no result: No.\n"


def test_predict_tells_of_its_model(folder):
    run("consensus v.csv -k 3 -o l.csv --save m.ensemblage --truth kind -q")
    found, _ = facts("predict m.ensemblage v.csv -o p.csv --truth kind --json")
    assert set(found) == RESULT | {"engine", "scores", "model"}
    assert (found["model"], found["ks"], found["method"]) == ("m.ensemblage", [3], "consensus")
    assert (folder / "p.csv").read_text() == (folder / "l.csv").read_text()


def test_reproduce_tells_where_it_is(monkeypatch, folder):
    from ensemblage import experiments

    monkeypatch.setattr(experiments, "reproduce", lambda *_, **__: folder / "index.html")
    found, _ = facts("reproduce ranking -o there --json")
    assert set(found) == {"tables", "rendered_only", "output", "index", "seconds"}
    assert (found["tables"], found["output"]) == (["ranking"], "there")


@pytest.mark.parametrize(
    "call",
    [
        "consensus v.csv -k 3",
        "consensus v.csv -k 3 -o /dev/stdout",
        "predict m.ensemblage v.csv",
        "generate cells.csv --drop kind -o -",
        "choose-k v.csv -o -",
        "compare v.csv -k 3 -o -",
        "report v.csv -k 3 -o -",
    ],
)
def test_the_result_cannot_go_where_the_json_goes(call):
    result = run(f"{call} --json", code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: --json prints a summary on standard output, where the")


def test_an_error_prints_no_json():
    result = run("consensus v.csv -k 300 -o l.csv --json", code=1)
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (math.nan, "null"),
        (-math.inf, "null"),
        ({"a": [1, math.nan]}, '{"a": [1, null]}'),
        ("ünï", '"ünï"'),
    ],
)
def test_what_json_does_not_know_is_null(value, written):
    assert json.dumps(to_json(value), ensure_ascii=False) == written


@pytest.mark.parametrize("call", ["compare v.csv -k 3 --methods eac,vote", "choose-k v.csv"])
def test_quiet_with_a_file_prints_nothing(call, folder):
    assert run(f"{call} -q").stdout != ""
    result = run(f"{call} -q -o t.csv --truth kind")
    assert (result.stdout, result.stderr) == ("", "")
    assert (folder / "t.csv").stat().st_size > 0
