"""LCA: worked numbers, soft memberships, new rows, criteria, and what it is saved as."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import metrics
from ensemblage.testing.strategies import odd_votes

W = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)
ODD = pytest.mark.filterwarnings(
    "ignore::ensemblage.FewerClustersWarning",
    "ignore::ensemblage.TransposedVotesWarning",
    "ignore::ensemblage.IdsAsVotesWarning",
)


@pytest.fixture(scope="module")
def simulated():
    """Three classes that vote as the model says, with gaps."""
    rng = np.random.default_rng(0)
    truth = rng.choice(3, size=600, p=[0.5, 0.3, 0.2])
    chances = rng.dirichlet(np.full(4, 0.4), size=(8, 3))
    matrix = np.array([[rng.choice(4, p=chances[m, c]) for m in range(8)] for c in truth])
    matrix[rng.random(matrix.shape) < 0.1] = -1
    matrix[(matrix < 0).all(axis=1), 0] = 0
    return matrix, truth


def test_worked_example():
    est = en.LCA(2).fit(W)
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert est.log_likelihood_ == pytest.approx(-15.589042, abs=5e-7)
    # p = 1 + 2·(1 + 2 + 2)
    assert est.bic_ == pytest.approx(11 * np.log(8) + 2 * 15.589042, abs=2e-6)
    assert est.icl_ == pytest.approx(est.bic_, abs=1e-6)
    np.testing.assert_allclose(est.memberships_.max(axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(est.class_weights_, [0.5, 0.5], atol=1e-6)
    expected = [1, 0, 0.75, 0.25, 0, 0.5, 0.5, 0]
    np.testing.assert_allclose(est.vote_probabilities_[:, 0], expected, atol=1e-5)


@ODD
@given(matrix=odd_votes(max_objects=14), data=st.data())
def test_memberships_are_probabilities_that_labels_maximise(matrix, data):
    k = data.draw(st.integers(1, len(np.unique(matrix, axis=0))))
    est = en.LCA(k).fit(matrix)
    soft = est.memberships_
    assert soft.shape == (len(matrix), k)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, atol=1e-12)
    own = soft[np.arange(len(matrix)), est.labels_]
    np.testing.assert_allclose(own, soft.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(est.predict_proba(matrix), soft, atol=1e-12)
    assert est.class_weights_.sum() == pytest.approx(1.0)


def test_new_rows_go_by_bayes(simulated):
    matrix, _ = simulated
    est = en.LCA(3).fit(matrix)
    rows = np.array(
        [[0, 1, -1, 2, 3, 0, 1, 9], [7, 7, 7, 7, 7, 7, 7, 7], [3, -1, -1, -1, -1, -1, -1, -1]]
    )
    with pytest.warns(en.UnknownLabelsWarning):
        found = est.predict_proba(rows)
    starts = np.concatenate([[0], np.cumsum([len(labels) for labels in est._ensemble.labels])])
    for row, probabilities in zip(rows, found, strict=True):
        expected = est.class_weights_.copy()
        for m, label in enumerate(row.tolist()):
            known = list(est._ensemble.labels[m])
            if label in known:
                expected = expected * est.vote_probabilities_[starts[m] + known.index(label)]
        np.testing.assert_allclose(probabilities, expected / expected.sum(), atol=1e-12)
    np.testing.assert_allclose(found[1], est.class_weights_)
    with pytest.warns(en.UnknownLabelsWarning):
        np.testing.assert_array_equal(est.predict(rows), found.argmax(axis=1))
    with pytest.raises(ValueError, match="no vote in any clustering"):
        est.predict_proba([[-1] * 8])


def test_confidence_of_new_rows_is_by_coassociation(simulated):
    matrix, _ = simulated
    est = en.LCA(3).fit(matrix)
    rows = np.random.default_rng(1).integers(0, 4, (30, 8))
    labels, sure = est.predict(rows, return_confidence=True)
    np.testing.assert_array_equal(labels, est.predict(rows))
    assert ((sure >= 0) & (sure <= 1)).all()
    again, seen = est.predict(matrix, return_confidence=True)
    np.testing.assert_array_equal(again, est.labels_)
    np.testing.assert_array_equal(seen, est.confidence_)


def test_a_fitted_model_is_found_again(simulated):
    matrix, truth = simulated
    est = en.LCA(3).fit(matrix)
    assert metrics.ari(est.labels_, truth) > 0.8
    chance = est.memberships_.max(axis=1)
    share = (est.labels_ == _matched(est.labels_, truth)).mean()
    assert chance.mean() == pytest.approx(share, abs=0.05)


def _matched(labels, truth):
    from scipy.optimize import linear_sum_assignment

    shared = metrics.agreement.labels_and_shared(labels, truth)
    rows, columns = linear_sum_assignment(-shared[2])
    label_of = {shared[1][b]: shared[0][a] for a, b in zip(rows, columns, strict=True)}
    return np.array([label_of[t] for t in truth.tolist()])


def test_criteria_choose_the_simulated_number(simulated):
    matrix, _ = simulated
    found = en.LCA(2).fit(matrix).criteria(range(1, 6))
    assert found.k[found.bic.argmin()] == 3
    assert (np.diff(found.log_likelihood) > 0).all()
    assert (found.icl >= found.bic).all()
    free = sum(len(np.unique(vote[vote >= 0])) - 1 for vote in matrix.T)
    assert found.n_parameters.tolist() == [k - 1 + k * free for k in range(1, 6)]
    assert str(found).startswith("ClassCriteria: the least BIC at k = 3")
    assert found.to_frame().index.tolist() == [1, 2, 3, 4, 5]
    at_4 = en.LCA(4).fit(matrix)
    assert (at_4.bic_, at_4.icl_) == (found.bic[3], found.icl[3])


def test_gaps_are_ignorable():
    """Votes that nobody gave do not matter: a clustering of gaps, and rows with few votes."""
    matrix = np.column_stack([W, np.full(8, -1)])
    one, other = en.LCA(2).fit(W), en.LCA(2).fit(matrix)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-12)
    assert (one.bic_, one.n_iter_) == (pytest.approx(other.bic_), other.n_iter_)
    constant = en.LCA(2).fit(np.column_stack([W, np.zeros(8, int)]))
    assert constant.log_likelihood_ == pytest.approx(one.log_likelihood_, abs=1e-5)
    assert constant.bic_ == pytest.approx(one.bic_, abs=1e-4)


def test_only_ratios_of_weights_matter(simulated):
    """Weights of mean 1 count like copies; others are divided by their mean first."""
    matrix, _ = simulated
    copies = np.array([1, 2, 0, 0, 1, 1, 0, 0])
    matrix[:, 2] = -1  # a clustering without votes has no part in the mean
    weight = np.array([1, 2, 5, 3, 1, 1, 2, 1])
    plain = en.LCA(3).fit(matrix, member_weight=np.ones(8))
    for factor in (0.01, 7.0):
        one = en.LCA(3).fit(matrix, member_weight=weight)
        other = en.LCA(3).fit(matrix, member_weight=factor * weight)
        assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)
        assert one.bic_ == pytest.approx(other.bic_, rel=1e-9)
        np.testing.assert_allclose(one.memberships_, other.memberships_, atol=1e-9)
        nearly = en.LCA(3).fit(matrix, member_weight=factor * (1 + 1e-9 * np.arange(8)))
        assert nearly.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-6)
    mean_one = copies / copies[copies > 0].mean()
    one = en.LCA(3).fit(matrix, member_weight=copies)
    dropped = en.LCA(3).fit(matrix[:, copies > 0], member_weight=mean_one[copies > 0])
    assert one.log_likelihood_ == pytest.approx(dropped.log_likelihood_, rel=1e-9)


def test_starts_of_another_kind(simulated):
    matrix, truth = simulated
    by_tree = en.LCA(3, init="lwea").fit(matrix)
    drawn = en.LCA(3, init="random", n_init=3, random_state=0).fit(matrix)
    again = en.LCA(3, init="random", n_init=3, random_state=0).fit(matrix)
    np.testing.assert_array_equal(drawn.labels_, again.labels_)
    fewer = en.LCA(3, init="random", n_init=1, random_state=0).fit(matrix)
    assert fewer.log_likelihood_ <= drawn.log_likelihood_  # the first start of the three
    best = en.LCA(3, init="best", n_init=3, random_state=0).fit(matrix)
    every = [en.LCA(3).fit(matrix), by_tree, drawn]
    assert best.log_likelihood_ == max(one.log_likelihood_ for one in every)
    assert metrics.ari(by_tree.labels_, truth) > 0.8


def test_order_of_objects_and_clusterings_does_not_matter(simulated):
    matrix, _ = simulated
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(8)
    one, other = en.LCA(3).fit(matrix), en.LCA(3).fit(matrix[rows][:, columns])
    assert metrics.ari(one.labels_[rows], other.labels_) == 1.0
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)


def test_wide_tables_start_from_some_of_the_clusterings(monkeypatch):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 25)
    matrix = np.where(rng.random((100, 60)) < 0.5, rng.integers(0, 4, (100, 60)), truth[:, None])
    matrix[:, ::7] = -1
    matrix[0, 1:] = -1
    matrix[0, 29] = 0  # this row has no vote in the start
    monkeypatch.setattr("ensemblage.methods._starting.CLUSTERS_OF_START", 40)
    est = en.LCA(4).fit(matrix)
    assert est._starts[0].method.n_features_in_ <= 12
    assert metrics.ari(est.labels_, truth) > 0.95
    weighted = en.LCA(4).fit(matrix, member_weight=rng.integers(1, 4, 60))
    assert metrics.ari(weighted.labels_, truth) > 0.95


def test_numbers_by_size_move_the_columns(simulated):
    matrix, _ = simulated
    est, plain = en.LCA(3).fit(matrix), en.LCA(3).fit(matrix)
    est._number_by_size()
    assert (np.diff(np.bincount(est.labels_)) <= 0).all()
    np.testing.assert_array_equal(est.memberships_.argmax(axis=1), est.labels_)
    np.testing.assert_allclose(
        np.sort(est.memberships_, axis=1), np.sort(plain.memberships_, axis=1), atol=1e-12
    )


def test_a_saved_model_knows_its_probabilities_without_a_fit(simulated, tmp_path, monkeypatch):
    matrix, _ = simulated
    est = en.LCA(3).fit(matrix)
    est.save(tmp_path / "model")
    found = en.load(tmp_path / "model")

    def refuse(*_, **__):
        raise AssertionError("it was fitted again")

    monkeypatch.setattr("ensemblage.flow.latent_classes", refuse)
    rows = np.random.default_rng(1).integers(0, 4, (30, 8))
    np.testing.assert_array_equal(found.predict(rows), est.predict(rows))
    np.testing.assert_array_equal(found.predict_proba(rows), est.predict_proba(rows))
    np.testing.assert_array_equal(found.memberships_, est.memberships_)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("found/_vote_probabilities_"),
        lambda arrays: arrays.update({"found/_vote_probabilities_": np.ones(3)}),
        lambda arrays: arrays.update({"found/class_weights_": np.ones(0)}),
        lambda arrays: arrays.update({"found/class_weights_": np.array([np.nan, 1.0, 0.0])}),
    ],
)
def test_damaged_probabilities_are_refused(simulated, tmp_path, change):
    from ensemblage.methods import archive, saving
    from ensemblage.tables import FileFormatError

    header, arrays = saving.state_of(en.LCA(3).fit(simulated[0]), objects=True)
    change(arrays)
    archive.write_archive(tmp_path / "model", saving.preamble() | header, arrays)
    with pytest.raises(FileFormatError, match="its probabilities do not fit its classes"):
        en.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("init", "kmeans"), ("n_init", 0), ("max_iter", 0), ("tol", -1.0), ("tol", None)],
)
def test_bad_parameters(parameter, value):
    with pytest.raises(en.ParameterError) as caught:
        en.LCA(2, **{parameter: value}).fit(W)
    assert (caught.value.owner, caught.value.parameter) == ("LCA", parameter)


@ODD
@given(matrix=odd_votes(max_objects=10), data=st.data())
@settings(max_examples=20)
def test_an_empty_class_is_one_less_and_comes_last(matrix, data):
    k = data.draw(st.integers(1, len(np.unique(matrix, axis=0))))
    est = en.LCA(k, max_iter=data.draw(st.integers(1, 4))).fit(matrix)
    used = np.unique(est.labels_)
    assert used.tolist() == list(range(est.n_clusters_))
    assert est.memberships_.shape[1] == k


@pytest.mark.parametrize("numbers", [[], 3, "23", None])
def test_criteria_need_a_list_of_numbers(numbers):
    fitted = en.LCA(2).fit([[0, 0], [0, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"'n_clusters' parameter of LCA\.criteria must be a list"):
        fitted.criteria(numbers)
