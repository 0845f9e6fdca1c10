"""Finished work of a streamed consensus, in a folder beside its output, to resume from.

``manifest.json`` holds the settings of the run, ``index.npz`` the microclusters of the rows read so
far, each ``ids-*`` the keys of some ids until they are compared, ``labels.npz`` the labels of the
microclusters, and each ``part-*`` the labels of some rows. Files are written under another name and
then renamed: one that has its name is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from ensemblage.tables import UNFINISHED, File, finished, is_remote, lock, release

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: To be raised when folders of earlier versions cannot be resumed.
_VERSION = 3
_MANIFEST = "manifest.json"
_LOCK = ".lock"
#: How the names of files end that describe a part.
_FACTS = ".json"
#: In the order in which they are removed: what a kill leaves behind is still a folder of ours.
_OWN = ("part-*", "ids-*", f"{UNFINISHED}*", "labels.npz", "index.npz", _MANIFEST)


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
        if path.exists() and not path.is_dir():
            raise ValueError(f"The checkpoint {str(path)!r} is a file. Name a folder.")
        manifest = path / _MANIFEST
        ours = manifest.exists() and {"votes", "consensus"} <= set(_read_json(manifest))
        if not ours and any(path.glob("[!.]*")):
            raise ValueError(
                f"The checkpoint folder {str(path)!r} holds other files and no manifest.json of"
                " such a run. Name a new or an empty folder."
            )
        asked = {"votes": {"version": _VERSION, **votes}, "consensus": consensus}
        asked = json.loads(json.dumps(asked))  # tuples become lists, as in what was kept
        try:
            self._lock = lock(path / _LOCK)
        except OSError as error:
            raise type(error)(f"The folder {path} cannot be made: {error.strerror}.") from error
        if self._lock is None:
            raise ValueError(
                f"Another run is using {str(path)!r}. Wait until it has ended, or name another"
                " output or checkpoint."
            )
        try:
            kept = _read_json(manifest) if manifest.exists() else {"resumes": False}
            if kept.get("resumes", True) and self.holds_work():
                self._compare(kept, asked)
            else:  # parts without an index may be of other votes
                self.clear()
            self._write_json(_MANIFEST, {**asked, "resumes": resumes})
        except BaseException:
            self.close()
            raise

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}  # a worker writes to it; the lock stays here

    def close(self) -> None:
        """Release the folder to other runs."""
        if self._lock is not None:
            self._lock.close()

    def _compare(self, kept: dict[str, Any], asked: dict[str, Any]) -> None:
        different = _different(kept.get("votes", {}), asked["votes"])
        if different:
            raise ValueError(
                f"The checkpoint folder {str(self.path)!r} belongs to another run, which differs in"
                f" {', '.join(different)}. Delete the folder to start again, or name another."
            )
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

    def holds_work(self) -> bool:
        """Return whether anything in here is worth keeping."""
        arrays = (self.path / name for name in ("index.npz", "labels.npz"))
        return any(path.exists() for path in arrays)

    # -- the first pass ------------------------------------------------------------------------

    def read_index(self) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, Any]] | None:
        """Return the rows of votes read so far, how often each occurred, and the rest."""
        kept = _load(self.path / "index.npz")
        if kept is None:
            return None
        return kept["table"], kept["sizes"], json.loads(kept["state"].tobytes())

    def write_index(self, table: Any, sizes: NDArray[np.int64], state: dict[str, Any]) -> None:
        """Keep the index, and how far it has come."""
        text = np.frombuffer(json.dumps(state).encode(), dtype=np.uint8)
        self.replace("index.npz", lambda file: np.savez(file, table=table, sizes=sizes, state=text))

    def write_keys(self, source: int, row: int, keys: NDArray[np.uint64]) -> None:
        """Keep the keys of ids from a row of a source on."""
        self.replace(f"ids-{source:06d}-{row:012d}", lambda file: np.save(file, keys))

    def read_keys(self, source: int) -> list[NDArray[np.uint64]]:
        """Return the keys of the ids of a source that were kept, mapped."""
        files = sorted(self.path.glob(f"ids-{source:06d}-*"))
        return [np.load(path, mmap_mode="r", allow_pickle=False) for path in files]

    def forget_keys(self, begin: tuple[int, int]) -> None:
        """Remove the keys of ids from a place (source and row) on."""
        for path in self.path.glob("ids-*"):
            _, source, row = path.name.split("-")
            if (int(source), int(row)) >= begin:
                path.unlink(missing_ok=True)

    # -- the second ----------------------------------------------------------------------------

    def read_labels(self) -> dict[str, NDArray[Any]] | None:
        """Return the columns of labels of the microclusters, if they were found."""
        return _load(self.path / "labels.npz")

    def write_labels(self, columns: dict[str, NDArray[Any]]) -> None:
        """Keep the columns of labels of the microclusters."""
        named: dict[str, Any] = dict(columns)
        self.replace("labels.npz", lambda file: np.savez(file, **named))

    def part(self, source: int, piece: int) -> Path:
        """Return the file for the labels of a piece of a source."""
        return self.path / f"part-{source:06d}-{piece:06d}"

    def write_part(self, name: str, n_rows: int, write: Callable[[Any], Any]) -> None:
        """Keep some rows of the output, with their number and a checksum of the file."""
        with finished(self.path / name) as file:
            write(file)
            file.flush()
            facts = {"rows": n_rows, "sha256": _checksum(Path(file.name))}
        self._write_json(f"{name}{_FACTS}", facts)

    def has_part(self, source: int, piece: int, n_rows: int) -> bool:
        """Return whether the part for so many rows is there as it was written; else remove it."""
        path = self.part(source, piece)
        facts = path.with_name(f"{path.name}{_FACTS}")
        if path.exists() and facts.exists():
            with suppress(ValueError):
                if _read_json(facts) == {"rows": n_rows, "sha256": _checksum(path)}:
                    return True
            warnings.warn(
                f"{path} is damaged or was changed, so these labels are written again.",
                UserWarning,
                stacklevel=2,
            )
        for old in (path, facts):
            old.unlink(missing_ok=True)
        return False

    # -- files ---------------------------------------------------------------------------------

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
    except ValueError as error:
        raise damaged(path, error) from error
    return content


def damaged(path: Path, error: Exception) -> ValueError:
    """Return the error to raise where a file of a folder is not as it was written."""
    return ValueError(f"{str(path)!r} cannot be read ({error}). Delete the folder to start again.")


def _load(path: Path) -> dict[str, NDArray[Any]] | None:
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (BadZipFile, ValueError, EOFError) as error:
        raise damaged(path, error) from error


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
