"""ECMC where the completion leaves nothing of some microclusters."""

import warnings

import numpy as np
import pytest
from planted import with_errors

import ensemblage as en
from ensemblage import flow

LINKAGES = ("average", "complete", "single")


def ensemble(seed):
    """Return votes with large groups, and small ones that are apart from everything."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2, 3, 4, 5], [40, 30, 20, 2, 1, 1])
    noisy = rng.random((len(truth), 8)) < 0.05
    return np.where(noisy, rng.integers(0, 6, noisy.shape), truth[:, None])


def fitted(votes, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return en.ECMC(3, penalty=None, **options).fit(votes)


def test_the_default_leaves_something_of_every_microcluster():
    est = en.ECMC(3).fit(ensemble(0))  # warnings are errors
    assert (est.similarity_.diagonal() > 0.05).all()


def test_vanished_microclusters_are_counted_in_a_warning():
    est = fitted(ensemble(0))
    n = int((est.similarity_.diagonal() < 0.05).sum())
    assert n == est.n_vanished_ > 0
    with pytest.warns(UserWarning, match=f"{n} of {est.n_microclusters_} microclusters vanished"):
        en.ECMC(3, penalty=None).fit(ensemble(0))


@pytest.mark.parametrize("level", ["microclusters", "objects"])
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("seed", [0, 1])
def test_vanished_join_the_cluster_they_agree_with_most(seed, linkage, level):
    votes = ensemble(seed)
    est = fitted(votes, linkage=linkage, level=level)
    groups = est.microclusters_
    order = np.argsort(flow.structure(groups.table, groups.sizes), kind="stable")  # decides ties
    kept = order[est.similarity_.diagonal()[order] >= 0.05]
    leaves = kept if level == "microclusters" else np.flatnonzero(np.isin(groups.of_object, kept))
    rows = leaves if level == "microclusters" else groups.of_object[leaves]
    sizes = groups.sizes[rows] if level == "microclusters" else None
    tree = flow.agglomerate(1 - est.similarity_[np.ix_(rows, rows)], linkage, sizes)
    for k in (1, 2, 3):
        labels = est.cut(k)
        of_leaf = flow.cut_tree(tree, k)
        expected = np.full(len(votes), -1)
        for leaf, label in zip(leaves, of_leaf, strict=True):
            members = groups.of_object == leaf if level == "microclusters" else leaf
            expected[members] = label
        linked = expected.copy()
        for i in np.flatnonzero(linked < 0):
            members = [linked == label for label in range(k)]
            keys = [(round((votes[m] == votes[i]).mean(), 12), m.sum()) for m in members]
            expected[i] = keys.index(max(keys))
        assert en.metrics.ari(labels, expected) == 1.0


def test_every_number_of_clusters_can_be_cut():
    est = fitted(ensemble(0))
    for k in range(1, est.n_microclusters_ + 1):
        assert len(np.unique(est.cut(k))) == k


def test_a_completion_that_leaves_nothing_at_all_is_linked_as_it_is():
    votes = np.arange(12).reshape(6, 2)
    est = en.ECMC(2, penalty=0.01).fit(votes)
    assert est.n_clusters_ == 2


@pytest.mark.parametrize("seed", range(3))
def test_rounding_errors_of_a_processor_do_not_decide_ties(seed, monkeypatch):
    truth = np.repeat([0, 1, 2], 30)
    votes = with_errors(truth, 10, 0.2, np.random.default_rng(1))
    votes[0, 0], votes[50, 0] = 100, 101  # their rows have similarities of 0, but for rounding
    exact, complete = en.ECMC(3).fit(votes), flow.complete

    def on_another_processor(*args, **options):
        done = complete(*args, **options)
        noise = np.random.default_rng(seed).normal(scale=1e-15, size=done.matrix.shape)
        return done._replace(matrix=done.matrix + noise + noise.T)

    monkeypatch.setattr(flow, "complete", on_another_processor)
    other = en.ECMC(3).fit(votes)
    assert np.array_equal(other.labels_, exact.labels_)
    assert np.array_equal(other.similarity_, exact.similarity_)
