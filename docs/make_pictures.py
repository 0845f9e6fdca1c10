"""The pictures of the guide: one ensemble of two moons and a ball, followed through the method.

Run it with: python docs/make_pictures.py [FOLDER]
It writes a PNG for each stage to FOLDER, by default docs/guide.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

import ensemblage as en
from ensemblage import flow

mpl.use("agg")  # into files, no window
mpl.rcParams.update(
    {
        "axes.titlesize": 11,
        "figure.constrained_layout.w_pad": 0.12,  # inches: no title touches an edge
        "figure.constrained_layout.h_pad": 0.1,
    }
)

INK, PALE, BLUE = "#332288", "#cccccc", "#4477aa"


def objects() -> tuple[Any, Any]:
    """Return points of two moons and a ball, which k-means with k = 3 cannot tell apart."""
    moons, side = make_moons(500, noise=0.07, random_state=0)
    ball = np.random.default_rng(1).normal([0.5, 1.7], 0.15, (150, 2))
    return np.vstack([moons, ball]), np.append(side, np.full(150, 2))


def panels(n: int, height: float = 2.9) -> tuple[Any, Any]:
    """Return a figure with n squares side by side, without numbers on their axes."""
    figure, axes = plt.subplots(1, n, figsize=(9, height), layout="constrained", squeeze=False)
    for ax in axes[0]:
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
    return figure, axes[0]


def draw_story(points: Any, shapes: Any) -> Any:
    """Draw the first picture of all: k-means fails, EnsembleClustering does not."""
    alone = KMeans(3, n_init=10, random_state=0).fit_predict(points)
    model = en.EnsembleClustering(n_clusters=3, random_state=0).fit(points)
    shown = {
        "k-means, k = 3": (alone, "tab10"),
        "one of 20 k-means runs": (model.votes_[:, 0], "tab20"),
        "consensus of the 20 runs": (model.labels_, "tab10"),
    }
    figure, axes = panels(3, 3.1)
    for ax, (name, (labels, colours)) in zip(axes, shown.items(), strict=True):
        ax.scatter(
            *points.T, s=9, c=labels % 20, cmap=colours, vmax=9 if colours == "tab10" else 19
        )
        ax.set_title(name, loc="left")
        ari = en.metrics.ari(shapes, labels)
        ax.set_xlabel(f"agreement with the shapes (ARI): {ari:.2f}", fontsize=9)
    return figure


def draw_votes(points: Any, votes: Any) -> Any:
    figure, axes = panels(3)
    for ax, m in zip(axes, (0, 1, 2), strict=True):
        ax.scatter(*points.T, s=9, c=votes[:, m] % 20, cmap="tab20")
        ax.set_title(f"vote {m + 1}: {votes[:, m].max() + 1} clusters", loc="left")
    return figure


def draw_microclusters(points: Any, groups: Any, places: Any) -> Any:
    figure, axes = panels(2, 3.3)
    axes[0].scatter(*points.T, s=9, color=BLUE)
    axes[0].set_title(f"{len(points)} objects", loc="left")
    axes[1].scatter(*places.T, s=9 * groups.sizes, color=BLUE, edgecolor="white", linewidth=0.5)
    axes[1].set_title(f"{len(places)} microclusters, area: number of objects", loc="left")
    return figure


def draw_links(places: Any, every: Any, elite: Any) -> Any:
    figure, axes = panels(2, 3.3)
    for ax, links, name in zip(axes, (every, elite), ("all links", "elite links"), strict=True):
        pairs = np.argwhere(np.triu(links, 1) > 0)
        weights = links[tuple(pairs.T)]
        colours = np.tile(mpl.colors.to_rgba(INK), (len(pairs), 1))
        colours[:, 3] = 0.05 + 0.6 * weights**2
        ax.add_collection(LineCollection(places[pairs], colors=colours, linewidths=0.8))
        ax.scatter(*places.T, s=6, color=BLUE)
        ax.set_title(f"{name}: {len(pairs):,}", loc="left")
    return figure


def draw_walk(places: Any, P: Any, start: int, steps: tuple[int, ...]) -> Any:
    figure, axes = panels(len(steps))
    here = np.zeros(len(places))
    here[start] = 1.0
    after = {0: here}
    for t in range(1, max(steps) + 1):
        after[t] = after[t - 1] @ P
    for ax, t in zip(axes, steps, strict=True):
        ax.scatter(*places.T, s=6, color=PALE)
        share = after[t] / after[t].max()
        reached = share > 0.005
        ax.scatter(*places[reached].T, s=10 + 60 * share[reached], color=INK, linewidth=0)
        ax.scatter(*places[start], s=90, facecolor="none", edgecolor="#cc3311", linewidth=2)
        ax.set_title(f"after {t} step{'s' if t > 1 else ''}", loc="left")
    return figure


def draw_similarity(fitted: Any) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for ax, kind in zip(axes, ("coassociation", "similarity"), strict=True):
        en.plot.heatmap(fitted, kind, max_rows=1000, ax=ax)
    return figure


def draw_cut(points: Any, tree: Any, cut: Any) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    en.plot.dendrogram(tree, max_leaves=20, ax=axes[0])
    en.plot.scatter(cut, points, ax=axes[1])
    axes[1].set_title("Objects; pale: little confidence", loc="left")
    return figure


def main(folder: Path) -> None:
    points, shapes = objects()
    votes = en.ensembles.generate(points, 20, n_clusters_range=(10, 30), random_state=0)
    tree, cut = en.PTA(3).fit(votes), en.PTGP(3, random_state=0).fit(votes)

    groups = en.microclusters(votes)
    places = np.zeros((len(groups.sizes), 2))
    np.add.at(places, groups.of_object, points)
    places /= groups.sizes[:, None]
    elite = flow.elite_graph(groups.table, n_neighbors=tree.n_neighbors_)
    P = flow.transition_matrix(elite, groups.sizes).toarray()
    shape = np.zeros(len(groups.sizes), dtype=int)
    shape[groups.of_object] = shapes
    apart = shape[:, None] != shape
    every = flow.coassociation(groups.table)
    # What the guide says of its pictures.
    assert en.metrics.ari(shapes, tree.labels_) == en.metrics.ari(shapes, cut.labels_) == 1
    assert every[apart].any()
    assert not elite.toarray()[apart].any()
    start = int(np.argmin(((places - [-0.6, 0.7]) ** 2).sum(axis=1)))  # in a moon

    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in {
        "story": draw_story(points, shapes),
        "votes": draw_votes(points, votes),
        "microclusters": draw_microclusters(points, groups, places),
        "links": draw_links(places, every, elite.toarray()),
        "walk": draw_walk(places, P, start, (1, 4, tree.n_steps_)),
        "similarity": draw_similarity(tree),
        "cut": draw_cut(points, tree, cut),
    }.items():
        figure.savefig(folder / f"{name}.png", dpi=90)
        plt.close(figure)
        with Image.open(folder / f"{name}.png") as picture:  # 256 colours: a third of the bytes
            small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        small.save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "guide")
