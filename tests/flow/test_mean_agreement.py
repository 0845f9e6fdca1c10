"""Mean agreement of rows over pairs of votes, compared with its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ensemblage as en
from ensemblage import flow
from ensemblage.testing.strategies import votes


def by_definition(some, table, columns, weight, members):
    ends = np.append(0, np.cumsum(table.max(axis=0) + 1))
    sums = np.zeros((len(some), columns.shape[1]))
    for i, row in enumerate(some):
        for c in range(columns.shape[1]):
            agreed = both = 0.0
            for j, other in enumerate(table):
                for m in range(table.shape[1]):
                    if row[m] >= 0 and other[m] >= 0:
                        both += members[m] * columns[j, c]
                        if row[m] == other[m]:
                            agreed += weight[ends[m] + row[m]] * columns[j, c]
            sums[i, c] = columns[:, c].sum() * agreed / both if both > 0 else 0.0
    return sums


@given(votes(), st.integers(0, 2**32 - 1))
def test_it_is_a_quotient_of_sums(matrix, seed):
    rng = np.random.default_rng(seed)
    table = en.microclusters(matrix).table
    columns = rng.integers(0, 3, (len(table), 2)).astype(float)
    weight = rng.random(int((table.max(axis=0) + 1).sum()))
    members = rng.random(table.shape[1])
    some = table[:3]
    found = flow.mean_agreement_sums(some, table, columns, weight, members)
    np.testing.assert_allclose(found, by_definition(some, table, columns, weight, members))


def test_without_gaps_it_is_the_coassociation():
    rng = np.random.default_rng(0)
    table = en.microclusters(rng.integers(0, 3, (70, 5))).table
    columns = rng.random((len(table), 3))
    found = flow.mean_agreement_sums(table, table, columns, n_jobs=2)
    np.testing.assert_allclose(found, flow.coassociation(table) @ columns)
    assert flow.mean_agreement_sums(table[:0], table, columns).shape == (0, 3)


def test_confidence_of_many_rows_with_gaps_is_close_to_the_exact_one(monkeypatch):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 500)
    matrix = np.where(rng.random((500, 20)) < 0.3, rng.integers(0, 4, (500, 20)), truth[:, None])
    matrix[rng.random(matrix.shape) < 0.15] = -1
    exact = en.EAC(4).fit(matrix).confidence_
    monkeypatch.setattr("ensemblage.methods._fitted.MOST_WITH_GAPS", 100)
    assert np.abs(en.EAC(4).fit(matrix).confidence_ - exact).max() < 0.02


@given(votes(), st.integers(0, 2**32 - 1))
def test_sums_of_clusters_are_those_of_the_membership(matrix, seed):
    table = en.microclusters(matrix).table
    columns = np.random.default_rng(seed).integers(0, 3, (len(table), 2)).astype(float)
    expected = flow.membership(table).T @ columns
    np.testing.assert_array_equal(flow.cluster_sums(table, columns), expected)
    np.testing.assert_array_equal(flow.cluster_sums(table, csr_array(columns)), expected)
