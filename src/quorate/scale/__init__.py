"""The same stages on another runtime: votes larger than memory, on one machine."""

from quorate.scale import stream

__all__ = ["stream"]
