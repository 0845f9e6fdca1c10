"""What was asked, what was found, what to do: the messages for wrong calls of the library."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ensemblage as en

GOOD = [[0, 0], [0, 1], [1, 1]]

BAD_VOTES = {
    "one dimension": ([1, 2, 3], ValueError, r"1 dimension\(s\).*shape=\(3,\).*reshape\(-1, 1\)"),
    "three dimensions": (np.zeros((2, 2, 2), int), ValueError, r"3 dimension\(s\)"),
    "no objects": (np.zeros((0, 3), int), ValueError, "no objects"),
    "no clusterings": (np.zeros((3, 0), int), ValueError, "no clusterings"),
    "nothing": ([], ValueError, r"Votes are empty \(shape=\(0,\)\)\. Pass a table"),
    "ragged": ([[1, 2], [1]], ValueError, "rows of different lengths"),
    "infinity": ([[1.0], [np.inf]], ValueError, "clustering 0 holds infinity"),
    "infinity among objects": (
        np.array([["a", 1], ["b", -np.inf]], dtype=object),
        ValueError,
        "clustering 1 holds infinity",
    ),
    "complex": ([[1j]], ValueError, "Complex data not supported"),
    "sparse": (sparse.eye_array(3), TypeError, "dense label matrix"),
    "unhashable": (np.array([[{}], [1]], dtype=object), TypeError, "has no hash"),
    "silent rows": (
        [[1, 1], [-1, -1], [np.nan, -1]],
        ValueError,
        r"2 object\(s\) have no vote in any clustering: row\(s\) 1, 2",
    ),
    "silent rows of a frame": (
        pd.DataFrame({"a": ["x", None], "b": pd.array([1, None], dtype="Int64")}),
        ValueError,
        r"row\(s\) 1, counted from 0",
    ),
}


@pytest.mark.parametrize("case", BAD_VOTES)
def test_bad_votes(case):
    votes, error, message = BAD_VOTES[case]
    for call in (en.Ensemble, en.microclusters, en.PTA(1).fit, en.PTGP(1).fit):
        with pytest.raises(error, match=message):
            call(votes)


BAD_PARAMETERS = [
    ({"n_clusters": 0}, "'n_clusters' parameter of PT.* whole number from 1 up. Got 0 instead"),
    ({"n_clusters": 2.5}, "Got 2.5 instead"),
    ({"n_clusters": True}, "Got True instead"),
    ({"n_clusters": "two"}, "Got 'two' instead"),
    ({"n_clusters": 4}, r"n_clusters=4, but the ensemble tells only 3 group\(s\)"),
    ({"n_neighbors": 0}, "'n_neighbors' parameter of PT.* must be 'auto', 'all' or"),
    ({"n_neighbors": "some"}, "Got 'some' instead"),
    ({"n_steps": -1}, "'n_steps' parameter of PT.* must be 'auto' or a whole number"),
    ({"n_steps": "all"}, "Got 'all' instead"),
    ({"n_jobs": 0}, "'n_jobs' parameter of PT.* other than 0"),
    ({"n_jobs": 1.5}, "Got 1.5 instead"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
@pytest.mark.parametrize("method", [en.PTA, en.PTGP])
def test_bad_parameters(method, parameters, message):
    with pytest.raises(ValueError, match=message):
        method(**{"n_clusters": 2, **parameters}).fit(GOOD)


def test_parameters_of_one_method():
    with pytest.raises(ValueError, match="'linkage' parameter of PTA must be one of 'average'"):
        en.PTA(2, linkage="ward").fit(GOOD)
    for state in (-1, "seed", 1.5, True):
        with pytest.raises(ValueError, match="'random_state' parameter of PTGP"):
            en.PTGP(2, random_state=state).fit(GOOD)
    for state in (np.random.RandomState(0), np.random.default_rng(0), np.int64(3), None):
        en.PTGP(2, random_state=state).fit(GOOD)


@pytest.mark.parametrize("k", [0, 4, 1.0, None])
def test_bad_cuts(k):
    est = en.PTA(2).fit(GOOD)
    with pytest.raises(ValueError, match="n_clusters"):
        est.cut(k)


def test_features_in_place_of_votes():
    features = np.random.default_rng(0).normal(size=(20, 2))
    message = "EnsembleClustering, which takes features"
    with pytest.warns(en.FeaturesAsVotesWarning, match=message) as caught:
        en.PTA(2).fit(features)
    assert caught[0].filename == __file__  # the user's line, not one of ours


def test_transposed_votes():
    votes = np.random.default_rng(0).integers(0, 4, (10, 200))
    with pytest.warns(en.TransposedVotesWarning, match=r"10 rows and 200 columns.*votes\.T"):
        en.Ensemble(votes)
    en.Ensemble(votes.T)  # no warning: the filter would raise it


def test_other_clusterings_at_predict():
    est = en.PTA(2).fit(pd.DataFrame(GOOD, columns=["a", "b"]))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- \\x1b\[31m"):
        est.predict(pd.DataFrame(GOOD, columns=["a", "\x1b[31m"]))
    for columns, words in ((["a", "c"], "unseen at fit time:\n- c"), (["a"], "now missing:\n- b")):
        with pytest.raises(ValueError, match=f"feature names should match.*(?s:.)*{words}"):
            est.predict(pd.DataFrame([row[: len(columns)] for row in GOOD], columns=columns))
    with pytest.raises(ValueError, match="expecting 2 features"):
        en.PTA(2).fit(GOOD).predict([[1, 2, 3]])


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 9, (900, 4))
    n = len(en.microclusters(votes).sizes)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(10 * n * n))
    with pytest.raises(
        en.MemoryBudgetError, match=f"{n} microclusters.* MB.*LWGP and PTGP need no"
    ):
        en.PTA(2, similarity="exact").fit(votes)
    with pytest.raises(en.MemoryBudgetError, match="1000000 steps would take"):
        en.PTGP(2, n_steps=10**6).fit(votes)
    with pytest.raises(en.MemoryBudgetError, match=f"{n - 1} neighbours"):
        en.PTGP(2, n_neighbors="all").fit(votes)
    alone = np.arange(40)[:, None].repeat(100, 1)
    with (
        pytest.warns(en.IdsAsVotesWarning),
        pytest.raises(en.MemoryBudgetError, match="4000 clusters"),
    ):
        en.PTGP(2).fit(alone)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(7 * n * n))
    est = en.PTGP(2, random_state=0, n_jobs=1).fit(votes)
    with pytest.raises(MemoryError, match="PTGP itself does not need it"):
        est.similarity_  # noqa: B018
    with pytest.raises(MemoryError, match="would take"):
        en.trajectory_similarity(votes)


def test_memory_is_known_without_an_override(monkeypatch):
    from ensemblage import _validate

    monkeypatch.delenv("ENSEMBLAGE_MEMORY", raising=False)
    assert 10**7 < _validate.available_memory() < 10**16


def test_a_fit_that_fails_leaves_nothing_of_the_one_before():
    est = en.PTA(2).fit(GOOD)
    with pytest.raises(ValueError, match="no vote"):
        est.fit(np.array([[-1, -1]]))
    assert not hasattr(est, "labels_")
    assert not hasattr(est, "linkage_matrix_")


def test_names_of_clusterings_are_compared_for_ensembles_too():
    frame = pd.DataFrame(GOOD, columns=["a", "b"])
    other = en.Ensemble(frame.rename(columns={"b": "c"}))
    for fitted in (en.PTA(2).fit(frame), en.PTA(2).fit(en.Ensemble(frame))):
        with pytest.raises(ValueError, match="X does not have 'b' and has unexpected 'c'"):
            fitted.predict(other)
    assert not hasattr(fitted.fit(en.Ensemble(GOOD)), "feature_names_in_")
    with pytest.raises(ValueError, match="several columns called 'a'"):
        en.PTA(2).fit(pd.DataFrame(GOOD, columns=["a", "a"]))


def test_one_warning_for_many_columns_of_features():
    with pytest.warns(en.FeaturesAsVotesWarning) as caught:
        en.Ensemble(np.random.default_rng(0).normal(size=(20, 8)))
    assert len(caught) == 1


def test_large_integers_stay_apart():
    a, b = 2**63 + 1, 2**63 + 2
    frame = pd.DataFrame({"a": np.array([a, b, 3], dtype="u8"), "b": [1, 1, 2]})
    assert len(en.microclusters(frame).sizes) == 3
    assert len(en.microclusters([[a, 5], [b, 5]]).sizes) == 2
    assert len(en.microclusters([[2**53 + 1, 5.0], [2**53, 5.0]]).sizes) == 2


def test_masks_and_byte_orders():
    masked = np.ma.array([[1, 2], [1, 2], [1, 3]], mask=[[0, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(en.microclusters(masked).table, [[0, 0], [-1, 0], [0, 1]])
    swapped = np.array([[1, 2], [1, 3]], dtype=">i4")
    np.testing.assert_array_equal(en.microclusters(swapped).table, [[0, 0], [0, 1]])


def test_more_neighbours_than_any_number_holds():
    assert en.PTA(2, n_neighbors=10**20, n_steps=2).fit(GOOD).n_neighbors_ == 10**20


@pytest.mark.parametrize("text", ["", "-1", "nan", "None", "NULL", "N/A", "<NA>", "\\N"])
def test_texts_for_missing_values_are_clusters_with_a_warning(text):
    votes = [["T", "x"], ["T", "x"], [text, "y"], ["B", "y"]]
    counts = f"Column 0, counted from 0, has the label {text!r}, which counts as a cluster"
    with pytest.warns(UserWarning, match=re.escape(counts)):
        en.EAC(2).fit(votes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        en.EAC(2).fit([[label if label != text else None for label in row] for row in votes])
        en.EAC(2).fit([["nano", 0], ["nano", 0], ["no", 1]])
