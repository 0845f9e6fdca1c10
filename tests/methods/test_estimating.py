"""What a fit is expected to take."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage.cli import app
from ensemblage.methods import estimating


def random_votes(n_objects=3000, n_clusterings=20, k=10, seed=0):
    return np.random.default_rng(seed).integers(0, k, (n_objects, n_clusterings))


def test_sizes_are_those_of_the_votes():
    votes = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    found = en.estimate(votes, "eac", n_clusters=2)
    assert found.shape == estimating.Shape(4, 2, 3, 4, 1 + 4 + 4 + 1, 2)
    assert found.n_sampled == 4


@pytest.mark.parametrize("method", sorted(estimating.SECONDS))
def test_more_of_everything_costs_more(method):
    few = estimating.Shape(1000, 10, 500, 100, 250_000.0, 5)
    much = estimating.Shape(10**6, 100, 200_000, 5000, 1e10, 50)
    cheap, dear = estimating.of_shape(few, method), estimating.of_shape(much, method)
    assert 0 < cheap.seconds < dear.seconds
    assert 0 <= cheap.bytes < dear.bytes


@pytest.mark.parametrize(("method", "n", "factor"), [
    ("eac", 10_000, 1), ("lwea", 10_000, 2), ("consensus", 10_000, 2), ("ptgp", 50_000, 2),
])  # fmt: skip
def test_gaps_cost_more_where_all_pairs_are_compared(method, n, factor):
    full = estimating.Shape(n, 10, n, 200, 5e7, 5)
    gaps = estimating.of_shape(full._replace(has_gaps=True), method)
    assert gaps.seconds > factor * estimating.of_shape(full, method).seconds


def test_the_default_has_no_pairs_of_very_many_rows_with_gaps():
    few, many = (estimating.Shape(n, 10, n, 200, 5e7, 5, True) for n in (15_000, 20_000))
    sizes = estimating.terms(many)
    assert sizes["pairs"] == 0
    assert sizes["groups"] == 1
    assert estimating.terms(few)["pairs"] > 0
    assert estimating.terms(many, groups=False)["pairs"] > 0


@pytest.mark.parametrize(("shape", "seconds", "n_bytes"), [
    ((600, 500, 600, 3920, 3.6e7, 10), 0.25, 35e6),  # fewer rows than clusters
    ((2500, 400, 2500, 5756, 2.8e8, 10), 5.9, 503e6),
    ((4000, 20, 4000, 3640, 2.9e6, 20), 5.8, 330e6),  # more
    ((4000, 80, 4000, 1916, 8.5e7, 20), 1.7, 275e6),
])  # fmt: skip
def test_all_eigenvectors_of_more_than_a_thousand_clusters(shape, seconds, n_bytes):
    expected = estimating.of_shape(estimating.Shape(*shape), "lwpt")
    assert seconds / 3 < expected.seconds < 3 * seconds  # as measured
    assert n_bytes / 3 < expected.bytes < 3 * n_bytes


def test_gaps_are_detected_in_votes():
    votes = random_votes(50)
    assert not en.estimate(votes).shape.has_gaps
    votes[3, 4] = -1
    assert en.estimate(votes).shape.has_gaps
    votes[:, 4] = -1  # a clustering without any vote is ignored
    assert not en.estimate(votes).shape.has_gaps


def test_the_graph_of_very_many_rows_compares_a_fixed_number():
    some, twice = (estimating.Shape(n, 50, n, 1000, 1e12, 20) for n in (10**6, 2 * 10**6))
    ratio = estimating.terms(twice)["compared"] / estimating.terms(some)["compared"]
    assert ratio == pytest.approx(2)
    assert estimating.terms(some)["compared"] < 1e11


def test_the_default_has_two_names_and_methods_without_measurements_are_refused():
    votes = random_votes(100)
    assert en.estimate(votes, "auto") == en.estimate(votes, "Consensus")
    with pytest.raises(en.ParameterError, match=r"'method' .* one of consensus, eac.* 'nmf'"):
        en.estimate(votes, "nmf")
    with pytest.raises(en.ParameterError, match="n_clusters"):
        en.estimate(votes, n_clusters=0)


@pytest.mark.parametrize("n_different", [50, 4000])
def test_a_sample_tells_how_many_rows_differ(monkeypatch, n_different):
    votes = random_votes(n_different, 12)[np.random.default_rng(1).integers(0, n_different, 16_000)]
    known = en.estimate(votes).shape.n_microclusters
    monkeypatch.setattr(estimating, "MOST_SAMPLED", 2000)
    sampled = en.estimate(votes)
    assert sampled.n_sampled == 2000
    assert sampled.shape.n_objects == 16_000
    assert known / 2 < sampled.shape.n_microclusters < 3 * known


def test_the_command_prints_the_same_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    votes = random_votes(500)
    np.savetxt("votes.csv", votes, fmt="%d", delimiter=",")
    call = ["consensus", "votes.csv", "-k", "4", "-o", "labels.csv", "--dry-run"]
    shown = CliRunner().invoke(app, call)
    assert shown.exit_code == 0, shown.output
    assert str(en.estimate(votes, n_clusters=4)) in shown.stdout
    assert "Nothing was computed or written; the engine would be memory." in shown.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.parametrize("most", [100, 100_000])
def test_files_that_are_streamed_are_sampled_alike(tmp_path, monkeypatch, most):
    monkeypatch.setattr(estimating, "MOST_SAMPLED", most)
    votes = random_votes(1500, 6, 4)
    for part in range(3):
        np.savetxt(
            tmp_path / f"v{part}.csv",
            votes[500 * part : 500 * (part + 1)],
            fmt="%d",
            delimiter=",",
            header="a,b,c,d,e,f",
            comments="",
        )
    files = [str(tmp_path / f"v{part}.csv") for part in range(3)]
    call = ["consensus", *files, "-k", "4", "-o", str(tmp_path / "out.csv")]
    found = CliRunner().invoke(app, [*call, "--dry-run", "--engine", "stream", "--json"])
    assert found.exit_code == 0, found.output
    facts, expected = json.loads(found.stdout), en.estimate(votes, n_clusters=4)
    assert facts["n_objects"] == 1500
    assert facts["n_sampled"] == expected.n_sampled
    assert facts["n_microclusters"] == expected.shape.n_microclusters
    assert facts["expected_bytes"] == expected.bytes
    assert not (tmp_path / "out.csv").exists()


def test_auto_is_estimated_at_the_largest_number_that_is_compared():
    votes = np.random.default_rng(0).integers(0, 30, (500, 8))
    assert en.estimate(votes, n_clusters="auto").shape.k == 30
    assert en.estimate(votes[:5], n_clusters="auto").shape.k == 5
    with pytest.raises(ValueError, match="'auto' or a whole number"):
        en.estimate(votes, n_clusters="many")


def test_one_object_is_singular():
    text = str(en.estimate(np.array([[0, 0]]), n_clusters=1))
    assert "1 object, 2 clusterings with 2 clusters, 1 different row" in text
