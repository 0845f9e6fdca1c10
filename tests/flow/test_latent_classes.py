"""Latent classes: worked numbers, a twin on objects, and a likelihood that never falls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import ensemblage as en
from ensemblage import flow
from ensemblage.flow.latent_classes import FLOOR, expect, latent_classes, maximise, softened
from ensemblage.testing.strategies import odd_votes, votes

W = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)


def twin_round(matrix, posterior, weight):
    """Return a round on objects from the definition: w, P by member and label, R, ln L."""
    n, k = posterior.shape
    shares = posterior.sum(axis=0) / n
    chances = {}
    for m, column in enumerate(matrix.T):
        labels = sorted(set(column[column >= 0].tolist()))
        counts = {u: posterior[column == u].sum(axis=0) + FLOOR for u in labels}
        total = sum(counts.values())
        chances |= {(m, u): counts[u] / total for u in labels}
    logs = np.zeros((n, k))
    for i in range(n):
        for c in range(k):
            logs[i, c] = np.log(shares[c]) + sum(
                weight[m] * np.log(chances[m, u][c]) for m, u in enumerate(matrix[i]) if u >= 0
            )
    whole = logsumexp(logs, axis=1)
    return shares, chances, np.exp(logs - whole[:, None]), whole.sum()


def parts(matrix, weight=None):
    groups = en.microclusters(matrix)
    members, owner = flow.membership(groups.table).tocsr(), flow.owners(groups.table)
    counted = members
    if weight is not None:
        counted = flow.membership(groups.table, np.asarray(weight, float)[owner]).tocsr()
    return groups, members, counted, owner


def test_worked_rounds():
    groups, members, counted, owner = parts(W)
    start = softened(np.array([0, 0, 0, 1, 1, 1]), 2)
    rounds = [
        latent_classes(members, counted, owner, groups.sizes, start, max_iter=n, tol=0)
        for n in (1, 2, 3)
    ]
    totals = [mixture.log_likelihoods[-1] for mixture in rounds]
    np.testing.assert_allclose(totals, [-16.499496, -15.622319, -15.589094], atol=5e-7)
    np.testing.assert_allclose(rounds[0].weights, [0.5, 0.5])
    # rows 5 and 6 of the specification are in order of labels, here of appearance
    first = [0.998511, 0.999854, 0.994882, 0.001489, 0.000146, 0.005118]
    np.testing.assert_allclose(rounds[0].posterior[:, 0], first, atol=5e-7)
    second = [0.999999, 1, 0.999989, 0.000001, 0, 0.000011]
    np.testing.assert_allclose(rounds[1].posterior[:, 0], second, atol=5e-7)


@given(matrix=votes(max_objects=12), data=st.data())
def test_rounds_are_those_of_the_objects(matrix, data):
    k = data.draw(st.integers(1, 4))
    n_members = matrix.shape[1]
    weight = data.draw(st.lists(st.integers(1, 3), min_size=n_members, max_size=n_members))
    groups, members, counted, owner = parts(matrix, weight)
    rows = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(
        np.ones(k), size=len(groups.sizes)
    )
    shares, chances, expected, total = twin_round(matrix, rows[groups.of_object], weight)
    found_shares, found_chances = maximise(members, owner, groups.sizes, rows)
    posterior, logs = expect(counted, found_shares, found_chances)
    np.testing.assert_allclose(found_shares, shares, atol=1e-12)
    for m in range(n_members):
        own = found_chances[owner == m]
        np.testing.assert_allclose(own.sum(axis=0), 1.0 if len(own) else 0.0)
    assert len(found_chances) == len(chances)
    np.testing.assert_allclose(posterior[groups.of_object], expected, atol=1e-9)
    assert groups.sizes @ logs == pytest.approx(total, rel=1e-12, abs=1e-9)


@given(matrix=odd_votes(max_objects=16), data=st.data())
def test_the_likelihood_never_falls(matrix, data):
    """With the floor it is the penalised one that cannot fall; a class that starts again may."""
    k = data.draw(st.integers(1, 5))
    n_members = matrix.shape[1]
    weight = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=n_members, max_size=n_members))
    )
    groups, members, counted, owner = parts(matrix, weight)
    labels = np.random.default_rng(data.draw(st.integers(0, 99))).integers(
        -1, k, size=len(groups.sizes)
    )
    rows, before = softened(labels, k), -np.inf
    for _ in range(25):
        shares, chances = maximise(members, owner, groups.sizes, rows)
        rows, logs = expect(counted, shares, chances)
        total = groups.sizes @ logs + FLOOR * (weight[owner] @ np.log(chances)).sum()
        assert total >= before - 1e-9 * abs(total) - 1e-12
        before = total


def test_a_class_without_objects_starts_again_where_most_are_undecided():
    """The third class starts with nothing; the row between the others is not sure of either."""
    matrix = np.repeat([[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]], [20, 20, 6], axis=0)
    groups, members, counted, owner = parts(matrix)
    start = np.zeros((3, 3))
    start[[0, 1, 2], [0, 1, 0]] = 1
    start[2, :2] = 0.5
    mixture = latent_classes(members, counted, owner, groups.sizes, start, max_iter=100, tol=1e-7)
    assert mixture.posterior.argmax(axis=1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(mixture.weights, [20 / 46, 20 / 46, 6 / 46], atol=1e-3)
    assert mixture.converged


def test_a_class_that_empties_twice_stays_empty():
    """Two kinds of rows are two classes; a third may hold a share of one, but no more than that."""
    matrix = np.repeat([[0, 0], [1, 1]], 10, axis=0)
    groups, members, counted, owner = parts(matrix)
    start = np.column_stack([np.eye(2), np.zeros(2)])
    mixture = latent_classes(members, counted, owner, groups.sizes, start, max_iter=50, tol=1e-7)
    assert np.isfinite(mixture.posterior).all()
    np.testing.assert_allclose(mixture.posterior.sum(axis=1), 1.0)
    assert len(mixture.log_likelihoods) < 50


def test_rounds_are_at_most_so_many():
    groups, members, counted, owner = parts(W)
    start = softened(np.array([0, 0, 0, 1, 1, 1]), 2)
    mixture = latent_classes(members, counted, owner, groups.sizes, start, max_iter=2, tol=1e-7)
    assert len(mixture.log_likelihoods) == 2
    assert not mixture.converged
