"""Consensus of Leiden runs compared with single runs, and its cost on 100,000 cells.

python -m benchmarks.single_cell [PBMC68k_reduced] [Pollen] [scale] [missing] [--sets 10]
    [--report FOLDER]

The two datasets are found in the data folder ($ENSEMBLAGE_DATA). Principal components and
neighbours are scanpy's where it is installed, else scikit-learn's. `--sets` is how many ensembles
of 60 runs (6 resolutions, 10 seeds each) are made, no seed in two of them. "ARI" is the mean with
the published annotation, "same" the mean ARI of two results of the same way with other seeds: how
much of the result is chance. sc3s, which clusters from principal components, is in the table where
it is installed, with the number of annotated types. The last lines are about doubtful cells: how
many have a label that most cells of their cluster do not have in the annotation. `--report` writes
an HTML report on the first ensemble of each dataset. "scale" prints CPU time and memory of
`tl.consensus` on 100,000 simulated cells with 60 clusterings, "missing" on 40,000 cells of which a
fifth of the votes is missing.
"""

from __future__ import annotations

import argparse
import logging
import resource
import time
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

import ensemblage as en

DATASETS = ("PBMC68k_reduced", "Pollen")
SEEDS = 10
COMPONENTS, NEIGHBOURS = 30, 15
DOUBTFUL = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*DATASETS, "scale"])
    parser.add_argument("--sets", type=int, default=10, help="ensembles of 60 runs")
    parser.add_argument("--report", type=Path, help="folder of the HTML reports")
    given = parser.parse_args()
    for part in given.parts:
        if part == "scale":
            scale()
        elif part == "missing":
            missing()
        else:
            case(part, given.sets, given.report)


def case(name: str, n_sets: int, folder: Path | None) -> None:
    """Print how consensus, single runs and sc3s do on one dataset."""
    adata, truth = cells_of(name)
    n_types = len(set(truth))
    steps = "scanpy" if find_spec("scanpy") else "scikit-learn"
    print(f"\n{name}: {adata.n_obs} cells, {n_types} annotated types, neighbours by {steps}")
    print(f"{'way':28} {'clusters':>8} {'ARI':>6} {'same':>6} {'sets':>5}")
    started = time.process_time()
    sets = [ensemble(adata, seeds) for seeds in np.arange(n_sets * SEEDS).reshape(n_sets, SEEDS)]
    runs = pd.concat(sets, axis=1)
    resolutions = sorted({run.partition("_r")[2].partition("_s")[0] for run in runs}, key=float)
    for resolution in resolutions:
        own = [runs[column] for column in runs if f"_r{resolution}_s" in column]
        row(f"one run, resolution {resolution}", own, truth)
    row("one run, any resolution", [runs[column] for column in runs], truth)
    chosen = [consensus(adata, votes) for votes in sets]
    row("consensus of 60, k chosen", [found.obs["consensus"] for found in chosen], truth)
    fixed = [consensus(adata, votes, n_types).obs["consensus"] for votes in sets]
    row(f"consensus of 60, k = {n_types}", fixed, truth)
    medians = [consensus(adata, votes, method="median") for votes in sets]
    row("median of 60, k free", [found.obs["consensus"] for found in medians], truth)
    if find_spec("sc3s"):
        row(f"sc3s, k = {n_types}", [sc3s(adata, n_types, seed) for seed in range(n_sets)], truth)
    print(
        f"{time.process_time() - started:.0f} CPU-s for {runs.shape[1]} runs and all of the above"
    )
    doubt("consensus", chosen, truth)
    doubt("median", medians, truth)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        model = en.Consensus(random_state=0).fit(sets[0])
        page = folder / f"{name}.html"
        en.report.write(model, page, truth=truth, features=adata.obsm["X_pca"], title=name)
        print(f"wrote {page}")


def cells_of(name: str) -> tuple[Any, Any]:
    """Return cells with components and neighbours, and their annotation."""
    found = en.datasets.load(name)
    adata = anndata.AnnData(np.array(found.features))
    if find_spec("scanpy"):
        import scanpy

        scanpy.pp.pca(adata, n_comps=COMPONENTS, random_state=0)
        scanpy.pp.neighbors(adata, n_neighbors=NEIGHBOURS, use_rep="X_pca", random_state=0)
    else:
        adata.obsm["X_pca"] = PCA(COMPONENTS, random_state=0).fit_transform(adata.X)
        adata.obsp["connectivities"] = kneighbors_graph(adata.obsm["X_pca"], NEIGHBOURS)
    return adata, found.truth


def ensemble(adata: Any, seeds: Any) -> pd.DataFrame:
    """Return the runs of one ensemble as a table."""
    made = en.sc.tl.leiden_ensemble(adata, seeds=seeds, copy=True)
    return made.obs[made.uns["leiden_ensemble"]["keys"]]


def consensus(
    adata: Any, votes: pd.DataFrame, n_clusters: Any = "auto", method: str = "auto"
) -> Any:
    """Return the cells with the consensus of one ensemble."""
    made = adata.copy()
    made.obs = votes.copy()
    en.sc.tl.consensus(made, n_clusters=n_clusters, method=method)
    return made


def sc3s(adata: Any, n_clusters: int, seed: int) -> Any:
    import sc3s as package

    logging.disable(logging.WARNING)  # it logs every run
    made = adata.copy()
    package.tl.consensus(made, n_clusters=[n_clusters], random_state=seed)
    return made.obs[f"sc3s_{n_clusters}"]


def row(way: str, results: list[Any], truth: Any) -> None:
    clusters = np.mean([result.nunique() for result in results])
    ari = np.mean([en.metrics.ari(truth, result) for result in results])
    pairs = list(combinations(results, 2))
    if len(pairs) > 1000:
        rng = np.random.default_rng(0)
        pairs = [pairs[place] for place in rng.choice(len(pairs), 1000, replace=False)]
    same = np.mean([en.metrics.ari(a, b) for a, b in pairs]) if pairs else np.nan
    print(f"{way:28} {clusters:8.1f} {ari:6.3f} {same:6.3f} {len(results):5}")


def doubt(way: str, results: list[Any], truth: Any) -> None:
    """Print how often sure and doubtful cells differ from most of their cluster."""
    sure, wrong = [], []
    for found in results:
        types = pd.Series(truth, index=found.obs.index)
        usual = types.groupby(found.obs["consensus"], observed=True).agg(lambda t: t.mode()[0])
        wrong.append(types.to_numpy() != found.obs["consensus"].map(usual).astype(int).to_numpy())
        sure.append(found.obs["consensus_confidence"].to_numpy() >= DOUBTFUL)
    is_sure, is_wrong = np.concatenate(sure), np.concatenate(wrong)
    for name, some in (("doubtful", ~is_sure), ("other", is_sure)):
        share = is_wrong[some].mean() if some.any() else np.nan
        print(f"{way}, {name} cells: {some.mean():.1%},", end=" ")
        print(f"of another type than most of their cluster: {share:.1%}")


def scale(n_cells: int = 100_000, n_clusterings: int = 60) -> None:
    """Print CPU time and memory of tl.consensus on simulated cells, without compilation."""
    print(f"\n{n_cells:,} simulated cells, {n_clusterings} clusterings")
    warm = simulated(3_000, 10)[0]
    for method in ("auto", "median"):
        en.sc.tl.consensus(warm, "run", method=method)
    adata, truth = simulated(n_cells, n_clusterings)
    n_edges = adata.obsp["connectivities"].nnz
    print(f"neighbour graph of {n_edges:,} edges; memory before: {peak():.2f} GB")
    for n_clusters, method in (("auto", "auto"), (15, "auto"), ("auto", "median")):
        started = time.process_time()
        en.sc.tl.consensus(adata, "run", n_clusters=n_clusters, method=method)
        seconds = time.process_time() - started
        ari = en.metrics.ari(truth, adata.obs["consensus"])
        print(f"{method!r}, n_clusters={n_clusters!r}: {seconds:.1f} CPU-s,", end=" ")
        print(
            f"at most {peak():.2f} GB, {adata.obs['consensus'].nunique()} clusters, ARI {ari:.3f}"
        )

    started = time.process_time()
    en.sc.tl.leiden_ensemble(adata, [0.5, 1.0], seeds=1)
    print(f"leiden_ensemble: {(time.process_time() - started) / 2:.1f} CPU-s a run")


def missing(n_cells: int = 40_000, n_clusterings: int = 60) -> None:
    """Print CPU time of tl.consensus where votes are missing, without compilation."""
    print(f"\n{n_cells:,} simulated cells, {n_clusterings} clusterings, 20 % of the votes missing")
    for size in (3_000, n_cells):
        adata, _ = simulated(size, n_clusterings)
        gaps = np.random.default_rng(0).random(adata.obs.shape) < 0.2
        adata.obs = adata.obs.mask(gaps)
        for method in ("median", "auto"):
            started = time.process_time()
            try:
                en.sc.tl.consensus(adata, "run", n_clusters=15, method=method)
            except en.MemoryBudgetError as error:
                print(f"{method!r}: {error}")
                continue
            if size == n_cells:
                seconds = time.process_time() - started
                print(f"{method!r}: {seconds:.1f} CPU-s, at most {peak():.2f} GB")


def simulated(n_cells: int, n_clusterings: int) -> tuple[Any, Any]:
    """Return cells of 15 types in 8 dimensions with runs of k-means, and their types."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 15, n_cells)
    places = (rng.normal(scale=2.2, size=(15, 8))[truth] + rng.normal(size=(n_cells, 8))).astype(
        np.float32
    )
    votes = en.ensembles.generate(places, n_clusterings, "kmeans", (8, 30), random_state=0)
    obs = pd.DataFrame({f"run{m}": pd.Categorical(vote) for m, vote in enumerate(votes.T)})
    adata = anndata.AnnData(places, obs=obs.set_axis(obs.index.astype(str)))
    adata.obsp["connectivities"] = kneighbors_graph(places, NEIGHBOURS)
    return adata, truth


def peak() -> float:
    """Return the most memory that this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
