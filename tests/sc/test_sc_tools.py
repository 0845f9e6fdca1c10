"""Leiden runs and their consensus in objects of single-cell packages."""

import random
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

import ensemblage as en
from ensemblage.sc import _ensemble, _leiden
from ensemblage.sc._memberships import memberships
from ensemblage.testing import strategies as own

ad = pytest.importorskip("anndata")
pytest.importorskip("igraph")

TRUTH = np.repeat(np.arange(3), 40)


@pytest.fixture
def adata():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(120, 4)).astype(np.float32) + 4 * np.eye(3, 4)[TRUTH]
    made = ad.AnnData(cells, obs=pd.DataFrame(index=[f"cell{i}" for i in range(120)]))
    made.obs["type"] = pd.Categorical(np.array(["B", "T", "NK"])[TRUTH])
    made.obsp["connectivities"] = kneighbors_graph(cells, 8)
    made.obsm["X_pca"] = cells
    return made


def columns(adata, prefix="leiden_ensemble_"):
    return [name for name in adata.obs if name.startswith(prefix)]


# -- leiden_ensemble -------------------------------------------------------------------------------


def test_a_column_for_each_resolution_and_seed(adata):
    en.sc.tl.leiden_ensemble(adata, [0.5, 2], seeds=[3, 7])
    names = [f"leiden_ensemble_{run}" for run in ("r0.5_s3", "r0.5_s7", "r2_s3", "r2_s7")]
    assert columns(adata) == names == adata.uns["leiden_ensemble"]["keys"]
    assert adata.uns["leiden_ensemble"]["resolutions"] == [0.5, 0.5, 2, 2]
    assert adata.uns["leiden_ensemble"]["seeds"] == [3, 7, 3, 7]
    sizes = adata.obs[names[-1]].value_counts(sort=False).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > adata.obs[names[0]].nunique()


def test_equal_seeds_give_equal_labels_and_other_random_numbers_are_left_alone(adata):
    random.seed(5)
    expected = random.random()
    random.seed(5)
    again = en.sc.tl.leiden_ensemble(adata, 1, seeds=4, copy=True)
    assert random.random() == expected
    assert not columns(adata)
    en.sc.tl.leiden_ensemble(adata, 1, seeds=[3, 2], n_jobs=2)
    for name in columns(adata):
        assert adata.obs[name].tolist() == again.obs[name].tolist()


def test_a_run_is_the_partition_that_igraph_finds(adata):
    import igraph

    en.sc.tl.leiden_ensemble(adata, 1, seeds=1)
    matrix = adata.obsp["connectivities"]
    rows, cols = sparse.triu(matrix.maximum(matrix.T), k=1).nonzero()
    graph = igraph.Graph(n=120, edges=list(zip(rows.tolist(), cols.tolist(), strict=True)))
    own_quality = graph.modularity(adata.obs["leiden_ensemble_r1_s0"].cat.codes.tolist())
    best = graph.community_leiden("modularity", n_iterations=-1).modularity
    assert own_quality == pytest.approx(best, abs=0.02)


def test_cells_that_are_not_drawn_have_no_label(adata):
    en.sc.tl.leiden_ensemble(adata, 1, seeds=8, subsample=0.75)
    missing = adata.obs[columns(adata)].isna()
    assert missing.sum().tolist() == [30] * 8
    assert missing.sum(axis=1).max() < 8
    en.sc.tl.consensus(adata, n_clusters=3)
    assert en.metrics.ari(TRUTH, adata.obs["consensus"]) > 0.9


def test_an_interrupted_call_keeps_what_was_finished(adata, monkeypatch):
    made = []

    def interrupted(graph, run):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(run.name)
        return _leiden.labels_of_run(graph, run)

    monkeypatch.setattr(_ensemble, "labels_of_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        en.sc.tl.leiden_ensemble(adata, 1, seeds=4)
    assert columns(adata) == made == adata.uns["leiden_ensemble"]["keys"]
    monkeypatch.setattr(_ensemble, "labels_of_run", lambda _, run: made.append(run.name) or TRUTH)
    en.sc.tl.leiden_ensemble(adata, 1, seeds=4)
    assert columns(adata) == made
    assert len(made) == 4


def test_a_call_with_more_seeds_makes_the_missing_runs_only_also_after_a_file(
    adata, tmp_path, monkeypatch
):
    en.sc.tl.leiden_ensemble(adata, [0.5, 1], seeds=2, subsample=0.9, restrict_to=("type", ["B"]))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    made = []
    monkeypatch.setattr(
        _ensemble, "labels_of_run", lambda _, run: made.append(run.name) or TRUTH[:40]
    )
    en.sc.tl.leiden_ensemble(again, [0.5, 1], 3, subsample=0.9, restrict_to=("type", ["B"]))
    assert made == ["leiden_ensemble_r0.5_s2", "leiden_ensemble_r1_s2"]
    assert len(again.uns["leiden_ensemble"]["keys"]) == 6


def test_another_graph_replaces_all_runs(adata):
    en.sc.tl.leiden_ensemble(adata, 1, seeds=3)
    before = adata.uns["leiden_ensemble"]["params"]["graph"]
    adata.obsp["connectivities"] = kneighbors_graph(adata.obsm["X_pca"], 20)
    en.sc.tl.leiden_ensemble(adata, 1, seeds=2)
    assert len(columns(adata)) == 2
    assert adata.uns["leiden_ensemble"]["params"]["graph"] != before


def test_graphs_by_another_name(adata):
    adata.obsp["other"] = adata.obsp["connectivities"]
    adata.uns["mine"] = {"connectivities_key": "other"}
    del adata.obsp["connectivities"]
    for key in ("mine", "other"):
        en.sc.tl.leiden_ensemble(adata, 1, 1, neighbors_key=key, key_added=key)
    assert adata.obs["mine_r1_s0"].tolist() == adata.obs["other_r1_s0"].tolist()
    with pytest.raises(ValueError, match=r"no 'connectivities' in adata\.obsp\. Run scanpy\.pp"):
        en.sc.tl.leiden_ensemble(adata, 1, 1)
    with pytest.raises(ValueError, match="no neighbour graph under neighbors_key='nothing'"):
        en.sc.tl.consensus(adata, "mine_", neighbors_key="nothing")


def test_a_graph_that_is_still_in_a_file(adata, tmp_path):
    h5py = pytest.importorskip("h5py")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    en.sc.tl.leiden_ensemble(adata, 1, 1)
    with h5py.File(tmp_path / "cells.h5ad") as file:
        stored = ad.io.sparse_dataset(file["obsp/connectivities"])
        lazy = SimpleNamespace(
            obs=adata.obs[["type"]].copy(), uns={}, obsp={"connectivities": stored}, copy=None
        )
        en.sc.tl.leiden_ensemble(lazy, 1, 1)
    name = "leiden_ensemble_r1_s0"
    assert lazy.obs[name].tolist() == adata.obs[name].tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"resolutions": 0}, "'resolutions' parameter of leiden_ensemble must be a number above 0"),
        ({"resolutions": [1, 1.0]}, "differ in their first six digits"),
        ({"resolutions": []}, "differ in their first six digits"),
        ({"seeds": 0}, "'seeds' parameter of leiden_ensemble must be a whole number from 1 to"),
        ({"seeds": [1, 1]}, "must be different integers"),
        ({"subsample": 0}, "must be a number above 0 and up to 1"),
        ({"flavor": "leidenalg"}, "must be one of 'igraph', 'rapids'"),
        ({"n_iterations": 0}, "'n_iterations' parameter"),
        ({"restrict_to": "type"}, "'restrict_to' parameter of leiden_ensemble must be None or a"),
        ({"restrict_to": ("type", "B")}, "a column of adata.obs and a list of its groups"),
        ({"restrict_to": ("type", [])}, "a column of adata.obs and a list of its groups"),
        ({"restrict_to": ("type", np.array("B"))}, "a column of adata.obs and a list of its"),
        ({"seeds": np.array(2)}, "'seeds' parameter of leiden_ensemble must be a whole number"),
        ({"resolutions": np.array(2)}, "'resolutions' parameter of leiden_ensemble must be a num"),
        ({"key_added": None}, "'key_added' parameter of leiden_ensemble must be a name"),
        ({"key_added": ["a"]}, "'key_added' parameter of leiden_ensemble must be a name"),
        ({"neighbors_key": ["a"]}, "'neighbors_key' parameter of leiden_ensemble must be None or"),
        ({"restrict_to": ("type", ["b"])}, "no group 'b' in adata.obs.'type'.*mean 'B'"),
        ({"restrict_to": ("typ", ["B"])}, "no column 'typ' in adata.obs.*mean 'type'"),
    ],
)
def test_parameters_are_checked(adata, parameters, message):
    with pytest.raises(ValueError, match=message):
        en.sc.tl.leiden_ensemble(adata, **parameters)
    assert not columns(adata)


@pytest.mark.parametrize(
    ("flavor", "package", "how"),
    [("igraph", "igraph", "pip install igraph"), ("rapids", "cugraph", "pip install cugraph-cu12")],
)
def test_a_package_that_is_missing_is_named(adata, monkeypatch, flavor, package, how):
    monkeypatch.setattr(_leiden, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=f"needs {package}, which is not installed. Run: {how}"):
        en.sc.tl.leiden_ensemble(adata, flavor=flavor)


def test_cugraph_is_called_with_the_graph_and_cells_without_an_edge_are_alone(adata, monkeypatch):
    """A stand-in: no GPU is needed, and none has run this."""
    calls = []

    class Graph:
        def from_cudf_edgelist(self, frame, source, destination, weight):
            self.edges = {end: np.asarray(frame[end]) for end in (source, destination, weight)}

    def leiden(graph, resolution, random_state):
        calls.append((resolution, random_state, len(graph.edges["weight"])))
        vertices = np.unique(np.concatenate([graph.edges["source"], graph.edges["destination"]]))
        parts = pd.DataFrame({"vertex": vertices, "partition": TRUTH[vertices]}).sample(frac=1)
        return SimpleNamespace(to_pandas=lambda: parts), 0.5

    monkeypatch.setitem(sys.modules, "cudf", SimpleNamespace(DataFrame=dict))
    monkeypatch.setitem(sys.modules, "cugraph", SimpleNamespace(Graph=Graph, leiden=leiden))
    monkeypatch.setattr(_leiden, "find_spec", lambda _: object())
    graph = adata.obsp["connectivities"].tolil()
    graph[5], graph[:, 5] = 0, 0
    adata.obsp["connectivities"] = graph.tocsr()
    en.sc.tl.leiden_ensemble(adata, 1.5, seeds=[4], flavor="rapids")
    labels = adata.obs["leiden_ensemble_r1.5_s4"]
    assert labels.value_counts().tolist() == [40, 40, 39, 1]
    assert (labels == labels.iloc[5]).sum() == 1
    n_edges = sparse.triu(adata.obsp["connectivities"].maximum(adata.obsp["connectivities"].T)).nnz
    assert calls == [(1.5, 4, n_edges)]


# -- consensus -------------------------------------------------------------------------------------


@pytest.fixture
def clustered(adata):
    en.sc.tl.leiden_ensemble(adata, [0.5, 1, 2], seeds=3)
    return adata


def test_it_writes_all_parts(clustered):
    en.sc.tl.consensus(clustered, n_clusters=3)
    assert clustered.obs["consensus"].cat.categories.tolist() == ["0", "1", "2"]
    assert en.metrics.ari(TRUTH, clustered.obs["consensus"]) > 0.9
    shares = clustered.obsm["consensus_memberships"]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    sure = clustered.obs["consensus_confidence"] > 0
    assert (shares.argmax(axis=1) == clustered.obs["consensus"].astype(int))[sure].all()
    members = clustered.uns["consensus"]["members"]
    assert members["names"] == clustered.uns["leiden_ensemble"]["keys"]
    expected = [
        en.metrics.nmi(clustered.obs[name], clustered.obs["consensus"]) for name in members["names"]
    ]
    np.testing.assert_allclose(members["agreement"], expected)
    assert len(clustered.uns["consensus_colors"]) == 3
    assert clustered.uns["consensus_neighbors"]["connectivities_key"] == "consensus_connectivities"


def test_agreement_along_the_edges_keeps_edges_that_no_clustering_puts_together(clustered):
    votes = clustered.obs[columns(clustered)]
    en.sc.tl.consensus(clustered, n_clusters=3)
    found = clustered.obsp["consensus_connectivities"]
    graph = clustered.obsp["connectivities"]
    assert found.nnz == graph.nnz
    rows, cols = graph.nonzero()
    codes = votes.apply(lambda column: column.cat.codes).to_numpy()
    expected = (codes[rows] == codes[cols]).mean(axis=1)
    assert (expected == 0).any()
    np.testing.assert_allclose(np.asarray(found[rows, cols]).ravel(), expected, rtol=1e-6)
    assert (found.data == 0).sum() == (expected == 0).sum()


def test_without_a_graph_there_is_no_agreement_not_even_an_old_one(clustered):
    en.sc.tl.consensus(clustered, n_clusters=3)
    del clustered.obsp["connectivities"]
    en.sc.tl.consensus(clustered, n_clusters=3)
    assert "consensus_connectivities" not in clustered.obsp
    assert "consensus_neighbors" not in clustered.uns


def test_restricted_cells_get_labels_as_in_scanpy_and_others_keep_theirs(clustered):
    where = ("type", ["T", "NK"])
    en.sc.tl.leiden_ensemble(clustered, [1, 2], 3, key_added="sub", restrict_to=where)
    inside = clustered.obs["type"].isin(where[1]).to_numpy()
    assert clustered.obs[columns(clustered, "sub_")].notna().all(axis=1).tolist() == inside.tolist()
    en.sc.tl.consensus(clustered, "sub_", n_clusters=2, key_added="fine", restrict_to=where)
    labels = clustered.obs["fine"]
    assert labels.cat.categories.tolist() == ["B", "T-NK,0", "T-NK,1"]
    assert (labels[~inside] == "B").all()
    expected = en.Consensus(2, random_state=0).fit(
        clustered.obs[columns(clustered, "sub_")][inside]
    )
    assert labels[inside].tolist() == [f"T-NK,{label}" for label in expected.labels_]
    assert clustered.obs["fine_confidence"].isna().tolist() == (~inside).tolist()
    assert np.isnan(clustered.obsm["fine_memberships"]).any(axis=1).tolist() == (~inside).tolist()
    part = clustered.obsp["fine_connectivities"]
    assert part.shape == (120, 120)
    assert part.nnz == clustered.obsp["connectivities"][inside][:, inside].nnz
    assert part[~inside].nnz == 0


def test_new_clusters_do_not_join_cells_outside_that_have_the_same_name(clustered):
    clustered.obs["type"] = clustered.obs["type"].cat.rename_categories({"B": "T-NK,0"})
    columns_before = clustered.obs.columns.tolist()
    with pytest.raises(ValueError, match=r"got 'T-NK,0', which is also a group of .*'type'"):
        en.sc.tl.consensus(clustered, n_clusters=2, restrict_to=("type", ["T", "NK"]))
    assert clustered.obs.columns.tolist() == columns_before
    assert "consensus" not in clustered.uns


def test_results_survive_a_file(clustered, tmp_path):
    where = ("type", ["T", "NK"])
    en.sc.tl.consensus(clustered, n_clusters=2, restrict_to=where)
    clustered.write_h5ad(tmp_path / "cells.h5ad")
    found = ad.read_h5ad(tmp_path / "cells.h5ad")
    assert found.obs["consensus"].tolist() == clustered.obs["consensus"].tolist()
    assert list(found.uns["consensus"]["params"]["restrict_to"]["groups"]) == ["T", "NK"]
    np.testing.assert_array_equal(
        found.obsp["consensus_connectivities"].data,
        clustered.obsp["consensus_connectivities"].data,
    )


def test_objects_backed_by_a_file(clustered, tmp_path):
    path = tmp_path / "cells.h5ad"
    clustered.write_h5ad(path)
    en.sc.tl.consensus(clustered, n_clusters=3)
    backed = ad.read_h5ad(path, backed="r+")
    en.sc.tl.leiden_ensemble(backed, 0.5, 1, key_added="other")
    en.sc.tl.consensus(backed, n_clusters=3)
    backed.write()
    backed.file.close()
    found = ad.read_h5ad(path)
    assert found.obs["consensus"].tolist() == clustered.obs["consensus"].tolist()
    assert "other_r0.5_s0" in found.obs
    backed = ad.read_h5ad(path, backed="r")
    with pytest.raises(ValueError, match=r"backed by a file.*copy=False, or pass adata\.to_memory"):
        en.sc.tl.consensus(backed, copy=True)
    backed.file.close()


def test_mudata(clustered):
    mudata = pytest.importorskip("mudata")
    protein = ad.AnnData(np.ones((100, 2)), obs=pd.DataFrame(index=clustered.obs_names[:100]))
    protein.var_names = ["CD3", "CD4"]
    with mudata.set_options(pull_on_update=False):
        mdata = mudata.MuData({"rna": clustered, "protein": protein})
        mdata.obs["rna:leiden"] = clustered.obs[columns(clustered)[0]]
        mdata.obs["protein:leiden"] = clustered.obs[columns(clustered)[-1]][:100]
        mdata.obsp["connectivities"] = clustered.obsp["connectivities"]
        en.sc.tl.leiden_ensemble(mdata, 1, seeds=2, key_added="joint")
        keys = ["rna:leiden", "protein:leiden", "joint_r1_s0", "joint_r1_s1"]
        en.sc.tl.consensus(mdata, keys, n_clusters=3)
    assert mdata.obs["protein:leiden"].isna().sum() == 20
    assert en.metrics.ari(TRUTH, mdata.obs["consensus"]) > 0.9
    assert mdata.obsp["consensus_connectivities"].shape == (120, 120)


def test_any_object_with_the_same_parts_will_do(clustered):
    class Table(SimpleNamespace):
        def copy(self):
            return Table(**{name: part.copy() for name, part in vars(self).items()})

    plain = Table(obs=clustered.obs.copy(), uns={})
    en.sc.tl.consensus(plain, n_clusters=3)
    en.sc.tl.consensus(clustered, n_clusters=3)
    assert plain.obs["consensus"].tolist() == clustered.obs["consensus"].tolist()
    assert not hasattr(plain, "obsm")


def test_a_spatialdata_object_is_refused_with_the_part_to_pass(clustered):
    """A stand-in for SpatialData, whose tables are AnnData objects."""
    with pytest.raises(TypeError, match=r"Pass one of its tables, as sdata\.tables"):
        en.sc.tl.consensus(SimpleNamespace(tables={"table": clustered}))


def test_the_earlier_name_is_the_same_function():
    assert en.anndata.consensus is en.sc.tl.consensus


# -- memberships -----------------------------------------------------------------------------------


def slow_memberships(votes, labels, n_clusters):
    shares = np.zeros((len(votes), n_clusters))
    for i in range(len(votes)):
        for cluster in range(n_clusters):
            inside = votes[labels == cluster]
            for m in range(votes.shape[1]):
                voted = inside[inside[:, m] >= 0, m]
                if votes[i, m] >= 0 and len(voted):
                    shares[i, cluster] += (voted == votes[i, m]).mean()
    return shares / shares.sum(axis=1, keepdims=True)


@given(own.votes())
def test_memberships_are_those_of_their_definition(votes):
    fitted = en.EAC(min(3, len(np.unique(votes, axis=0)))).fit(votes)
    expected = slow_memberships(votes, fitted.labels_, fitted.n_clusters_)
    np.testing.assert_allclose(memberships(fitted), expected, atol=1e-12)


def test_probabilities_of_a_model_are_its_memberships(clustered):
    en.sc.tl.consensus(clustered, n_clusters=3, method="lca")
    fitted = en.LCA(3, random_state=0).fit(clustered.obs[columns(clustered)])
    np.testing.assert_allclose(clustered.obsm["consensus_memberships"], fitted.memberships_)


@pytest.mark.parametrize("weight", [np.nan, -1.0])
def test_wrong_weights_of_the_graph_are_refused(adata, weight):
    adata.obsp["connectivities"].data[0] = weight
    with pytest.raises(ValueError, match=r"of the neighbour graph .* finite numbers from 0"):
        en.sc.tl.leiden_ensemble(adata, 1, 1)


@pytest.mark.parametrize("name", ["", "runs", "runs_r1_s0"])
def test_results_do_not_replace_runs(adata, name):
    en.sc.tl.leiden_ensemble(adata, 1, 2, key_added="runs")
    with pytest.raises(en.ParameterError, match="key_added"):
        en.sc.tl.consensus(adata, "runs_", n_clusters=2, key_added=name)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("keys", ""),
        ("key_added", ["a"]),
        ("key_added", None),
        ("neighbors_key", ["a"]),
        ("restrict_to", ("type", [])),
    ],
)
def test_names_are_checked(clustered, parameter, value):
    with pytest.raises(en.ParameterError, match=f"'{parameter}' parameter of consensus must be"):
        en.sc.tl.consensus(clustered, **{"n_clusters": 2, parameter: value})


def test_groups_may_be_any_iterable(clustered):
    groups = (group for group in ["B"])
    found = en.sc.tl.consensus(clustered, restrict_to=("type", groups), n_clusters=2, copy=True)
    assert found.uns["consensus"]["params"]["restrict_to"]["groups"] == ["B"]


def test_cells_without_labels_hint_at_restrict_to(adata):
    en.sc.tl.leiden_ensemble(adata, 1, seeds=2)
    for name in columns(adata):
        adata.obs.loc[adata.obs_names[:5], name] = np.nan
    with pytest.raises(ValueError, match=r"5 of 120 cells have no label .* same restrict_to"):
        en.sc.tl.consensus(adata)


def test_an_object_without_columns_has_no_clusterings(adata):
    adata.obs = adata.obs[[]]
    with pytest.raises(ValueError, match=r"matches keys='leiden_ensemble'\. It has no columns\."):
        en.sc.tl.consensus(adata)


@pytest.mark.skipif(sys.platform == "win32", reason="it kills itself as POSIX does")
def test_runs_resume_from_a_file_that_a_killed_process_wrote(adata, tmp_path):
    """What was written before the kill is kept, and the rest is as undisturbed."""
    options = {"seeds": 3, "resolutions": (0.5, 1.0), "progress": False, "n_jobs": 1}
    whole = en.sc.tl.leiden_ensemble(adata, copy=True, **options)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    program = """
import os, sys
import anndata, ensemblage as en
from ensemblage.sc import _ensemble
cells = anndata.read_h5ad("cells.h5ad")
real, done = _ensemble.labels_of_run, []

def stops(graph, run):
    if len(done) == 4:
        raise KeyboardInterrupt
    done.append(run)
    return real(graph, run)

_ensemble.labels_of_run = stops
try:
    en.sc.tl.leiden_ensemble(cells, seeds=3, resolutions=(0.5, 1.0), progress=False, n_jobs=1)
except KeyboardInterrupt:
    cells.write_h5ad("cells.h5ad")
    os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert done.returncode == -9
    resumed = ad.read_h5ad(tmp_path / "cells.h5ad")
    kept = list(resumed.uns["leiden_ensemble"]["keys"])
    assert len(kept) == 4
    en.sc.tl.leiden_ensemble(resumed, **options)
    keys = list(whole.uns["leiden_ensemble"]["keys"])
    assert sorted(resumed.uns["leiden_ensemble"]["keys"]) == sorted(keys)
    for key in keys:
        assert resumed.obs[key].astype(str).tolist() == whole.obs[key].astype(str).tolist()
