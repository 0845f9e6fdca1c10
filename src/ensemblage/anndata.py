"""Consensus of the clusterings in an AnnData object: `ensemblage.sc.tl.consensus`."""

from ensemblage.sc.tl import consensus

__all__ = ["consensus"]
