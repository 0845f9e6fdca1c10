"""Clusterings by name, large numbers in columns, and columns of ids among the votes."""

import numpy as np
import pandas as pd
import pytest

import ensemblage as en
from ensemblage.ensembles.placement import respelled

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def test_a_dict_of_lists_is_a_table():
    columns = {"leiden": [0, 0, 1, 1], "expert": ["T", "T", "B", None]}
    est = en.EAC(2).fit(columns)
    assert est.feature_names_in_.tolist() == list(columns)
    frame = en.EAC(2).fit(pd.DataFrame(columns))
    np.testing.assert_array_equal(est.microclusters_.table, frame.microclusters_.table)
    labels = est.fit_predict(columns)
    assert isinstance(labels, np.ndarray)
    np.testing.assert_array_equal(est.predict(columns), labels)
    np.testing.assert_array_equal(est.predict(dict(reversed(columns.items()))), labels)


def test_series_in_a_dict_go_by_their_index():
    one = pd.Series([0, 0, 1], index=["x", "b", "z"])
    other = pd.Series(["b", "a", "b"], index=["z", "x", "w"])
    labels = en.EAC(2).fit_predict({"one": one, "other": other})
    assert labels.index.tolist() == ["x", "b", "z", "w"]  # as they first appear
    assert labels["x"] == labels["b"] != labels["z"] == labels["w"]
    same = en.EAC(2).fit_predict({"one": one, "list": [0, 0, 1]})
    assert (same.index.tolist(), same.tolist()) == (["x", "b", "z"], [0, 0, 1])


LARGE = [2**60, 2**60 + 1, None, 2**60]
LARGE_COLUMNS = {
    "polars": pl.Series(LARGE),
    "polars, unsigned": pl.Series(LARGE, dtype=pl.UInt64),
    "Arrow": pa.array(LARGE),
    "Arrow in chunks": pa.chunked_array([pa.array(LARGE[:2]), pa.array(LARGE[2:])]),
    "pandas": pd.Series(LARGE, dtype="Int64"),
    "a list": LARGE,
}


@pytest.mark.parametrize("kind", LARGE_COLUMNS)
def test_columns_one_by_one_tell_large_numbers_apart(kind):
    expected = [[0, 0], [1, 0], [-1, 0]]
    beside = pd.Series([0] * 4) if kind == "pandas" else [0] * 4
    assert en.microclusters({"a": LARGE_COLUMNS[kind], "b": beside}).table.tolist() == expected
    assert en.metrics.ari(LARGE_COLUMNS[kind], [0, 1, 0, 0]) == 1


def test_large_numbers_with_gaps_in_the_index():
    one = pd.Series([2**60, 2**60 + 1], index=["x", "y"])
    truth = pd.Series([True, False, True], index=["x", "y", "z"])
    unsigned = pd.Series([2**63, 2**63 + 1], index=["x", "y"], dtype="uint64")
    part = pd.Series([0.0, 1.0], index=["x", "y"])
    columns = {"a": one, "b": truth, "c": unsigned, "d": part}
    expected = [[0, 0, 0, 0], [1, 1, 1, 1], [-1, 0, -1, -1]]
    assert en.microclusters(columns).table.tolist() == expected


def test_names_that_are_numbers(tmp_path):
    columns = {5: [0, 0, 1, 1], 3: [0, 1, 1, 1], 9: [0, 1, 2, 3]}
    est = en.EAC(2).fit(columns)
    assert en.metrics.members(est).names == ["5", "3", "9"]
    frame = pd.DataFrame(columns)
    np.testing.assert_array_equal(est.predict(frame), est.labels_)
    np.testing.assert_array_equal(est.predict(frame.to_numpy()), est.labels_)
    est.save(tmp_path / "m.ensemblage")
    for model in (est, en.load(tmp_path / "m.ensemblage"), en.EAC(2).fit(frame)):
        np.testing.assert_array_equal(model.predict(frame[[9, 3, 5]]), est.labels_)
        with pytest.raises(
            ValueError, match="fitted on 5, 3, 9, but X does not have 9 and has unexpected 4"
        ):
            model.predict(frame.rename(columns={9: 4}))
    counted = en.EAC(2).fit(pd.DataFrame(frame.to_numpy()))
    np.testing.assert_array_equal(
        counted.predict(pd.DataFrame(frame.to_numpy())[[2, 0, 1]]), counted.labels_
    )


def test_labels_that_the_fit_has_not_seen_are_told():
    groups = np.repeat([0, 1, 2], 3)
    est = en.EAC(3).fit({"a": groups, "b": groups})
    with pytest.warns(en.UnknownLabelsWarning, match="'a', 'b' are unknown.*numbers instead of"):
        assert not est.predict({"a": groups.astype(str), "b": groups.astype(str)}).any()
    with pytest.warns(en.UnknownLabelsWarning, match="clustering 'a' are unknown, so they are ig"):
        est.predict({"a": groups.astype(str), "b": groups.astype(float)})
    with pytest.warns(en.UnknownLabelsWarning, match="'a' has 7, the fit had 0, 1, 2"):
        est.predict({"a": [7], "b": [0]})
    est.predict({"a": [7, 0], "b": [0, 9]})  # some are known: new clusters are nothing strange
    est.predict({"a": [-1], "b": [0]})  # a missing vote is not an unknown label
    unnamed = en.EAC(3).fit(np.column_stack([groups, groups]))
    with pytest.warns(en.UnknownLabelsWarning, match="clustering 1 are unknown"):
        unnamed.predict([[0, 8]])
    words = en.EAC(2).fit(np.array([["x", "y"], ["z", "y"]]))
    words.predict([[np.str_("x"), np.str_("y")]])  # other types, known labels


@pytest.mark.parametrize("name", ["id", "Unnamed: 0", "sample", "cell_id"])
def test_a_column_of_ids_among_the_votes_is_told(name):
    ids = [f"x{i}" for i in range(4)]
    frame = pd.DataFrame({name: ids, "a": [0, 0, 1, 1], "b": [0, 0, 0, 1]})
    with pytest.warns(en.IdsAsVotesWarning, match=f"Column '{name}' looks like ids: 4 different"):
        assert en.EAC(2).fit(frame).n_microclusters_ == 4
    assert en.EAC(2).fit(frame.set_index(name)).n_microclusters_ == 3
    en.EAC(2).fit(frame.assign(**{name: ["x", "x", "y", "z"]}))  # a batch, say
    en.EAC(2).fit(frame.rename(columns={name: "alone"}))  # a clustering of all alone
    en.EAC(2).fit(frame[:2])  # too few to judge by
    table = np.array([[0, 0], [1, 0], [2, 1]], dtype=np.int32)
    sizes, labels = np.ones(3, dtype=np.int64), [["x", "y", "z"], [0, 1]]
    with pytest.warns(en.IdsAsVotesWarning):
        en.EAC(2).fit(en.Ensemble.of_groups(table, sizes, labels, [name, "a"]))


def votes_beside(column):
    return pd.DataFrame({"a": np.arange(len(column)) % 2, "b": column})


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (np.arange(12), "Column 'b' looks like ids: 12 different labels of 12 objects"),
        ([f"AAC{i}" for i in range(12)], "Column 'b' looks"),
        ([*range(198), 0, 0], "198 different labels of 200 objects"),  # some occur twice
        ([*range(50), *[None] * 30], "50 different labels of 50 objects"),
        ([*range(11), 0], None),
        (np.arange(200) % 190, None),
        (np.arange(9), None),
    ],
)
def test_ids_are_found_by_content(column, told):
    votes = votes_beside(column)
    if told is None:
        en.EAC(2).fit(votes)
        return
    with pytest.warns(en.IdsAsVotesWarning, match=told) as caught:
        est = en.EAC(2).fit(votes)
    assert len(caught) == 1
    assert est.n_features_in_ == 2  # it is kept: objects may all be alone
    with pytest.warns(en.IdsAsVotesWarning, match="Column 1, counted from 0, looks like ids"):
        en.EAC(2).fit(votes.to_numpy())


def test_nearly_different_values_are_ids_with_a_name_for_them():
    votes = votes_beside([*range(98), 0, 0])
    en.EAC(2).fit(votes)
    with pytest.warns(en.IdsAsVotesWarning, match="'cell' looks like ids: 98 different labels"):
        en.EAC(2).fit(votes.rename(columns={"b": "cell"}))


def test_many_columns_of_ids_are_one_warning():
    ensemble = en.Ensemble(np.arange(30)[:, None].repeat(8, 1))
    with pytest.warns(
        en.IdsAsVotesWarning, match=r"Columns 0, .* \(8 of them\).*features"
    ) as caught:
        en.EAC(2).fit(ensemble)
    assert [w.category for w in caught].count(en.IdsAsVotesWarning) == 1
    en.EAC(2).fit(ensemble)  # told once


def test_ids_are_told_by_the_fit_alone(tmp_path):
    frame = pd.DataFrame({"sample": ["T", "B", "NK", "T"], "a": [0, 1, 2, 0]})
    est = en.EAC(2).fit(frame)
    est.predict(frame[:3])
    est.save(tmp_path / "m.ensemblage")
    en.load(tmp_path / "m.ensemblage").predict(frame[:3])


def test_series_overlap_in_any_order():
    parts = {name: pd.Series([0, 1], index=index)
             for name, index in (("a", [1, 2]), ("b", [3, 4]), ("c", [2, 3]))}  # fmt: skip
    found = [
        en.EAC(2).fit_predict({name: parts[name] for name in order}).sort_index()
        for order in ("abc", "acb", "cab")
    ]
    for other in found[1:]:
        assert en.metrics.ari(found[0], other) == 1


def test_labels_that_the_model_has_stay_as_they_are():
    assert respelled([1, "1", "01", 2.0], [1, "1", 2]) == [1, "1", "1", 2]
