"""What is refused, and in which words."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ensemblage as en
from ensemblage._validate.features import _advice
from ensemblage.ensembles import generate, members
from ensemblage.ensembles.pool import check_votes_fit

GOOD = np.random.default_rng(0).random((20, 3))


def changed(value, row=4, column=1):
    features = GOOD.copy()
    features[row, column] = value
    return features


BAD_FEATURES = [
    (changed(np.nan), ValueError, r"row 4 of column 1, counted from 0, is NaN"),
    (changed(-np.inf).astype(np.float32), ValueError, r"row 4 of column 1.* is infinity \(inf\)"),
    (pd.Series([1.0, 2.0]), ValueError, r"a single feature is X\.to_frame\(\)"),
    ([], ValueError, r"Features are empty \(shape=\(0,\)\)\. Pass a table"),
    (
        pd.DataFrame({"a": pd.array(["1.5", None, "2"], dtype="string")}),
        ValueError,
        r"numbers stored as text: convert them with pandas\.to_numeric\(X\['a'\]\)\.",
    ),
    (
        pd.DataFrame({"a": pd.Series(["1,5", "2,25"], dtype=object)}),
        ValueError,
        r"decimal commas: .* pandas\.to_numeric\(X\['a'\]\.str\.replace\(',', '\.'\)\)",
    ),
    (changed(1e200), ValueError, r"must not exceed 1e\+140.*1e\+200.*Rescale"),
    (pd.DataFrame(changed(np.nan), columns=["a", "b", "c"]), ValueError, r"row 4 of column 'b'"),
    (
        pd.DataFrame(changed(np.nan), columns=["a", "b", "c"]).astype("Float64"),
        ValueError,
        r"column 'b' is NaN",
    ),
    (pd.DataFrame({"a": [1.0], "colour": ["red"]}), ValueError, r"'colour'.*OneHotEncoder"),
    (
        pd.DataFrame({"a": [1.0], "b": pd.Categorical(["red"])}),
        ValueError,
        r"column 'b' \(number 1.*category",
    ),
    (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), ValueError, r"'when'.*datetime"),
    ([["1.5", "red"], ["2.5", "3"]], ValueError, r"row 0 of column 1.* is .*'red'"),
    (np.array([[1, {}]], dtype=object), TypeError, r"argument must be a string or a real number"),
    (GOOD[0], ValueError, r"two dimensions.*1 dimension\(s\).*Reshape your data"),
    (GOOD[None], ValueError, r"3 dimension\(s\)"),
    (GOOD[:0], ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\)"),
    (GOOD[:, :0], ValueError, r"0 feature\(s\) \(shape=\(20, 0\)\)"),
    (scipy.sparse.csr_array(GOOD), TypeError, r"Sparse data was passed.*toarray"),
    (GOOD + 1j, ValueError, r"Complex data not supported"),
    ([[1.0, 2.0], [1.0]], ValueError, r"rows of different lengths"),
    (np.ma.masked_greater(GOOD, 0.9), ValueError, r"masked"),
]


@pytest.mark.parametrize(("features", "error", "words"), BAD_FEATURES)
@pytest.mark.parametrize("call", [generate, members, lambda x: en.EnsembleClustering(2).fit(x)])
def test_bad_features(call, features, error, words):
    with pytest.raises(error, match=words):
        call(features)


BAD_SETTINGS = [
    ({"n_members": 0}, "'n_members' parameter.*from 1 up. Got 0"),
    ({"n_members": 2.5}, "'n_members' parameter"),
    ({"method": "k-means"}, "must be 'kmeans', 'kmeans\\+\\+', 'rpcl', a clusterer.*Got 'k-means'"),
    ({"method": []}, "Pass at least one method"),
    ({"method": KMeans}, "Pass an instance, not the class"),
    ({"method": ["kmeans", 3]}, "Got 3 instead"),
    ({"n_clusters_range": 5}, "two integers"),
    ({"n_clusters_range": (5, 2)}, "in this order"),
    ({"n_clusters_range": (0, 2)}, "from 1 up"),
    ({"n_clusters_range": (2.0, 3)}, "two integers"),
    ({"n_clusters_range": "25"}, "two integers"),
    ({"n_clusters_range": (1, 2**63)}, r"numbers below 2\*\*63"),
    ({"method": PCA()}, "Got PCA.*is not a clusterer"),
    ({"method": LinearRegression()}, "is not a clusterer"),
    ({"method": make_pipeline(StandardScaler(), LinearRegression())}, "is not a clusterer"),
    ({"n_clusters_range": (21, 30)}, "n_samples=20, got 21"),
    ({"scale": "zscore"}, "'scale' parameter.*'minmax', 'standard'. Got 'zscore'"),
    ({"subspace": 0}, "'subspace' parameter.*share above 0"),
    ({"subspace": 4}, "1 to 3. Got 4"),
    ({"subspace": 1.5}, "'subspace'"),
    ({"subspace": True}, "'subspace'"),
    ({"projection": -1}, "'projection'"),
    ({"subspace": 2, "projection": 3}, "'projection'.*the 2 feature"),
    ({"subsample": 0.0}, "'subsample'"),
    ({"subsample": 1.1}, "'subsample'"),
    ({"random_state": -1}, "'random_state'"),
    ({"n_jobs": 0}, "'n_jobs'"),
]


@pytest.mark.parametrize(("bad", "words"), BAD_SETTINGS)
def test_bad_settings(bad, words):
    with pytest.raises(ValueError, match=words):
        generate(GOOD, **bad)
    with pytest.raises(ValueError, match=words):
        en.EnsembleClustering(2, **bad).fit(GOOD)


def test_what_is_no_clusterer():
    with pytest.raises((ValueError, AttributeError), match=r"predict|not a clusterer"):
        generate(GOOD, 2, StandardScaler())


class WithoutLabels(BaseEstimator):
    def fit(self, X, y=None):
        return self


def test_an_estimator_that_gives_no_labels():
    with pytest.raises(ValueError, match="neither fit_predict nor predict, nor labels_"):
        generate(GOOD, 2, WithoutLabels())


HUGE = np.array([[3e38, -3e38], [-3e38, 3e38], [0, 0], [1, 1]], dtype=np.float32)


@pytest.mark.filterwarnings("error")
def test_numbers_that_leave_their_range():
    with pytest.raises(ValueError, match=r"3.4e\+38 after projection.*row 0.*as float64"):
        generate(HUGE, 5, projection=2, random_state=0)
    for method in ("kmeans", "rpcl"):
        assert generate(HUGE, 5, method, (2, 3), random_state=0).max() <= 2
    model = en.EnsembleClustering(2, scale="minmax", method=AgglomerativeClustering())
    model.fit(GOOD * 1e-100)
    with pytest.raises(ValueError, match=r"1e\+140 after scaling.*row 1"):
        model.predict([GOOD[0] * 1e-100, [1e139] * 3])


def test_numbers_too_small_to_be_squared():
    with pytest.raises(ValueError, match=r"differ by .*e-171 at most.*Rescale"):
        generate(GOOD * 1e-170, 2)
    for scale in ("minmax", "standard"):
        found = [generate(x, 3, scale=scale, random_state=0) for x in (GOOD, np.ldexp(GOOD, -700))]
        np.testing.assert_array_equal(*found)


def test_objects_that_are_noise_to_all():
    with pytest.raises(ValueError, match=r"20 of 20 object\(s\) have no vote.*noise.*'kmeans'\]"):
        en.EnsembleClustering(2, method=DBSCAN(eps=1e-3)).fit(GOOD)


def test_the_error_of_a_member_is_raised():
    with pytest.raises(ValueError, match="tol"):
        generate(GOOD, 4, KMeans(tol=-1), n_jobs=2)


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: x.astype(np.int64)])
def test_copies_are_refused_where_they_do_not_fit(make, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "100")
    with pytest.raises(en.MemoryBudgetError, match="A copy of the features"):
        generate(make(GOOD), 1)
    with pytest.raises(en.MemoryBudgetError, match="A scaled copy"):
        generate(GOOD, 1, scale="minmax")
    with pytest.raises(en.MemoryBudgetError, match="Votes of 10 members on 20 objects"):
        generate(GOOD, 10)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1GB")  # the votes themselves take 0.6 GB
    with pytest.raises(en.MemoryBudgetError, match="Votes of 30000000 members"):
        generate(GOOD, 30_000_000)


def test_advice_is_for_all_cells_of_a_column():
    assert "look like numbers stored as text" in _advice(["1", "2.5"], "x")
    assert "with decimal commas" in _advice(["1", "2,5"], "x")
    for values in (["1", "x"], ["1", None], []):
        assert _advice(values, "x").startswith("Leave the column out")


@pytest.mark.parametrize("kind", ["M8[D]", "m8[h]"])
def test_times_are_no_features(kind):
    with pytest.raises(ValueError, match="Features must be numbers, but times"):
        generate(np.arange(20).reshape(10, 2).astype(kind), 2)


@pytest.mark.parametrize(("most_clusters", "fits"), [(1, True), (128, True), (129, False)])
def test_labels_take_the_bytes_of_their_type(most_clusters, fits, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1.5MB")
    with (
        nullcontext() if fits else pytest.raises(en.MemoryBudgetError, match="Votes of 10 members")
    ):
        check_votes_fit(100_000, 10, most_clusters)
