"""Single cell: an ensemble of Leiden runs, its consensus, and plots, in an AnnData object.

`tl` writes into the object and `pl` draws, as in scanpy, which is not needed. Any object with
``.obs`` and ``.uns`` is accepted: AnnData in memory or backed by a file, MuData, and the tables of
SpatialData.
"""

from ensemblage.sc import pl, tl

__all__ = ["pl", "tl"]
