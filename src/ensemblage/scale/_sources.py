"""From what the user names to files that can be read in batches, all with the same columns."""

from __future__ import annotations

import glob
import importlib.util
import io
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage.files import FileFormatError, VoteTable
from ensemblage.files._formats import TEXT, format_of_bytes, format_of_name, need_pyarrow
from ensemblage.files._stack import _complain_of_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ensemblage.scale._source import Source

#: What can be read a batch at a time, and what says so at the end of a name.
STREAMED = ("csv", "tsv", "parquet", "arrow")
_IPC_NAMES = {".arrow", ".feather", ".ipc"}
_IPC_MARK = b"ARROW1"


def resolve(sources: Any) -> list[str]:
    """Return the files that paths, folders and patterns stand for, in order.

    A folder stands for the files of votes in it, and a pattern for the files it matches, both by
    name. A path that exists is no pattern.
    """
    if isinstance(sources, str | PathLike):
        sources = [sources]
    is_table = isinstance(sources, Mapping) or len(getattr(sources, "shape", ())) > 1
    no_list = isinstance(sources, bytes | set | frozenset | io.IOBase) or not isinstance(
        sources, Iterable
    )
    if is_table or no_list:
        raise TypeError(_not_files(sources))
    found: list[str] = []
    for source in sources:
        if not isinstance(source, str | PathLike):
            raise TypeError(_not_files(source))
        path = fspath(source)
        if not path:
            raise FileNotFoundError("The name of a file to read is empty. Name a file.")
        if Path(path).is_dir():
            inside = sorted(p for p in Path(path).iterdir() if p.is_file() and _format(str(p)))
            if not inside:
                raise FileFormatError(
                    f"The folder {path} holds no file of votes: none whose name ends in .parquet,"
                    " .arrow, .csv or .tsv."
                )
            found += map(str, inside)
        elif not Path(path).exists() and glob.has_magic(path):
            matches = sorted(glob.glob(path))  # noqa: PTH207 - the pattern may be absolute
            if not matches:
                raise FileNotFoundError(f"No file matches {path}. Check the name and the folder.")
            found += matches
        else:
            found.append(path)
    if not found:
        raise FileNotFoundError("No file of votes was named. Name one or several.")
    return found


def _not_files(found: Any) -> str:
    return (
        f"Votes are files: a path, or a list of paths in order. Got {type(found).__name__}; the fit"
        f" of an estimator takes votes in memory."
    )


def _format(path: str) -> str | None:
    if Path(path).suffix.lower() in _IPC_NAMES:
        return "arrow"
    return format_of_name(path)


def format_of(path: str, asked: str | None = None) -> str:
    """Return the format of a file: the one asked for, by its name, by its first bytes, else CSV."""
    known = asked.lower() if asked else _format(path)
    if known is None:
        if not Path(path).is_file():
            return "csv"
        with Path(path).open("rb") as file:
            head = file.read(16)
        known = "arrow" if head.startswith(_IPC_MARK) else format_of_bytes(head) or "csv"
    return known


def why_not(path: str, asked: str | None = None) -> str | None:
    """Return why a file cannot be read in batches, or None where it can."""
    if path == "-" or (Path(path).exists() and not Path(path).is_file()):
        return f"{'standard input' if path == '-' else path} can be read once only"
    known = format_of(path, asked)
    if known not in STREAMED:
        return f"{path} is {known.upper()}, and {', '.join(STREAMED)} are read in batches"
    if known not in TEXT and Path(path).is_file():
        with Path(path).open("rb") as file:
            if file.read(2) == b"\x1f\x8b":
                return f"{path} is gzip around {known.upper()}, which has to be unpacked first"
    return None


def only_streamed(path: str) -> bool:
    """Tell whether a file is read in batches only: Arrow IPC."""
    return path != "-" and Path(path).is_file() and format_of(path) == "arrow"


def bytes_in_memory(paths: Sequence[str], format: str | None = None) -> int:  # noqa: A002
    """Return about how many bytes the votes of files would take in memory, with their reading.

    Parquet tells its rows and types: twice the votes, and 64 bytes a row for ids and labels. Text
    takes four times its file, sixteen times if it is gzip.
    """
    needed = 0
    for path in paths:
        if not Path(path).is_file():
            continue
        size = Path(path).stat().st_size
        if format_of(path, format) == "parquet" and importlib.util.find_spec("pyarrow"):
            needed += _parquet_bytes(path, size)
        else:
            with Path(path).open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            needed += size * (16 if packed else 4)
    return needed


def _parquet_bytes(path: str, size: int) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ensemblage.scale._arrow import bytes_of_vote

    try:
        with pq.ParquetFile(path) as file:
            widths = [bytes_of_vote(kind) for kind in file.schema_arrow.types]
            return int(file.metadata.num_rows * (2 * sum(widths) + 64))
    except (pa.ArrowException, OSError):  # whoever reads it will complain
        return size


def open_sources(
    paths: Sequence[str],
    *,
    columns: list[str] | None,
    id_column: Any,
    truth: str | None = None,
    batch_rows: int,
    header: bool | str = "auto",
    format: str | None = None,  # noqa: A002 - what read_table calls it
) -> list[Source]:
    """Return the files, looked at but not read; refuse those that do not belong together."""
    opened: list[Source] = []
    for path in paths:
        common = {
            "columns": columns,
            "id_column": opened[0].id_name if opened and id_column == "auto" else id_column,
            "truth": truth,
            "batch_rows": batch_rows,
        }
        source = _open(path, format, common, header=header)
        if opened:
            _complain_of_difference(_as_table(opened[0]), _as_table(source), paths[0], path)
        opened.append(source)
    if all(source.n_rows == 0 for source in opened):
        raise FileFormatError(f"{paths[0]} holds no rows. A table has a row for each object.")
    return opened


def _open(path: str, asked: str | None, common: dict[str, Any], *, header: bool | str) -> Source:
    from ensemblage.scale._text import TextSource

    reason = why_not(path, asked)
    if reason is not None:
        raise FileFormatError(f"Votes are streamed in two passes, but {reason}.")
    known = format_of(path, asked)
    if known in TEXT:
        separator = "\t" if known == "tsv" else ","
        return TextSource(path, header=header, separator=separator, **common)
    need_pyarrow(path)
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}. Check the name and the folder.")
    from ensemblage.scale._arrow import IpcSource, ParquetSource

    return (ParquetSource if known == "parquet" else IpcSource)(path, **common)


def _as_table(source: Source) -> VoteTable:
    return VoteTable(source.names, None, None, None, source.id_name, {})
