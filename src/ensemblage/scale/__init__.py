"""The same stages on another runtime: votes larger than memory, on one machine or on several.

`stream` is imported with this package, `dask` when it is used.
"""

from ensemblage.scale import stream

__all__ = ["stream"]
