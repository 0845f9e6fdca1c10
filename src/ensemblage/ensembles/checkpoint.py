"""Finished members in a folder, so that an interrupted run can be resumed.

One ``.npy`` file for each member and ``manifest.json``, which describes their settings. Files are
written under another name and then renamed: a file with its final name is complete, unless a disk
or a copy has damaged it, and members in unreadable files are made again.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Message, Parameter
from ensemblage.ensembles._fingerprint import digest, words
from ensemblage.tables import UNFINISHED, finished, lock, release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.ensembles._plan import Plan

#: To be raised when the same plan would give other members.
_FORMAT = 2
_MANIFEST = "manifest.json"
_LOCK = ".lock"
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

    def __init__(self, path: Path, n_objects: int) -> None:
        self.path = path
        self.n_objects = n_objects

    def read(self, index: int) -> IntArray | None:
        """Return the labels of a member, or None if they are missing or unreadable."""
        try:
            labels = _read_labels(self._file(index), self.n_objects)
        except Exception:  # noqa: BLE001 - made again after any error
            return None
        return labels if -1 <= labels.min() <= labels.max() < self.n_objects else None

    def write(self, index: int, labels: IntArray) -> None:
        """Store the labels of a member."""
        path = self._file(index)
        if path.is_dir():
            path.rmdir()  # fails if it is not empty
        _replace(path, lambda file: np.save(file, labels, allow_pickle=False))

    def _file(self, index: int) -> Path:
        return self.path / f"member-{index:06d}.npy"


def open_folder(path: Any, plan: Plan, *, any_seed: bool) -> tuple[Plan, Folder]:
    """Return the plan and the folder of its members; reject a folder of another plan.

    With `any_seed` the plan takes the seed of the folder, if there is one.
    """
    path = Path(path)
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
    return plan, Folder(path, len(plan.features))


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


def _read_labels(path: Path, n_objects: int) -> NDArray[Any]:
    """Return the labels of a file; its header is checked before memory is allocated."""
    with path.open("rb") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("another version of NPY")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if shape != (n_objects,) or dtype.kind != "i":
            raise ValueError("not labels of these objects")
        n_bytes = n_objects * dtype.itemsize
        content = file.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise ValueError("too short or too long")
    return np.frombuffer(bytearray(content), dtype=dtype)


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
