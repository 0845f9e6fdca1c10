"""Objects of cells, without and with clusterings."""

import numpy as np
import pandas as pd
import pytest
from cells import TRUTH
from sklearn.neighbors import kneighbors_graph

import ensemblage as en


@pytest.fixture
def adata():
    ad = pytest.importorskip("anndata")
    pytest.importorskip("igraph")
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(120, 4)).astype(np.float32) + 4 * np.eye(3, 4)[TRUTH]
    made = ad.AnnData(cells, obs=pd.DataFrame(index=[f"cell{i}" for i in range(120)]))
    made.obs["type"] = pd.Categorical(np.array(["B", "T", "NK"])[TRUTH])
    made.obsp["connectivities"] = kneighbors_graph(cells, 8)
    made.obsm["X_pca"] = cells
    return made


@pytest.fixture
def clustered(adata):
    en.sc.tl.leiden_ensemble(adata, [0.5, 1, 2], seeds=3)
    return adata
