"""Finished members in a folder, so that a run that was stopped can go on.

One ``.npy`` file for each member and ``manifest.json``, which says what they were made from. Files
are written under another name and then renamed: one that has its name is complete, unless a disk
or a copy has damaged it, and what cannot be read is made again.
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
from ensemblage.tables import UNFINISHED, finished, lock

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
    """Refuse a second run in this folder: the first to end would take it from the other."""
    held = lock(folder / name)
    if held is None:
        raise ValueError(
            f"Another run is at work in {str(folder)!r}. Wait until it has ended, or name"
            " another output or checkpoint."
        )
    try:
        yield
    finally:
        with held, suppress(OSError):  # the folder may be gone
            (folder / name).unlink()


class Folder:
    """The members of one plan that were finished earlier, and those finished now."""

    def __init__(self, path: Path, n_objects: int) -> None:
        self.path = path
        self.n_objects = n_objects

    def read(self, index: int) -> IntArray | None:
        """Return the labels of a member, or None if they are not here or cannot be read."""
        try:
            labels = _read_labels(self._file(index), self.n_objects)
        except Exception:  # noqa: BLE001 - whatever is wrong with it, it is made again
            return None
        return labels if -1 <= labels.min() <= labels.max() < self.n_objects else None

    def write(self, index: int, labels: IntArray) -> None:
        """Keep the labels of a member."""
        path = self._file(index)
        if path.is_dir():
            path.rmdir()  # and an error where something lies in it
        _replace(path, lambda file: np.save(file, labels, allow_pickle=False))

    def _file(self, index: int) -> Path:
        return self.path / f"member-{index:06d}.npy"


def open_folder(path: Any, plan: Plan, *, any_seed: bool) -> tuple[Plan, Folder]:
    """Return the plan and the folder of its members; refuse one that belongs to another plan.

    With `any_seed` the plan takes the seed of the folder, if there is one.
    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise ValueError(f"The checkpoint {str(path)!r} is a file. Name a folder.")
    path.mkdir(parents=True, exist_ok=True)
    manifest = path / _MANIFEST
    asked = _describe(plan)
    if manifest.exists():
        kept = _read_manifest(manifest)
        if any_seed:
            asked["seed"] = kept["seed"]
            plan = replace(plan, seed=kept["seed"])
        different = sorted(name for name in asked if asked[name] != kept.get(name))
        if different:
            names = {name: Parameter(name) for name in different}
            message = Message(
                "The checkpoint folder {path!r} belongs to another run: these differ: {names}. Use"
                " another folder, or delete this one to start afresh.",
                path=str(path),
                names=Message(", ".join(f"{{{name}}}" for name in names), **names),
            )
            raise ValueError(message)
    elif not all(map(_is_unfinished, path.iterdir())):
        raise ValueError(
            f"The checkpoint folder {str(path)!r} holds other files and no manifest.json. Name a"
            f" new or an empty folder."
        )
    else:
        text = json.dumps(asked, indent=1).encode()
        _replace(manifest, lambda file: file.write(text))
    return plan, Folder(path, len(plan.features))


def remove_folder(path: Path) -> None:
    """Remove the members and what says of what they are, and nothing else that may lie there."""
    unfinished = [other for other in path.iterdir() if _is_unfinished(other)]
    # The manifest goes last: what is left by a kill before that is still a checkpoint.
    finished = path.glob("member-*.npy")
    for other in (*finished, *unfinished, path / _MANIFEST, path / _LOCK, path / COMMAND_LOCK):
        other.unlink(missing_ok=True)
    if not any(path.iterdir()):
        path.rmdir()


def _is_unfinished(path: Path) -> bool:
    """Tell whether a file is what a killed process leaves, besides members."""
    return path.name in (_LOCK, COMMAND_LOCK) or path.name.startswith(UNFINISHED)


def _read_labels(path: Path, n_objects: int) -> NDArray[Any]:
    """Return the labels of a file, having looked at its header before any memory is taken."""
    with path.open("rb") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("another version of NPY")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if shape != (n_objects,) or dtype.kind != "i":
            raise ValueError("no labels of these objects")
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
            f"{str(manifest)!r} cannot be read as the manifest of a checkpoint ({error}). Delete"
            f" the folder to start afresh."
        ) from error
    result: dict[str, Any] = kept
    return result


def _describe(plan: Plan) -> dict[str, Any]:
    """Return all that members depend on, in the words that a message can use."""
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
    """Write a file that is there completely or not at all."""
    with finished(path) as file:
        write(file)
