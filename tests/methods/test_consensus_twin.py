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


@given(odd_votes(max_objects=14, max_clusterings=5), st.sampled_from(["auto", 1]))
@example(BELOW, 1)
@example(ABOVE, 1)
@example(ALONE, 1)
def test_the_graph_is_taken_where_it_agrees_better_by_a_fifth(votes, least_size):
    est = en.Consensus(1, min_cluster_size=least_size, random_state=0).fit(votes)
    for k in range(1, min(est.n_microclusters_, 6) + 1):
        of_object = est.microclusters_.of_object
        tree, graph = (part._cut_microclusters(k)[of_object] for part in (est._tree, est._graph))
        of_tree, of_graph = agreement(tree, votes), agreement(graph, votes)
        labels = est.cut(k)
        assert est._last.of_tree == pytest.approx(of_tree, abs=1e-7)
        assert est._last.of_graph == pytest.approx(of_graph, abs=1e-7)
        if abs(of_graph - 1.2 * of_tree) < 1e-7:
            continue
        expected = graph if of_graph > 1.2 * of_tree else tree
        event(est._last.method)
        np.testing.assert_array_equal(labels, pd.factorize(expected)[0])
