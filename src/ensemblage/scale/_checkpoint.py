"""Finished work of a streamed consensus, in a folder beside its output, to resume from.

``manifest.json`` holds the settings of the run, ``index.npz`` the microclusters of the rows read so
far, each ``ids-*`` the keys of some ids until they are compared, ``labels.npz`` the labels of the
microclusters, and each ``part-*`` the labels of some rows. Files are written under another name and
then renamed: one that has its name is complete. Each has a checksum that covers what it belongs to:
its run, the index that labels are of, the labels and the place that a part is of. Arrays are an NPZ
file after their checksum, so that both appear at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import secrets
import warnings
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Advice, Message
from ensemblage.tables import UNFINISHED, File, finished, is_remote, lock, release

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

#: To be raised when folders of earlier versions cannot be resumed.
_VERSION = 4
_MANIFEST = "manifest.json"
_LOCK = ".lock"
#: How the names of files end that describe a part.
_FACTS = ".json"
_MARK = 64  # characters of a checksum
#: In the order in which they are removed: what a kill leaves behind is still a folder of ours.
_OWN = ("part-*", "ids-*", f"{UNFINISHED}*", "labels.npz", "index.npz", _MANIFEST)
_ELSEWHERE = Advice("Name a new or an empty folder.", "Delete it, or name another output (-o).")
_ANOTHER = Advice("name another output or checkpoint.", "name another output (-o).")
_MADE = Advice(
    "Name another output or checkpoint.",
    "It is next to the output: name another, such as a new folder here (-o ./labels/).",
)
_advised = partial(Message, "{what} {advice}")


class Folder:
    """The folder of one run. `votes` is what its index depends on, `consensus` what labels do.

    Until it is closed, no other run may have it. Without `resumes` no later run uses its content.
    """

    def __init__(
        self,
        path: Path,
        votes: dict[str, Any],
        consensus: dict[str, Any],
        *,
        resumes: bool = True,
    ) -> None:
        self.path = path
        #: What files are bound to: the run, and the checksums of its index and its labels.
        self._marks = {"run": secrets.token_hex(8), "index": "", "labels": ""}
        if path.exists() and not path.is_dir():
            what = f"The checkpoint {str(path)!r} is a file."
            raise ValueError(_advised(what=what, advice=_ELSEWHERE))
        manifest = path / _MANIFEST
        ours = manifest.exists() and _is_ours(manifest)
        if not ours and any(path.glob("[!.]*")):
            what = (
                f"The checkpoint folder {str(path)!r} holds other files and no manifest.json of"
                " such a run."
            )
            raise ValueError(_advised(what=what, advice=_ELSEWHERE))
        asked = {"votes": {"version": _VERSION, **votes}, "consensus": consensus}
        asked = json.loads(json.dumps(asked))  # tuples become lists, as in what was kept
        try:
            self._lock = lock(path / _LOCK)
        except OSError as error:
            reason = str(error.strerror or error).rstrip(".")
            what = f"The folder {path}, for finished work, cannot be made: {reason}."
            raise type(error)(_advised(what=what, advice=_MADE)) from error
        if self._lock is None:
            what = f"Another run is using {str(path)!r}. Wait until it has ended, or"
            raise ValueError(_advised(what=what, advice=_ANOTHER))
        try:
            self._check_files()
            kept = _read_json(manifest) if manifest.exists() else {"resumes": False}
            if kept.get("resumes", True) and self.holds_work():
                self._compare(kept, asked)
                self._marks["run"] = str(kept.get("run"))
            else:  # parts without an index may be of other votes
                self.clear()
            self._write_json(_MANIFEST, {**asked, "resumes": resumes, "run": self._marks["run"]})
        except BaseException:
            self.close()
            raise

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_marks": self._marks}  # a worker writes; the lock stays here

    def close(self) -> None:
        """Release the folder to other runs."""
        if self._lock is not None:
            self._lock.close()

    def _compare(self, kept: dict[str, Any], asked: dict[str, Any]) -> None:
        different = _different(kept.get("votes", {}), asked["votes"])
        if different:
            what = (
                f"The checkpoint folder {str(self.path)!r} belongs to another run, which differs in"
                f" {', '.join(different)}. Delete the folder to start again, or"
            )
            raise ValueError(_advised(what=what, advice=_ANOTHER))
        different = _different(kept.get("consensus", {}), asked["consensus"])
        if different:
            warnings.warn(
                f"The run that left {self.path} was asked for something else"
                f" ({', '.join(different)}). Its index of the votes is used again, and the labels"
                " are made anew.",
                UserWarning,
                stacklevel=2,
            )
            for path in (self.path / "labels.npz", *self.path.glob("part-*")):
                path.unlink(missing_ok=True)

    def _check_files(self) -> None:
        for path in (path for pattern in _OWN for path in self.path.glob(pattern)):
            if path.is_dir():
                raise damaged(path, "it is a folder")

    def holds_work(self) -> bool:
        """Return whether anything in here is worth keeping."""
        arrays = (self.path / name for name in ("index.npz", "labels.npz"))
        return any(path.exists() for path in arrays)

    # -- the first pass ------------------------------------------------------------------------

    def read_index(self) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, Any]] | None:
        """Return the rows of votes read so far, how often each occurred, and the rest."""
        kept = self._load("index")
        if kept is None:
            return None
        return kept["table"], kept["sizes"], json.loads(kept["state"].tobytes())

    def write_index(self, table: Any, sizes: NDArray[np.int64], state: dict[str, Any]) -> None:
        """Keep the index, and how far it has come."""
        text = np.frombuffer(json.dumps(state).encode(), dtype=np.uint8)
        self._store("index", {"table": table, "sizes": sizes, "state": text})

    def write_keys(self, source: int, row: int, keys: NDArray[np.uint64]) -> None:
        """Keep the keys of ids from a row of a source on."""
        name = f"ids-{source:06d}-{row:012d}"
        self._seal(name, lambda file: file.write(keys.tobytes()), self._marks["run"], name)

    def read_keys(self, source: int) -> list[NDArray[np.uint64]]:
        """Return the keys of the ids of a source that were kept, mapped."""
        keys: list[NDArray[np.uint64]] = []
        for path in sorted(self.path.glob(f"ids-{source:06d}-*")):
            _check_seal(path, self._marks["run"], path.name)
            if path.stat().st_size > _MARK:  # nothing cannot be mapped
                keys.append(np.memmap(path, np.uint64, "r", offset=_MARK))
        return keys

    def forget_keys(self, begin: tuple[int, int]) -> None:
        """Remove the keys of ids from a place (source and row) on."""
        for path in self.path.glob("ids-*"):
            found = re.fullmatch(r"ids-(\d+)-(\d+)", path.name)
            if found is None or (int(found[1]), int(found[2])) >= begin:
                path.unlink(missing_ok=True)

    # -- the second ----------------------------------------------------------------------------

    def read_labels(self) -> dict[str, NDArray[Any]] | None:
        """Return the columns of labels of the microclusters, if they were found."""
        return self._load("labels")

    def write_labels(self, columns: dict[str, NDArray[Any]]) -> None:
        """Keep the columns of labels of the microclusters."""
        self._store("labels", columns)

    def part(self, source: int, piece: int) -> Path:
        """Return the file for the labels of a piece of a source."""
        return self.path / f"part-{source:06d}-{piece:06d}"

    def write_part(self, name: str, n_rows: int, write: Callable[[Any], Any]) -> None:
        """Keep some rows of the output, with their number and a checksum of the file."""
        with finished(self.path / name) as file:
            write(file)
            facts = {"rows": n_rows, "sha256": _checksum(file, 0, *self._bound(name))}
        self._write_json(f"{name}{_FACTS}", facts)

    def has_part(self, source: int, piece: int, n_rows: int) -> bool:
        """Return whether the part for so many rows is there as it was written; else remove it."""
        path = self.part(source, piece)
        facts = path.with_name(f"{path.name}{_FACTS}")
        if path.exists() and facts.exists():
            with suppress(ValueError):
                with path.open("rb") as file:
                    found = _checksum(file, 0, *self._bound(path.name))
                if _read_json(facts) == {"rows": n_rows, "sha256": found}:
                    return True
            warnings.warn(
                f"{path} is damaged or was changed, so these labels are written again.",
                UserWarning,
                stacklevel=2,
            )
        for old in (path, facts):
            old.unlink(missing_ok=True)
        return False

    def _bound(self, name: str) -> tuple[str, ...]:
        """Return what a part belongs to."""
        return self._marks["run"], self._marks["labels"], name

    # -- files ---------------------------------------------------------------------------------

    def _store(self, name: str, arrays: dict[str, Any]) -> None:
        """Keep arrays as the `name` of this run: its index, or the labels that belong to it."""
        write = partial(np.savez, **arrays)
        self._marks[name] = self._seal(f"{name}.npz", write, *self._bound_to_index(name))

    def _load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of `_store`, if there are any."""
        path = self.path / f"{name}.npz"
        if not path.exists():
            return None
        self._marks[name] = _check_seal(path, *self._bound_to_index(name))
        with path.open("rb") as file:
            file.seek(_MARK)
            with np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)

    def _bound_to_index(self, name: str) -> tuple[str, ...]:
        return self._marks["run"], name, self._marks["index"] if name == "labels" else ""

    def _seal(self, name: str, write: Callable[[Any], Any], *bound: str) -> str:
        """Write a file that begins with its checksum, and return this."""
        marks = []

        def sealed(file: Any) -> None:
            file.write(b" " * _MARK)
            write(file)
            marks.append(_checksum(file, _MARK, *bound))
            file.seek(0)
            file.write(marks[0].encode())

        self.replace(name, sealed)
        return marks[0]

    def replace(self, name: str, write: Callable[[Any], Any]) -> None:
        """Write a file that is there completely or not at all."""
        # Several machines may write the same file, after a worker was taken for dead.
        with finished(self.path / name) as file:
            write(file)

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        text = json.dumps(content, indent=1).encode()
        self.replace(name, lambda file: file.write(text))

    def remove(self) -> None:
        """Remove the folder, and nothing else that may lie in it."""
        self.clear()
        if self._lock is not None:
            release(self._lock, self.path / _LOCK)
        with suppress(OSError):  # there is something else in it, or another run has begun
            self.path.rmdir()

    def clear(self) -> None:
        """Forget what was finished."""
        for path in (path for pattern in _OWN for path in self.path.glob(pattern)):
            path.unlink(missing_ok=True)


def _different(kept: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    return sorted(name for name in asked if asked[name] != kept.get(name))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(content, dict):
        raise damaged(path, "it is not an object of JSON")
    return content


def _is_ours(manifest: Path) -> bool:
    """Return whether a manifest is of a stream."""
    content = _read_json(manifest)
    parts = [content[name] for name in ("votes", "consensus") if name in content]
    if not all(isinstance(part, dict) for part in parts):
        raise damaged(manifest, "it does not describe a run")
    return len(parts) > 1


def damaged(path: Path, error: Exception | str) -> ValueError:
    """Return the error to raise where a file of a folder is not as it was written."""
    reason = getattr(error, "strerror", None) or error
    return ValueError(f"{str(path)!r} cannot be read ({reason}). Delete the folder to start again.")


def _check_seal(path: Path, *bound: str) -> str:
    """Return the checksum that a file begins with; raise an error if it is not the file's."""
    try:
        with path.open("rb") as file:
            mark = file.read(_MARK).decode("latin-1")
            found = _checksum(file, _MARK, *bound)
    except OSError as error:
        raise damaged(path, error) from error
    if mark != found:
        raise damaged(path, "it is damaged, or of another run")
    return mark


def _checksum(file: Any, start: int, *bound: str) -> str:
    """Return the checksum of a file from `start` on, and of what it is bound to."""
    digest = hashlib.sha256(json.dumps(bound).encode())
    file.seek(start)
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


def file_facts(path: str) -> list[Any]:
    """Return by what a file is known again: place, size, time of change, and a sample of bytes."""
    where = path if is_remote(path) else os.path.realpath(path)
    return [where, *(File(path).fingerprint() or ())]


def format_estimator(estimator: Any) -> str:
    """Describe an estimator by what its labels depend on, the same in every process."""
    parameters = sorted(estimator.get_params(deep=False).items())
    inside = ", ".join(f"{name}={_shown(value)}" for name, value in parameters if name != "n_jobs")
    return f"{type(estimator).__name__}({inside})"


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | str | np.number):
        return repr(value)
    # Others show an address. What they hold decides: generators of other seeds are not the same.
    content = pickle.dumps(value, protocol=5)
    return f"{type(value).__name__} {hashlib.sha256(content).hexdigest()[:16]}"
