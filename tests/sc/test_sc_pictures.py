"""Pictures of a consensus in an AnnData object: drawn without a warning, and showing what is so."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.neighbors import kneighbors_graph

import ensemblage as en

ad = pytest.importorskip("anndata")
mpl.use("agg")

TRUTH = np.repeat(np.arange(4), 25)
RESOLUTIONS = (0.5, 1.0, 2.0)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def adata():
    """Nine runs: at each resolution two good ones and one that is noise."""
    rng = np.random.default_rng(0)
    made = ad.AnnData(np.zeros((100, 1), dtype=np.float32))
    runs = [(resolution, seed) for resolution in RESOLUTIONS for seed in range(3)]
    keys = [f"leiden_ensemble_r{resolution:g}_s{seed}" for resolution, seed in runs]
    for key, (resolution, seed) in zip(keys, runs, strict=True):
        labels = {0.5: TRUTH // 2, 1.0: TRUTH, 2.0: 2 * TRUTH + rng.integers(0, 2, 100)}[resolution]
        labels = rng.integers(0, 4, 100) if seed == 2 else labels
        made.obs[key] = pd.Categorical(labels.astype(str))
    made.uns["leiden_ensemble"] = {"keys": keys, "resolutions": [r for r, _ in runs]}
    made.obsm["X_umap"] = rng.normal(size=(100, 2)) + 5 * np.eye(4, 2)[TRUTH]
    en.sc.tl.consensus(made, n_clusters=4)
    return made


def rendered(ax):
    ax.figure.canvas.draw()
    return ax


def texts(labels):
    return [label.get_text() for label in labels]


def test_confidence_is_drawn_with_doubtful_cells_on_top(adata):
    ax = rendered(en.sc.pl.confidence(adata))
    points = ax.collections[1]
    sure = adata.obs["consensus_confidence"].to_numpy()
    np.testing.assert_allclose(points.get_array(), np.sort(sure)[::-1])
    assert ax.get_xlabel() == "umap"
    assert f"{(sure < 0.5).sum()} of 100 cells below 0.5" in ax.get_title(loc="left")
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "2", "3"]


def test_cells_outside_a_restriction_are_grey(adata):
    adata.obs["type"] = TRUTH.astype(str)
    en.sc.tl.consensus(adata, n_clusters=2, key_added="part", restrict_to=("type", ["0", "1"]))
    ax = rendered(en.sc.pl.confidence(adata, "part"))
    assert [len(points.get_offsets()) for points in ax.collections[:2]] == [50, 50]
    rendered(en.sc.pl.clustree(adata, "part"))
    rendered(en.sc.pl.members(adata, "part"))


def test_runs_on_some_cells_only_can_be_drawn(adata):
    adata.obs["type"] = TRUTH.astype(str)
    where = ("type", ["0", "1"])
    adata.obsp["connectivities"] = kneighbors_graph(adata.obsm["X_umap"], 10)
    en.sc.tl.leiden_ensemble(adata, [0.1, 1], 2, key_added="some", restrict_to=where)
    en.sc.tl.consensus(adata, "some_", n_clusters=2, key_added="part", restrict_to=where)
    rendered(en.sc.pl.clustree(adata, "part"))


def test_a_map_is_needed_and_may_be_named(adata):
    adata.obsm["X_other"] = adata.obsm["X_umap"][:, ::-1]
    ax = en.sc.pl.confidence(adata, basis="other")
    assert ax.get_xlabel() == "other"
    with pytest.raises(ValueError, match=r"needs a map.*'X_umpa'.*has 'X_umap'.*scanpy\.tl\.umap"):
        en.sc.pl.confidence(adata, basis="X_umpa")


def test_clustree_draws_the_best_run_of_each_resolution_and_the_consensus(adata):
    ax = rendered(en.sc.pl.clustree(adata))
    rows = texts(ax.get_yticklabels())
    assert rows == ["resolution 0.5", "resolution 1", "resolution 2", "consensus"]
    discs = [len(points.get_offsets()) for points in ax.collections]
    assert discs == [2, 4, 8, 4]  # not the runs of noise
    # 2 clusters into 4, each into two halves, and back: no line joins different groups.
    assert len(ax.lines) == 4 + 8 + 8


def test_lines_of_a_clean_tree_do_not_cross(adata):
    ax = en.sc.pl.clustree(adata)
    by_rows = {}
    for line in ax.lines:
        by_rows.setdefault(tuple(line.get_ydata()), []).append(line.get_xdata())
    for lines in by_rows.values():
        upper, lower = np.array(sorted(map(tuple, lines))).T
        assert (np.diff(upper) >= 0).all()
        assert (np.diff(lower) >= 0).all()


def test_other_clusterings_are_drawn_by_their_number_of_clusters(adata):
    del adata.uns["leiden_ensemble"]
    ax = rendered(en.sc.pl.clustree(adata, max_rows=3))
    assert "3 of 9 clusterings" in ax.get_title(loc="left")
    discs = [len(points.get_offsets()) for points in ax.collections]
    assert discs == [*sorted(discs[:3]), 4]


def test_members_have_short_names_and_their_agreement(adata):
    ax = rendered(en.sc.pl.members(adata))
    names = texts(ax.get_yticklabels())
    assert sorted(names) == sorted(f"r{r:g}_s{s}" for r in RESOLUTIONS for s in range(3))
    found = adata.uns["consensus"]["members"]
    order = [found["names"].index(f"leiden_ensemble_{name}") for name in names]
    np.testing.assert_allclose(ax.images[1].get_array()[:, 0], found["agreement"][order])


@pytest.mark.parametrize("name", en.sc.pl.__all__)
def test_a_result_is_needed_and_given_axes_are_used(adata, name):
    draw = getattr(en.sc.pl, name)
    with pytest.raises(ValueError, match=rf"pl\.{name} found no consensus under 'mine'"):
        draw(adata, "mine")
    with pytest.raises(en.ParameterError, match=rf"'key' parameter of pl\.{name} must be a name"):
        draw(adata, ["consensus"])
    with pytest.raises(TypeError, match=rf"pl\.{name} needs an AnnData object, got list"):
        draw([])
    _, ax = plt.subplots()
    assert draw(adata, ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_pictures_of_a_file(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    found = ad.read_h5ad(tmp_path / "cells.h5ad")
    for name in en.sc.pl.__all__:
        rendered(getattr(en.sc.pl, name)(found))


def test_a_map_needs_two_columns(adata):
    adata.obsm["X_line"] = np.zeros((adata.n_obs, 1))
    with pytest.raises(ValueError, match=r"at least two columns, got adata\.obsm\['X_line'\]"):
        en.sc.pl.confidence(adata, basis="line")


@pytest.mark.parametrize(
    ("basis", "tool"), [("tsne", "tsne"), ("X_pca", "pca"), ("umap", "umap"), ("mine", "umap")]
)
def test_a_missing_map_names_the_tool_that_makes_it(adata, basis, tool):
    for name in list(adata.obsm):
        del adata.obsm[name]
    with pytest.raises(ValueError, match=rf"which has no maps\. Run scanpy\.tl\.{tool}\(adata\)"):
        en.sc.pl.confidence(adata, basis=basis)
