"""A pool of base clusterings, and draws of ensembles from it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import tables
from ensemblage._messages import counted
from ensemblage._validate import check_votes, check_whole
from ensemblage.datasets._catalogue import find
from ensemblage.datasets._dataset import locked, numbered
from ensemblage.datasets._places import data_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRUTH = ("gt", "truth", "y")
_SEED = 20160501  # published records use it: do not change


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """Many clusterings of the same objects; immutable.

    Attributes
    ----------
    members : ndarray of shape (n_objects, n_members)
        The clusterings, one in each column, as integers; -1 is a missing vote. Read-only.
    truth : ndarray of shape (n_objects,) or None
        The true classes as int64, numbered from 0; -1 if missing. Read-only.
    name : str
        Name of the pool.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.datasets import Pool
    >>> pool = Pool(np.array([[0, 0, 1], [0, 1, 1]]), None, "small")
    >>> pool, pool.draw(2, 0).shape
    (Pool(small: 2 objects, 3 clusterings), (2, 2))
    """

    members: NDArray[Any]
    truth: NDArray[np.int64] | None
    name: str

    def __repr__(self) -> str:
        n, m = self.members.shape
        return f"Pool({self.name}: {counted(n, 'object')}, {counted(m, 'clustering')})"

    def draw(self, n_members: int, draw: int) -> NDArray[Any]:
        """Return an ensemble: some of the clusterings, without replacement.

        The columns are ``default_rng([20160501, n_members, draw]).choice(...)``: they depend only
        on these two numbers and the size of the pool, so that every method, in every run, gets the
        same ensembles.

        Parameters
        ----------
        n_members : int
            Number of clusterings.
        draw : int
            Number of the draw, counted from 0.

        Returns
        -------
        ndarray of shape (n_objects, n_members)

        Examples
        --------
        >>> pool = Pool(np.arange(8).reshape(2, 4), None, "small")
        >>> pool.draw(2, draw=0).shape
        (2, 2)
        """
        n_columns = self.members.shape[1]
        wanted = check_whole("Pool.draw", "n_members", n_members, 1)
        which = check_whole("Pool.draw", "draw", draw, 0)
        if wanted > n_columns:
            raise ValueError(
                f"n_members must be at most {n_columns}, the size of the pool {self.name}, got"
                f" {wanted}."
            )
        chosen = np.random.default_rng([_SEED, wanted, which]).choice(
            n_columns, wanted, replace=False
        )
        return self.members[:, chosen]


def load_pool(
    name_or_path: str | PathLike[str], *, folder: str | PathLike[str] | None = None
) -> Pool:
    r"""Return a pool of base clusterings.

    Parameters
    ----------
    name_or_path : str or path-like
        The name of a dataset, for the authors' file ``pools/bc_pool_NAME.mat``. Or a file: MAT
        with ``members`` (objects × clusterings) and perhaps ``gt``; or NPZ, NPY, CSV, TSV or
        Parquet as `ensemblage consensus` reads them, with the true classes, if any, under the name
        ``gt``, ``truth`` or ``y``.
    folder : str or path-like, optional
        The folder that contains ``pools/``, or that one itself; by default ``$ENSEMBLAGE_DATA``,
        else ``../shared``.

    Returns
    -------
    Pool

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message names the expected paths.
    FileFormatError
        If the file does not contain a pool.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ensemblage import datasets
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "pool.csv")
    ...     _ = file.write_text("id,first,second,truth\na,1,1,x\nb,1,2,y\nc,2,2,y\n")
    ...     pool = datasets.load_pool(file)
    >>> pool, pool.truth
    (Pool(pool: 3 objects, 2 clusterings), array([0, 1, 1]))
    """
    path, name = _found(name_or_path, data_folder(folder))
    if tables.format_of_name(str(path)) in ("mat", "npz"):
        table, truth = _of_arrays(path)
    else:
        table = tables.read(path)
        truth = None
        named = next((column for column in table.names if column.lower() in _TRUTH), None)
        if named is not None:
            truth, table = tables.take_column(table, named)
    members = check_votes(table).matrix
    return Pool(locked(members), None if truth is None else locked(_renumbered(truth)), name)


def has_pool(name: str, *, folder: str | PathLike[str] | None = None) -> bool:
    """Tell whether the authors' pool of a dataset is available.

    Examples
    --------
    >>> from ensemblage.datasets import has_pool
    >>> has_pool("PD", folder="elsewhere")
    False
    """
    try:
        _found(name, data_folder(folder))
    except FileNotFoundError:
        return False
    return True


def _found(name_or_path: str | PathLike[str], folder: Path) -> tuple[Path, str]:
    """Return the requested file, and the name of the pool."""
    path = Path(fspath(name_or_path))
    is_name = isinstance(name_or_path, str) and path.name == name_or_path and not path.suffix
    if path.is_file() or not is_name:
        return path, path.name.partition(".")[0]
    text = str(name_or_path)
    entry = find(text)
    names = (entry.file, entry.name) if entry else ()
    spellings = dict.fromkeys((text, *names, text.replace("-", "_"), text.replace("_", "-")))
    for place in (folder / "pools", folder):
        for spelling in spellings:
            if (file := place / f"bc_pool_{spelling}.mat").is_file():
                return file, entry.name if entry else text
    here = sorted(file.stem.removeprefix("bc_pool_") for file in folder.glob("pools/bc_pool_*.mat"))
    has = f"That folder has pools of {', '.join(here)}." if here else "That folder has no pools."
    raise FileNotFoundError(
        f"There is no pool {text!r}: no file {folder / 'pools' / f'bc_pool_{text}.mat'}. {has}"
        " Place the file there, set ENSEMBLAGE_DATA to the folder that contains pools/, or pass the"
        " path of a file."
    )


def _of_arrays(path: Path) -> tuple[tables.VoteTable, NDArray[Any] | None]:
    """Return members and truth of a MAT or NPZ file; a truth of another length is an error."""
    arrays = tables.read_arrays(path)
    key = "members" if tables.format_of_name(str(path)) == "mat" else None
    table = tables.table_of_arrays(arrays, path=str(path), key=key)
    named = next((word for word in _TRUTH if word in arrays), None)
    if named is None:
        return table, None
    n = tables.n_objects(table)
    if arrays[named].size != n:
        hint = " If its rows are clusterings, transpose it." * (
            arrays[named].size == len(table.names)
        )
        raise tables.FileFormatError(
            f"{path}: {named} has {arrays[named].size} values, but the clusterings have {n} rows,"
            f" one for each object.{hint}"
        )
    if named not in table.extra:
        raise tables.FileFormatError(
            f"{path}: {named} must be labels, integers or names, got values of type"
            f" {arrays[named].dtype}."
        )
    return table, table.extra[named]


def _renumbered(truth: NDArray[Any]) -> NDArray[np.int64]:
    missing = tables.is_missing(truth)
    numbers = np.full(len(truth), -1, dtype=np.int64)
    numbers[~missing] = numbered(truth[~missing])[0]
    return numbers
