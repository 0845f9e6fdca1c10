"""The same stages on another runtime: `stream` in batches; `dask`, imported when it is used."""

from ensemblage.scale import stream

__all__ = ["stream"]
