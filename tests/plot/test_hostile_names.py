"""Names of columns, clusters, cells and files are drawn as text, whatever they hold."""

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import sparse

import ensemblage as en
from ensemblage import plot
from ensemblage.tables import FileFormatError

mpl.use("agg")
HOSTILE = {
    "controls": "a\x1b[2J\x07\x00\r\nb",
    "markup": "<script>alert(1)</script>&amp;",
    "mathematics": r"$\frac{1}{$ \undefined $$",
    "very long": "long" * 50_000,
    "half a pair": "a\ud800b",
    "turned around": "a\u202ebc\u2066",
    "empty": "",
}
EVERY_NAME = pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts_of(ax):
    """Draw a picture and return all of its texts, which are short and steer nothing."""
    ax.figure.canvas.draw()
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    ticks += ax.get_legend().get_texts() if ax.get_legend() else []
    found = [text.get_text() for text in [*ax.texts, *ticks]]
    found += [ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()]
    for text in found:
        assert len(text) < 200
        assert not OBEYED.search(text)
    return found


def votes(name):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 10)
    columns = {name: truth, f"{name} ": truth, "c": rng.integers(0, 3, 30)}
    return pd.DataFrame(
        {key: [f"{vote}{name}" for vote in column] for key, column in columns.items()}
    )


@EVERY_NAME
def test_pictures_of_a_method(name):
    fitted = en.Consensus(3, random_state=0).fit(votes(name))
    for draw in (plot.heatmap, plot.graph, plot.members, plot.clusters, plot.scatter):
        texts_of(draw(fitted))
    texts_of(plot.dendrogram(en.EAC(3).fit(votes(name))))


@EVERY_NAME
def test_two_clusterings(name):
    a = [f"{group}{name}" for group in (0, 0, 1, 1, 2, 2)]
    texts_of(plot.alluvial(a, [name, name, "b", "b", None, name], names=(name, "b")))


@EVERY_NAME
def test_a_credible_ball(name):
    found = votes(name)
    texts_of(plot.credible_ball(en.metrics.credible_ball(found.iloc[:, 0], found)))


@EVERY_NAME
def test_cells(name):
    ad = pytest.importorskip("anndata")
    cells = ad.AnnData(np.zeros((30, 1), dtype=np.float32))
    for column, labels in votes(name).items():
        # pandas itself takes all texts with half a pair for equal.
        groups, codes = np.unique(labels.to_numpy(dtype=object), return_inverse=True)
        cells.obs[column] = pd.Categorical.from_codes(codes, groups)
    key = f"{name}key"
    group = f"T{name}"
    cells.obs["type"] = pd.Categorical.from_codes([1] * 20 + [0] * 10, ["B", group])
    cells.obsm["X_umap"] = np.random.default_rng(0).normal(size=(30, 2))
    cells.obsp["connectivities"] = sparse.csr_matrix(np.ones((30, 30), dtype=np.float32))
    columns = [column for column in cells.obs if column != "type"]
    en.sc.tl.consensus(cells, columns, n_clusters=2, key_added=key, restrict_to=("type", [group]))
    for draw in (en.sc.pl.confidence, en.sc.pl.members, en.sc.pl.clustree):
        texts_of(draw(cells, key))
    assert cells.obs[key].astype(str).str.startswith(group).sum() == 20


@pytest.mark.parametrize("name", [HOSTILE["controls"], HOSTILE["turned around"]])
def test_errors_in_python_steer_no_terminal(name, tmp_path):
    name = name.replace("\r\n", "").replace("\x00", "")
    path = tmp_path / f"{name}.csv"
    path.write_text("a,b\n0,x\n1,0\n2,0\n0,0\n", encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        en.tables.read(path)
    assert not OBEYED.search(str(caught.value))
    assert str(caught.value).isprintable()
