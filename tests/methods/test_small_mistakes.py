"""Cases that tell methods from methods with a small mistake (tools/hand_mutants.toml)."""

from types import SimpleNamespace

import numpy as np
import pytest
from planted import noisy

import ensemblage as en
from ensemblage import flow
from ensemblage.methods import _choosing, _reliability
from ensemblage.methods._fitted import of_mean_one
from ensemblage.methods._opinions import Opinion, reasons

ROW = np.arange(24)
VOTES = np.column_stack([ROW % 2, ROW % 3, ROW // 12, ROW // 8])
ALONE = "in which every object is alone did not count."
IDS = pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")


def consensus(*columns, **options):
    return en.Consensus(2, random_state=0).fit(np.column_stack(columns), **options)


@IDS
@pytest.mark.parametrize(
    "votes",
    [
        np.repeat(np.column_stack([ROW, VOTES]), 2, axis=0),  # equal objects are together
        np.column_stack([ROW // 2, VOTES]),  # and so are those that share a cluster
        np.column_stack([ROW, ROW]),  # nothing else is left
    ],
)
def test_a_clustering_counts_unless_all_of_its_objects_are_alone(votes):
    assert not consensus(votes).reasons_[-1].endswith(ALONE)


@IDS
def test_clusterings_of_single_objects_count_less_than_any_other():
    model = consensus(ROW, VOTES, member_weight=np.array([1, 1, 2, 1, 1]) * 1e-12)
    assert model.reasons_[-1].endswith(ALONE)
    assert model._tree.member_weight_[0] < 1e-6 * model._tree.member_weight_[1]


@IDS
def test_the_typical_number_of_clusters_is_that_of_informative_clusterings():
    one = np.zeros(24, dtype=int)
    assert consensus(ROW % 4, ROW % 5, ROW % 6, one, one, one, one)._typical_k() == 5
    assert consensus(ROW % 4, ROW, ROW[::-1])._typical_k() == 4


@IDS
def test_a_fit_forgets_the_one_before():
    groups = np.tile(np.repeat(np.arange(30), np.arange(1, 31))[:, None], (1, 4))
    model = en.Consensus(3, min_cluster_size=1, random_state=0).fit(groups)
    assert model.method_ == "lwgp"
    votes, _ = noisy([60] * 4, 10, 0.05)
    model.set_params(n_clusters="auto").fit(votes)
    assert model.method_ == "lwea"
    again = en.Consensus("auto", min_cluster_size=1, random_state=0).fit(votes)
    assert model.k_choice_.to_dict() == again.k_choice_.to_dict()


@pytest.mark.parametrize(("without", "told"), [(0.52, False), (0.53, True)])
def test_small_clusters_are_mentioned_where_they_agree_better_by_a_twentieth(without, told):
    opinion = Opinion(np.zeros(1, np.int64), "lwea", 0.5, 0.5, None, without, None)
    assert ("small clusters may be real" in reasons(opinion)) == told


def test_weights_have_a_mean_of_one_over_clusterings_that_count():
    groups = SimpleNamespace(table=np.array([[0, 0, 0, -1], [0, 1, 1, -1]]))
    fitted = SimpleNamespace(member_weight_=np.array([0.0, 2, 4, 9]), microclusters_=groups)
    np.testing.assert_allclose(of_mean_one(fitted), [0, 2 / 3, 4 / 3, 3])


def test_heights_decide_between_groups_where_they_differ():
    """The last clustering makes some clusters more similar than others."""
    groups = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [3, 3, 2], [3, 3, 3], [3, 2, 3]]
    votes = np.array([*groups, [4, 4, 4], [5, 5, 5], [5, 5, 4]])
    votes = np.column_stack([votes, np.zeros(9, dtype=int)])
    for method in (en.WCT, en.SRS, en.ECPCS):
        assert method(2).fit_predict(votes).tolist() == [0] * 6 + [1] * 3


def test_votes_of_a_half_keep_the_sizes_of_microclusters():
    votes = np.array([[0], [0], [1], [-1]], dtype=np.int32)
    ensemble, place = _choosing.regrouped(votes, np.array([3, 4, 5, 6]), n_jobs=1)
    assert ensemble.microclusters.sizes.tolist() == [7, 5]
    assert place.tolist() == [0, 0, 1, -1]


def test_halves_are_found_as_the_whole_was(monkeypatch):
    fitted = []
    monkeypatch.setattr(_choosing, "_fitted_to", lambda *arguments: fitted.append(arguments))
    for size, keeps in (("auto", True), (0.1, False)):
        model = en.Consensus(2, min_cluster_size=size, random_state=0)
        model.fit(VOTES, member_weight=[1, 2, 3, 4])
        _choosing._of_members(model._tree, np.array([1, 3]))
        other, votes, _, weight = fitted.pop()
        assert other._keeps_clear_groups == keeps
        assert (votes.shape[1], weight.tolist()) == (2, [2, 4])
    monkeypatch.undo()
    other = en.EAC(1)
    _choosing._fitted_to(other, VOTES.astype(np.int32), np.ones(24, np.int64), None)
    assert not other._by_rule
    drawn = en.LWGP(2).fit(VOTES)
    assert _choosing._fixed(drawn)["random_state"] == drawn._seed


def test_a_new_row_between_two_microclusters_joins_the_larger():
    votes = np.repeat([[0, 0], [1, 1]], [3, 9], axis=0)
    for order in (slice(None), slice(None, None, -1)):
        model = en.EAC(2).fit(votes[order])
        assert model.predict([[0, 1], [1, 0]]).tolist() == model.predict([[1, 1]] * 2).tolist()


class TestDefaultToCompareWith:
    def test_is_the_model_itself_only_with_default_values(self):
        for options, same in (
            ({}, True),
            ({"min_cluster_size": 1}, False),
            ({"method": "eac"}, False),
        ):
            model = en.Consensus(2, **options).fit(VOTES)
            assert (_reliability.default_for(model) is model) == same

    def test_has_the_weights_and_warns_of_nothing(self):
        model = en.EAC(2).fit(VOTES, member_weight=[1, 2, 3, 4])
        default = _reliability.default_for(model)
        np.testing.assert_allclose(default.member_weight_, model.member_weight_)
        assert not default._warns_of_chance

    @pytest.mark.parametrize(("most", "none"), [(11, True), (12, False)])
    def test_is_left_out_for_many_microclusters(self, most, none, monkeypatch):
        monkeypatch.setattr(_reliability, "MOST_MICROCLUSTERS", most)
        model = en.EAC(2).fit(np.column_stack([ROW // 2, ROW // 12]))
        assert model.n_microclusters_ == 12
        assert (_reliability.default_for(model) is None) == none

    def test_is_left_out_where_it_does_not_fit(self, monkeypatch):
        def fit(*_, **__):
            raise MemoryError

        model = en.EAC(2).fit(VOTES)
        monkeypatch.setattr(en.Consensus, "fit", fit)
        assert _reliability.default_for(model) is None

    @pytest.mark.filterwarnings("error::ensemblage.UntrustedMethodWarning")
    def test_is_not_fitted_for_callers_that_compare_themselves(self):
        few = np.r_[[[0, 0, 0]] * 1000, [[1, 1, 1]] * 1000, [[0, 0, 1]]]
        with _reliability.without_comparison():
            en.PTA(2).fit(few)
        with pytest.raises(en.UntrustedMethodWarning):
            en.PTA(2).fit(few)


class TestLCA:
    def test_a_new_row_gets_no_class_without_objects(self, monkeypatch):
        model = en.LCA(2).fit(VOTES)
        monkeypatch.setattr(model, "_posterior", lambda _: np.array([[0.2, 0.3, 0.5]]))
        assert model._label_unseen(None).tolist() == [1]

    @pytest.mark.parametrize(("init", "more"), [("random", 0), ("best", 2)])
    def test_the_number_of_starts(self, init, more):
        model = en.LCA(2, init=init, n_init=3, random_state=0).fit(VOTES)
        assert len(list(model._start_labels(2))) == 3 + more

    def test_the_seed_draws_the_starts(self):
        votes = np.random.default_rng(0).integers(0, 4, (80, 6))

        def likelihood(seed):
            model = en.LCA(4, init="random", n_init=1, max_iter=2, random_state=seed)
            return model.fit(votes).log_likelihood_

        assert likelihood(1) == likelihood(1) != likelihood(2)


def test_searches_of_median_depend_on_no_order_where_groups_are_joined(monkeypatch):
    truth = np.repeat(np.arange(5), [9, 7, 5, 3, 2])
    votes = np.column_stack([truth * 2 + np.arange(26) % 2, truth, np.where(truth == 4, 3, truth)])
    searches = []

    def searched(problem, starts, *arguments, **options):
        searches.append([*problem[:2], *starts])
        return search(problem, starts, *arguments, **options)

    search = flow.median_partition
    monkeypatch.setattr(flow, "median_partition", searched)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        order, columns = rng.permutation(26), rng.permutation(3)
        with pytest.warns(en.UnlinkedGroupsWarning):
            en.Median(2, random_state=0).fit(votes[order][:, columns])
    for other in searches[1:]:
        assert len(other) == len(searches[0])
        for one, again in zip(searches[0], other, strict=True):
            np.testing.assert_array_equal(one, again)
