"""Opening tables to be read in batches: files of any format that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage._messages import Message, Parameter
from ensemblage.tables.errors import FileFormatError, OptionError
from ensemblage.tables.files import File, resolve
from ensemblage.tables.formats import FORMATS, STREAMED, TEXT, load
from ensemblage.tables.source import Choice

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ensemblage.tables.source import Source


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
) -> list[Source]:
    """Open votes to be read in batches; see `read` for the parameters.

    Parameters
    ----------
    batch_rows : int, default=2**20
        How many rows a batch has, at most: fewer where rows are long.

    Returns
    -------
    list of Source
        The files, opened but not read. ``source.batches()`` yields Arrow columns, and
        ``source.votes(batch, codes)`` returns them as integers.
    """
    choice = Choice(listed(columns), id_column, truth, tuple(keep), header, batch_rows)
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

    Parquet tells its rows and types: twice the votes, and 64 bytes a row for ids and labels. Text
    takes eight times its file, 32 times if it is compressed.
    """
    needed = 0
    for file in map(File, paths):
        state = None if file.once else file.state()
        if state is None:
            continue
        packed = file.is_packed()
        if file.format(format) == "parquet" and not packed:
            needed += load("arrow.parquet_bytes")(file, state[0])
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
    """Return the files, opened but not read; raise where they do not belong together."""
    sources: list[Source] = []
    for file in files:
        chosen = file.format(format)
        check_options(chosen, file.name, header=choice.header, key=key)
        row = FORMATS[chosen]
        asked = choice
        if sources and choice.id_column == "auto":
            asked = choice._replace(id_column=sources[0].id_name)
        if row.source is None:
            source = load("arrays.ArraySource")(file, asked, chosen, key)
        else:
            source = load(row.source)(file, asked, chosen)
        if sources:
            check_same_columns(sources[0], source)
        sources.append(source)
    if all(source.n_rows == 0 for source in sources):
        raise no_rows(files[0].name)
    return sources


def check_same_columns(first: Source, other: Source) -> None:
    """Raise where a file has other columns than the first."""
    if other.id_name != first.id_name:
        message = Message(
            "{other} has {its}, but {path} has {ids}. Files given together must have the same"
            " columns; {id_column} says which one holds the ids.",
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
        how = (
            (f" it has {_some(odd)} too;" if odd else "")
            + (f" it lacks {_some(lacking)};" if lacking else "")
        ) or " they stand in another order;"
        raise FileFormatError(
            f"The columns of {other.path} are not those of {first.path}:{how[:-1]}."
            " Files given together must have the same columns."
        )


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


def listed(columns: Sequence[str] | None) -> list[str] | None:
    """Return names of columns as a list; raise where they are not a list of names."""
    if columns is None:
        return None
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"'columns' is a list of names, such as ['a', 'b']. Got {columns!r}.")
    return list(columns)


def no_rows(path: str, *, header: bool = False) -> FileFormatError:
    """Return the error about a table without rows."""
    if header:
        return FileFormatError(
            f"{path} has a header and no rows. If its only row holds votes, say that it has no"
            " header."
        )
    return FileFormatError(f"{path} holds no rows. A table has a row for each object.")


def _id_column(source: Source) -> str:
    return "no id column" if source.id_name is None else f"the id column {source.id_name!r}"


def _some(names: list[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
