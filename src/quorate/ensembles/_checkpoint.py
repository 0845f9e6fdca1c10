"""Finished members in a folder, so that a run that was stopped can go on.

One ``.npy`` file for each member and ``manifest.json``, which says what they were made from. Files
are written under another name and then renamed: one that has its name is complete, unless a disk
or a copy has damaged it, and what cannot be read is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quorate._types import IntArray
    from quorate.ensembles._plan import Plan

#: To be raised when the same plan would give other members.
_FORMAT = 1


class Folder:
    """The members of one plan that were finished earlier, and those finished now."""

    def __init__(self, path: Path, n_objects: int) -> None:
        self.path = path
        self.n_objects = n_objects

    def read(self, index: int) -> IntArray | None:
        """Return the labels of a member, or None if they are not here or cannot be read."""
        path = self._file(index)
        if not path.exists():
            return None
        try:
            labels: NDArray[Any] = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        if labels.dtype.kind != "i" or labels.shape != (self.n_objects,) or labels.min() < -1:
            return None
        return labels

    def write(self, index: int, labels: IntArray) -> None:
        """Keep the labels of a member."""
        _replace(self._file(index), lambda file: np.save(file, labels, allow_pickle=False))

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
    manifest = path / "manifest.json"
    asked = _describe(plan)
    if manifest.exists():
        kept = _read_manifest(manifest)
        if any_seed:
            asked["seed"] = kept["seed"]
            plan = replace(plan, seed=kept["seed"])
        different = sorted(name for name in asked if asked[name] != kept.get(name))
        if different:
            raise ValueError(
                f"The checkpoint folder {str(path)!r} belongs to another run: these differ:"
                f" {', '.join(different)}. Use another folder, or delete this one to start afresh."
            )
    elif any(path.iterdir()):
        raise ValueError(
            f"The checkpoint folder {str(path)!r} holds other files and no manifest.json. Name a"
            f" new or an empty folder."
        )
    else:
        text = json.dumps(asked, indent=1).encode()
        _replace(manifest, lambda file: file.write(text))
    return plan, Folder(path, len(plan.features))


def _read_manifest(manifest: Path) -> dict[str, Any]:
    try:
        kept = json.loads(manifest.read_text(encoding="utf-8"))
        int(kept["seed"])
    except (ValueError, KeyError, TypeError) as error:
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
        f" {hashlib.blake2b(features.data, digest_size=16).hexdigest()}",
        "method": [_words(method) for method in plan.methods],
        "n_clusters_range": list(plan.n_clusters_range),
        "subspace": plan.n_columns,
        "projection": plan.n_dimensions,
        "subsample": plan.n_rows,
        "seed": plan.seed,
    }


def _words(value: Any) -> str:
    """Describe a method or a parameter, the same in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = sorted(value.get_params(deep=False).items())
        inside = ", ".join(f"{name}={_words(param)}" for name, param in params)
        return f"{type(value).__module__}.{type(value).__qualname__}({inside})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_words, value))}]"
    if isinstance(value, np.ndarray):
        digest = hashlib.blake2b(np.ascontiguousarray(value).data, digest_size=16).hexdigest()
        return f"array {value.shape} {value.dtype} {digest}"
    if callable(value):  # its repr holds an address, which changes from run to run
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}"
    return repr(value)


def _replace(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file that is there completely or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            write(file)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
