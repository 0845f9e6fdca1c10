"""The elite graph in which not all pairs are compared, against a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.flow import elite_groups
from ensemblage.testing.strategies import votes

STRIP = 64


def noisy_table(seed, n=500, n_clusterings=12, n_groups=4, noise=0.3):
    """Return different rows of noisy copies of planted groups."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_groups, n)
    matrix = np.tile(truth[:, None], n_clusterings)
    wrong = rng.random(matrix.shape) < noise
    matrix[wrong] = rng.integers(0, n_groups, wrong.sum())
    return flow.microclusters(matrix)[0]


def searched(table, sizes, n_groups, n_candidates):
    """Return which pairs of rows are compared: row by row, without kernels."""
    n = len(table)
    ones = np.ones(int((table.max(axis=0) + 1).sum()))
    leaders = flow.leader_rows(table, sizes, ones, n_groups)
    agreement = (table[:, None] == table[leaders]).sum(axis=2)
    group = agreement.argmax(axis=1)
    group[leaders] = np.arange(len(leaders))
    order = np.argsort(group, kind="stable")
    strips = [order[start : start + STRIP] for start in range(0, n, STRIP)]
    compared = np.zeros((n, n), dtype=bool)
    for strip in strips:
        means = [
            (table[strip][:, None] == table[group == g]).sum() / (group == g).sum()
            for g in range(len(leaders))
        ]
        ranked = np.argsort(-np.array(means), kind="stable")
        # A strip belongs to the group of its first row.
        chosen = [other for g in ranked for other in strips if group[other[0]] == g]
        for other in chosen[: -(-n_candidates // STRIP)]:
            compared[np.ix_(strip, other)] = True
    return compared


def slow_graph(table, n_neighbors, compared):
    """Return the union of the nearest of the compared rows and its transpose."""
    counts = (table[:, None] == table).sum(axis=2)
    counts[~compared] = 0
    np.fill_diagonal(counts, 0)
    thresholds = -np.sort(-counts, axis=1)[:, n_neighbors - 1]
    own = np.where((counts >= thresholds[:, None]) & (counts > 0), counts, 0)
    return np.maximum(own, own.T) / table.shape[1], own


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([64, 128, 200, 300]))
def test_graph_is_that_of_the_slow_twin(seed, n_groups, n_candidates):
    table, sizes, _ = noisy_table(seed, n=300)
    wanted, _ = slow_graph(table, 5, searched(table, sizes, n_groups, n_candidates))
    found = flow.large_elite_graph(
        table, sizes, 5, most_pairs=0, n_groups=n_groups, n_candidates=n_candidates
    )
    np.testing.assert_array_equal(found.graph.toarray(), wanted)


@given(st.integers(0, 2**32 - 1), st.sampled_from([64, 128, 256]))
def test_captured_is_the_share_of_all_neighbours_that_were_found(seed, n_candidates):
    table, sizes, _ = noisy_table(seed, n=300)  # few enough for all to be sampled
    everything = np.ones((len(table), len(table)), dtype=bool)
    _, own = slow_graph(table, 5, everything)
    _, found = slow_graph(table, 5, searched(table, sizes, 4, n_candidates))
    result = flow.large_elite_graph(
        table, sizes, 5, most_pairs=0, n_groups=4, n_candidates=n_candidates
    )
    assert result.captured == pytest.approx(((own > 0) & (found > 0)).sum() / (own > 0).sum())


@given(votes(max_objects=40, gaps=False), st.integers(1, 6))
def test_with_all_rows_as_candidates_the_graph_is_exact(matrix, n_neighbors):
    table, sizes, _ = flow.microclusters(matrix)[0]
    exact = flow.elite_graph(table, n_neighbors)
    found = flow.large_elite_graph(table, sizes, n_neighbors, most_pairs=0)
    assert (found.graph != exact).nnz == 0
    assert found.captured in (1.0, None)  # None if no pair has to be compared


def test_the_number_of_threads_does_not_matter():
    table, sizes, _ = noisy_table(3, n=2000)
    one, three = (
        flow.large_elite_graph(
            table, sizes, 10, most_pairs=0, n_groups=8, n_candidates=512, n_jobs=n_jobs
        )
        for n_jobs in (1, 3)
    )
    assert (one.graph != three.graph).nnz == 0
    assert one.captured == three.captured
    assert 0.5 < one.captured < 1.0


def test_few_or_well_separated_rows_are_compared_exactly():
    table, sizes, _ = noisy_table(4)
    assert flow.large_elite_graph(table, sizes, 5).captured is None
    # All pairs would be too many, but the search skips most of them.
    digits = np.arange(4096)[:, None] // 4 ** np.arange(6) % 4
    ordered = flow.microclusters(np.hstack([digits[:, ::-1]] * 3))[0]
    n = len(ordered.table)
    sample = elite_groups._sample(elite_groups.vote_strips(ordered.table), 3, 1)
    assert sample.compared < 0.5
    found = flow.large_elite_graph(ordered.table, ordered.sizes, 3, most_pairs=0.5 * n * n)
    assert found.captured is None
    assert (found.graph != flow.elite_graph(ordered.table, 3)).nnz == 0
