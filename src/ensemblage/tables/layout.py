"""Opening tables: which columns hold ids and votes, and files that go together."""

from __future__ import annotations

import fnmatch
import glob
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from ensemblage._messages import Message, Parameter, did_you_mean, shown
from ensemblage._validate import FEWEST_IDS, is_id_name, is_likely_id_name
from ensemblage.tables.choice import Choice, check_options
from ensemblage.tables.files import File, resolve
from ensemblage.tables.formats import BY_NAME, STREAMED, TEXT, FileFormatError, OptionError, load
from ensemblage.tables.ids import warn_of_numbers
from ensemblage.tables.rows import SEPARATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ensemblage.tables.source import Source


def find_id(
    names: Sequence[str],
    asked: str | int | None,
    *,
    path: str,
    n_rows: int,
    is_unique: Callable[[int], bool],
    named: bool,
    is_name: bool = False,
) -> int | None:
    """Return the place of the id column, or None.

    `asked` is a name, a place counted from 0, "none" or None, or "auto", as
    docs/command_files.md describes; one that `is_name` is never a place.
    """
    if asked is None or asked == "none":
        return None
    if asked != "auto":
        return names.index(asked) if is_name and asked in names else place_of(asked, names, path)
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

    A name that a table has is not a pattern. Patterns skip columns in `apart`, and repeated ones.
    """
    columns: list[str] = []
    for pattern in patterns:
        if pattern in names or not glob.has_magic(pattern):
            if pattern not in names:
                raise no_column(path, pattern, names)
            columns.append(pattern)
            continue
        matching = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if not matching:
            raise OptionError(
                f"No column of {path} matches {pattern!r}. Its columns: {shown(names, 8)}."
            )
        columns += [name for name in matching if name not in columns and name not in apart]
    return columns


def clusterings(
    patterns: Sequence[str], names: Sequence[str], path: str, *, apart: Collection[Any] = ()
) -> list[str]:
    """Return the columns of votes that were `picked`; raise where one is named twice."""
    columns = picked(patterns, names, path, apart=apart)
    for name, times in Counter(columns).items():
        if times > 1:
            raise FileFormatError(
                f"Column {name!r} of {path} is named as a clustering, but it is named twice. Name"
                " each column once."
            )
    return columns


def place_of(
    asked: str | int, names: Sequence[str], path: str, purpose: str = " to take ids from"
) -> int:
    """Return the place of a column that is called by its name, or by its place from 0."""
    is_place = not isinstance(asked, str) or (asked.isdecimal() and len(asked) < 10)
    place = int(asked) if is_place and 0 <= int(asked) < len(names) else None
    if isinstance(asked, str) and asked in names:
        if place not in (None, names.index(asked)):
            raise _of_two_columns(path, asked, names)
        return names.index(asked)
    if place is None:
        raise no_column(path, asked, names, purpose)
    return place


def _of_two_columns(path: str, asked: str, names: Sequence[str]) -> OptionError:
    """Return the error for a text that is the name of one column and the place of another."""

    def by_place(place: int) -> Parameter:
        texts = (str(place).zfill(width) for width in range(1, 10))
        return Parameter("id_column", next(text for text in texts if text not in names))

    message = Message(
        "{id_column} must be one column of {path}, got {asked!r}: the name of one and the place of"
        " another, counted from 0. Pass {named} for the one of that name, or {placed} for the one"
        " at place {place}.",
        id_column=Parameter("id_column"),
        path=path,
        asked=asked,
        named=by_place(names.index(asked)),
        place=int(asked),
        placed=by_place(int(asked)),
    )
    return OptionError(message)


def no_column(path: str, name: Any, names: Sequence[str], purpose: str = "") -> OptionError:
    """Return the error for a column that a file does not have."""
    return OptionError(
        f"{path} has no column {name!r}{purpose}.{did_you_mean(name, names)} Its columns:"
        f" {shown(names, 8)}."
    )


# -- files that belong together ------------------------------------------------------------------


def scan(
    sources: Any,
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    id_column: str | int | None = "auto",
    truth: str | None = None,
    keep: Collection[str] = (),
    header: bool | str = "auto",
    batch_rows: int = 1 << 20,
    _hold_names: Any = None,
) -> list[Source]:
    """Open votes to be read in batches; see `read` for the parameters.

    Parameters
    ----------
    batch_rows : int, default=1048576
        How many rows a batch has, at most: fewer where rows are long.

    Returns
    -------
    list of Source
        The files, opened but not read. ``source.batches()`` yields Arrow columns, and
        ``source.votes(batch, codes)`` returns them as integers.
    """
    choice = Choice(columns, id_column, truth, keep, header, batch_rows, hold_names=_hold_names)
    choice = choice.checked("scan")
    files = [File(path) for path in resolve(sources)]
    for file in files:
        reason = why_not_streamed(file.path, format)
        if reason is not None:
            raise FileFormatError(f"Votes are streamed in two passes, but {reason}.")
    return open_sources(files, choice, format=format)


def why_not_streamed(path: str, format: str | None = None) -> str | None:  # noqa: A002
    """Return why a file cannot be read in batches, or None where it can."""
    file = File(path)
    if file.once:
        return f"{file.name} can be read once only"
    try:
        known = file.format(format)
    except OSError:
        return None  # reading it raises
    if known not in STREAMED:
        return f"{path} is {known.upper()}, and {', '.join(STREAMED)} are read in batches"
    if known not in TEXT and file.is_packed():
        return f"{path} is compressed {known.upper()}, which has to be unpacked first"
    return None


def bytes_in_memory(paths: Sequence[str], format: str | None = None) -> int:  # noqa: A002
    """Return about how many bytes the votes of files would take in memory, with their reading.

    Of Parquet, Arrow and ORC, twice the votes and 64 bytes a row, or twice the values unpacked if
    that is more; of text, 8 times the file, 32 times if packed.
    """
    needed = 0
    for file in map(File, paths):
        state = None if file.once else file.state()
        if state is None:
            continue
        packed, chosen = file.is_packed(), file.format(format)
        if chosen == "parquet" and not packed:
            needed += load("parquet_sizes.parquet_bytes")(file, state[0])
        elif chosen in ("arrow", "orc") and not packed:
            (source,) = open_sources([file], Choice(id_column=None), format=chosen)
            needed += source.bytes_in_memory()
        else:
            needed += state[0] * (32 if packed else 8)
    return needed


def open_sources(
    files: list[File],
    choice: Choice,
    *,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
) -> list[Source]:
    """Return the files, opened but not read; raise where they do not belong together.

    The first file that has rows enough decides which column holds ids.
    """

    def opened(file: File, asked: Choice) -> Source:
        chosen = file.format(format)
        check_options(chosen, file.name, header=choice.header, key=key)
        row = BY_NAME[chosen]
        source: Source
        if row.source is None:
            source = load("arrays.ArraySource")(file, asked, chosen, key)
        else:
            source = load(row.source)(file, asked, chosen)
        return source

    first = deciding = opened(files[0], choice)
    is_auto = choice.id_column == "auto"
    if is_auto:
        for file in files[1:]:
            if deciding.n_judged >= FEWEST_IDS:
                break
            deciding = opened(file, choice)
        deciding = deciding if deciding.n_judged >= FEWEST_IDS else first
        choice = choice.with_ids(deciding.id_name)._replace(ids_differ=deciding.ids_differ)
        if (first.id_name, first.ids_differ) != (deciding.id_name, deciding.ids_differ):
            first = opened(files[0], choice)
    sources = [first]
    for file in files[1:]:
        sources.append(opened(file, choice))
        check_same_columns(first, sources[-1])
    if all(source.n_rows == 0 for source in sources):
        raise no_rows(files[0].name)
    if is_auto and first.id_name is None:
        _check_numbers(sources)
    if first.suspect is not None and first.n_judged and not (first.id_name or choice.repeats):
        _warn_of_separators(first)
    return sources


def open_beside(
    files: list[File],
    choice: Choice,
    id_name: str | None,
    *,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
) -> list[Source]:
    """Return files that go with votes, opened; a column called as the ids of these holds ids."""
    sources = open_sources(files, choice, format=format, key=key)
    names = sources[0].names if sources[0].named and choice.id_column == "auto" else []
    if id_name in names and len(names) > 1:
        return open_sources(files, choice.with_ids(id_name), format=format, key=key)
    return sources


def _warn_of_separators(source: Source) -> None:
    """Warn of a table that has one column of names, in which something may separate votes."""
    warnings.warn(
        f"{source.path} was read as one clustering, and all its names have equally many"
        f" {source.suspect.called} in them. If these separate votes, save it in another way."
        f" {SEPARATORS}.",
        UserWarning,
        stacklevel=4,
    )


def _check_numbers(sources: list[Source]) -> None:
    """Warn where the rows had other numbers in pandas than they have without ids."""
    n_before = 0
    for source in sources:
        if source.numbers not in (None, (0, 1), (n_before, 1)):
            warn_of_numbers(source.path, source.numbers)
            return
        n_before += source.n_rows or 0


def check_same_columns(first: Source, other: Source) -> None:
    """Raise where a file has other columns than the first."""
    if other.id_name != first.id_name:
        message = Message(
            "{other} has {its}, but {path} has {ids}. Files given together must have the same"
            " columns; choose the column of ids with {id_column}.",
            other=other.path,
            its=_id_column(other),
            path=first.path,
            ids=_id_column(first),
            id_column=Parameter("id_column"),
        )
        raise FileFormatError(message)
    if (other.names, other.kept) != (first.names, first.kept):
        odd = [name for name in other.names if name not in first.names]
        lacking = [name for name in first.names if name not in other.names]
        how = [f"it has {shown(odd, 5)} too"] if odd else []
        how += [f"it lacks {shown(lacking, 5)}"] if lacking else []
        raise FileFormatError(
            f"The columns of {other.path} are not those of {first.path}:"
            f" {'; '.join(how) or 'they stand in another order'}. Files given together must have"
            " the same columns in the same order."
        )


def no_rows(path: str, *, header: bool = False) -> FileFormatError:
    """Return the error about a table without rows."""
    if header:
        message = "{path} has a header and no rows. If its only row holds votes, use {names}."
        return FileFormatError(Message(message, path=path, names=Parameter("header", False)))
    return FileFormatError(f"{path} holds no rows. A table has a row for each object.")


def _id_column(source: Source) -> str:
    return "no id column" if source.id_name is None else f"the id column {source.id_name!r}"
