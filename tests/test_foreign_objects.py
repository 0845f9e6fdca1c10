"""Objects that are not tables: rejected at once, with the call that accepts them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import ensemblage as en


def stranger(package, name):
    """Return an object of a class that another package would have."""
    return type(name, (), {"__module__": f"{package}._core"})()


AS_VOTES = {
    "MuData": (stranger("mudata", "MuData"), r"ensemblage\.sc\.tl\.consensus\(adata, keys="),
    "SpatialData": (stranger("spatialdata", "SpatialData"), r"consensus\(sdata\.tables"),
    "xarray": (stranger("xarray", "Dataset"), r"Pass X\.to_dataframe\(\)"),
    "Dask": (stranger("dask", "DataFrame"), r"ensemblage\.scale\.dask\.consensus\(X, est"),
    "a path": (Path("votes.csv"), r"tables\.read\('votes\.csv'\).*or run: ensemblage consensus vo"),
    "a name": ("leiden", r"A path or text \('leiden'\) was passed"),
    "bytes": (b"a,b\n1,2\n" * 20, r"A path or text .*\.\.\.'\) was passed"),
    "paths": (["a.csv", "b.csv"], r"tables\.read\('a\.csv'\)"),
    "a Bunch": (load_iris(), r"EnsembleClustering\(\)\.fit\(X\.data\)"),
    "a class": (KMeans, "The class KMeans was passed"),
    "a generator": ((row for row in [[0], [1]]), r"A generator object.*Pass list\(X\)"),
    "values of a dict": ({"a": [0, 1]}.values(), r"dict_values object.*Pass list\(X\)"),
    "a set": ({(0, 1), (1, 1)}, "A set has no order"),
}
AS_FEATURES = {
    "MuData": (stranger("mudata", "MuData"), r"adata\.obsm\['X_pca'\]"),
    "SpatialData": (stranger("spatialdata", "SpatialData"), r"sdata\.tables\[\.\.\.\]\.obsm"),
    "Dask": (stranger("dask", "DataFrame"), r"Pass X\.compute\(\)"),
    "a path": (Path("cells.csv"), r"read_csv\('cells\.csv'\).*ensemblage generate cells\.csv"),
    "a Bunch": (load_iris(), r"Pass X\.data"),
    "an Ensemble": (en.Ensemble([[0], [1]]), "An Ensemble holds votes"),
    "a clusterer": (KMeans(2), "parameter 'method'"),
    "a generator": ((row for row in [[0], [1]]), r"Pass list\(X\)"),
}


@pytest.mark.parametrize("case", AS_VOTES)
def test_no_votes(case):
    votes, message = AS_VOTES[case]
    for call in (en.Ensemble, en.microclusters, en.EAC(1).fit, en.EAC(1).fit([[0]]).predict):
        with pytest.raises(TypeError, match=message):
            call(votes)


@pytest.mark.parametrize("table", [np.zeros((4, 2)), pd.DataFrame(np.zeros((4, 2)))])
def test_tables_in_a_list_are_put_side_by_side_first(table):
    for votes in ([table, table], [table, table[:3]]):
        with pytest.raises(ValueError, match=r"item 0, .* the shape \(4, 2\)\. Put tables side"):
            en.Ensemble(votes)


@pytest.mark.parametrize("case", AS_FEATURES)
def test_no_features(case):
    features, message = AS_FEATURES[case]
    for call in (en.ensembles.generate, en.EnsembleClustering(1).fit):
        with pytest.raises(TypeError, match=message):
            call(features)


@pytest.mark.parametrize("second", ["2", "b"])
def test_a_table_that_was_read_is_votes(tmp_path, second):
    """As a matrix of numbers, and as columns if one has names."""
    (tmp_path / "v.csv").write_text(f"id,a,b\nx,1,1\ny,1,{second}\nz,2,{second}\nw,,{second}\n")
    table = en.tables.read(tmp_path / "v.csv")
    assert (table.matrix is None) == (second == "b")
    assert en.Ensemble(table).names == ["a", "b"]
    fitted = en.EAC(2).fit(table)
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (2, ["a", "b"])
    assert fitted.microclusters_.table.tolist() == [[0, 0], [0, 1], [1, 1], [-1, 1]]
    assert fitted.predict(table).tolist() == fitted.labels_.tolist()


def test_tables_of_votes_and_of_features_are_not_exchanged(tmp_path):
    (tmp_path / "v.csv").write_text("id,a,b\nx,1.5,1\ny,1,2\nz,2,2\n")
    features = en.tables.read_features(tmp_path / "v.csv")
    with pytest.raises(TypeError, match=r"A FeatureTable object .*EnsembleClustering"):
        en.EAC(2).fit(features)
    with pytest.raises(TypeError, match=r"numpy\.column_stack\(list\(table\.columns\.values"):
        en.EnsembleClustering(2).fit(features)
    (tmp_path / "v.csv").write_text("id,a,b\nx,1,1\ny,1,2\nz,2,2\n")
    with pytest.raises(TypeError, match=r"A VoteTable object .*tables\.read_features"):
        en.EnsembleClustering(2).fit(en.tables.read(tmp_path / "v.csv"))


def test_labels_that_end_like_files_are_labels_in_rows():
    assert en.microclusters([["a.csv"], ["b.csv"]]).table.tolist() == [[0], [1]]
    assert en.microclusters(pd.DataFrame({"file": ["a.csv", "b.csv"]})).table.tolist() == [[0], [1]]


class OfOthers(en.Ensemble):
    """A class of a user."""


def test_subclasses_are_known():
    with pytest.raises(TypeError, match="An OfOthers object was passed"):
        en.ensembles.generate(OfOthers(np.array([[0], [1]])))
