"""Run the example of docs/single_cell.md and draw its picture: python docs/single_cell_picture.py

Needs scanpy, igraph and leidenalg, which are not among the packages of any extra. The cells come
with scanpy; nothing is fetched. The page shows the code between the two marks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from PIL import Image

mpl.use("agg")  # into files, no window

# -- the page begins
import scanpy as sc

import ensemblage.anndata

adata = sc.datasets.pbmc68k_reduced()  # yours: sc.read_h5ad("cells.h5ad")

for n_neighbors in (10, 15, 30):
    sc.pp.neighbors(adata, n_neighbors=n_neighbors, use_rep="X_pca")
    for resolution in (0.5, 1.0, 1.5, 2.0):
        sc.tl.leiden(
            adata,
            resolution,
            key_added=f"leiden_{n_neighbors}_{resolution}",
            flavor="igraph",
            n_iterations=2,
            directed=False,
        )

ensemblage.anndata.consensus(adata, "leiden_", n_clusters=10)

sc.pp.neighbors(adata, n_neighbors=15, use_rep="X_pca")
sc.tl.umap(adata)
sc.pl.umap(adata, color=["consensus", "consensus_confidence"])
# -- the page ends


def main(path: Path) -> None:
    """Draw the two maps in the size of the page, and print what it says of them."""
    plt.close("all")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    look = {"show": False, "frameon": False, "size": 30}
    sc.pl.umap(adata, color="consensus", legend_loc="on data", ax=axes[0], **look)
    sc.pl.umap(adata, color="consensus_confidence", vmin=0, vmax=1, ax=axes[1], **look)
    figure.savefig(path, dpi=90)
    with Image.open(path) as picture:  # 256 colours: a third of the bytes
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    confidence = adata.obs.groupby("consensus", observed=True)["consensus_confidence"]
    lines = [confidence.agg(["size", "mean"]).round(2).T.to_string()]
    runs = [name for name in adata.obs if name.startswith("leiden_")]
    truth = adata.obs["bulk_labels"]
    for score in (ensemblage.metrics.ari, ensemblage.metrics.nmi):
        mean = sum(score(truth, adata.obs[name]) for name in runs) / len(runs)
        own = score(truth, adata.obs["consensus"])
        lines.append(f"{score.__name__}: runs {mean:.3f} on average, consensus {own:.3f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "single_cell.png")
