"""One line of JSON for each run: appended at once, never rewritten, read again to resume.

A record is a dictionary: `what` (the task: its kind and everything that decides its outcome),
`parameters` (of the method), `versions`, `scores`, `seconds`, `cpu_seconds` and `peak_memory`.
If a task cannot be run the record holds only `what` and `skipped`, the reason.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import zlib
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.protocol import NEIGHBORS
from ensemblage.tables import finished, lost_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import FileIO
    from pathlib import Path

Task = dict[str, Any]
Record = dict[str, Any]

FILE = "records.jsonl"
PACKED = "records.jsonl.gz"
_LONGEST = 1 << 20
#: Whole numbers of tasks.
_WHOLE = ("draw", "members", "objects", "seed", "n_steps")
_MOST = 10**15
#: Scores that may be less than 0, down to -1.
_BELOW_ZERO = ("ari_true", "ari_best")
#: Scores that all records of a kind have; others are numbers or null.
_SCORES = {
    "scores": ("nmi_true",),
    "settings": ("nmi_true",),
    "base": ("nmi_mean", "nmi_std"),
    "graph": ("microclusters",),
    "description": ("objects", "attributes", "classes"),
    "seconds": ("microclusters",),
}


def key(task: Task) -> str:
    """Return a key that identifies a task."""
    return json.dumps(task, sort_keys=True)


def read(folder: Path) -> dict[str, Record]:
    """Return the records of a folder by the keys of their tasks, the packed ones first.

    Invalid lines, such as the last one of a killed run or one without a score, are skipped: their
    tasks count as missing.
    """
    records = {}
    for line in chain(_unpacked(folder / PACKED), _lines(folder / FILE, open)):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if _is_record(record):
                records[key(record["what"])] = record
    return records


def _lines(path: Path, opener: Callable[..., Any]) -> Iterator[bytes]:
    """Yield the lines of a file; one that is too long for a record is split into invalid parts.

    Neither a large file nor a compressed one that expands to much more is ever completely in
    memory.
    """
    if path.exists():
        with opener(path, "rb") as file:
            while line := file.readline(_LONGEST):
                yield line


def _unpacked(path: Path) -> Iterator[bytes]:
    try:
        yield from _lines(path, gzip.open)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged ({error}). Restore it, or remove it to run its tasks again."
        ) from None


def _is_record(record: Any) -> bool:
    """Tell whether a line has the form of a record, with all that tables are made from."""
    what = record.get("what") if isinstance(record, dict) else None
    if not isinstance(what, dict) or not isinstance(what.get("dataset"), str):
        return False
    pool = what.get("pool", "authors")
    if not isinstance(what.get("kind"), str) or not isinstance(pool, str):
        return False
    if re.fullmatch(r"authors|own-[0-9]{1,9}", pool) is None:
        return False
    if not all(isinstance(what.get(word, 0), int) for word in _WHOLE):
        return False
    return isinstance(record.get("skipped"), str) or _is_measured(record)


def _is_measured(record: Record) -> bool:
    """Tell whether a record has the scores of its kind, all of them numbers."""
    what, scores = record["what"], record.get("scores")
    if not isinstance(scores, dict):
        return False
    kind, scores = what["kind"], dict(scores)
    numbers = [record.get("cpu_seconds", None if kind == "seconds" else 0)]
    if kind == "graph":  # links by the number of neighbours
        links = scores.pop("links", None)
        if not isinstance(links, dict):
            return False
        numbers += [links.get(str(k)) for k in NEIGHBORS]
    elif kind == "links":  # by weight
        for name in ("links", "correct"):
            counts = scores.pop(name, None)
            if not isinstance(counts, list) or len(counts) != what.get("members"):
                return False
            numbers += counts
    numbers += [scores.pop(name, None) for name in _SCORES.get(kind, ())]
    below_zero = [scores.pop(name, None) for name in _BELOW_ZERO]
    numbers += [value for value in scores.values() if value is not None]
    return all(map(_is_number, numbers)) and all(
        value is None or _is_number(value, least=-1) for value in below_zero
    )


def _is_number(value: Any, least: int = 0) -> bool:
    """Tell whether a value is a number of the size that scores, counts and seconds have."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and least <= value <= _MOST  # not NaN, which is neither


class RecordFile:
    """The records of a folder, open for more."""

    def __init__(self, folder: Path, file: FileIO) -> None:
        self.done = read(folder)
        self._path = folder / FILE
        self._file = file

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks without a record, in order, each once."""
        by_key = {key(task): task for task in tasks}
        return [task for name, task in by_key.items() if name not in self.done]

    def add(self, record: Record) -> None:
        """Append one record; it is in the file when this returns."""
        path = str(self._path)
        with lost_errors(path):
            rest = memoryview(json.dumps(record).encode() + b"\n")
            while rest:
                rest = rest[self._file.write(rest) :]
            if os.fstat(self._file.fileno()).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "removed", path)
        self.done[key(record["what"])] = record


@contextmanager
def opened(folder: Path) -> Iterator[RecordFile]:
    """Open the records of a folder for this process alone.

    After an error without any record, nothing is left behind.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    locked = False
    try:
        # Unbuffered, so that nothing is written again if a full disk ends this.
        with (folder / FILE).open("ab", buffering=0) as file:
            _lock(file, folder)
            locked = True
            if _is_torn(folder / FILE):
                file.write(b"\n")  # the rest of a killed run stays a separate line
            yield RecordFile(folder, file)
    except Exception:
        if locked:
            _remove_if_empty(folder / FILE, made)
        raise


def _remove_if_empty(path: Path, folders: list[Path]) -> None:
    """Remove an empty file of records, and those of the folders that are empty then."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()
            for folder in folders:
                folder.rmdir()


def pack(folder: Path) -> int:
    """Compress all records of a folder into one file; return their number.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ensemblage.experiments import pack
    >>> with TemporaryDirectory() as folder:
    ...     pack(Path(folder))
    0
    """
    records = read(folder)
    text = "".join(json.dumps(records[name]) + "\n" for name in sorted(records))
    with finished(folder / PACKED) as file:
        file.write(gzip.compress(text.encode(), mtime=0))
    (folder / FILE).unlink(missing_ok=True)
    return len(records)


def _is_torn(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _lock(file: FileIO, folder: Path) -> None:
    """Raise an error if another run writes to the folder, on systems with such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"Another run is writing its records to {folder}. Wait for it, or choose another"
            " folder with --out."
        ) from None
