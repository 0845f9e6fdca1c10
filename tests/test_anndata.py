"""The consensus of clusterings in an AnnData object, as scanpy would store it."""

import numpy as np
import pandas as pd
import pytest

import ensemblage as en
import ensemblage.anndata

ad = pytest.importorskip("anndata")

RNG = np.random.default_rng(0)
TRUTH = np.repeat(np.arange(3), [20, 15, 25])
KEYS = ["leiden_0.4", "leiden_0.8", "leiden_1.2", "sc3", "seurat"]


@pytest.fixture
def adata():
    votes = np.where(RNG.random((60, 5)) < 0.1, RNG.integers(0, 4, (60, 5)), TRUTH[:, None])
    obs = pd.DataFrame(
        {
            key: pd.Categorical(column.astype(str))
            for key, column in zip(KEYS, votes.T, strict=True)
        },
        index=[f"cell{i}" for i in range(60)],
    )
    obs.loc[obs.index[3], "sc3"] = np.nan
    obs["n_genes"] = RNG.random(60)
    return ad.AnnData(RNG.random((60, 4)).astype(np.float32), obs=obs)


def test_labels_confidence_and_settings(adata):
    assert en.anndata.consensus(adata, KEYS, n_clusters=3) is None
    est = en.Consensus(3, random_state=0).fit(adata.obs[KEYS])
    labels = adata.obs["consensus"]
    assert labels.dtype == pd.CategoricalDtype(["0", "1", "2"])
    assert labels.astype(int).tolist() == est.labels_.tolist()
    np.testing.assert_array_equal(adata.obs["consensus_confidence"], est.confidence_)
    settings = adata.uns["consensus"]["params"]
    assert settings["method"] == "auto"
    assert settings["keys"] == KEYS
    assert settings["n_clusters"] == 3
    assert settings["random_state"] == 0
    assert adata.uns["consensus"]["n_clusters"] == 3


def test_it_survives_a_file(adata, tmp_path):
    ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, method="pta", linkage="complete")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    found = ad.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_series_equal(found.obs["consensus"], adata.obs["consensus"])
    np.testing.assert_array_equal(
        found.obs["consensus_confidence"], adata.obs["consensus_confidence"]
    )
    settings = found.uns["consensus"]["params"]
    assert list(settings["keys"]) == KEYS
    assert settings["linkage"] == "complete"
    assert settings["n_clusters"] == 3


def test_a_copy_leaves_the_original_alone(adata):
    before = adata.obs.copy()
    found = ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, key_added="all", copy=True)
    pd.testing.assert_frame_equal(adata.obs, before)
    assert "all" not in adata.uns
    assert {"all", "all_confidence"} <= set(found.obs)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("leiden_", KEYS[:3]),
        ("leiden_*", KEYS[:3]),
        ("leiden_?.[48]", KEYS[:2]),
        ("s", ["sc3", "seurat"]),
        ("sc3", ["sc3"]),
    ],
)
def test_keys_may_be_a_prefix_or_a_pattern(keys, expected, adata):
    adata = adata[adata.obs["sc3"].notna()].copy()
    ensemblage.anndata.consensus(adata, keys, n_clusters=2, key_added="s_all")
    assert adata.uns["s_all"]["params"]["keys"] == expected
    # Its own results are not clusterings in the next call.
    ensemblage.anndata.consensus(adata, keys, n_clusters=2, key_added="s_all")
    assert adata.uns["s_all"]["params"]["keys"] == expected


def test_weights_and_a_chosen_k(adata):
    weight = [1, 2, 3, 4, 5]
    ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, method="eac", member_weight=weight)
    expected = en.EAC(3).fit_predict(adata.obs[KEYS], member_weight=weight)
    assert adata.obs["consensus"].astype(int).tolist() == expected.tolist()
    assert adata.uns["consensus"]["params"]["member_weight"] == weight
    by_name = dict(reversed(list(zip(KEYS, weight, strict=True))))
    ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, method="eac", member_weight=by_name)
    assert adata.obs["consensus"].astype(int).tolist() == expected.tolist()
    assert adata.uns["consensus"]["params"]["member_weight"] == weight
    ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, member_weight=[2] * len(KEYS))
    assert adata.uns["consensus"]["params"]["member_weight"] == [1.0] * len(KEYS)
    ensemblage.anndata.consensus(adata, KEYS, n_clusters="auto", key_added="chosen")
    assert (
        adata.obs["chosen"].nunique()
        == en.PTGP("auto", random_state=0).fit(adata.obs[KEYS]).n_clusters_
    )


@pytest.mark.parametrize("keys", [None, 5])
def test_keys_that_are_none(adata, keys):
    with pytest.raises(TypeError, match=r"'keys' must be a list of columns of adata\.obs, or"):
        ensemblage.anndata.consensus(adata, keys, n_clusters=3)


def test_mistakes_are_told(adata):
    with pytest.raises(
        ValueError, match=r"no column 'leiden_0\.5' in adata\.obs\. Did you mean 'leiden_0\.8'\?"
    ):
        ensemblage.anndata.consensus(adata, ["sc3", "leiden_0.5"], n_clusters=3)
    with pytest.raises(ValueError, match=r"No column .* matches keys='ledien_\*'\. Did you mean"):
        ensemblage.anndata.consensus(adata, "ledien_*", n_clusters=3)
    with pytest.raises(
        ValueError, match=r"Unknown method 'ptpg' in consensus\. Did you mean 'ptgp'\?"
    ):
        ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, method="ptpg")
    with pytest.raises(ValueError, match=r"no parameter 'linkages' of PTA\. Did you mean"):
        ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, method="pta", linkages="x")
    with pytest.raises(ValueError, match="got 'sc3' twice"):
        ensemblage.anndata.consensus(adata, ["sc3", "sc3"], n_clusters=3)
    with pytest.raises(ValueError, match="not include 'sc3', which the result replaces"):
        ensemblage.anndata.consensus(adata, ["sc3", "seurat"], n_clusters=3, key_added="sc3")
    with pytest.raises(ValueError, match=r"at least one column of adata\.obs"):
        ensemblage.anndata.consensus(adata, [], n_clusters=3)
    with pytest.raises(TypeError, match="needs an AnnData object, got DataFrame"):
        ensemblage.anndata.consensus(adata.obs, KEYS, n_clusters=3)
    assert "consensus" not in adata.obs
    with pytest.warns(en.FeaturesAsVotesWarning):
        ensemblage.anndata.consensus(adata, ["n_genes", "seurat"], n_clusters=3, method="eac")


def test_a_pattern_leaves_out_earlier_results(adata):
    ensemblage.anndata.consensus(adata, "leiden_", n_clusters=3, key_added="leiden_both")
    ensemblage.anndata.consensus(adata, "leiden_", n_clusters=4, key_added="leiden_again")
    assert adata.uns["leiden_again"]["params"]["keys"] == KEYS[:3]
    # Named one by one it is a clustering like any other.
    ensemblage.anndata.consensus(adata, ["leiden_both", "sc3"], n_clusters=2)
    assert adata.uns["consensus"]["params"]["keys"] == ["leiden_both", "sc3"]


def test_numbers_of_numpy_are_settings_too(adata):
    ensemblage.anndata.consensus(adata, KEYS, n_clusters=np.int64(3), random_state=np.int32(5))
    settings = adata.uns["consensus"]["params"]
    assert (settings["n_clusters"], settings["random_state"]) == (3, 5)
    assert type(settings["n_clusters"]) is int


def test_methods_are_found_in_any_case(adata):
    ensemblage.anndata.consensus(adata, KEYS, n_clusters=3, method="PTGP")
    assert adata.uns["consensus"]["params"]["method"] == "ptgp"


def test_the_number_of_clusters_may_be_chosen(adata):
    ensemblage.anndata.consensus(adata, KEYS)
    found = adata.uns["consensus"]
    assert found["params"]["n_clusters"] == "auto"
    assert found["n_clusters"] == adata.obs["consensus"].nunique()


def test_the_object_itself_is_refused_with_the_call_to_use(adata):
    for call in (en.EAC(3).fit, en.Ensemble, en.microclusters, en.metrics.member_similarity):
        with pytest.raises(TypeError, match=r"AnnData object was passed.*sc\.tl\.consensus\(adata"):
            call(adata)
    for call in (en.EnsembleClustering(3).fit, en.ensembles.generate):
        with pytest.raises(TypeError, match=r"Pass a matrix of it, such as adata\.obsm\['X_pca'\]"):
            call(adata)
