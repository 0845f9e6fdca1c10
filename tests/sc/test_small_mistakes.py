"""Cases that tell tools for cells from such with a small mistake (tools/hand_mutants.toml)."""

import numpy as np
import pytest
from scipy import sparse

from ensemblage.sc import _ensemble, _leiden
from ensemblage.sc._leiden import Run, labels_of_run

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
