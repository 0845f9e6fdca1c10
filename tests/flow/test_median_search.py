"""Median partitions: losses by definition, moves that are best, and optima that are the least."""

import median_twins as twins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import flow
from ensemblage.flow.median_search import _Search, _with_every_label
from ensemblage.testing.strategies import odd_votes, votes

W = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)
EVERY_LOSS = pytest.mark.parametrize("loss", flow.LOSSES)


def drawn_case(data, **options):
    """Return votes, their groups, weights of members, and a cost."""
    matrix = data.draw(votes(**options))
    count = matrix.shape[1]
    weights = data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    a = data.draw(st.sampled_from([1.0, 0.5, 1.7]))
    return matrix, en.microclusters(matrix), np.array(weights, dtype=float), a


@EVERY_LOSS
@given(data=st.data())
def test_losses_are_their_definitions(loss, data):
    matrix, groups, _, a = drawn_case(data, max_objects=14)
    a = a if loss in ("binder", "vi") else 1.0
    n = len(groups.sizes)
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    found = flow.partition_losses(labels, groups.table, groups.sizes, loss, a)
    of_objects = labels[groups.of_object]
    expected = [twins.loss_between(of_objects, member, loss, a) for member in matrix.T]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_worked_losses():
    groups = en.microclusters(W)
    labels = np.array([0, 0, 0, 1, 1, 1])
    worked = {"binder": 0.1875, "vi": 0.833333, "omari": 0.461538, "id": 0.603759, "nid": 0.386708}
    for loss, value in worked.items():
        found = flow.partition_losses(labels, groups.table, groups.sizes, loss).mean()
        assert found == pytest.approx(value, abs=5e-7)
    for loss, value in {"binder": 0.239583, "vi": 1.020426}.items():
        found = flow.partition_losses(labels, groups.table, groups.sizes, loss, 0.5).mean()
        assert found == pytest.approx(value, abs=5e-7)


@pytest.fixture(scope="module")
def every_partition():
    return list(twins.partitions(8))


@EVERY_LOSS
def test_the_optimum_of_the_worked_example_is_that_of_all_4140_partitions(loss, every_partition):
    assert len(every_partition) == 4140
    objects, ones = W.astype(np.int32) - 1, np.ones(8, dtype=np.int64)
    losses = [flow.partition_losses(labels, objects, ones, loss) for labels in every_partition]
    least = np.mean(losses, axis=1).min()
    groups = en.microclusters(W)
    problem = flow.median_problem(groups.table, groups.sizes, loss)
    found = flow.median_partition(
        problem, [], 16, 0, n_clusters=6, fixed=False, n_zealous=10, n_jobs=2
    )
    assert found.loss == pytest.approx(least, abs=1e-12)
    assert twins.expected(found.labels[groups.of_object], W, loss) == pytest.approx(least)
    assert len(found.losses) == 16
    assert found.losses.min() == pytest.approx(found.loss, abs=1e-12)


@EVERY_LOSS
@given(data=st.data())
@settings(max_examples=settings().max_examples // 2)
def test_few_rows_get_the_least_loss_there_is(loss, data):
    matrix, groups, weights, a = drawn_case(data, max_objects=6, max_label=2)
    a = a if loss in ("binder", "vi") else 1.0
    n = len(groups.sizes)
    k = data.draw(st.one_of(st.none(), st.integers(1, n)))
    least = min(
        twins.expected(labels[groups.of_object], matrix, loss, a, weights)
        for labels in twins.partitions(n, k)
    )
    problem = flow.median_problem(groups.table, groups.sizes, loss, a, weights)
    found = flow.median_partition(
        problem, [], 16, 0, n_clusters=k or n, fixed=k is not None, n_zealous=10, n_jobs=1
    )
    if k is not None:
        assert len(np.unique(found.labels)) == k
    assert found.loss == pytest.approx(least, abs=1e-9)


@EVERY_LOSS
@given(data=st.data())
@settings(max_examples=settings().max_examples // 3)
def test_each_move_is_the_best_one_by_losses_from_scratch(loss, data):
    matrix, groups, weights, a = drawn_case(data, max_objects=9)
    a = a if loss in ("binder", "vi") else 1.0
    n, most = len(groups.sizes), 5
    labels = np.array(data.draw(st.lists(st.integers(0, most - 1), min_size=n, max_size=n)))
    problem = flow.median_problem(groups.table, groups.sizes, loss, a, weights)

    def scratch(some):
        return twins.expected(some[groups.of_object], matrix, loss, a, weights)

    search = _Search(problem, labels.copy(), most, fixed=False)
    assert search.value() == pytest.approx(len(matrix) * scratch(labels), abs=1e-9)
    for row in data.draw(st.permutations(range(n))):
        before = search.labels.copy()
        _sweep(search, np.array([row]))
        others = []
        for c in range(most):
            other = before.copy()
            other[row] = c
            others.append(scratch(other))
        after = scratch(search.labels)
        assert (np.delete(search.labels, row) == np.delete(before, row)).all()
        assert after <= min(others) + 1e-9
        if search.labels[row] != before[row]:
            assert after < scratch(before)
        assert search.value() == pytest.approx(len(matrix) * after, abs=1e-8)


def _sweep(search, order):
    """Sweep once, whatever the loss."""
    from ensemblage.flow import median_search

    most, median_search._MOST_SWEEPS = median_search._MOST_SWEEPS, 1
    try:
        search.settle(order)
    finally:
        median_search._MOST_SWEEPS = most


@EVERY_LOSS
@given(data=st.data())
def test_clusters_that_are_taken_apart_never_make_it_worse(loss, data):
    matrix, groups, weights, _ = drawn_case(data, max_objects=12)
    n = len(groups.sizes)
    k = data.draw(st.integers(1, n))
    fixed = data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    labels = rng.integers(k, size=n)
    problem = flow.median_problem(groups.table, groups.sizes, loss, 1.0, weights)
    search = _Search(problem, _with_every_label(labels, k) if fixed else labels, k, fixed=fixed)
    order = rng.permutation(n)
    start = search.value()
    search.settle(order)
    settled = search.value()
    assert settled <= start + 1e-9
    value = search.take_apart(order, rng, 5)
    assert value <= settled + 1e-9
    assert (search.labels >= 0).all()
    scratch = twins.expected(search.labels[groups.of_object], matrix, loss, 1.0, weights)
    assert value == pytest.approx(len(matrix) * scratch, abs=1e-8)
    if fixed:
        assert len(np.unique(search.labels)) == k


@given(matrix=odd_votes(max_objects=12), seed=st.integers(0, 99))
def test_threads_change_nothing(matrix, seed):
    groups = en.microclusters(matrix)
    problem = flow.median_problem(groups.table, groups.sizes, "vi")
    runs = [
        flow.median_partition(
            problem, [], 5, seed, n_clusters=4, fixed=False, n_zealous=3, n_jobs=n_jobs
        )
        for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(runs[0].labels, runs[1].labels)
    np.testing.assert_array_equal(runs[0].losses, runs[1].losses)


def test_rows_without_a_label_are_allocated_first():
    groups = en.microclusters(W)
    problem = flow.median_problem(groups.table, groups.sizes, "vi")
    start = np.array([0, -1, -1, 1, -1, -1])
    found = flow.median_partition(
        problem, [start], 0, 0, n_clusters=3, fixed=False, n_zealous=0, n_jobs=1
    )
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_every_label_occurs():
    found = _with_every_label(np.array([2, 2, 2, -1, 2]), 4)
    assert sorted(found[found >= 0].tolist()) == [0, 1, 2, 2, 3]
    assert _with_every_label(np.array([0, 1]), 2).tolist() == [0, 1]
