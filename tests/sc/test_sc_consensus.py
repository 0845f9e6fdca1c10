"""`sc.tl.consensus`: what it writes, restricted cells, files, other objects, memberships."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cells import TRUTH, columns
from hypothesis import given

import ensemblage as en
from ensemblage.sc._memberships import memberships
from ensemblage.testing import strategies as own

ad = pytest.importorskip("anndata")
pytest.importorskip("igraph")


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
