"""Run the example of docs/single_cell.md and draw its pictures: python docs/single_cell_picture.py

Needs scanpy and igraph; scanpy is not among the packages of any extra. The cells come with scanpy;
nothing is fetched. The page shows the code between the two marks.
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

import ensemblage as en

adata = sc.datasets.pbmc68k_reduced()  # yours: sc.read_h5ad("cells.h5ad")
sc.pp.neighbors(adata, n_neighbors=15, use_rep="X_pca")

en.sc.tl.leiden_ensemble(adata)  # 6 resolutions, 10 seeds each
en.sc.tl.consensus(adata, method="median")

sc.tl.umap(adata)
sc.pl.umap(adata, color=["consensus", "bulk_labels"])
en.sc.pl.confidence(adata)
en.sc.pl.clustree(adata)
# -- the page ends


def main(folder: Path) -> None:
    """Draw the pictures in the size of the page, and print what it says of them."""
    plt.close("all")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    look = {"show": False, "frameon": False, "size": 30}
    sc.pl.umap(adata, color="consensus", legend_loc="on data", ax=axes[0], **look)
    en.sc.pl.confidence(adata, ax=axes[1])
    keep(figure, folder / "single_cell.png")
    keep(en.sc.pl.clustree(adata).figure, folder / "single_cell_clustree.png")
    confidence = adata.obs.groupby("consensus", observed=True)["consensus_confidence"]
    lines = [confidence.agg(["size", "mean"]).round(2).T.to_string()]
    runs = adata.uns["leiden_ensemble"]["keys"]
    truth = adata.obs["bulk_labels"]
    for score in (en.metrics.ari, en.metrics.nmi):
        mean = sum(score(truth, adata.obs[name]) for name in runs) / len(runs)
        own = score(truth, adata.obs["consensus"])
        lines.append(f"{score.__name__}: runs {mean:.3f} on average, consensus {own:.3f}")
    sys.stdout.write("\n".join(lines) + "\n")


def keep(figure: plt.Figure, path: Path) -> None:
    """Save a picture with 256 colours: a third of the bytes."""
    figure.savefig(path, dpi=90)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
