"""Plots of a consensus, by matplotlib: each function draws one and returns its Axes.

All of them accept ``ax=`` to draw into an existing figure; otherwise they open a new one. Large
inputs are sampled, with a note in the title.
"""

from ensemblage.plot.alluvial import alluvial
from ensemblage.plot.choices import cdf, k_curves
from ensemblage.plot.clusters import clusters
from ensemblage.plot.credible_ball import credible_ball
from ensemblage.plot.dendrogram import dendrogram
from ensemblage.plot.graph import graph
from ensemblage.plot.heatmap import heatmap
from ensemblage.plot.members import members
from ensemblage.plot.scatter import scatter

__all__ = [
    "alluvial",
    "cdf",
    "clusters",
    "credible_ball",
    "dendrogram",
    "graph",
    "heatmap",
    "k_curves",
    "members",
    "scatter",
]
