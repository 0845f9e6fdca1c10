"""Tools: results are written into the object."""

from ensemblage.sc._consensus import consensus
from ensemblage.sc._ensemble import leiden_ensemble

__all__ = ["consensus", "leiden_ensemble"]
