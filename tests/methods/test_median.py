"""Median: worked optima, draws in rows, costs, weights, and how many clusters."""

import median_twins as twins
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import flow, metrics
from ensemblage.testing.strategies import odd_votes

W = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)
ODD = pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")


@pytest.fixture(scope="module")
def draws():
    """200 draws of a clustering of 60 objects: three groups, some objects undecided."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 20)
    matrix = np.where(rng.random((60, 200)) < 0.1, rng.integers(0, 5, (60, 200)), truth[:, None])
    return matrix, truth


def test_worked_optima():
    vi = en.Median(random_state=0).fit(W)
    assert vi.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert vi.expected_loss_ == pytest.approx(0.833333, abs=5e-7)
    binder = en.Median(loss="binder", random_state=0).fit(W)
    assert binder.labels_.tolist() == [0, 0, 0, 1, 2, 2, 2, 3]
    assert binder.expected_loss_ == pytest.approx(0.166667, abs=5e-7)
    omari = en.Median(loss="omari", random_state=0).fit(W)
    assert omari.expected_loss_ == pytest.approx(0.461538, abs=5e-7)


@pytest.mark.parametrize("loss", flow.LOSSES)
def test_numbers_of_a_fit_are_those_of_the_metrics(loss, draws):
    matrix, _ = draws
    est = en.Median(loss=loss, n_runs=2, random_state=0).fit(matrix)
    assert est.expected_loss_ == pytest.approx(metrics.expected_loss(est.labels_, matrix, loss))
    assert est.expected_loss_ == pytest.approx(est.member_losses_.mean())
    assert est.expected_loss_ == pytest.approx(est.run_losses_.min(), abs=1e-9)
    best = metrics.median_of(matrix, loss=loss)
    assert est.expected_loss_ <= best.expected_loss + 1e-9


def test_groups_are_found(draws):
    matrix, truth = draws
    est = en.Median(random_state=0).fit(matrix)
    assert est.n_clusters_ == 3
    assert metrics.ari(est.labels_, truth) == 1.0
    assert en.Median(5, random_state=0).fit(matrix).n_clusters_ == 5


def test_draws_in_rows(draws):
    matrix, _ = draws
    expected = en.Median(random_state=0).fit(matrix)
    turned = en.Median(draws="rows", random_state=0).fit(matrix.T)
    np.testing.assert_array_equal(turned.labels_, expected.labels_)
    assert turned.n_features_in_ == 200
    np.testing.assert_array_equal(turned.predict(matrix.T[:, :5]), expected.predict(matrix[:5]))
    names = [f"object {i}" for i in range(60)]
    frame = pd.DataFrame(matrix.T, columns=names)
    labels = en.Median(draws="rows", random_state=0).fit_predict(frame)
    assert labels.index.tolist() == names
    np.testing.assert_array_equal(labels, expected.labels_)
    of_ensemble = en.Median(draws="rows", random_state=0).fit(en.Ensemble(matrix))
    np.testing.assert_array_equal(of_ensemble.labels_, expected.labels_)


def test_many_draws_of_few_objects_are_no_reason_to_warn():
    est = en.Median(random_state=0).fit(np.repeat(W, 40, axis=1))
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_equal_draws_count_as_often_as_they_occur(draws):
    matrix, _ = draws
    weight = np.random.default_rng(1).integers(1, 4, 200)
    one = en.Median(random_state=0).fit(matrix, member_weight=weight)
    other = en.Median(random_state=0).fit(np.repeat(matrix, weight, axis=1))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.expected_loss_ == pytest.approx(other.expected_loss_)
    assert one._votes.table.shape == other._votes.table.shape
    order = np.random.default_rng(2).permutation(200)
    again = en.Median(random_state=0).fit(matrix[:, order], member_weight=weight[order])
    np.testing.assert_array_equal(one.labels_, again.labels_)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_larger_costs_of_parting_give_fewer_clusters(loss):
    found = [en.Median(loss=loss, a=a, random_state=0).fit(W).n_clusters_ for a in (0, 0.5, 1.5, 2)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 6
    assert found[-1] == 1


def test_the_cost_with_the_largest_loss_of_its_own_estimate():
    """The least loss is a minimum of lines in a, so concave, and 0 at both ends."""
    est = en.Median(a="auto", random_state=0).fit(W)
    grid = np.linspace(0, 2, 81)
    every = list(twins.partitions(6))
    groups = en.microclusters(W)
    lines = np.array(
        [
            [
                flow.partition_losses(labels, groups.table, groups.sizes, "vi", a).mean()
                for a in (0, 2)
            ]
            for labels in every
        ]
    )
    least = (lines[:, :1] * (1 - grid / 2) + lines[:, 1:] * grid / 2).min(axis=0)
    at = np.interp(est.a_, grid, least)
    assert at == pytest.approx(least.max(), abs=0.01)
    assert est.expected_loss_ == pytest.approx(at, abs=0.01)
    assert en.Median(a=1, random_state=0).fit(W).a_ == 1.0


def test_gaps_are_left_out():
    matrix = W.astype(float)
    matrix[[0, 3, 5], [0, 1, 2]] = np.nan
    est = en.Median(random_state=0).fit(matrix)
    filled = np.where(np.isnan(matrix), -1, matrix).astype(int)
    assert est.expected_loss_ == pytest.approx(twins.expected(est.labels_, filled, "vi"))
    table, sizes, _ = est.microclusters_
    every = twins.partitions(est.n_microclusters_)
    least = min(flow.partition_losses(labels, table, sizes, "vi").mean() for labels in every)
    assert est.expected_loss_ == pytest.approx(least)
    silent = en.Median(random_state=0).fit(np.column_stack([matrix, np.full(8, -1)]))
    np.testing.assert_array_equal(silent.labels_, est.labels_)
    assert np.isnan(silent.member_losses_[3])


def test_at_most_so_many_clusters():
    assert en.Median(loss="binder", max_clusters=3, random_state=0).fit(W).n_clusters_ == 3
    assert en.Median(a=0, max_clusters=1, random_state=0).fit(W).n_clusters_ == 1


def test_no_random_runs():
    est = en.Median(n_runs=0).fit(W)
    assert len(est.run_losses_) == 3  # a tree, a clustering, nothing
    assert est.expected_loss_ == pytest.approx(0.833333, abs=5e-7)
    assert len(en.Median(n_runs=4).fit(W).run_losses_) == 7


@pytest.mark.parametrize("k", ["auto", 3, 7])
def test_many_microclusters_start_without_a_tree(draws, monkeypatch, k):
    matrix, truth = draws
    monkeypatch.setattr("ensemblage.methods.median._SMALL", 10)
    monkeypatch.setattr("ensemblage.methods.median._AFFORDABLE", 1.0)
    est = en.Median(k, random_state=0).fit(matrix)
    if k != 7:
        assert metrics.ari(est.labels_, truth) == 1.0
    assert k in ("auto", est.n_clusters_)
    np.testing.assert_array_equal(est.cut(4), en.Median(4, random_state=0).fit_predict(matrix))


def test_features_with_a_free_number(draws):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(90, 2)) + 9 * np.repeat(np.arange(3), 30)[:, None]
    model = en.EnsembleClustering(consensus=en.Median(), n_members=10, random_state=0)
    assert len(model.fit_predict(features)) == 90
    with pytest.raises(AttributeError, match="k_choice_"):
        model.k_choice_  # noqa: B018
    matrix, _ = draws
    assert not hasattr(en.Median(random_state=0).fit(matrix), "k_choice_")


def test_a_wide_table_is_quick():
    """Linear in the clusterings: no matrix of their clusters, and a start from some of them."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 15)
    matrix = np.where(rng.random((60, 1500)) < 0.1, rng.integers(0, 4, (60, 1500)), truth[:, None])
    est = en.Median(n_runs=1, random_state=0).fit(matrix)
    assert est._starts[0].method.n_features_in_ < 300
    assert metrics.ari(est.labels_, truth) == 1.0


@ODD
@given(matrix=odd_votes(max_objects=8), data=st.data())
@settings(max_examples=20)
def test_it_is_at_least_as_good_as_every_clustering(matrix, data):
    loss = data.draw(st.sampled_from(flow.LOSSES))
    est = en.Median(loss=loss, random_state=0).fit(matrix)
    for member in matrix.T:
        if (member >= 0).all():
            assert est.expected_loss_ <= metrics.expected_loss(member, matrix, loss) + 1e-9


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("loss", "nmi"), ("a", 2.1), ("a", -0.1), ("a", "best"), ("a", None), ("a", True),
        ("max_clusters", 0), ("max_clusters", "many"), ("n_runs", -1), ("n_runs", 1.5),
        ("draws", "both"), ("n_clusters", 0), ("n_jobs", 0),
    ],
)  # fmt: skip
def test_bad_parameters(parameter, value):
    with pytest.raises(en.ParameterError) as caught:
        en.Median(**{parameter: value}).fit(W)
    assert (caught.value.owner, caught.value.parameter) == ("Median", parameter)


@pytest.mark.parametrize("a", [0.5, "auto"])
def test_losses_without_costs(a):
    with pytest.raises(en.ParameterError, match="Only the losses 'binder' and 'vi' have other"):
        en.Median(loss="nid", a=a).fit(W)
