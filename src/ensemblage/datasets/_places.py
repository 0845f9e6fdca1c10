"""Folders of data files and of fetched files."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder that contains ``data/`` and ``pools/``.

    The one passed, else ``$ENSEMBLAGE_DATA``, else ``shared`` next to the checkout of this file,
    else next to the current folder.

    Examples
    --------
    >>> from ensemblage.datasets import data_folder
    >>> data_folder("elsewhere").name
    'elsewhere'
    """
    if folder is not None:
        return Path(folder)
    if asked := os.environ.get("ENSEMBLAGE_DATA"):
        return Path(asked)
    source = Path(__file__).resolve().parents[2]
    checkout = source.parent if source.name == "src" else Path.cwd()
    return checkout.parent / "shared"


def cache_folder() -> Path:
    """Return the folder for fetched files: ``$ENSEMBLAGE_CACHE``, or the system's cache."""
    if asked := os.environ.get("ENSEMBLAGE_CACHE"):
        return Path(asked)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "ensemblage"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "ensemblage"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "ensemblage"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise FileNotFoundError(
            "The cache of fetched files must be in a home folder, and this user has none. Set the"
            " environment variable ENSEMBLAGE_CACHE to a folder."
        ) from error
