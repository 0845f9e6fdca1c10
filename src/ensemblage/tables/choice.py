"""The options of a reader, checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ensemblage._messages import Message, Parameter, ParameterError
from ensemblage._validate import check_whole
from ensemblage.tables.formats import TEXT, OptionError


class Choice(NamedTuple):
    """The options of a reader; see `ensemblage.tables.read`."""

    columns: Any = None
    id_column: Any = "auto"
    truth: str | None = None
    keep: Any = ()
    header: bool | str = "auto"
    batch_rows: int = 1 << 20
    #: All rows are wanted at once, in memory.
    whole: bool = False
    #: Columns hold measurements, and not votes.
    features: bool = False
    #: Ids may repeat: whoever matches by them judges that.
    repeats: bool = False
    #: Ids were detected in an earlier file, so none may occur twice in this one.
    ids_differ: bool = False
    #: The column of ids is called by its name, and never by its place.
    by_name: bool = False
    #: Takes the clusterings and returns those that hold names, whatever the cells of a text file
    #: look like: labels are compared with those of an earlier file.
    hold_names: Callable[[Sequence[str]], Collection[str]] | None = None

    def with_ids(self, name: str | None) -> Choice:
        """Return the same with ids in the column of this name, or with none."""
        return self._replace(id_column=name, by_name=True)

    def of_names(self, clusterings: Sequence[str]) -> Collection[str]:
        """Return the clusterings that are known to hold names."""
        return () if self.hold_names is None else self.hold_names(clusterings)

    def checked(self, owner: str) -> Choice:
        """Return the same as lists and plain values; raise where one has no meaning."""
        columns, keep = _listed("columns", self.columns), _listed("keep", self.keep)
        if columns == []:
            raise TypeError(_not_listed("columns", columns))
        if self.id_column is not None and not isinstance(self.id_column, str):
            expected = "the name of a column, or its place from 0 up"
            check_whole(owner, "id_column", self.id_column, 0, expected)
        if self.truth is not None and not isinstance(self.truth, str):
            raise ParameterError(owner, "truth", "the name of a column", self.truth, optional=True)
        is_auto = isinstance(self.header, str) and self.header == "auto"
        if not (is_auto or isinstance(self.header, bool | np.bool_)):
            raise ParameterError(owner, "header", "True, False or 'auto'", self.header)
        check_whole(owner, "batch_rows", self.batch_rows, 1)
        return self._replace(columns=columns, keep=tuple(keep or ()))


def _listed(option: str, names: Any) -> list[str] | None:
    """Return names of columns as a list; raise where they are not a list of names."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(_not_listed(option, names))
    listed = list(names)
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(_not_listed(option, names))
    return listed


def _not_listed(option: str, names: Any) -> str:
    return f"'{option}' is a list of names, such as ['a', 'b']. Got {names!r}."


def check_options(chosen: str, path: str, *, header: bool | str, key: str | None) -> None:
    """Raise where an option would be ignored silently."""
    wrong = {
        "key": ("NPZ and MAT", key is not None and chosen not in ("npz", "mat")),
        "header": ("CSV and TSV", header != "auto" and chosen not in (*TEXT, "xlsx")),
    }
    for option, (formats, is_wrong) in wrong.items():
        if is_wrong:
            message = Message(
                "{option} is for {formats}, but {path} is read as {chosen}. Leave it out.",
                option=Parameter(option),
                formats=formats,
                path=path,
                chosen=chosen.upper(),
            )
            raise OptionError(message)
