"""Groups that only stray votes link, and clusterings that are as good as random."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import with_errors

import ensemblage as en
from ensemblage import flow


def firm_links(table, sizes):
    return flow.firm_links_of(table, sizes, flow.links_of(table))


class TestHardlyLinked:
    @pytest.mark.parametrize("name", sorted(set(en.METHODS) - {"auto"}))
    def test_one_stray_vote_is_no_link(self, name):
        """Without it these are 4 groups: it must not make the choice of two of them certain."""
        votes = np.tile(np.repeat(range(4), 10)[:, None], (1, 5))
        votes[0, 0] = 1
        model = en.METHODS[name](3)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(votes)
        assert model.n_clusters_ == 3
        texts = [str(one.message) for one in caught]
        assert any("into 4 groups, if stray votes are ignored" in text for text in texts)
        sizes = np.bincount(model.labels_)[model.labels_]
        assert (model.confidence_[sizes >= 20] < 0.5).all()

    @pytest.mark.parametrize("share", [0.005, 0.02, 0.05])
    def test_more_stray_votes_are_not_either(self, share):
        truth = np.repeat(np.arange(12), 25)
        votes = with_errors(truth, 20, share, np.random.default_rng(0))
        model = en.Consensus(4, random_state=0)
        with pytest.warns(en.UnlinkedGroupsWarning, match="into 12 groups, if stray votes"):
            model.fit(votes)
        assert model.confidence_.mean() < 0.4
        assert en.metrics.ari(truth, model.cut(12)) > 0.99

    def test_from_twelve_clusters_on_nothing_is_reduced(self):
        votes = with_errors(np.repeat(np.arange(12), 25), 20, 0.02, np.random.default_rng(0))
        assert en.Consensus(12).fit(votes).confidence_.mean() > 0.95

    def test_a_clustering_that_joins_groups_is_a_link(self):
        fine = np.repeat(np.arange(6), 20)
        votes = np.column_stack([fine // 2, *[fine] * 9])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = en.Consensus(3).fit(votes)
        assert en.metrics.ari(fine // 2, model.labels_) == 1.0
        assert model.confidence_.min() > 0.9

    def test_outliers_are_not_groups(self):
        votes = np.column_stack([np.repeat([0, 1, 2], 20)] * 6)
        votes[:4] = np.arange(4)[:, None] + 5
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            en.Consensus(7).fit(votes).cut(7)
        links = en.Ensemble(votes).firm_links
        assert (links.n_groups, flow.n_large_groups(links, en.microclusters(votes).sizes)) == (7, 3)

    def test_a_cluster_of_two_objects_is_no_link(self):
        votes = np.repeat([0, 1], 10)[:, None].repeat(5, axis=1)
        votes[[0, 10], 4] = 2
        table, sizes, _ = en.microclusters(votes)
        assert flow.links_of(table).n_groups == 1
        assert firm_links(table, sizes).n_groups == 2

    def test_one_vote_in_a_cluster_of_five_is_no_link(self):
        """It is a fifth of it: here each group is split into 15 and 5 objects."""
        fine = np.repeat(np.arange(8), [15, 5] * 4)
        votes = np.column_stack([np.repeat(np.arange(4), 20), *[fine] * 5])
        votes[15, 1] = 2  # of the first small cluster, with the second group
        with pytest.warns(en.UnlinkedGroupsWarning, match="into 4 groups, if stray votes"):
            model = en.Consensus(2, random_state=0).fit(votes)
        sizes = np.bincount(model.labels_)[model.labels_]
        assert (model.confidence_[sizes >= 40] < 0.5).all()

    @pytest.mark.parametrize("name", ["auto", "eac", "lwgp", "median"])
    def test_nor_is_a_clustering_of_one_cluster_beside_a_missing_vote(self, name):
        votes = np.tile(np.repeat(range(4), 10)[:, None], (1, 6))
        votes[:, 5] = 0
        votes[3, 0] = -1
        model = en.METHODS[name](2)
        with pytest.warns(en.UnlinkedGroupsWarning, match="into 4 groups, if stray votes"):
            model.fit(votes)
        assert (model.confidence_ == 0).sum() >= 20

    def test_all_common_voters_of_a_cluster_are_a_link(self):
        """Six of the thirty objects of the first cluster have the second vote, all for one."""
        table = np.array([[0, -1], [0, 0], [1, 0]], dtype=np.int32)
        assert firm_links(table, np.array([24, 6, 34])).n_groups == 1

    def test_a_little_more_than_a_fifth_is_a_link(self):
        """9 of the 40 objects of each cluster are also in one of the other group."""
        shared = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
        assert firm_links(shared, np.array([31, 9, 31])).n_groups == 1
        assert firm_links(shared, np.array([32, 8, 32])).n_groups == 2

    @pytest.mark.parametrize("name", ["auto", "eac", "vote"])
    @pytest.mark.parametrize("n_stray", [2, 3, 12])
    def test_stray_votes_of_a_large_group_in_a_small_cluster_are_no_link(self, name, n_stray):
        """They are up to more than half of it."""
        truth = np.repeat([0, 1, 2], [400, 50, 10])
        votes = np.repeat(truth[:, None], 20, axis=1)
        votes[:n_stray, 0] = 2
        with pytest.warns(en.UnlinkedGroupsWarning, match="into 3 groups, if stray votes"):
            model = en.METHODS[name](2).fit(votes)
        assert model.confidence_[truth == 2].max() == 0

    def test_a_clustering_that_joins_a_small_group_to_a_large_one_is_a_link(self):
        """A few votes of the large group are all of the small one."""
        truth = np.repeat([0, 1, 2], [400, 50, 10])
        votes = np.repeat(truth[:, None], 20, axis=1)
        votes[truth == 2, 0] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = en.EAC(2).fit(votes)
        assert len(set(model.labels_[truth != 1])) == 1

    def test_many_votes_are_not_searched(self):
        table = np.zeros((3, 9000), dtype=np.int32) + np.arange(3, dtype=np.int32)[:, None]
        table[0, 1] = 1
        assert firm_links(table, np.full(3, 9)).n_groups == 2

    def test_votes_that_are_mostly_noise_are_not_stray(self):
        """No two clusters share a fifth, so that each would be a group, and confidence 0."""
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 20, 1000)
        right = rng.random((1000, 30)) < 0.2
        votes = np.where(right, truth[:, None], rng.integers(0, 20, (1000, 30)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = en.LCA(20, random_state=0).fit(votes)
        assert en.metrics.ari(truth, model.labels_) > 0.2
        assert model.confidence_.mean() > 0.1

    @pytest.mark.parametrize("n_groups", [1, 4])
    def test_overlaps_of_all_pairs_of_clusters_are_not_held(self, n_groups):
        rng = np.random.default_rng(0)
        group = rng.integers(0, n_groups, 1000)
        votes = rng.integers(0, 100 // n_groups, (1000, 36)) + 100 * group[:, None]
        table, sizes, _ = en.microclusters(votes)
        firm_links(table[:50], sizes[:50])  # compiles
        tracemalloc.start()
        firm_links(table, sizes)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3600**2 * 8 / 4

    @given(st.integers(0, 2**32 - 1))
    def test_against_sets_of_objects(self, seed):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 90)), int(rng.integers(1, 9))
        votes = rng.integers(0, rng.integers(1, 5), (n, m))
        if rng.random() < 0.7:
            votes = np.sort(votes, axis=0)
            if rng.random() < 0.5:  # the clusterings agree, but for stray votes
                votes = votes[:, [0] * m]
            wrong = rng.random(votes.shape) < 0.04
            votes[wrong] = rng.integers(0, 4, wrong.sum())
        votes[rng.random(votes.shape) < 0.1 * (rng.random() < 0.5)] = -1
        votes[(votes < 0).all(axis=1), 0] = 0
        of_row = firm_links(*(groups := en.microclusters(votes))[:2]).of_row
        of_object = of_row[groups.of_object]
        firm, exact = _slow_groups(votes), flow.links_of(groups.table).of_row[groups.of_object]
        for i in range(n):
            for j in range(i):
                if firm[i] is not None and firm[j] is not None:
                    assert (of_object[i] == of_object[j]) == (firm[i] == firm[j])
                if of_object[i] == of_object[j] and (votes >= 0).all():
                    assert exact[i] == exact[j]


def _slow_linked(columns, share, extreme):
    """Return the large clusters as sets of objects, and the group of each."""
    sets = [
        (m, frozenset(np.flatnonzero(c == label)))
        for m, c in enumerate(columns)
        for label in sorted(set(c) - {-1})
    ]
    sets = [(m, s) for m, s in sets if len(s) >= 5]
    voters = [set(np.flatnonzero(c >= 0)) for c in columns]
    group = list(range(len(sets)))
    for a, (m, s) in enumerate(sets):
        for b, (other, t) in enumerate(sets[:a]):
            size = extreme(len(s & voters[other]), len(t & voters[m]))
            if s & t and len(s & t) > share * size:
                group = [group[a] if g == group[b] else g for g in group]
    return sets, group


def _slow_contradicted(columns):
    """Return (clustering, object) of the votes that nearly all others of an object contradict."""
    sets, core = _slow_linked(columns, 0.5, max)
    outside, objects = {}, {}
    for i in range(len(columns[0])):
        own = [core[a] for a, (_, s) in enumerate(sets) if i in s]
        best = max(own, key=own.count, default=None)
        cast = [(m, c[i]) for m, c in enumerate(columns) if c[i] >= 0]
        inside = {m for a, (m, s) in enumerate(sets) if i in s and core[a] == best}
        if best is not None and len(cast) - len(inside) <= 0.2 * len(cast):
            objects[best] = objects.get(best, 0) + 1
            for m, label in cast:
                if m not in inside:
                    outside.setdefault((best, m, label), []).append((m, i))
    few = [who for (best, *_), who in outside.items() if len(who) <= 0.05 * objects[best]]
    return [place for who in few for place in who]


def _slow_groups(votes):
    """Return the group of each object by definition; None if it is open or has none."""
    columns = [c.copy() for c in votes.T if len(set(c)) > 1] or list(votes.T.copy())
    contradicted = _slow_contradicted(columns)
    for m, i in contradicted:
        columns[m][i] = -1
    sets, group = _slow_linked(columns, 0.2, min)
    result, n_own, n_stray = [], len(contradicted), len(contradicted)
    for i in range(len(votes)):
        own = [group[a] for a, (_, s) in enumerate(sets) if i in s]
        n_own, n_stray = n_own + len(own), n_stray + len(own) - max(map(own.count, own), default=0)
        counts = sorted(((own.count(g), g) for g in set(own)), reverse=True)
        tied = len(counts) > 1 and counts[0][0] == counts[1][0]
        result.append(counts[0][1] if counts and not tied else None)
    if len(set(group)) > 1 and 3 * n_stray > n_own:  # no votes are stray: any is a link
        groups = en.microclusters(votes)
        return flow.links_of(groups.table).of_row[groups.of_object]
    return result


def test_few_objects_do_not_make_clusters_of_single_ones():
    """One object in five has a single vote: with "auto" these were clusters, on strong evidence."""
    truth = np.repeat([0, 1, 2], 40)
    for seed in (1, 2, 4, 5):
        rng = np.random.default_rng(seed)
        votes = with_errors(truth, 10, 0.1, rng)
        for i in range(0, 120, 5):
            j = rng.integers(10)
            kept = votes[i, j]
            votes[i] = -1
            votes[i, j] = kept
        assert en.Consensus(random_state=0).fit(votes).n_clusters_ == 3


@pytest.mark.parametrize("name", ["LWPT", "ECMC"])
def test_methods_that_collapse_warn(name):
    truth = np.repeat([0, 1, 2], 30)
    votes = with_errors(truth, 10, 0.2, np.random.default_rng(1))
    votes[0, 0], votes[50, 0] = 100, 101
    with pytest.warns(
        en.UntrustedMethodWarning, match=f"{name} is unreliable on these votes: its 3"
    ):
        model = getattr(en, name)(3).fit(votes)
    default = en.Consensus(3, random_state=0).fit(votes)  # how far ECMC collapses differs by BLAS
    assert en.metrics.ari(truth, model.labels_) < en.metrics.ari(truth, default.labels_) - 0.2
    with pytest.warns(en.UntrustedMethodWarning, match=rf"{name} .* Use Consensus\(3\)\.$"):
        en.Consensus(3, method=name.lower()).fit(votes)
