"""Plots of the results of the tools, by matplotlib; each returns its Axes."""

from ensemblage.sc._clustree import clustree
from ensemblage.sc._pictures import confidence, members

__all__ = ["clustree", "confidence", "members"]
