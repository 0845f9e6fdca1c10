"""Labels as databases and other programs store them: decimals, bytes, types that extend others."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def as_numbers_or_text(column: Any) -> Any:
    """Return an Arrow column of such a type as numbers or text, if its values are; others as is."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return as_numbers_or_text(column.storage)
    if pa.types.is_decimal(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:  # a fraction, or too large
            return column.cast(pa.float64(), safe=False)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        with suppress(pa.ArrowInvalid):  # no UTF-8
            return column.cast(pa.large_string())
    return column
