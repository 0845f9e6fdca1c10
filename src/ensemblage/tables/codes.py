"""One code table for a clustering: the same integer for a label in every batch of every file.

Which integer does not matter, since microclusters number labels by first appearance in the end. So
threads may meet new labels in any order.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow.codes import MISSING
from ensemblage.tables.errors import FileFormatError
from ensemblage.tables.labels import NAMES, is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage._types import IntArray

#: Whole numbers below are their own codes; those that 62 bits do not hold are looked up.
_WIDE = 1 << 61


class Codes:
    """The labels of one clustering that were met so far, and of which kind they are."""

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
        """Refuse names in one file and numbers in another; without votes it may be either."""
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

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, **self.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["name"])  # type: ignore[misc]
        self._restore(state)

    def state(self) -> dict[str, Any]:
        """Return what `restored` makes the same codes of."""
        return {"kind": self._kind, "first_path": self._first_path, "labels": self.labels()}

    @classmethod
    def restored(cls, name: str, state: dict[str, Any]) -> Codes:
        """Return the codes that were kept earlier."""
        codes = cls(name)
        codes._restore(state)
        return codes

    def _restore(self, state: dict[str, Any]) -> None:
        self._kind, self._first_path = state["kind"], state["first_path"]
        self._code_of = {label: code for code, label in enumerate(state["labels"])}
