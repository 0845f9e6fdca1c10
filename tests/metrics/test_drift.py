import numpy as np
import pytest
from hypothesis import given, settings

import ensemblage as en
from ensemblage.metrics import drift
from ensemblage.testing.strategies import votes

PATTERNS = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 2, 1], [2, 2, 2]])


def drawn(n, seed, shares=(0.3, 0.1, 0.3, 0.1, 0.2)):
    return PATTERNS[np.random.default_rng(seed).choice(5, n, p=shares)]


@pytest.fixture(scope="module")
def model():
    return en.EAC(n_clusters=3).fit(drawn(500, 0))


@settings(deadline=None)
@given(votes(max_objects=16), votes(max_objects=16))
def test_numbers_are_those_of_counting(old, new):
    columns = min(old.shape[1], new.shape[1])
    old, new = old[:, :columns], new[:, :columns]
    old, new = (matrix[(matrix >= 0).any(axis=1)] for matrix in (old, new))
    if not len(old) or not len(new):
        return
    fitted = en.EAC(n_clusters=1).fit(old)
    found = drift(fitted, new)
    voted = [m for m in range(columns) if (old[:, m] >= 0).any()]
    heard = np.where(np.isin(np.arange(columns), voted), new, -1)  # others are ignored
    rows = [tuple(row) for row in old.tolist()]
    assert found.never_seen == pytest.approx(
        np.mean([tuple(row) not in rows for row in heard.tolist()])
    )
    assert found.expected_never_seen == pytest.approx(
        np.mean([rows.count(row) == 1 for row in rows])
    )
    for m in range(columns):
        cast = [label for label in heard[:, m].tolist() if label >= 0]
        known = set(old[:, m].tolist())
        expected = np.mean([label not in known for label in cast]) if cast else 0.0
        assert found.unknown[m] == pytest.approx(expected)
        assert found.turnout[m] == pytest.approx((new[:, m] >= 0).mean())
        assert found.fit_turnout[m] == pytest.approx((old[:, m] >= 0).mean())
    assert found.n_objects == len(new)
    assert found.changed == bool(found.reasons)
    assert found.shares.sum() == pytest.approx(1)


def test_more_of_the_same_is_no_drift(model):
    found = [drift(model, drawn(300, seed)) for seed in range(1, 21)]
    assert not any(one.changed for one in found)
    assert found[0].verdict == "No drift: the 300 new objects are like those of the fit."
    labels, sure = model.predict(drawn(300, 1), return_confidence=True)
    assert found[0].confidence == pytest.approx(sure.mean())
    assert found[0].fit_confidence == pytest.approx(model.confidence_.mean())
    np.testing.assert_allclose(found[0].shares, np.bincount(labels) / 300)
    np.testing.assert_allclose(found[0].fit_shares, np.bincount(model.labels_) / 500)


def test_clusterings_that_number_anew_are_named(model):
    new = drawn(200, 1)
    new[:, 1] += 10
    found = drift(model, new)
    assert found.changed
    assert found.verdict.startswith("Drift: the 200 new objects differ from those of the fit.")
    assert found.reasons[0] == (
        "Every label of clustering '1' is unknown. Check that its clusters are numbered as in the"
        " fit."
    )
    assert any("100.0% of the rows of votes did not occur" in reason for reason in found.reasons)
    new = drawn(200, 1)
    new[:20, 2] = 5
    assert "10.0% of the votes of clustering '2' are for unknown" in drift(model, new).reasons[0]


def test_shares_of_clusters_that_change_are_named(model):
    found = drift(model, drawn(300, 1, (0.75, 0.1, 0.05, 0.05, 0.05)))
    said = " ".join(found.reasons)
    first, second, third = model.predict(PATTERNS[[0, 2, 4]])
    for label in (first, second, third):
        assert f"Cluster {label} has {found.shares[label]:.1%} of the objects" in said


def test_confidence_that_falls_is_named():
    rng = np.random.default_rng(0)
    clear = np.repeat(np.arange(2), 100)[:, None] * np.ones(8, dtype=int)
    noisy = np.where(rng.random(clear.shape) < 0.05, 1 - clear, clear)
    fitted = en.EAC(n_clusters=2).fit(noisy)
    worse = np.where(rng.random(clear.shape) < 0.35, 1 - clear, clear)
    found = drift(fitted, worse)
    assert found.confidence < found.fit_confidence
    assert any(reason.startswith("The mean confidence fell from") for reason in found.reasons)


def test_clusterings_that_fall_silent_are_named(model):
    new = drawn(200, 1)
    new[:150, 0] = -1
    assert (
        "Clustering '0' labels 25.0% of the objects, compared with 100.0% in the fit."
        in drift(model, new).reasons
    )


def test_few_objects_are_not_judged(model):
    found = drift(model, PATTERNS[:2] + 9)
    assert not found.changed
    assert found.verdict == "Not judged: at least 10 new objects are needed, got 2."


def test_names_and_a_table_to_look_at():
    pd = pytest.importorskip("pandas")
    old, new = (pd.DataFrame(drawn(200, seed), columns=["a", "b", "c"]) for seed in (0, 1))
    fitted = en.Consensus(n_clusters=3, random_state=0).fit(old)
    found = drift(fitted, new[["c", "a", "b"]])  # by name
    assert found.names == ["a", "b", "c"]
    assert not found.unknown.any()
    frame = found.to_frame()
    assert frame.loc["new rows", "new"] == found.never_seen
    assert frame.loc["unknown labels of b", "fit"] == 0
    assert repr(found).splitlines()[0] == found.verdict
    with pytest.raises(ValueError, match="does not have 'b'"):
        drift(fitted, new[["a", "c"]])


def test_features_of_a_clusterer_of_features():
    rng = np.random.default_rng(0)
    features = np.repeat([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], 60, axis=0)
    features = features + rng.normal(size=features.shape)
    est = en.EnsembleClustering(3, n_members=10, random_state=0).fit(features[::2])
    assert not drift(est, features[1::2]).changed
    gone = drift(est, features[1:120:2])
    assert gone.changed
    assert any("in the fit" in reason for reason in gone.reasons)


def test_groups_count_as_their_objects():
    matrix = drawn(400, 3)
    groups = en.microclusters(matrix)
    names = [sorted(set(column.tolist()), key=column.tolist().index) for column in matrix.T]
    known = en.Ensemble.of_groups(groups.table, groups.sizes, names)
    one, other = drift(en.EAC(3).fit(matrix), matrix), drift(en.EAC(3).fit(known), known)
    assert one.confidence == pytest.approx(other.confidence)
    assert one.fit_confidence == pytest.approx(other.fit_confidence)
    np.testing.assert_allclose(one.shares, other.shares)
    np.testing.assert_allclose(one.fit_shares, other.fit_shares)


def test_what_has_no_votes_is_refused():
    with pytest.raises(TypeError, match="needs a fitted consensus method"):
        drift([0, 1], [[0]])
    fitted = en.EAC(n_clusters=1, affinity="precomputed").fit(np.eye(3))
    with pytest.raises(ValueError, match="was fitted on a similarity"):
        drift(fitted, [[0]])
