"""Cases that tell tools for cells from such with a small mistake (tools/hand_mutants.toml)."""

import numpy as np
import pytest
from scipy import sparse

import ensemblage as en
from ensemblage.sc import _columns, _ensemble, _leiden
from ensemblage.sc._leiden import Run, labels_of_run
from ensemblage.sc._memberships import memberships

RUN = Run("r", 1.0, 0, 0.5, 2, "igraph")


def test_every_resolution_and_seed_draws_its_own_cells():
    runs = [RUN, RUN._replace(resolution=0.5), RUN._replace(seed=1)]
    drawn = [_leiden._drawn(100, run).tolist() for run in runs]
    assert drawn == [_leiden._drawn(100, run).tolist() for run in runs]
    assert all(len(set(cells)) == 50 for cells in drawn)
    assert drawn[0] != drawn[1]
    assert drawn[0] != drawn[2]


def test_seeds_and_weights_reach_leiden():
    pytest.importorskip("igraph")
    rng = np.random.default_rng(0)
    graph = sparse.triu(sparse.random(200, 200, 0.05, rng=rng, data_rvs=rng.random), k=1).tocsr()
    whole = RUN._replace(subsample=None)
    found = {tuple(labels_of_run(graph, whole._replace(seed=seed))) for seed in range(4)}
    assert len(found) > 1
    plain = graph.copy()
    plain.data[:] = 1.0
    assert labels_of_run(graph, whole).tolist() != labels_of_run(plain, whole).tolist()


def test_one_direction_of_an_edge_is_enough(monkeypatch):
    """A graph given below the diagonal has the edges of one given above it."""
    ad = pytest.importorskip("anndata")
    pytest.importorskip("igraph")
    seen = []
    monkeypatch.setattr(
        _ensemble,
        "labels_of_run",
        lambda graph, _: seen.append(graph.toarray()) or np.zeros(4, int),
    )
    lower = sparse.csr_matrix(np.tril(np.arange(16.0).reshape(4, 4), -1))
    for graph in (lower, lower.T.tocsr()):
        cells = ad.AnnData(np.zeros((4, 1), dtype=np.float32))
        cells.obsp["connectivities"] = graph
        _ensemble.leiden_ensemble(cells, 1, 1, n_jobs=1, progress=False)
    np.testing.assert_array_equal(seen[0], seen[1])
    assert seen[0].sum() == lower.sum()


def test_a_graph_with_other_weights_is_another_graph():
    graph = sparse.csr_matrix(np.triu(np.ones((4, 4)), 1))
    assert _ensemble._digest(graph) == _ensemble._digest(graph.copy())
    assert _ensemble._digest(graph) != _ensemble._digest(2 * graph)


def test_clusters_are_numbered_by_size_and_then_by_appearance():
    labels = np.array([7, 7, 3, 5, 5, 5, 3, -1])
    assert _ensemble._column(labels, None, 8).codes.tolist() == [2, 2, 1, 0, 0, 0, 1, -1]
    some = _ensemble._column(labels[:3], np.array([4, 1, 2]), 6)
    assert some.codes.tolist() == [-1, 0, 1, -1, 0, -1]


def test_connectivities_and_memberships_go_by_the_weights():
    ad = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    cells = ad.AnnData(np.zeros((40, 1), dtype=np.float32))
    truth = np.arange(40) % 2
    votes = np.column_stack([truth, truth, rng.integers(0, 2, 40)])
    for m, column in enumerate(votes.T):
        cells.obs[f"m{m}"] = column.astype(str)
    graph = sparse.csr_matrix(np.triu(np.ones((40, 40), dtype=np.float32), 1))
    cells.obsp["connectivities"] = graph
    weight = [1.0, 1.0, 6.0]
    en.sc.tl.consensus(cells, ["m0", "m1", "m2"], n_clusters=2, method="eac", member_weight=weight)
    expected = en.graph.edge_agreement(votes, graph, weight)
    plain = en.graph.edge_agreement(votes, graph)
    found = cells.obsp["consensus_connectivities"]
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-6)
    assert np.abs(plain.toarray() - expected.toarray()).max() > 0.1
    labels = cells.obs["consensus"].astype(int).to_numpy()
    together = np.zeros((40, 2))
    for column, w in zip(votes.T, weight, strict=True):
        for label in range(2):
            together[:, label] += w * (column[:, None] == column[labels == label]).mean(axis=1)
    shares = together / together.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(cells.obsm["consensus_memberships"], shares)


def test_groups_are_ordered_by_their_numbers_and_nan_is_not_a_group():
    import pandas as pd

    assert _columns.natural_order(["10", "9", "T,10", "T,9"]) == ["9", "10", "T,9", "T,10"]
    obs = pd.DataFrame({"g": ["nan", np.nan, "a", np.nan]})
    assert _columns.restricted(obs, ("g", ["nan"])).tolist() == [0]


def test_missing_votes_are_no_votes_against_a_cluster():
    """Two clusterings say that cell 0 is with its cluster; one of them voted on half the cells."""
    votes = np.array([[0, 0], [0, 0], [0, -1], [0, -1], [1, 1], [1, 1], [1, -1], [1, -1]])
    shares = memberships(en.EAC(2).fit(votes))
    np.testing.assert_allclose(shares, np.eye(2)[[0] * 4 + [1] * 4])
    votes[0] = [0, 1]
    shares = memberships(en.EAC(2).fit(votes))
    np.testing.assert_allclose(shares[0], [0.6, 0.4])  # 1 + 1/2 and 0 + 1
