"""Base clusterers on features: kernels against twins written from the definitions."""

import feature_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow


@st.composite
def tables(draw, max_rows=40):
    """Draw rows without ties, in one of the types that kernels read, and where to start."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_dimensions = draw(st.integers(1, max_rows)), draw(st.integers(1, 5))
    n_groups = draw(st.integers(1, 4))
    middles = rng.normal(scale=5, size=(n_groups, n_dimensions))
    rows = middles[rng.integers(n_groups, size=n)] + rng.normal(size=(n, n_dimensions))
    rows = rows.astype(draw(st.sampled_from([np.float64, np.float32])))
    k = draw(st.integers(1, min(n, 8)))
    return rows, rng.choice(n, k, replace=False), rng


whole_tables = st.tuples(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 3)).map(
    lambda drawn: np.random.default_rng(drawn[0]).integers(0, 4, drawn[1:]).astype(np.uint8)
)


@given(tables(), st.integers(1, 30))
def test_bounds_change_no_label(drawn, max_iter):
    rows, starts, _ = drawn
    centres, labels = flow.bounded_lloyd(rows, starts, max_iter)
    slow_centres, slow_labels = twins.lloyd(rows, starts, max_iter)
    np.testing.assert_allclose(centres, slow_centres, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(labels, slow_labels)


@given(whole_tables, st.integers(1, 8), st.integers(0, 2**32))
def test_no_cluster_stays_empty_while_rows_differ(rows, k, seed):
    starts = np.random.default_rng(seed).choice(len(rows), min(k, len(rows)), replace=False)
    centres, labels = flow.bounded_lloyd(rows, starts)
    distances = twins.squared_distances(rows, centres)
    np.testing.assert_allclose(distances[np.arange(len(rows)), labels], distances.min(axis=1))
    n_distinct = len(np.unique(rows, axis=0))
    assert len(np.unique(labels)) == min(len(starts), n_distinct)


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_equal_starts_are_parted(unit):
    rows = unit * np.array([[0.0], [0.0], [0.0], [7.0], [9.0]])
    _, labels = flow.bounded_lloyd(rows, np.array([0, 1, 2]))
    assert len(np.unique(labels)) == 3


@given(tables(), st.floats(0.01, 0.1), st.integers(1, 12))
def test_rpcl_follows_its_definition(drawn, rate, n_epochs):
    rows, starts, rng = drawn
    twin_rng = np.random.default_rng(0)
    twin_rng.bit_generator.state = rng.bit_generator.state
    units, labels = flow.rpcl(rows, starts, rng, rate=rate, n_epochs=n_epochs)
    slow_units, slow_labels = twins.rpcl(rows, starts, twin_rng, rate, n_epochs)
    np.testing.assert_allclose(units, slow_units, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(labels, slow_labels)


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
def test_few_units_do_not_diverge(q, kind):
    rng = np.random.default_rng(0)
    rows = (rng.random((20_000, 2)) * 200).astype(kind)
    units, labels = flow.rpcl(rows, np.arange(q), rng, rate=0.1, n_epochs=20)
    reach = np.sqrt(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).max())
    assert (np.sqrt(((units - rows.mean(axis=0)) ** 2).sum(axis=1)) < 1.1 * reach).all()
    assert labels.max() < q


def test_rpcl_ends_early_when_winners_stay():
    rows = np.repeat([[0.0, 0.0], [100.0, 0.0]], 50, axis=0)
    rng = np.random.default_rng(0)
    flow.rpcl(rows, np.array([0, 99]), rng, rate=0.01, n_epochs=1000)
    drawn = np.random.default_rng(0)
    for _ in range(2):  # the second epoch has the winners of the first
        drawn.permutation(100)
    assert rng.random() == drawn.random()


@given(tables())
def test_nearest_of_a_row_does_not_depend_on_others(drawn):
    rows, starts, _ = drawn
    centres = rows[starts].astype(np.float64)
    found = flow.nearest(rows, centres, n_jobs=2)
    one_by_one = [flow.nearest(row[None], centres)[0] for row in rows]
    np.testing.assert_array_equal(found, one_by_one)
    np.testing.assert_array_equal(found, twins.squared_distances(rows, centres).argmin(axis=1))
