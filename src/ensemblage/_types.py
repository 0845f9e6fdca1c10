"""Data types that are passed between stages, without behaviour."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
#: Weight of each row: often the number of objects it represents.
Weights = FloatArray | IntArray


class Microclusters(NamedTuple):
    """Groups of objects with identical votes, and the group of each object.

    Attributes
    ----------
    table : ndarray of shape (n_microclusters, n_clusterings), int32
        The votes shared by the objects of a microcluster. Clusters are numbered by first appearance
        in each clustering; -1 is a missing vote. Rows are in order of first appearance.
    sizes : ndarray of shape (n_microclusters,), int64
        Number of objects in each microcluster.
    of_object : ndarray of shape (n_objects,), int32
        The row of `table` of each object, so ``table[of_object]`` are the votes.

    Examples
    --------
    >>> import ensemblage as en
    >>> groups = en.microclusters([[0, 0], [0, 0], [1, 0]])
    >>> groups.sizes, groups.of_object
    (array([2, 1]), array([0, 0, 1], dtype=int32))
    """

    table: NDArray[np.int32]
    sizes: NDArray[np.int64]
    of_object: NDArray[np.int32]


class Columns(NamedTuple):
    """A label matrix as one array per clustering, for tables with columns of several types."""

    names: list[str]
    arrays: list[NDArray[Any]]


class Origin(NamedTuple):
    """Where rows of a table came from: so many of a file, from this row on, counted from 1."""

    path: str
    first_row: int
    n_rows: int
    #: What to do if the first of these rows is the header of the file.
    hint: str = ""


class VoteTable(NamedTuple):
    """Votes of a file: one column a clustering, one row an object.

    Attributes
    ----------
    names : list of str
        The names of the clusterings; ``c1``, ``c2``, ... by place in the file where it has none.
    matrix : ndarray of shape (n_objects, n_clusterings) or None
        The votes where all of them are integers, in the smallest type that holds them, -1 for a
        missing vote.
    columns : list of ndarray or None
        The votes one array a clustering, where `matrix` is None: integers as above, or
        objects that are str, None for a missing vote.
    ids : ndarray of shape (n_objects,) or None
        What the objects are called.
    id_name : str or None
        The name of the id column.
    extra : dict of str to ndarray
        Other arrays with a value for each object that came along, such as ``gt`` of a MAT pool.
    origin : tuple of Origin
        The files that the rows came from, in order.
    kept : mapping of str to ndarray
        The columns that were asked for with ``keep``, as the files have them.
    types : mapping of str to pyarrow.DataType
        The types of the ids and of the kept columns: one that holds those of all files.
    named : bool
        Whether the names are those of the files. If they are not, votes for a model are taken in
        the order of the columns.
    """

    names: list[str]
    matrix: NDArray[Any] | None
    columns: list[NDArray[Any]] | None
    ids: NDArray[Any] | None
    id_name: str | None
    extra: dict[str, NDArray[Any]]
    origin: tuple[Origin, ...] = ()
    kept: Mapping[str, NDArray[Any]] = MappingProxyType({})
    types: Mapping[str, Any] = MappingProxyType({})
    named: bool = True
