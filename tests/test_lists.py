"""Lists of clusterings: columns where items are arrays, Series or clusterers; rows for lists."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ensemblage as en

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

COLUMNS = [[0, 0, 1, 1, 2, 2], [5, 5, 5, 8, 8, 8], [1, 1, 2, 2, 2, 2]]
MATRIX = np.array(COLUMNS).T
LISTS = {
    "arrays": [np.array(column) for column in COLUMNS],
    "a tuple": tuple(np.array(column) for column in COLUMNS),
    "rows of an array": list(MATRIX.T),
    "Series": [pd.Series(column) for column in COLUMNS],
    "polars": [pl.Series(column) for column in COLUMNS],
    "Arrow": [pa.array(column) for column in COLUMNS],
    "Arrow in chunks": [pa.chunked_array([column[:2], column[2:]]) for column in COLUMNS],
    "categories": [pd.Categorical(column) for column in COLUMNS],
    "floats": [np.array(column, dtype=float) for column in COLUMNS],
    "mixed": [np.array(COLUMNS[0]), pd.Series(COLUMNS[1]), COLUMNS[2]],
    "a list first": [COLUMNS[0], np.array(COLUMNS[1]), tuple(COLUMNS[2])],
}


@pytest.mark.parametrize("kind", LISTS)
def test_items_are_columns(kind):
    votes = LISTS[kind]
    for found, expected in zip(en.microclusters(votes), en.microclusters(MATRIX), strict=True):
        np.testing.assert_array_equal(found, expected)
    est = en.EAC(2)
    labels = est.fit_predict(votes)
    np.testing.assert_array_equal(labels, en.EAC(2).fit_predict(MATRIX))
    np.testing.assert_array_equal(est.predict(votes), labels)
    np.testing.assert_array_equal(est.predict(MATRIX), labels)
    assert est.n_features_in_ == 3
    assert not hasattr(est, "feature_names_in_")
    assert isinstance(labels, pd.Series if kind in ("Series", "mixed") else np.ndarray)


def test_everything_that_takes_votes_takes_them():
    votes, labels = LISTS["arrays"], [0, 0, 0, 1, 1, 1]
    for call in (en.metrics.member_similarity, en.trajectory_similarity):
        np.testing.assert_array_equal(call(votes), call(MATRIX))
    expected = en.metrics.ensemble_nmi(labels, MATRIX)
    assert en.metrics.ensemble_nmi(labels, votes) == expected
    assert repr(en.Ensemble(votes)) == repr(en.Ensemble(MATRIX))
    est = en.EAC(2).fit(votes, member_weight=[1, 2, 3])
    np.testing.assert_array_equal(est.member_weight_, [1, 2, 3])


def test_reports_take_them():
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    votes = [np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), truth) for _ in range(6)]
    assert en.report.html(votes) == en.report.html(np.column_stack(votes))


def test_series_give_names_and_an_index():
    one = pd.Series([0, 0, 1], index=["x", "b", "z"], name="leiden")
    other = pd.Series(["b", "a", "b"], index=["z", "x", "w"], name="expert")
    est = en.EAC(2)
    labels = est.fit_predict([one, other])
    assert est.feature_names_in_.tolist() == ["leiden", "expert"]
    expected = en.EAC(2).fit_predict({"leiden": one, "expert": other})
    pd.testing.assert_series_equal(labels, expected)
    np.testing.assert_array_equal(est.predict([other, one]).sort_index(), labels.sort_index())
    np.testing.assert_array_equal(
        en.EAC(2).fit([pl.Series("a", [0, 1]), pl.Series("b", [0, 0])]).feature_names_in_,
        ["a", "b"],
    )


@pytest.mark.parametrize("names", [("a", "a"), ("a", None)])
def test_names_that_do_not_tell_are_left_out(names):
    est = en.EAC(2).fit([pd.Series([0, 1, 1], name=name) for name in names])
    assert not hasattr(est, "feature_names_in_")


def test_fitted_clusterers_are_columns():
    features = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0], [9]], 20, axis=0)
    models = [
        KMeans(2, n_init=1, random_state=0).fit(features),
        AgglomerativeClustering(3).fit(features),
        DBSCAN(eps=1.0).fit(features),
        make_pipeline(StandardScaler(), KMeans(4, n_init=1, random_state=0)).fit(features),
        en.EnsembleClustering(2, n_members=4, random_state=0).fit(features),
    ]
    labels = [getattr(model, "labels_", None) for model in models]
    labels[3] = models[3][-1].labels_
    expected = en.EAC(2).fit(np.column_stack(labels))
    for votes in (models, tuple(models), [*models[:4], labels[4]]):
        est = en.EAC(2).fit(votes)
        np.testing.assert_array_equal(est.microclusters_.table, expected.microclusters_.table)
    named = en.EAC(2).fit({str(place): model for place, model in enumerate(models)})
    np.testing.assert_array_equal(named.labels_, expected.labels_)
    mixture = GaussianMixture(2, random_state=0).fit(features)
    with pytest.raises(ValueError, match=r"item 1, a GaussianMixture, has no labels_.*fit_predict"):
        en.EAC(2).fit([models[0], mixture])
    with pytest.raises(ValueError, match=r"'mix', a GaussianMixture"):
        en.EAC(2).fit({"mix": mixture})
    with pytest.raises(ValueError, match="item 0 has 40, item 1 has 30"):
        en.EAC(2).fit([models[0], KMeans(2, n_init=1).fit(features[:30])])


def test_a_frame_with_a_column_of_that_name_is_a_frame():
    frame = pd.DataFrame({"labels_": [0, 0, 1], "fit": [0, 1, 1], "get_params": [1, 1, 1]})
    assert en.EAC(2).fit(frame).n_features_in_ == 3


def test_lists_of_lists_are_rows_and_short_ones_are_told_in_both_readings():
    rows = en.microclusters(MATRIX.tolist())
    np.testing.assert_array_equal(rows.table, en.microclusters(MATRIX).table)
    with pytest.warns(
        en.TransposedVotesWarning,
        match="read as rows: 3 object.*6 clusterings. If each list is a clustering of 6 objects",
    ) as caught:
        assert en.EAC(2).fit(COLUMNS).n_features_in_ == 6
    assert caught[0].filename == __file__
    en.EAC(2).fit(np.array(COLUMNS))  # an array says what it is
    est = en.EAC(2).fit(MATRIX)
    assert est.predict([[0, 5, 1]]) == [0]  # and so does a model


def test_many_arrays_of_a_few_labels_look_transposed():
    rows = list(np.random.default_rng(0).integers(0, 3, (200, 10)))
    with pytest.warns(
        en.TransposedVotesWarning, match=r"pass the transpose, numpy\.array\(votes\)"
    ):
        en.Ensemble(rows)


def test_a_model_of_many_members_predicts_one_row():
    votes = np.random.default_rng(0).integers(0, 3, (300, 60))
    assert len(en.EAC(2).fit(votes).predict(votes[:1])) == 1  # not transposed


@given(
    columns=st.integers(1, 8).flatmap(
        lambda n: st.lists(
            st.one_of(
                st.lists(st.integers(-1, 3), min_size=n, max_size=n),
                st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n),
            ),
            min_size=1,
            max_size=4,
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_any_columns(columns):
    columns = [*columns, [0] * len(columns[0])]
    expected = en.microclusters(dict(enumerate(columns)))
    for kind in (pd.Series, pl.Series, lambda column: np.array(column, dtype=object)):
        found = en.microclusters([kind(column) for column in columns])
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_large_numbers_beside_nan_stay_apart():
    groups = en.Ensemble([[2**53, 0], [2**53 + 1, 0], [float("nan"), 1]]).microclusters
    assert groups.table[:, 0].tolist() == [0, 1, -1]
