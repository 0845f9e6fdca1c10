"""Finished members in a folder, so that an interrupted run can be resumed.

One ``.npy`` file for each member and ``manifest.json``, which describes their settings. Files are
written under another name and then renamed: a file with its final name is complete, unless a disk
or a copy has damaged it. A checksum after the labels covers them, the number of the member and the
settings; members whose checksum is wrong are made again.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._messages import Message, Parameter
from ensemblage.ensembles._fingerprint import digest, words
from ensemblage.tables import UNFINISHED, finished, lock, release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.ensembles._plan import Plan

#: To be raised when the same plan would give other members.
_FORMAT = 2
_MANIFEST = "manifest.json"
_LOCK = ".lock"
_MARK = 64  # characters of a checksum
_LONGEST_HEADER = 4096  # bytes of a file beside the labels, at most
#: Held until the pool is written and the folder removed, longer than members are being made.
COMMAND_LOCK = ".command-lock"


@contextmanager
def alone(folder: Path, name: str = _LOCK) -> Iterator[None]:
    """Raise an error if another run uses this folder: the first to end would remove it."""
    held = lock(folder / name)
    if held is None:
        raise ValueError(
            f"Another run is using {str(folder)!r}. Wait until it has ended, or choose another"
            " output or checkpoint."
        )
    try:
        yield
    finally:
        release(held, folder / name)
        with suppress(OSError):  # it is empty where it was removed but for the lock, as on Windows
            folder.rmdir()


class Folder:
    """The finished members of one plan, from earlier runs and this one."""

    def __init__(self, path: Path, n_objects: int, settings: str) -> None:
        self.path = path
        self.n_objects = n_objects
        self._settings = settings

    def read(self, index: int) -> IntArray | None:
        """Return the labels of a member, or None if they are missing or damaged."""
        path = self._file(index)
        if not path.is_file():
            return None
        try:
            return self._read(path, index)
        except Exception:  # noqa: BLE001 - made again after any error
            warnings.warn(
                f"{path} is damaged or was changed, so this clustering is made again.",
                UserWarning,
                stacklevel=2,
            )
            return None

    def write(self, index: int, labels: IntArray) -> None:
        """Store the labels of a member."""
        path = self._file(index)
        if path.is_dir():
            path.rmdir()  # fails if it is not empty
        content = io.BytesIO()
        np.save(content, labels, allow_pickle=False)
        whole = content.getvalue()
        _replace(path, lambda file: file.write(whole + self._checksum(whole, index)))

    def _read(self, path: Path, index: int) -> NDArray[Any]:
        """Return the labels of a file; its length and checksum are checked before its content."""
        longest = self.n_objects * 8 + _LONGEST_HEADER
        with path.open("rb") as file:
            whole = file.read(longest + 1)
        content, mark = whole[:-_MARK], whole[-_MARK:]
        if len(whole) > longest or mark != self._checksum(content, index):
            raise ValueError("another checksum")
        labels: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
        return labels

    def _checksum(self, content: bytes, index: int) -> bytes:
        digest = hashlib.sha256(f"{self._settings} {index} ".encode())
        digest.update(content)
        return digest.hexdigest().encode()

    def _file(self, index: int) -> Path:
        return self.path / f"member-{index:06d}.npy"


def open_folder(path: Any, plan: Plan, *, any_seed: bool) -> tuple[Plan, Folder]:
    """Return the plan and the folder of its members; reject a folder of another plan.

    With `any_seed` the plan takes the seed of the folder, if there is one.
    """
    path = _validate.check_folder("generate", "checkpoint", path)
    if path.exists() and not path.is_dir():
        raise ValueError(f"The checkpoint {str(path)!r} must be a folder, got a file.")
    path.mkdir(parents=True, exist_ok=True)
    manifest = path / _MANIFEST
    description = _describe(plan)
    if manifest.exists():
        kept = _read_manifest(manifest)
        if any_seed:
            description["seed"] = kept["seed"]
            plan = replace(plan, seed=kept["seed"])
        different = sorted(name for name in description if description[name] != kept.get(name))
        if different:
            names = {name: Parameter(name) for name in different}
            message = Message(
                "The checkpoint folder {path!r} belongs to another run. Different: {names}. Use"
                " another folder, or delete this one to start again.",
                path=str(path),
                names=Message(", ".join(f"{{{name}}}" for name in names), **names),
            )
            raise ValueError(message)
    elif not all(map(_is_unfinished, path.iterdir())):
        raise ValueError(
            f"The checkpoint folder {str(path)!r} contains other files and no manifest.json. Use a"
            f" new or an empty folder."
        )
    else:
        text = json.dumps(description, indent=1).encode()
        _replace(manifest, lambda file: file.write(text))
    return plan, Folder(path, len(plan.features), json.dumps(description))


def remove_folder(path: Path) -> None:
    """Remove the members and their manifest, and nothing else in the folder."""
    locks = (path / _LOCK, path / COMMAND_LOCK)
    unfinished = [other for other in path.iterdir() if _is_unfinished(other) and other not in locks]
    # The manifest goes last: after a kill before that, the rest is still a checkpoint.
    finished = path.glob("member-*.npy")
    for other in (*finished, *unfinished, path / _MANIFEST):
        other.unlink(missing_ok=True)
    for other in locks:
        with suppress(PermissionError):  # open, on Windows: who holds it removes it
            other.unlink(missing_ok=True)
    if not any(path.iterdir()):
        path.rmdir()


def _is_unfinished(path: Path) -> bool:
    """Tell whether a file was left by a killed process, apart from members."""
    return path.name in (_LOCK, COMMAND_LOCK) or path.name.startswith(UNFINISHED)


def _read_manifest(manifest: Path) -> dict[str, Any]:
    try:
        kept = json.loads(manifest.read_text(encoding="utf-8"))
        np.random.SeedSequence(kept["seed"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{str(manifest)!r} is not a readable checkpoint manifest ({error}). Delete the folder"
            f" to start again."
        ) from error
    result: dict[str, Any] = kept
    return result


def _describe(plan: Plan) -> dict[str, Any]:
    """Return everything that members depend on, by names for messages."""
    features = plan.features
    return {
        "format": _FORMAT,
        "features or their scale": f"{features.shape[0]} × {features.shape[1]} {features.dtype}"
        f" {digest(features)}",
        "method": [words(method) for method in plan.methods],
        "n_clusters_range": list(plan.n_clusters_range),
        "subspace": plan.n_columns,
        "projection": plan.n_dimensions,
        "subsample": plan.n_rows,
        "seed": plan.seed,
    }


def _replace(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file that appears complete or not at all."""
    with finished(path) as file:
        write(file)
