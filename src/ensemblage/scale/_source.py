"""What a file of votes has to tell, whatever its format: its columns, and its rows in batches."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage.files import FileFormatError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage._types import IntArray
    from ensemblage.scale._labels import Labels

_BYTES_AT_ONCE = 1 << 22  # votes of a batch stay in the cache, or near it


class Batch(NamedTuple):
    """Some rows of a file, from row `first` on (counted from 0), columns as the file has them."""

    first: int
    n_rows: int
    columns: list[Any]
    ids: Any

    def cut(self, start: int, stop: int) -> Batch:
        """Return the rows of the file from `start` to `stop`, as far as they are in here."""
        start, stop = max(start, self.first), min(stop, self.first + self.n_rows)
        if (start, stop) == (self.first, self.first + self.n_rows):
            return self
        part = slice(start - self.first, stop - self.first)
        ids = None if self.ids is None else self.ids[part]
        return Batch(start, stop - start, [column[part] for column in self.columns], ids)


class Source(ABC):
    """A file of votes. `names` are its clusterings in order, `id_name` the column of ids."""

    path: str
    names: list[str]
    id_name: str | None
    #: A column of true labels, which is no clustering.
    truth: str | None = None
    #: None while it is not known, as of text before it was read.
    n_rows: int | None
    #: How many rows of the file come before the first object.
    n_before: int = 0
    #: Size and time of change when it was looked at; None for what is no file.
    _known: tuple[int, int] | None = None

    @abstractmethod
    def batches(
        self,
        start: int,
        stop: int | None = None,
        *,
        ids: bool = False,
        truth: bool = False,
        threads: int = 1,
    ) -> Iterator[Batch]:
        """Yield the rows from `start` to `stop`: votes, then `truth`, and the ids, if asked for."""

    def spans(self, n_rows: int) -> list[tuple[int, int]]:  # noqa: ARG002 - text is not cut
        """Return ranges of about so many rows that can be read without those before them."""
        return [(0, self.n_rows)] if self.n_rows else []

    @abstractmethod
    def votes(self, batch: Batch, labels: list[Labels]) -> list[IntArray]:
        """Return the columns of a batch as integers, -1 for a missing vote."""

    @abstractmethod
    def id_type(self) -> Any:
        """Return the Arrow type that ids have in the output."""

    @abstractmethod
    def arrow_ids(self, ids: Any, kind: Any) -> Any:
        """Return ids as an Arrow array."""

    @abstractmethod
    def text_ids(self, ids: Any) -> list[Any]:
        """Return ids as the cells of a text file."""

    def _check_columns(self, known: list[str]) -> None:
        """Complain of columns that were asked for and are not there."""
        if not self.names:
            raise FileFormatError(f"{self.path} has no votes beside its ids.")
        wanted = [*self.names, *([] if self.truth is None else [self.truth])]
        for name in wanted:
            if name not in known:
                shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
                near = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {near[0]!r}?" if near and name == self.truth else ""
                wrong = OptionError if name == self.truth else FileFormatError
                raise wrong(f"{self.path} has no column {name!r}.{hint} Its columns: {shown}.")
        told = {self.id_name: "holds the ids", self.truth: "holds true labels"}
        for name in self.names:
            if name in told:
                raise FileFormatError(
                    f"Column {name!r} of {self.path} is named as a clustering, but it"
                    f" {told[name]}. Name each column once."
                )
            told[name] = "is named twice"
        if self.truth is not None and self.truth == self.id_name:
            raise FileFormatError(
                f"Column {self.truth!r} of {self.path} holds the ids of the objects, so it cannot"
                " hold true labels. Name another column for one of them."
            )

    # -- the same file all the time ------------------------------------------------------------

    def remember(self) -> None:
        """Keep by what a change of the file is noticed later."""
        if Path(self.path).is_file():
            self._known = _size_and_time(self.path)

    def has_changed(self) -> bool:
        """Tell whether the file is another one than when it was looked at."""
        if self._known is None:
            return False
        return not Path(self.path).is_file() or _size_and_time(self.path) != self._known

    def check_unchanged(self) -> None:
        """Refuse to go on where the file has changed, after its rows were gone through."""
        if self.has_changed():
            raise self.changed()

    def changed(self) -> FileFormatError:
        """Return the error to raise where it shows that the file has changed."""
        return FileFormatError(
            f"{self.path} has changed while it was read, so its votes and labels would not belong"
            " together. Leave the files alone until the labels are there, and run it again."
        )

    def where(self, row: int) -> str:
        """Return where an object stands, for messages; rows of files are counted from 1."""
        return f"{self.path}, row {row + self.n_before + 1}"


def _size_and_time(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns


def rows_at_once(batch_rows: int, bytes_of_row: int) -> int:
    """Return how many rows a batch may have: fewer than asked for where these are long."""
    return max(1, min(batch_rows, max(1 << 12, _BYTES_AT_ONCE // max(1, bytes_of_row))))
