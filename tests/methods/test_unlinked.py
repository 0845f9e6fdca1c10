"""Chance is never called certainty: groups that no vote links, and what methods make of them."""

import re
import warnings

import names
import numpy as np
import pytest

import ensemblage as en
from ensemblage import flow
from ensemblage.methods import _checks, _shared_clusters
from ensemblage.metrics import ari

#: Where the order of rows matters for single objects of the same structure, one of which is needed
#: for parts of equal size.
BY_ORDER = {"cspa": 0.9, "hgpa": 0.9}
#: Methods that may divide groups among their clusters where they join others.
DIVIDES = ("mcla", "median", "cspa", "hgpa")


def make(name, k):
    est = en.METHODS[name](k)
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    return est


def quiet(name, votes, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name, k).fit(votes)


def unlinked(rng, n_groups=40, n_members=8):
    """Return votes on groups that no clustering joins and most split, and the groups."""
    truth = np.repeat(np.arange(n_groups), rng.integers(4, 25, n_groups))
    halves = [2 * truth + (rng.random(len(truth)) < 0.2) for _ in range(n_members)]
    return np.column_stack([rng.permutation(2 * n_groups)[half] for half in halves]), truth


@pytest.mark.parametrize("name", [name for name in names.METHODS if name not in DIVIDES])
def test_a_clustering_that_joins_everything_decides_nothing(name):
    groups = np.repeat(np.arange(6), [20, 19, 18, 17, 16, 15])
    votes = np.column_stack([np.repeat(groups[:, None], 5, axis=1), np.zeros(len(groups), int)])
    with pytest.warns(en.UnlinkedGroupsWarning, match="into 6 groups, but 4 clusters"):
        est = make(name, 4).fit(votes)
    assert est.confidence_[joined_by_nobody(votes, est.labels_)].max() <= 0.1
    assert ari(quiet(name, votes[::-1], 4).labels_[::-1], est.labels_) == 1.0


def disputed(rng, n=3000):
    """Return votes of two clear clusters and a few objects that some clusterings move."""
    truth = np.repeat([0, 1], n // 2)
    votes = np.repeat(truth[:, None], rng.integers(3, 12), axis=1)
    moved = rng.choice(n, rng.integers(2, 9), replace=False)
    for row in moved:
        columns = rng.random(votes.shape[1]) < rng.uniform(0.1, 0.45)
        votes[row, columns] = 1 - votes[row, columns]
    return votes, truth


def joined_by_nobody(votes, labels):
    """Return which objects share a cluster mostly with objects that no vote links with them."""
    groups, _ = flow.microclusters(votes)
    group = flow.links_of(groups.table).of_row[groups.of_object]
    return np.array(
        [
            (group[labels == label] == own).mean() <= 0.5
            for own, label in zip(group, labels, strict=True)
        ]
    )


@pytest.mark.parametrize("seed", range(40))
def test_default_is_not_sure_of_what_no_member_joined(seed):
    rng = np.random.default_rng(seed)
    votes, truth = unlinked(rng)
    k = int(rng.integers(2, 40))
    with pytest.warns(en.UnlinkedGroupsWarning, match=f"into 40 groups, but {k} clusters"):
        est = en.Consensus(k, random_state=0).fit(votes)
    by_chance = joined_by_nobody(votes, est.labels_)
    assert by_chance.any()
    assert est.confidence_[by_chance].max() <= 0.5
    assert est.confidence_[by_chance].max() == 0
    assert en.metrics.ari(truth, est.cut(40)) == 1
    order = rng.permutation(len(votes))
    again = quiet("auto", votes[order], k)
    assert ari(again.labels_, est.labels_[order]) == 1


@pytest.mark.parametrize("seed", range(60))
def test_default_is_right_where_few_objects_are_disputed(seed):
    votes, truth = disputed(np.random.default_rng(seed))
    est = en.Consensus(2, random_state=0).fit(votes)
    assert ari(est.labels_, truth) > 0.99
    assert (est.labels_ == est.labels_[0]).sum() > 1400


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", ["pta", "ptgp"])
def test_walks_warn_where_they_fail_on_few_disputed_objects(name, seed):
    votes, truth = disputed(np.random.default_rng(seed))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        est = make(name, 2).fit(votes)
    untrusted = [w for w in caught if issubclass(w.category, en.UntrustedMethodWarning)]
    assert ari(est.labels_, truth) > 0.9 or untrusted


@pytest.mark.parametrize("name", names.METHODS)
def test_every_method_warns_and_has_no_confidence_in_chance(name):
    rng = np.random.default_rng(3)
    votes, _ = unlinked(rng, n_groups=12, n_members=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.UntrustedMethodWarning)
        with pytest.warns(en.UnlinkedGroupsWarning, match="into 12 groups, but 5 clusters"):
            est = make(name, 5).fit(votes)
    by_chance = joined_by_nobody(votes, est.labels_)
    assert by_chance.any()
    assert (est.confidence_[by_chance] == 0).all()
    sure = est.predict(votes[:10], return_confidence=True)[1]
    np.testing.assert_array_equal(sure, est.confidence_[:10])


@pytest.mark.parametrize("name", names.METHODS)
def test_order_of_rows_decides_nothing_but_where_the_definition_does(name):
    rng = np.random.default_rng(4)
    votes, _ = unlinked(rng, n_groups=12, n_members=5)
    one = quiet(name, votes, 5)
    order = rng.permutation(len(votes))
    agreement = ari(quiet(name, votes[order], 5).labels_, one.labels_[order])
    assert agreement >= BY_ORDER.get(name, 1.0)


@pytest.mark.parametrize("name", names.METHODS)
def test_order_of_rows_decides_nothing_between_groups_of_distinct_sizes(name):
    votes = np.repeat(np.arange(40), np.arange(3, 43))[:, None].repeat(4, axis=1)
    order = np.random.default_rng(0).permutation(len(votes))
    one, other = quiet(name, votes, 8), quiet(name, votes[order], 8)
    assert ari(other.labels_, one.labels_[order]) == 1


@pytest.mark.parametrize("name", ["ecmc", "cspa", "hgpa"])
@pytest.mark.parametrize("seed", range(6))
def test_order_of_rows_decides_nothing_on_clear_votes(name, seed):
    """80 objects, 95 % of the votes right; microclusters of one structure may still change."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 80)
    right = rng.random((80, 10)) < 0.95
    votes = np.where(right, truth[:, None], rng.integers(0, 4, (80, 10)))
    order = rng.permutation(80)
    one, other = quiet(name, votes, 4), quiet(name, votes[order], 4)
    assert ari(other.labels_, one.labels_[order]) == 1


def test_groups_of_one_structure_are_joined_by_first_appearance():
    """Nothing but names and places tells them apart, and names must not matter."""
    votes = np.repeat(np.arange(4), 5)[:, None].repeat(3, axis=1)
    first, last = quiet("eac", votes, 3).labels_, quiet("eac", votes[::-1], 3).labels_[::-1]
    assert ari(first, last) < 1


def test_one_cluster_and_enough_clusters_are_not_chance():
    votes = [[0, 0], [0, 1], [1, 2], [1, 2], [2, 3]]
    for k in (1, 3):
        en.Consensus(k).fit(votes)
    est = en.EAC(3).fit(votes)
    with pytest.warns(en.UnlinkedGroupsWarning, match="into 3 groups, but 2 clusters"):
        est.cut(2)


def test_a_stray_group_does_not_make_the_others_doubtful():
    votes = np.array([[0, 0]] * 30 + [[1, 1]] * 20 + [[2, 2]])
    with pytest.warns(en.UnlinkedGroupsWarning):
        est = en.Consensus(2).fit(votes)
    assert est.confidence_[-1] == 0
    assert est.confidence_[:50].min() > 0.9


def test_new_rows_are_as_doubtful_as_those_they_join():
    votes = np.array([[0, 0, 0]] * 4 + [[1, 1, 1]] * 4 + [[2, 2, 2]] * 5)
    with pytest.warns(en.UnlinkedGroupsWarning):
        est = en.LWGP(2, random_state=0).fit(votes)
    labels, sure = est.predict([[0, 0, 2], [2, 2, 0]], return_confidence=True)
    np.testing.assert_array_equal(labels, [est.labels_[0], est.labels_[-1]])
    assert sure[0] == 0
    assert sure[1] > 0.5
    with pytest.warns(en.UnlinkedGroupsWarning):
        est = en.EAC(2).fit(votes)
    new = [[0, 0, 0], [0, 0, 5], [1, 1, 5], [2, 2, 5]]  # 0 and 2 are joined, 4 objects and 5
    sure = est.predict(new, return_confidence=True)[1]
    np.testing.assert_allclose(sure, [0, 0, 1, 5 / 9 - 4 / 9])


@pytest.mark.parametrize("name", names.METHODS)
def test_refusals_name_only_methods_that_fit(name, monkeypatch):
    """Not the method itself, and not the one that it starts from."""
    votes = np.random.default_rng(0).integers(0, 10, (600, 20))
    votes[0, 0] = -1
    classes = {kind.__name__ for kind in en.METHODS.values()}
    for limit in (10_000, 1_000_000, 4_000_000, 5_700_000):
        monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(limit))
        try:
            quiet(name, votes, 3)
        except en.MemoryBudgetError as refused:
            advice = str(refused).partition("are available. ")[2]
            for other in classes.intersection(re.findall(r"\w+", advice)):
                if other != en.METHODS[name].__name__:
                    quiet(other.lower(), votes, 3)


@pytest.mark.parametrize(
    ("linkage", "most", "helps"),
    [("average", 600, False), ("complete", 600, False), ("complete", 100, True)],
)
@pytest.mark.parametrize("name", ["eac", "weac", "lwea"])
def test_average_link_is_no_advice_where_it_compares_pairs(name, linkage, most, helps, monkeypatch):
    votes = np.random.default_rng(0).integers(0, 10, (600, 5))
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1MB")
    monkeypatch.setattr(_shared_clusters, "MOST_PAIRED", most)
    with pytest.raises(en.MemoryBudgetError) as refused:
        make(name, 3).set_params(linkage=linkage).fit(votes)
    assert ("Average link" in str(refused.value)) == helps


def test_advice_names_only_methods_that_fit(monkeypatch):
    votes = np.random.default_rng(0).integers(0, 10, (600, 20))
    votes[0, 0] = -1  # then the tree needs all pairs
    need = dict(_checks._needs(quiet("eac", votes, 3)))
    order = sorted(need, key=need.get)
    assert max(need.values()) < 72 * 600**2
    for n_fitting, limit in enumerate([1, *sorted(need.values())]):
        monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(limit))
        with pytest.raises(en.MemoryBudgetError) as refused:
            make("ecmc", 3).fit(votes)
        named = [name for name in order if name in str(refused.value)]
        assert named == order[:n_fitting]
        for name in named:
            quiet(name.lower(), votes, 3)
    assert "LWGP and PTGP need no such matrix." in str(refused.value)


def with_outliers(*sizes):
    """Three groups of fifty objects, divided in different ways, and groups with nothing shared."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    votes = np.column_stack([truth * q + rng.integers(0, q, 150) for q in (1, 2, 3, 1, 2)])
    outliers = 50 + np.repeat(np.arange(len(sizes)), sizes)
    return np.vstack([votes, outliers[:, None].repeat(5, axis=1)])


@pytest.mark.parametrize("sizes", [(1,), (1, 1), (2, 4)])
def test_advice_for_groups_below_the_least_size_works(sizes):
    votes, k = with_outliers(*sizes), 3 + len(sizes)
    with pytest.warns(en.UnlinkedGroupsWarning, match=f"from {k} up with min_cluster_size=1,"):
        en.Consensus(3, min_cluster_size=0.2).fit(votes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        est = en.Consensus(k, min_cluster_size=1).fit(votes)
    assert sorted(np.bincount(est.labels_)) == sorted([50, 50, 50, *sizes])


def test_groups_with_a_cluster_each_need_no_other_least_size():
    votes = with_outliers(8)
    with pytest.warns(en.UnlinkedGroupsWarning, match="from 4 up, or add"):
        en.Consensus(3, random_state=0).fit(votes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        en.Consensus(4, random_state=0).fit(votes)
