"""Summaries as small texts and as data frames; clusters numbered by size."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import metrics
from ensemblage.metrics import _tables

VOTES = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]])


@pytest.fixture
def est():
    return en.EAC(n_clusters=2).fit(pd.DataFrame(VOTES, columns=["a", "b", "c"]))


def test_clusters_become_a_frame(est):
    found = metrics.clusters(est)
    frame = found.to_frame()
    assert frame.index.name == "cluster"
    assert list(frame) == list(found._fields)
    for name in found._fields:
        np.testing.assert_array_equal(frame[name], getattr(found, name))
    sizes, *_ = found  # still a tuple
    assert sizes.tolist() == [3, 3]
    assert pickle.loads(pickle.dumps(found)).sizes.tolist() == [3, 3]


def test_members_become_a_frame(est):
    frame = metrics.members(est).to_frame()
    assert (frame.index.name, list(frame.index)) == ("clustering", ["a", "b", "c"])
    assert frame["n_clusters"].tolist() == [2, 3, 2]
    assert frame["look_at"].dtype == bool


def test_seeds_become_a_frame():
    found = metrics.seed_spread(en.PTGP(2, random_state=0).fit(VOTES))
    assert found.to_frame()["agreement"].tolist() == found.agreement.tolist()
    assert repr(found).count("\n") == 0


def test_many_rows_print_small():
    matrix = np.random.default_rng(0).integers(0, 3, (60, 40))
    text = repr(metrics.members(en.EAC(30).fit(matrix)))
    lines = text.splitlines()
    assert lines[0] == "MemberSummary: 0 of 40 to check"
    assert lines[1].split()[:3] == ["clustering", "n_clusters", "turnout"]
    assert lines[-1] == "... 30 more; to_frame() has all"
    assert len(lines) == 13
    assert max(map(len, lines)) <= 120
    assert len(repr(metrics.clusters(en.EAC(30).fit(matrix))).splitlines()) == 13


def test_long_names_are_cut():
    text = _tables.as_text({"name": ["x" * 100], "n": np.array([3])})
    assert text.splitlines()[1] == f"{'x' * 29}...  3"


def test_notebooks_show_a_table(est):
    assert "<table" in metrics.clusters(est)._repr_html_()
    assert "<th>a</th>" in metrics.members(est)._repr_html_()


def test_without_pandas_it_says_what_to_install(est, monkeypatch):
    monkeypatch.setattr(_tables.importlib.util, "find_spec", lambda name: None)
    found = metrics.clusters(est)
    with pytest.raises(ImportError, match=r"to_frame needs pandas\. Install it"):
        found.to_frame()
    assert found._repr_html_() is None
    assert "cluster  sizes" in repr(found)


# -- clusters by size ------------------------------------------------------------------------------


@given(st.lists(st.integers(-1, 5), max_size=40))
def test_the_largest_cluster_is_0(labels):
    found = metrics.by_size(np.array(labels, dtype=np.int64))
    counts = {label: labels.count(label) for label in labels if label >= 0}
    order = sorted(counts, key=lambda label: (-counts[label], labels.index(label)))
    assert found.tolist() == [order.index(label) if label >= 0 else -1 for label in labels]


def test_labels_of_any_kind():
    assert metrics.by_size(["x", None, "y", "y"]).tolist() == [1, -1, 0, 0]
    series = pd.Series([7.0, np.nan, 3.0, 3.0], index=list("abcd"), name="leiden")
    found = metrics.by_size(series)
    pd.testing.assert_series_equal(
        found, pd.Series([1, -1, 0, 0], index=list("abcd"), name="leiden")
    )
    polars = pytest.importorskip("polars")
    assert metrics.by_size(polars.Series(["a", "b", "b"])).tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match=r"must be a single column, got .* shape \(2, 2\)"):
        metrics.by_size([[0, 1], [1, 0]])


def test_pandas_is_not_needed_for_the_text(est, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "ClusterSummary of 6 objects" in repr(metrics.clusters(est))
