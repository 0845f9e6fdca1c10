"""
Single cell: sixty Leiden runs and their consensus
==================================================

700 blood cells (PBMC68k, the example of scanpy) are clustered by Leiden at six resolutions from ten
seeds each. The consensus is one clustering of the cells, with a confidence for each of them. If the
data folder does not contain these cells, simulated cells are used. The example needs anndata and
igraph; scanpy is not required.
"""

import anndata as ad
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import kneighbors_graph

import ensemblage as en

try:
    cells = en.datasets.load("PBMC68k_reduced")
    expression, types = cells.features, np.array(cells.class_names)[cells.truth]
except en.datasets.DownloadError as error:
    print(f"{error}\nSimulated cells are used instead.")
    rng = np.random.default_rng(0)
    group = rng.choice(6, 700, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    expression = rng.normal(scale=0.45, size=(6, 40))[group] + rng.normal(size=(700, 40))
    types = np.array(["B", "CD4 T", "CD8 T", "NK", "monocyte", "dendritic"])[group]

# %%
# Components and neighbours. With scanpy these are ``sc.pp.pca(adata)`` and
# ``sc.pp.neighbors(adata)``, and ``sc.tl.umap(adata)`` makes the map.

adata = ad.AnnData(np.array(expression), obs=pd.DataFrame({"type": types}).rename(index=str))
adata.obsm["X_pca"] = PCA(30, random_state=0).fit_transform(adata.X)
adata.obsp["connectivities"] = kneighbors_graph(adata.obsm["X_pca"], 15)
adata.obsm["X_tsne"] = TSNE(random_state=0).fit_transform(adata.obsm["X_pca"])

# %%
# Sixty runs, and the partition with the smallest distance to them. ``method="median"`` needs no
# number of clusters; the default method chooses one.

en.sc.tl.leiden_ensemble(adata)
en.sc.tl.consensus(adata, method="median")

runs = adata.uns["leiden_ensemble"]["keys"]
truth = adata.obs["type"]
single = [en.metrics.ari(truth, adata.obs[run]) for run in runs]
print(f"clusters: {adata.obs[runs].nunique().min()} to {adata.obs[runs].nunique().max()} in a run,")
print(f"  {adata.obs['consensus'].nunique()} in the consensus")
print(f"ARI with the annotation: {min(single):.2f} to {max(single):.2f} for a run,")
print(f"  {en.metrics.ari(truth, adata.obs['consensus']):.2f} for the consensus")

# %%
# How the clusters split as the resolution grows; the last row is the consensus.

en.sc.pl.clustree(adata)
plt.show()

# %%
# Confidence. Cells between two clusters are dark.

en.sc.pl.confidence(adata)
plt.show()

# %%
# The least certain cells, and the two clusters that they are between.

shares = pd.DataFrame(adata.obsm["consensus_memberships"], index=adata.obs_names)
doubtful = adata.obs["consensus_confidence"].nsmallest(5)
for cell, confidence in doubtful.items():
    first, second = shares.loc[cell].nlargest(2).index
    print(f"cell {cell:3} {truth[cell]:28} confidence {confidence:.2f}:", end=" ")
    print(f"{shares.loc[cell, first]:.2f} in {first}, {shares.loc[cell, second]:.2f} in {second}")

# %%
# Which runs agree with each other. Runs at one resolution are blocks; red names are runs that found
# the same partition as an earlier one.

en.sc.pl.members(adata)
plt.show()

# %%
# A report contains all of this; ``en.report.write(model, "cells.html", truth=truth)`` writes it.

model = en.Median(random_state=0).fit(adata.obs[runs])
page = en.report.html(model, truth=truth, features=adata.obsm["X_pca"], title="700 cells")
print(f"a report of {len(page) / 1e6:.1f} MB")
