import numpy as np
import pytest

from ensemblage import flow


def blocks(sizes, between=0.05):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(0).random((len(labels), len(labels))) / 10
    Z = np.where(labels[:, None] == labels[None, :], 0.8, between) + (noise + noise.T) / 2
    np.fill_diagonal(Z, 1.0)
    return Z, labels


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", [[5, 5], [9, 3, 6], [4, 4, 4, 4, 20]])
def test_blocks_are_found_from_any_start(sizes, seed):
    Z, labels = blocks(sizes)
    cut = flow.NormalisedCut(Z)
    found = flow.discretise(cut.embedding(len(sizes)), np.random.default_rng(seed))
    assert len(set(zip(labels.tolist(), found.tolist(), strict=True))) == len(sizes)


def test_the_embedding_is_the_definition():
    Z, _ = blocks([4, 7], between=1e-9)
    Z[0, 5] = Z[5, 0] = 1e-7  # too weak to be a link
    cut = flow.NormalisedCut(Z)
    kept = np.where(Z < 1e-6, 0, Z)
    d = kept.sum(axis=1) + 1
    scaled = (kept + np.eye(11) / 2) / np.sqrt(np.outer(d, d))
    values, vectors = np.linalg.eigh(scaled)
    np.testing.assert_allclose(cut.eigenvalues(3), values[::-1][:3])
    rows = vectors[:, ::-1][:, :3] / np.sqrt(d)[:, None]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(cut.embedding(3)), np.abs(rows), atol=1e-9)


def test_more_parts_than_eigenvectors_of_the_first_batch():
    cut = flow.NormalisedCut(np.eye(50))
    assert cut.embedding(40).shape == (50, 40)
    assert cut.embedding(60).shape == (50, 50)
    found = flow.discretise(cut.embedding(50), np.random.default_rng(0))
    assert len(set(found.tolist())) == 50


def test_rows_without_direction_and_a_single_part():
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    found = flow.discretise(rows, np.random.default_rng(1))
    assert found[0] != found[2]
    assert flow.discretise(np.ones((3, 1)), np.random.default_rng(0)).tolist() == [0, 0, 0]


def test_shares_of_parts():
    table = np.array([[0, 0], [0, 1], [1, -1]], dtype=np.int32)
    shares = flow.part_shares(flow.membership(table), np.array([0, 2, 0, 2]))
    np.testing.assert_array_equal(shares, [[1, 0, 0], [0.5, 0, 0.5], [0, 0, 0.5]])
