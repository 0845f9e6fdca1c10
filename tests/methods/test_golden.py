"""Against numbers from the authors' own program (see the README beside them)."""

import numpy as np
import pytest
from scipy.io import loadmat

import ensemblage as en
from ensemblage import metrics

RUNS = [f"{name}_e{i}" for name in ("MF", "IS", "ODR", "LS", "PD") for i in range(3)]


@pytest.fixture(scope="module", params=RUNS)
def run(request, data_folder):
    """Return an ensemble, the authors' numbers, and our row for each of theirs."""
    golden = np.load(data_folder / "golden" / f"{request.param}.npz")
    pool = loadmat(data_folder / "pools" / f"bc_pool_{request.param[:-3]}.mat")["members"]
    ensemble = en.Ensemble(pool[:, golden["bc_idx"]])
    _, first = np.unique(golden["mc_of_object"], return_index=True)
    return ensemble, golden, ensemble.microclusters.of_object[first]


def test_microclusters_and_links(run):
    ensemble, golden, ours = run
    np.testing.assert_array_equal(ensemble.microclusters.sizes[ours], golden["mc_sizes"])
    graph = en.flow.elite_graph(ensemble.microclusters.table, int(golden["K_demo"]))
    assert graph.nnz // 2 == golden["keng_links_demo"]
    every = en.flow.elite_graph(ensemble.microclusters.table, len(ours))
    assert every.nnz // 2 == golden["n_links"]


def test_trajectory_similarity(run):
    ensemble, golden, ours = run
    reach = int(golden["K_demo"])
    assert en.PTA(2).fit(ensemble).n_neighbors_ == reach
    found = en.trajectory_similarity(ensemble, reach, reach)[np.ix_(ours, ours)]
    sample = found[golden["pts_sample_i"], golden["pts_sample_j"]]
    np.testing.assert_allclose(sample, golden["pts_sample_val"], rtol=0, atol=1e-9)
    assert np.linalg.norm(found) == pytest.approx(float(golden["pts_fro"]), rel=1e-9)
    if "pts" in golden:
        np.testing.assert_allclose(found, golden["pts"], rtol=0, atol=1e-9)


def test_bipartite_graph_of_ptgp(run):
    ensemble, golden, ours = run
    B = en.PTGP(2, random_state=0).fit(ensemble)._transfer_cut._B
    assert B.shape == tuple(golden["ptgp_B_shape"])
    np.testing.assert_allclose(B.sum(axis=1)[ours], golden["ptgp_B_rowsum"], rtol=1e-9)
    assert np.linalg.norm(B) == pytest.approx(float(golden["ptgp_B_fro"]), rel=1e-9)


@pytest.mark.parametrize(
    ("linkage", "short"), [("average", "al"), ("complete", "cl"), ("single", "sl")]
)
def test_partitions_of_pta(run, linkage, short):
    """Equal at every k, except where the authors' own cut splits merges of tied height."""
    ensemble, golden, _ = run
    est = en.PTA(2, linkage=linkage).fit(ensemble)
    np.testing.assert_allclose(
        est.linkage_matrix_[:, 2], np.sort(golden[f"heights_{short}"]), atol=1e-9
    )
    for column, k in enumerate(golden["cls_nums"].tolist()):
        theirs = golden[f"labels_{short}"][:, column][golden["mc_of_object"]]
        if metrics.ari(est.cut(k), theirs) < 1:
            heights = est.linkage_matrix_[:, 2]
            assert golden[f"cut_gap_{short}"][column] < 1e-10  # a tie in their tree
            assert heights[-k + 1] - heights[-k] < 1e-10  # and in ours


def test_ptgp_lies_within_the_authors_spread(run):
    ensemble, golden, _ = run
    column = golden["cls_nums"].tolist().index(int(golden["true_k"]))
    of_object = golden["mc_of_object"]
    theirs = [labels[:, column][of_object] for labels in golden["ptgp_labels"]]
    among_them = [metrics.nmi(a, b) for i, a in enumerate(theirs) for b in theirs[:i]]
    est = en.PTGP(int(golden["true_k"]), random_state=0).fit(ensemble)
    with_us = [metrics.nmi(est.labels_, labels) for labels in theirs]
    assert max(with_us) > min(*among_them, 0.95)
