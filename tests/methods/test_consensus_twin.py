"""The choice of `Consensus` between its tree and its graph, by the slow twin of that rule."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

import ensemblage as en
from ensemblage.testing.strategies import odd_votes

pytestmark = [
    pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning"),
    pytest.mark.filterwarnings("ignore::ensemblage.TransposedVotesWarning"),
    pytest.mark.filterwarnings("ignore::ensemblage.UnlinkedGroupsWarning"),
]
#: At k = 2 the agreement of the graph is 1.184 and 1.226 times that of the tree.
BELOW = np.repeat([[1, 1, 1, 2], [1, 2, 2, 2], [2, 1, 1, 1], [2, 2, 2, 0]], [1, 2, 3, 4], axis=0)
ABOVE = np.repeat([[0, 1, 1], [0, 2, 2], [2, 1, 0], [2, 2, 0]], [3, 8, 1, 1], axis=0)
#: Every clustering splits the first 32 objects in its way, and two join the last two fives.
UNEQUAL = np.concatenate(
    [
        np.repeat(np.random.default_rng(0).integers(0, 3, (8, 5)), 4, axis=0),
        np.repeat([[4, 4, 4, 4, 4], [4, 4, 5, 5, 5]], 5, axis=0),
    ]
)
#: The graph's clusters, of 6 and 12 objects, are much surer, but not of very different size.
ALIKE = np.repeat(
    [
        [3, 0, 2],
        [1, 2, 3],
        [1, 0, 3],
        [0, 3, 0],
        [1, 0, 0],
        [0, 3, 1],
        [2, 3, 1],
        [1, 1, 2],
        [1, 1, 1],
    ],
    2,
    axis=0,
)
#: The first clustering leaves every object alone.
ALONE = np.column_stack([np.arange(10), np.arange(10) % 2, np.arange(10) % 3])


def counted(votes):
    """Return the clusterings that count: not those that leave each of ten objects or more alone."""
    voted = [column[column >= 0] for column in votes.T]
    alone = np.array([len(own) >= 10 and len(set(own)) == len(own) for own in voted])
    return votes.T if alone.all() else votes.T[~alone]


def agreement(labels, votes):
    return np.mean(
        [
            normalized_mutual_info_score(
                column[column >= 0], labels[column >= 0], average_method="geometric"
            )
            for column in counted(votes)
            if (column >= 0).any()
        ]
    )


def mean_confidence(labels, votes):
    """Return the mean over objects of (a - b) / max(a, b), from pairs of objects."""
    values = []
    for i, own in enumerate(labels):
        shares = {}
        for j, other in enumerate(labels):
            both = (votes[i] >= 0) & (votes[j] >= 0)
            share = (votes[i] == votes[j])[both].mean() if both.any() else 0.0
            if i != j:
                shares.setdefault(other, []).append(share)
        a = np.mean(shares.pop(own, [0.0]))
        b = max((np.mean(some) for some in shares.values()), default=0.0)
        values.append(max(0.0, (a - b) / max(a, b)) if max(a, b) > 0 else 0.0)
    return np.mean(values)


def surer(tree, graph, votes):
    """Return what the graph's confidence lacks to 1 over that of the tree; None if not judged."""
    sizes = np.bincount(graph)
    if len(sizes) == 1 or len(sizes) < tree.max() + 1 or not 5 <= sizes.min() <= sizes.mean() / 4:
        return None
    lacks = [1.0 - mean_confidence(labels, votes) for labels in (tree, graph)]
    return lacks[1] / lacks[0] if lacks[0] >= 0.05 else None


@given(odd_votes(max_objects=14, max_clusterings=5), st.sampled_from(["auto", 1]))
@example(BELOW, 1)
@example(ABOVE, 1)
@example(ALONE, 1)
@example(UNEQUAL, "auto")
@example(ALIKE, "auto")
@example(np.repeat([[0, 0], [0, 1], [1, 2]], [5, 5, 6], axis=0), 1)
def test_the_graph_is_taken_where_it_agrees_better_or_is_surer(votes, least_size):
    est = en.Consensus(1, min_cluster_size=least_size, random_state=0).fit(votes)
    for k in range(1, min(est.n_microclusters_, 6) + 1):
        of_object = est.microclusters_.of_object
        tree, graph = (part._cut_microclusters(k)[of_object] for part in (est._tree, est._graph))
        of_tree, of_graph = agreement(tree, votes), agreement(graph, votes)
        labels = est.cut(k)
        assert est._last.of_tree == pytest.approx(of_tree, abs=1e-7)
        assert est._last.of_graph == pytest.approx(of_graph, abs=1e-7)
        lacking = surer(tree, graph, votes)
        if abs(of_graph - 1.2 * of_tree) < 1e-7 or (lacking and abs(lacking - 0.6) < 1e-7):
            continue
        sure = lacking is not None and lacking < 0.6
        expected = graph if of_graph > 1.2 * of_tree or sure else tree
        event(est._last.method)
        np.testing.assert_array_equal(labels, pd.factorize(expected)[0])
