"""Which row holds the names, which column the ids, and which columns the votes."""

from __future__ import annotations

import fnmatch
import glob
import re
from typing import TYPE_CHECKING, Any

from ensemblage._messages import did_you_mean, shown
from ensemblage._validate import FEWEST_IDS, is_id_name, is_likely_id_name
from ensemblage.tables.errors import FileFormatError, OptionError
from ensemblage.tables.labels import Kind, understand

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


def has_header(
    first: Sequence[str], numbers_below: Sequence[bool], occurs_below: Sequence[bool]
) -> bool:
    """Tell whether the first row of a text file holds names.

    Parameters
    ----------
    first : sequence of str
        The cells of the first row.
    numbers_below : sequence of bool
        For each column, whether its other cells are numbers.
    occurs_below : sequence of bool
        For each column, whether its first cell occurs again further down.

    Notes
    -----
    A name stands over numbers, or is met nowhere else in its column. A row with a number in it is
    not a header, with two exceptions that pandas writes: an id column with its name, or with none,
    before clusterings that are called by numbers.
    """
    first = [cell.strip() for cell in first]
    kinds = [understand(cell).kind for cell in first]
    if any(kind in (Kind.WHOLE, Kind.FRACTION) for kind in kinds):
        numbered = first[1:] == [str(place) for place in range(len(first) - 1)]
        unnamed = first[0] == "" and numbered
        named = is_id_name(first[0]) or is_likely_id_name(first[0])
        named = named and len(set(first)) == len(first)
        return len(first) > 1 and not occurs_below[0] and (unnamed or named)
    over_numbers = (
        kind is Kind.NAME and numbers for kind, numbers in zip(kinds, numbers_below, strict=True)
    )
    return any(over_numbers) or (
        Kind.NAME in kinds and len(set(first)) == len(first) and not any(occurs_below)
    )


def find_id(
    names: Sequence[str],
    asked: str | int | None,
    *,
    path: str,
    n_rows: int,
    is_unique: Callable[[int], bool],
    named: bool,
) -> int | None:
    """Return the place of the id column, or None where there is none.

    Parameters
    ----------
    names : sequence of str
        The names of all columns.
    asked : str, int or None
        A name, a place counted from 0, "none" or None, or "auto".
    path : str
        What an error calls the file.
    n_rows : int
        How many objects there are.
    is_unique : callable
        Tells whether all values of the column at a place differ, as ids do.
    named : bool
        Whether the names stand in the file.

    Notes
    -----
    With "auto": the first column with a name for ids, or with a name that may mean ids and no two
    values equal; else the very first column if no two of its values are equal, every other column
    has equal values, and it is not called like its neighbours (``m1, m2, m3``).
    """
    if asked is None or asked == "none":
        return None
    if asked != "auto":
        return _place_of(asked, names, path)
    if len(names) < 2:
        return None
    if named:
        for place, name in enumerate(names):
            if is_id_name(name) or (place == 0 and name == ""):
                return place
            if is_likely_id_name(name) and is_unique(place):
                return place
        stems = {re.sub(r"[0-9]+$", "", name) for name in names}
        if len(stems) == 1:
            return None
    by_content = n_rows >= FEWEST_IDS and is_unique(0)
    if by_content and not any(is_unique(place) for place in range(1, len(names))):
        return 0
    return None


def picked(
    patterns: Sequence[str], names: Sequence[str], path: str, *, apart: Collection[Any] = ()
) -> list[str]:
    """Return the columns that names and glob patterns stand for, in the order asked for.

    A name that a table has is not a pattern. Patterns leave out the columns in `apart`, and those
    that were named before.

    Examples
    --------
    >>> picked(["leiden_*", "kmeans"], ["cell", "kmeans", "leiden_1", "leiden_2"], "")
    ['leiden_1', 'leiden_2', 'kmeans']
    """
    columns: list[str] = []
    for pattern in patterns:
        if pattern in names or not glob.has_magic(pattern):
            if pattern not in names:
                raise FileFormatError(
                    f"{path} has no column {pattern!r}.{did_you_mean(pattern, names)} Its columns:"
                    f" {shown(names, 8)}."
                )
            columns.append(pattern)
            continue
        matching = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if not matching:
            raise OptionError(
                f"No column of {path} matches {pattern!r}. Its columns: {shown(names, 8)}."
            )
        columns += [name for name in matching if name not in columns and name not in apart]
    return columns


def _place_of(asked: str | int, names: Sequence[str], path: str) -> int:
    if asked in names:
        return names.index(str(asked))
    is_place = isinstance(asked, int) or (asked.isdecimal() and len(asked) < 10)
    if is_place and 0 <= int(asked) < len(names):
        return int(asked)
    raise OptionError(
        f"{path} has no column {asked!r} to take ids from.{did_you_mean(asked, names)} Its"
        f" {len(names)} columns are {shown(names, 8)}."
    )
