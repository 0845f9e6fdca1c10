"""Seeds beyond 64 bits in objects of single-cell packages."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ensemblage as en

ad = pytest.importorskip("anndata")
pytest.importorskip("igraph")


@pytest.fixture
def adata():
    names = [f"cell{i}" for i in range(30)]
    obs = pd.DataFrame({"a": list("xyz" * 10), "b": list("xyz" * 10)}, index=names)
    made = ad.AnnData(np.ones((30, 2), np.float32), obs=obs)
    made.obsp["connectivities"] = sparse.csr_matrix(np.ones((30, 30)) - np.eye(30))
    return made


def test_a_large_seed_is_saved_as_text(adata, tmp_path):
    en.sc.tl.consensus(adata, ["a", "b"], n_clusters=3, random_state=2**70)
    adata.write_h5ad(tmp_path / "a.h5ad")
    kept = ad.read_h5ad(tmp_path / "a.h5ad").uns["consensus"]["params"]
    assert kept["random_state"] == str(2**70)


@pytest.mark.parametrize("seeds", [10**30, [10**30]])
def test_too_many_runs_and_too_large_seeds(adata, seeds):
    with pytest.raises(en.ParameterError, match=r"'seeds'.*whole number from [01] to "):
        en.sc.tl.leiden_ensemble(adata, seeds=seeds)
