"""Pictures of a consensus, by matplotlib: each function draws one and returns its Axes.

All of them take ``ax=`` to draw into a figure of yours; without it they open a new one. Where there
is more than a picture can hold they draw a part, and say so in the title.
"""

from quorate.plot.alluvial import alluvial
from quorate.plot.choices import cdf, k_curves
from quorate.plot.clusters import clusters
from quorate.plot.dendrogram import dendrogram
from quorate.plot.graph import graph
from quorate.plot.heatmap import heatmap
from quorate.plot.members import members
from quorate.plot.scatter import scatter

__all__ = [
    "alluvial",
    "cdf",
    "clusters",
    "dendrogram",
    "graph",
    "heatmap",
    "k_curves",
    "members",
    "scatter",
]
