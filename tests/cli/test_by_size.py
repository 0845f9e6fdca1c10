"""``--by-size``: the largest cluster is 0, in every output and engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import metrics, tables
from ensemblage.cli import app
from ensemblage.report._code import python_code
from ensemblage.testing.strategies import votes as drawn_votes

TRUTH = np.repeat([0, 1, 2], [20, 50, 30])


@pytest.fixture
def votes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 3, (100, 6))
    labels = np.where(rng.random((100, 6)) < 0.1, noise, TRUTH[:, None])
    tables.write("votes.csv", {f"m{m}": labels[:, m] for m in range(6)})
    return labels


def run(*arguments):
    done = CliRunner().invoke(app, ["consensus", "votes.csv", *map(str, arguments), "-q"])
    assert done.exit_code == 0, done.stderr


def named(votes):
    return {f"m{m}": votes[:, m] for m in range(6)}


def table(path):
    return np.genfromtxt(path, delimiter=",", names=True)


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("method", ["auto", "ptgp"])
def test_labels_are_those_without_it_under_other_numbers(votes, engine, method):
    options = ["-k", 3, "-m", method, "--engine", engine, "--confidence"]
    run(*options, "-o", "plain.csv")
    run(*options, "-o", "sized.csv", "--by-size", "--save", "model.ensemblage")
    plain, sized = table("plain.csv"), table("sized.csv")
    assert np.bincount(plain["label"].astype(int)).tolist() != [50, 30, 20]
    np.testing.assert_array_equal(sized["label"], metrics.by_size(plain["label"]))
    assert (np.diff(np.bincount(sized["label"].astype(int))) <= 0).all()
    np.testing.assert_array_equal(sized["confidence"], plain["confidence"])
    model = en.load("model.ensemblage")
    np.testing.assert_array_equal(model.predict(named(votes)), sized["label"])


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_every_cut_is_numbered(votes, engine):
    run("--k-range", "2:4", "-m", "eac", "--by-size", "--engine", engine, "-o", "cuts.csv")
    found = table("cuts.csv")
    est = en.EAC(4).fit(votes)
    for k in (2, 3, 4):
        np.testing.assert_array_equal(found[f"k{k}"], metrics.by_size(est.cut(k)))


def test_the_table_of_clusters_begins_with_the_largest(votes):
    run("-k", 3, "--by-size", "-o", "labels.csv", "--cluster-table", "clusters.csv")
    found = table("clusters.csv")
    assert found["label"].tolist() == [0, 1, 2]
    assert (np.diff(found["size"]) < 0).all()
    labels = table("labels.csv")["label"].astype(int)
    np.testing.assert_array_equal(np.bincount(labels), found["size"])


def test_a_stopped_run_is_not_resumed_with_other_numbers(votes):
    from ensemblage.scale import stream

    for by_size in (False, True):
        result = stream.consensus(
            "votes.csv", en.EAC(3), "out.csv", by_size=by_size, checkpoint="kept"
        )
        labels = table("out.csv")["label"].astype(int)
        assert (np.bincount(labels).argmax() == 0) == by_size
        assert np.array_equal(result.estimator.predict(named(votes)), labels)


@given(drawn_votes(), st.integers(1, 4))
def test_a_fitted_method_stays_whole(matrix, k):
    k = min(k, len(en.Ensemble(matrix).microclusters.sizes))
    for est in (en.EAC(k), en.ECMC(k, level="objects")):
        before = est.fit(matrix).labels_
        sure = est.confidence_
        est._number_by_size()
        np.testing.assert_array_equal(est.labels_, metrics.by_size(before))
        np.testing.assert_array_equal(est.confidence_, sure)
        assert (np.diff(metrics.clusters(est).sizes) <= 0).all()
        assert "by_size(model.labels_)" in python_code(est, [], None)
        if isinstance(est, en.EAC):
            np.testing.assert_array_equal(est.predict(matrix), est.labels_)
            np.testing.assert_array_equal(est.fit(matrix).labels_, before)
            assert "by_size" not in python_code(est, [], None)
