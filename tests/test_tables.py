"""Tables of pandas, polars and Arrow: the same labels from each, in the type that was passed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ensemblage as en

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

COLUMNS = {
    "whole": [1, 1, 2, 2, None, 1],
    "words": ["x", "x", "y", None, "y", "z"],
    "truth": [True, True, False, None, False, True],
    "float": [1.0, 1.0, 3.0, None, 3.0, 1.0],
    "small": [3, 3, 3, 4, 4, 4],
}

TABLES = {
    "polars": pl.DataFrame(COLUMNS),
    "polars of categories": pl.DataFrame(COLUMNS).with_columns(
        pl.col("words").cast(pl.Categorical), pl.col("small").cast(pl.UInt8)
    ),
    "polars of an enumeration": pl.DataFrame(COLUMNS).with_columns(
        pl.col("words").cast(pl.Enum(["z", "y", "x"]))
    ),
    "polars in chunks": pl.concat(
        [pl.DataFrame(COLUMNS)[:2], pl.DataFrame(COLUMNS)[2:]], rechunk=False
    ),
    "Arrow": pa.table(COLUMNS),
    "Arrow in chunks": pa.concat_tables([pa.table(COLUMNS)[:2], pa.table(COLUMNS)[2:]]),
    "Arrow dictionaries": pa.table(
        {
            **COLUMNS,
            "words": pa.array(COLUMNS["words"]).dictionary_encode(),
            "small": pa.array(COLUMNS["small"], pa.uint8()).dictionary_encode(),
        }
    ),
    "Arrow batch": pa.RecordBatch.from_pydict(COLUMNS),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas of categories": pd.DataFrame(COLUMNS).astype({"words": "category"}),
    "pandas of Arrow": pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
}


def plain(table):
    """Write the votes as a list of rows, the slow and obvious way."""
    return [list(row) for row in zip(*COLUMNS.values(), strict=True)]


def kind_of(table):
    if isinstance(table, pl.DataFrame):
        return pl.Series
    return pa.Int64Array if isinstance(table, (pa.Table, pa.RecordBatch)) else pd.Series


def values(labels):
    return labels.to_numpy(zero_copy_only=False) if isinstance(labels, pa.Array) else labels


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_holds_the_same_votes(name):
    expected, found = en.microclusters(plain(TABLES[name])), en.microclusters(TABLES[name])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("method", ["eac", "ptgp", "vote"])
@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
def test_labels_come_back_in_kind(name, method):
    table = TABLES[name]
    make = en.METHODS[method]
    options = {"random_state": 0} if method == "ptgp" else {}
    est, other = make(2, **options), make(2, **options)
    expected = other.fit_predict(plain(table))
    for labels in (est.fit_predict(table), est.predict(table)):
        assert isinstance(labels, kind_of(table))
        np.testing.assert_array_equal(values(labels), expected)
    assert isinstance(est.cut(3), kind_of(table))
    np.testing.assert_array_equal(values(est.cut(3)), other.cut(3))
    assert isinstance(est.labels_, np.ndarray)
    assert est.feature_names_in_.tolist() == list(COLUMNS)
    assert isinstance(make(2, **options).fit(en.Ensemble(table)).cut(2), kind_of(table))


def test_the_kind_is_that_of_the_table_asked_about():
    est = en.EAC(2).fit(TABLES["polars"])
    assert isinstance(est.predict(TABLES["Arrow"]), pa.Array)
    assert isinstance(est.cut(2), pl.Series)
    assert est.cut(2).name == "label"
    labels = est.predict(TABLES["Arrow"])
    assert TABLES["Arrow"].append_column("label", labels).num_columns == 6


@given(
    columns=st.lists(
        st.one_of(
            st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40)), min_size=7, max_size=7),
            st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=7, max_size=7),
            st.lists(st.one_of(st.none(), st.booleans()), min_size=7, max_size=7),
            st.lists(st.one_of(st.none(), st.integers(2**63, 2**64 - 1)), min_size=7, max_size=7),
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=60, deadline=None)
def test_any_columns(columns):
    named = {f"c{place}": column for place, column in enumerate([*columns, [1] * 7])}
    expected = en.microclusters(np.array(list(named.values()), dtype=object).T)
    schema = {
        name: pl.UInt64 if any(isinstance(v, int) and v >= 2**63 for v in column) else None
        for name, column in named.items()
    }
    tables = [pl.DataFrame(named, schema=schema), pl.DataFrame(named, schema=schema).to_arrow()]
    for table in tables:
        for ours, theirs in zip(en.microclusters(table), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_columns_are_found_by_name():
    names = list(COLUMNS)[::-1]
    polars = TABLES["polars"].select(names)
    ensemble = en.Ensemble(TABLES["pandas"][names])
    reordered = [polars, polars.to_arrow(), TABLES["pandas"][names], ensemble]
    reordered.append({name: COLUMNS[name] for name in names})
    for fitted_on in ("polars", "pandas"):
        est = en.EAC(3).fit(TABLES[fitted_on])
        for table in reordered:
            np.testing.assert_array_equal(values(est.predict(table)), est.labels_)
    assert ensemble.names == names  # it is the user's


def test_missing_and_other_columns_are_named():
    est = en.EAC(2).fit(TABLES["polars"])
    with pytest.raises(ValueError, match="but X does not have 'whole', 'truth', 'float'"):
        est.predict(TABLES["Arrow"].select(["words", "small"]))
    with pytest.raises(ValueError, match="but X has unexpected 'more'"):
        est.predict({**COLUMNS, "more": COLUMNS["small"]})


def test_bad_tables():
    with pytest.raises(TypeError, match=r"LazyFrame was passed, .* Pass X\.collect\(\)"):
        en.EAC(2).fit(TABLES["polars"].lazy())
    with pytest.raises(ValueError, match="no objects"):
        en.EAC(2).fit(TABLES["polars"][:0])
    with pytest.raises(ValueError, match="Votes have no"):
        en.EAC(2).fit(pa.table({}))
    twice = pa.table([pa.array([1, 2]), pa.array([1, 2])], names=["a", "a"])
    with pytest.raises(ValueError, match="several columns called 'a'"):
        en.EAC(2).fit(twice)
    with pytest.raises(TypeError, match="labels that can be compared"):
        en.EAC(2).fit(pl.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(ValueError, match=r"no vote in any clustering: row\(s\) 1"):
        en.EAC(1).fit(pa.table({"a": [1, None]}))


# -- features ----------------------------------------------------------------------------------

FEATURES = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame(FEATURES, schema=["x", "y", "z"]),
        pa.table(list(FEATURES.T), names=["x", "y", "z"]),
    ],
    ids=["polars", "Arrow"],
)
def test_features_of_any_table(table):
    model = en.EnsembleClustering(2, n_members=4, random_state=0)
    expected = en.EnsembleClustering(2, n_members=4, random_state=0).fit(FEATURES)
    for labels in (model.fit_predict(table), model.predict(table), model.cut(2)):
        assert isinstance(labels, kind_of(table))
        np.testing.assert_array_equal(values(labels), expected.labels_)
    assert model.feature_names_in_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_features_that_are_missing_or_words(make):
    model = en.EnsembleClustering(2, n_members=2, random_state=0)
    with pytest.raises(ValueError, match="row 1 of column 'b' is NaN"):
        model.fit(make({"a": [1, 2, 3], "b": [1, None, 3]}))
    with pytest.raises(ValueError, match="Features must be numbers, but row 0 of column 'b'"):
        model.fit(make({"a": [1, 2, 3], "b": ["u", "v", "w"]}))


# -- scikit-learn ------------------------------------------------------------------------------


def test_a_pipeline_that_ends_in_a_clusterer_of_features():
    frame = pd.DataFrame(FEATURES, columns=list("xyz"), index=[f"o{i}" for i in range(40)])
    model = en.EnsembleClustering(2, n_members=4, random_state=0)
    for output in ("default", "pandas", "polars"):
        pipe = make_pipeline(StandardScaler(), model).set_output(transform=output)
        labels = pipe.fit_predict(frame)
        expected = {"default": np.ndarray, "pandas": pd.Series, "polars": pl.Series}[output]
        assert isinstance(labels, expected)
        assert isinstance(pipe.predict(frame), expected)
        np.testing.assert_array_equal(labels, pipe[-1].labels_)
        if output == "pandas":
            assert labels.index.tolist() == frame.index.tolist()
            assert pipe[-1].feature_names_in_.tolist() == ["x", "y", "z"]


def test_a_pipeline_that_ends_in_a_consensus_method():
    votes = pd.DataFrame(COLUMNS)
    chosen = ColumnTransformer([("some", "passthrough", ["words", "small"])], remainder="drop")
    pipe = make_pipeline(chosen, en.PTGP(2, random_state=0)).set_output(transform="pandas")
    labels = pipe.fit_predict(votes[["words", "small"]])
    assert isinstance(labels, pd.Series)
    expected = en.PTGP(2, random_state=0).fit_predict(votes[["words", "small"]])
    np.testing.assert_array_equal(labels, expected)
    assert pipe.set_params(ptgp__n_clusters=3).fit_predict(votes).nunique() == 3


@pytest.mark.parametrize(
    ("column", "same"),
    [
        ([True, True, False, False], [1, 1, 0, 0]),
        (pd.to_datetime(["2020", "2020", "2021", None]), [0, 0, 1, -1]),
        (pd.to_timedelta([1, 1, 2, None], unit="D"), [0, 0, 1, -1]),
        (pd.to_datetime(["2020", "2020", "2021", None]).tz_localize("UTC"), [0, 0, 1, -1]),
    ],
    ids=["truth values", "dates", "times", "dates of a zone"],
)
def test_pandas_columns_of_other_kinds_beside_whole_numbers(column, same):
    numbers = [5, 6, 6, 7]
    frame = pd.DataFrame({"other": column, "numbers": numbers})
    found = en.microclusters(frame)
    wanted = en.microclusters(np.column_stack([same, numbers]))
    np.testing.assert_array_equal(found.table, wanted.table)
    est = en.EAC(n_clusters=2).fit(frame)
    np.testing.assert_array_equal(est.predict(frame), est.labels_)
