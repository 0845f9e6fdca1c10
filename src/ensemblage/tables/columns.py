"""Columns that are the same in every batch of every file: labels, ids, kept columns."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import check_memory
from ensemblage.flow.codes import MISSING
from ensemblage.tables.files import arrow_errors
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import NAMES, is_missing, is_text
from ensemblage.tables.times import (
    beyond,
    check_times,
    has_times,
    is_in_zone,
    iso_dates,
    texts_of_times,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from ensemblage._types import IntArray

#: Whole numbers below are their own codes; those that 62 bits do not hold are looked up.
_WIDE = 1 << 61
#: The column of the output that counts the objects where they have no ids.
ROW = "row"
#: Types of which each row has its text; views of texts are measured where they are read.
_TEXTS_IN_PLACE = ("string", "large_string", "binary", "large_binary")
_TIMES = ("s", "ms", "us", "ns")


class Codes:
    """The labels of one clustering seen so far, and of which kind they are.

    Threads may see new labels in any order: microclusters number labels by first appearance.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._kind: str | None = None
        self._first_path = ""
        self._code_of: dict[Any, int] = {}
        self._lock = Lock()

    def of_names(self, labels: Sequence[Any]) -> NDArray[np.int64]:
        """Return a code for each of a few labels; None, which is a missing vote, is -1."""
        with self._lock:
            code_of = self._code_of
            return np.array(
                [
                    MISSING if label is None else code_of.setdefault(label, len(code_of))
                    for label in labels
                ],
                dtype=np.int64,
            )

    def of_integers(self, values: IntArray) -> IntArray:
        """Return whole numbers as they are, except the largest: of these, codes."""
        if values.dtype.itemsize < 8 or not len(values):
            return values
        if int(values.max()) < _WIDE and int(values.min()) >= -_WIDE:
            return values.astype(np.int64, copy=False)
        wide = (values >= _WIDE) | (values < -_WIDE)
        codes = np.where(wide, 0, values).astype(np.int64)
        distinct, inverse = np.unique(values[wide], return_inverse=True)
        codes[wide] = _WIDE + self.of_names(distinct.tolist())[inverse]
        return codes

    def of_numbers(self, labels: Sequence[Any]) -> NDArray[np.int64]:
        """Return codes of a few numbers: as `of_integers` does, and for fractions too."""
        own = [float(label).is_integer() and -_WIDE <= label < _WIDE for label in labels]
        codes = np.array(
            [int(label) if is_own else 0 for label, is_own in zip(labels, own, strict=True)],
            dtype=np.int64,
        )
        others = ~np.array(own, dtype=bool)
        if others.any():
            odd = [label for label, is_own in zip(labels, own, strict=True) if not is_own]
            codes[others] = _WIDE + self.of_names(odd)
        return codes

    def check_kind(self, votes: IntArray, kind: str, path: str) -> None:
        """Reject names in one file and numbers in another; without votes it may be either."""
        if kind == self._kind or is_missing(votes).all():
            return
        with self._lock:
            if self._kind is None:
                self._kind, self._first_path = kind, path
        if kind != self._kind:
            raise FileFormatError(
                f"Column {self.name!r} holds {kind} in {path}, but {self._kind} in"
                f" {self._first_path}. Use one kind of label for it in all files."
            )

    @property
    def holds_names(self) -> bool:
        """Whether the labels are names."""
        return self._kind == NAMES

    def labels(self) -> list[Any]:
        """Return the labels that have a code of their own, by code."""
        with self._lock:
            return list(self._code_of)

    def meaning(self, codes: NDArray[np.int64]) -> Any:
        """Return the label that each code stands for."""
        labels = self.labels()
        if self.holds_names:
            return [labels[code] for code in codes.tolist()]
        if not len(codes) or codes.max() < _WIDE:
            return codes
        return [labels[code - _WIDE] if code >= _WIDE else code for code in codes.tolist()]

    def translated(self, other: Codes, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return another's codes as those of the same labels here."""
        if other._kind is None:
            return codes
        self.check_kind(codes, other._kind, other._first_path)
        code_here = self.of_names(other.labels())
        if other.holds_names:
            return np.append(code_here, MISSING)[codes]
        wide = codes >= _WIDE
        if wide.any():
            codes = codes.copy()
            codes[wide] = _WIDE + code_here[codes[wide] - _WIDE]
        return codes

    def __reduce__(self) -> tuple[Any, ...]:
        return Codes.restored, (self.name, self.state())

    def state(self) -> dict[str, Any]:
        """Return what `restored` makes the same codes of."""
        return {"kind": self._kind, "first_path": self._first_path, "labels": self.labels()}

    @classmethod
    def restored(cls, name: str, state: dict[str, Any]) -> Codes:
        """Return the codes that were kept earlier."""
        codes = cls(name)
        codes._kind, codes._first_path = state["kind"], state["first_path"]
        codes._code_of = {label: code for code, label in enumerate(state["labels"])}
        return codes


# -- carried columns -------------------------------------------------------------------------------


def plain(column: Any, where: str) -> Any:
    """Return a column without the ways of storing it: categories and views as their values."""
    import pyarrow as pa

    with arrow_errors(f"{where} cannot be read"):
        if pa.types.is_dictionary(column.type):
            advice = "Use shorter names, or leave the column out."
            check_memory(2 * decoded_bytes(column), where, advice)
            column = column.cast(column.type.value_type)
        return column.cast(pa.large_string()) if str(column.type) == "string_view" else column


def decoded_bytes(column: Any) -> int:
    """Return how many bytes the texts of a column take in its rows; 0 for other types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray):
        return sum(map(decoded_bytes, column.chunks))
    if str(column.type) in _TEXTS_IN_PLACE:
        return int(column.nbytes)
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return 0
    lengths = pc.binary_length(column.dictionary)
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)


def to_array(column: Any, where: str) -> NDArray[Any]:
    """Return a column as an array of numbers, dates or objects; other types as text."""
    import pyarrow as pa

    column = plain(column, where)
    kind = column.type
    with arrow_errors(f"{where} cannot be read"):
        dates = pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and not is_in_zone(kind))
        if has_times(kind) and not dates:
            return np.array(texts_of_times(column), dtype=object)
        whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        if dates or pa.types.is_floating(kind) or (whole and column.null_count == 0):
            return np.asarray(column.to_numpy(zero_copy_only=False))
        return np.array([_as_given(value) for value in column.to_pylist()], dtype=object)


def output_type(kind: Any, *, is_id: bool) -> Any:
    """Return the Arrow type that a carried column has in the output."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    naive = pa.types.is_timestamp(kind) and not is_in_zone(kind)
    if pa.types.is_integer(kind) or pa.types.is_date(kind) or naive:
        return kind
    if not is_id and (pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        return kind
    return pa.string()


def common_type(kinds: list[Any]) -> Any:
    """Return the Arrow type that holds a column of every file: text if they are of many kinds."""
    import pyarrow as pa

    kinds = list({str(kind): kind for kind in kinds}.values())
    if len(kinds) == 1:
        return kinds[0]
    if all(pa.types.is_integer(kind) for kind in kinds):
        if all(pa.types.is_unsigned_integer(kind) for kind in kinds):
            return pa.uint64()
        return pa.string() if pa.uint64() in kinds else pa.int64()
    if all(pa.types.is_floating(kind) for kind in kinds):
        return max(kinds, key=lambda kind: int(kind.bit_width))
    if all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in kinds):
        units = [kind.unit for kind in kinds if pa.types.is_timestamp(kind)]
        return pa.timestamp(max(units, key=_TIMES.index, default="ms"))
    return pa.string()


def cast_to(kind: Any, column: Any, where: str) -> Any:
    """Return a carried column as an Arrow array of this type."""
    import pyarrow as pa

    column = plain(column, where)
    if pa.types.is_floating(kind):  # NaN is missing, as null is
        return pa.array(column.to_numpy(zero_copy_only=False), kind, from_pandas=True)
    if column.type == kind:
        return column
    if pa.types.is_temporal(column.type) and pa.types.is_timestamp(kind):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            raise beyond(where, kind.unit) from None
    if is_text(column.type) or pa.types.is_integer(column.type):
        with arrow_errors(f"{where} cannot be read"):
            return column.cast(kind)
    return pa.array(texts_of(column, where), pa.string())


def texts_of(column: Any, where: str) -> list[Any]:
    """Return a column as texts, which are the same in every batch; None where there is none."""
    values = to_array(column, where)
    if values.dtype.kind == "M":
        return [text or None for text in iso_dates(values).tolist()]
    if values.dtype.kind == "f":
        return [None if number != number else str(number) for number in values.tolist()]
    return [None if value is None else str(value) for value in values.tolist()]


def check_carried(id_name: Any, kept: Iterable[Any], written: Collection[str]) -> None:
    """Raise where ids, or a column to keep, are called like another column of the output.

    `written` are the labels; without ids the output has row numbers too.
    """
    others = {*written} if id_name is not None else {*written, ROW}
    for name in (id_name, *kept):
        if name in others:
            what = "The id column" if name == id_name else "A column to keep"
            raise FileFormatError(
                f"{what} is called {name!r}, which is the name of a column of the output."
                " Rename it."
            )


def whole_ids(texts: Any) -> Any:
    """Return a column of text as int64 if writing the numbers gives the same texts, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if pc.all(pc.equal(numbers.cast(texts.type), texts)).as_py() else None


def _as_given(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# -- ids of a table --------------------------------------------------------------------------------


def as_texts(ids: NDArray[Any]) -> list[str]:
    """Return ids as text files spell them; equal texts are equal ids."""
    values = iso_dates(ids).tolist() if ids.dtype.kind == "M" else ids.tolist()
    return ["" if value is None else str(value) for value in values]


def joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of several files as one array: as text where they are of different kinds."""
    if len({part.dtype.kind for part in parts}) == 1:
        whole = np.concatenate(parts)
        if whole.dtype.kind == "M":
            check_times(whole, parts)
        return whole
    return np.array([text for part in parts for text in as_texts(part)], dtype=object)
