"""Clusterings from coarse to fine, the flow of cells between them, and the consensus."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, metrics
from ensemblage._colours import cluster_codes
from ensemblage.plot import canvas
from ensemblage.sc._columns import result_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_SWEEPS = 4  # passes of the ordering of clusters, down and up
_FAINT = 0.1  # arrows with less than this share of a cluster are not drawn
_LETTERED = 18  # rows with more clusters have no names


class _Row(NamedTuple):
    """A clustering: its name, the code of each cell (-1 if missing), the names of its clusters."""

    name: str
    codes: NDArray[np.int64]
    labels: list[str]


def clustree(adata: Any, key: str = "consensus", *, max_rows: int = 12, ax: Any = None) -> Any:
    """Draw clusterings by resolution, the flow of cells between them, and the consensus below.

    A disc is a cluster: its area is the number of cells, its colour that of the most frequent
    consensus cluster. The width of a line between two rows is its number of cells, its darkness
    their share of the lower cluster; lines of less than a tenth are left out. Lines that cross many
    columns are cells on which the runs disagree.

    Parameters
    ----------
    adata : AnnData
        With the result of `ensemblage.sc.tl.consensus`.
    key : str, default="consensus"
        Name of that result.
    max_rows : int, default=12
        Maximal number of clusterings; of more, evenly spaced ones are drawn, with a note in the
        title.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Of the runs of `leiden_ensemble` at one resolution, the one with the highest agreement with the
    others (mean NMI) is drawn. Other clusterings are sorted by their number of clusters. The plot
    follows clustree (Zappia and Oshlack, GigaScience 7, 2018).

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import ensemblage as en
    >>> runs = pd.DataFrame({"run_1": list("aabb"), "run_2": list("aabc"), "run_3": list("abbb")})
    >>> adata = anndata.AnnData(np.zeros((4, 1)), runs.set_index(pd.Index(list("wxyz"))))
    >>> en.sc.tl.consensus(adata, "run_", n_clusters=2)
    >>> en.sc.pl.clustree(adata).get_title(loc="left")
    'Clusterings from coarse to fine, and their consensus'
    """
    owner = "pl.clustree"
    labels, _, columns = result_of(owner, adata, key)
    _validate.check_whole(owner, "max_rows", max_rows, 1)
    rows = _rows(adata, columns)
    n_all = len(rows)
    places = np.unique(np.linspace(0, n_all - 1, min(max_rows, n_all)).round().astype(int))
    last = _row(key, labels)
    rows = [*(rows[place] for place in places), last]
    flows = [_flow(upper, lower) for upper, lower in pairwise(rows)]
    x = _positions(flows)
    colours = np.array(cluster_codes(len(last.labels)))

    widest = max(len(row.labels) for row in rows)
    ax = canvas.axes(ax, min(14.0, max(6.4, 0.5 * widest + 1.6)), 1.2 + 0.7 * len(rows))
    heights = -np.arange(len(rows), dtype=float)
    heights[-1] -= 0.25
    for place, flow in enumerate(flows):
        _lines(ax, flow, (x[place], x[place + 1]), (heights[place], heights[place + 1]))
    for row, at, height in zip(rows, x, heights, strict=True):
        _discs(ax, row, at, height, colours[_majority(row, last)])
    ax.set_yticks(heights, [canvas.short(row.name) for row in rows])
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(heights[-1] - 0.6, 0.6)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    note = canvas.of_all(len(places), n_all, "clusterings")
    canvas.title(ax, "Clusterings from coarse to fine, and their consensus", note)
    return ax


def _rows(adata: Any, columns: list[str]) -> list[_Row]:
    """Return one clustering for each resolution, or all by their number of clusters."""
    resolution_of: dict[str, float] = {}
    for entry in adata.uns.values():
        if isinstance(entry, Mapping) and {"keys", "resolutions"} <= entry.keys():
            made = zip(map(str, entry["keys"]), map(float, entry["resolutions"]), strict=True)
            resolution_of |= dict(made)
    if not all(column in resolution_of for column in columns):
        rows = [_row(column, adata.obs[column]) for column in columns]
        return sorted(rows, key=lambda row: len(row.labels))
    rows = []
    for resolution in sorted({resolution_of[column] for column in columns}):
        runs = [column for column in columns if resolution_of[column] == resolution]
        voted = adata.obs[runs].notna().any(axis=1)  # some cells only, after restrict_to
        similarity = metrics.member_similarity(adata.obs.loc[voted.to_numpy(), runs])
        best = runs[int(similarity.sum(axis=1).argmax())]
        rows.append(_row(f"resolution {resolution:g}", adata.obs[best]))
    return rows


def _row(name: str, labels: Any) -> _Row:
    column = labels.astype("category").cat.remove_unused_categories()
    codes = column.cat.codes.to_numpy().astype(np.int64)
    return _Row(name, codes, [str(label) for label in column.cat.categories])


def _flow(upper: _Row, lower: _Row) -> NDArray[np.int64]:
    """Return the number of cells of each cluster above in each cluster below."""
    counts = np.zeros((len(upper.labels), len(lower.labels)), dtype=np.int64)
    both = (upper.codes >= 0) & (lower.codes >= 0)
    np.add.at(counts, (upper.codes[both], lower.codes[both]), 1)
    return counts


def _positions(flows: list[NDArray[np.int64]]) -> list[FloatArray]:
    """Return positions from 0 to 1 for the clusters of each row, so that few lines cross."""
    sizes = [flows[0].shape[0], *(flow.shape[1] for flow in flows)]
    x = [_even(np.arange(size)) for size in sizes]
    for _ in range(_SWEEPS):
        for place, flow in enumerate(flows):
            x[place + 1] = _even(_centres(x[place], flow, x[place + 1]))
        for place, flow in reversed(list(enumerate(flows))):
            x[place] = _even(_centres(x[place + 1], flow.T, x[place]))
    return x


def _centres(above: FloatArray, flow: NDArray[np.int64], here: FloatArray) -> FloatArray:
    """Return the mean position of the clusters that the cells of each cluster come from."""
    total = flow.sum(axis=0)
    return np.divide(above @ flow, total, out=here.copy(), where=total > 0)


def _even(centres: NDArray[Any]) -> FloatArray:
    """Return even positions in the order of `centres`."""
    places = np.empty(len(centres))
    places[np.argsort(centres, kind="stable")] = (np.arange(len(centres)) + 0.5) / len(centres)
    return places


def _majority(row: _Row, last: _Row) -> NDArray[np.int64]:
    """Return the most frequent consensus cluster of the cells of each cluster."""
    return _flow(row, last).argmax(axis=1)


def _lines(ax: Any, flow: NDArray[np.int64], x: Any, y: tuple[float, float]) -> None:
    share = flow / np.maximum(flow.sum(axis=0), 1)
    for a, b in zip(*np.nonzero(share >= _FAINT), strict=True):
        width = 0.5 + 7 * np.sqrt(flow[a, b] / flow.sum())
        shade = str(0.85 - 0.6 * share[a, b])
        ax.plot([x[0][a], x[1][b]], y, color=shade, linewidth=width, zorder=1 + share[a, b])


def _discs(ax: Any, row: _Row, x: FloatArray, y: float, colours: Any) -> None:
    from matplotlib.patheffects import withStroke

    sizes = np.bincount(row.codes[row.codes >= 0], minlength=len(row.labels))
    area = 70 + 900 * sizes / sizes.sum()
    heights = np.full(len(x), y)
    ax.scatter(x, heights, s=area, c=colours, edgecolors="white", linewidths=1, zorder=3)
    if len(row.labels) <= _LETTERED:
        outline = [withStroke(linewidth=2, foreground="white")]
        look = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 4}
        for at, label in zip(x, row.labels, strict=True):
            ax.annotate(canvas.short(label, 8), (at, y), path_effects=outline, **look)
