"""One labelling of the objects: true or earlier labels beside the votes, or one clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage._messages import Message, Parameter
from ensemblage.tables.choice import Choice, check_options
from ensemblage.tables.columns import as_texts
from ensemblage.tables.files import File, is_remote
from ensemblage.tables.formats import ARRAYS, FileFormatError, OptionError, load
from ensemblage.tables.labels import Kind, count_kinds, is_missing
from ensemblage.tables.layout import open_beside, open_sources
from ensemblage.tables.paths import kind_of, path_of
from ensemblage.tables.reading import read_arrays, read_sources
from ensemblage.tables.table import (
    Labels,
    columns_of,
    in_order,
    n_objects,
    take_column,
    unknown_column,
)
from ensemblage.tables.target import identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ensemblage._types import VoteTable

#: What is read of several columns, or arrays: as true labels, and as labels that were computed.
TRUTH_NAMES = ("truth", "gt", "label", "labels", "class")
LABEL_NAMES = ("label", "labels", "cluster")
_OF_LABELS = {*TRUTH_NAMES, *LABEL_NAMES}


def read_labels(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
    header: bool | str = "auto",
    id_column: str | int | None = "auto",
    id_name: str | None = None,
    names: Sequence[str] = TRUTH_NAMES,
    _hold_names: Any = None,
) -> Labels:
    """Read one labelling: a file with a single column of labels, beside ids or not.

    Parameters
    ----------
    path : str or path-like
        As for `read`, one file. Of several columns one of `names` is taken; of NPZ and MAT, an
        array of such a name or the only vector. The only other column holds ids, some of which
        may be equal, if it is the first and more than half of its values differ.
    format, key, header, id_column : optional
        As for `read`.
    id_name : str, optional
        What the ids of the votes are called. With ``id_column="auto"``, a column of that name
        holds the ids, even if some are equal.
    names : sequence of str
        What the column of labels may be called, best first; by default ``truth``, ``gt``,
        ``label``, ``labels`` and ``class``.

    Returns
    -------
    Labels
        The labels as integers (-1 missing) or names (None missing), and the ids or None.
    """
    choice = Choice(id_column=id_column, header=header, whole=True, repeats=True)
    choice = choice.checked("read_labels")._replace(hold_names=_hold_names)
    file = File(path_of(path))
    chosen = file.format(format)
    check_options(chosen, file.name, header=header, key=key)
    if chosen in ARRAYS:
        arrays = read_arrays(path, format=chosen)
        usual = (*names, "y") if "truth" in names else tuple(names)  # which scikit-learn has
        labels_of = load("arrays.labels_from_arrays")
        return Labels(labels_of(arrays, path=file.name, key=key, usual=usual), None)
    (source,) = open_beside([file], choice, id_name, format=chosen)
    known = [name for name in names if name in source.names]
    if len(source.names) > 1 and not known:
        raise FileFormatError(
            f"{file.name} has {len(source.names)} columns of labels"
            f" ({', '.join(source.names[:5])}, ...), and none called {', '.join(names)}."
            " Rename the column to read to one of these."
        )
    others = [name for name in source.names if name not in _OF_LABELS]
    not_found = id_column == "auto" and source.id_name is None
    has_ids = not_found and bool(known) and source.names[:1] == others
    if has_ids:
        (source,) = open_sources([file], choice.with_ids(others[0]), format=chosen)
    source.names = known[:1] or source.names
    table = read_sources([source])
    (labels, *_), ids = columns_of(table), table.ids
    if has_ids and not _are_like_ids(ids):
        ids = None
    return Labels(labels, ids, None if ids is None else table.id_name)


def _are_like_ids(values: Any) -> bool:
    """Return whether more than half of some values differ, and none has a fraction."""
    different = set(as_texts(values))
    is_measurement = count_kinds(different, [1] * len(different))[Kind.FRACTION]
    return 2 * len(different) > len(values) and not is_measurement


def is_beside(
    truth: str,
    votes: str,
    *,
    format: str | None,  # noqa: A002
    header: bool | str,
    key: str | None,
) -> bool:
    """Return whether true labels are in a file of their own: the votes have no column of its name.

    Votes that can be read only once are not looked into.
    """
    if kind_of(truth) in ("", "folder"):
        return False
    file, choice = File(votes), Choice(id_column=None, header=header)
    if file.once:
        return True
    (source,) = open_sources([file], choice, format=format, key=key)
    return truth not in source.names


def check_beside(asked: Parameter, paths: Iterable[str], *, noun: str = "votes") -> None:
    """Raise where a file of labels is one of the files that are read as votes or features."""
    (labels,) = asked.value
    is_file = is_remote(labels) or bool(kind_of(labels))
    if is_file and identity(labels, read=True) in (identity(path, read=True) for path in paths):
        message = Message(
            "{asked} must be a file of labels alone, got one that is read as {noun} too. Leave it"
            " out of the {noun}{column}.",
            asked=asked,
            noun=noun,
            column=", or name a column of it" if asked.name == "truth" else "",
        )
        raise OptionError(message)


def take_truth(
    table: VoteTable, truth: str, paths: Sequence[str] = ()
) -> tuple[VoteTable, NDArray[Any]]:
    """Return a table without its true labels, and those labels.

    `truth` is a column of the votes, an array of the same file, or another file: none of `paths`.
    """
    if truth in table.names or truth in table.extra:
        labels, table = take_column(table, truth)
    else:
        known = [*table.names, *table.extra]
        check_beside(Parameter("truth", truth), paths)
        labels = read_truth(truth, table.ids, table.id_name, n_objects(table), known)
    if is_missing(labels).all():
        message = Message(
            "{truth}: all of these labels are missing, so there is nothing to compare with. Leave"
            " {option} out.",
            truth=Parameter("truth", truth),
            option=Parameter("truth"),
        )
        raise FileFormatError(message)
    return table, labels


def read_truth(
    truth: str, ids: NDArray[Any] | None, id_name: str | None, n: int, known: Sequence[str]
) -> NDArray[Any]:
    """Return the true labels of a file in the order of `n` objects; `known` are the columns."""
    if truth == id_name:
        message = Message(
            "{truth}: that column holds the ids of the objects. If it holds true labels, name"
            " another column with {id_column}, or none.",
            truth=Parameter("truth", truth),
            id_column=Parameter("id_column"),
        )
        raise OptionError(message)
    if not kind_of(truth):
        raise OptionError(
            unknown_column(
                Parameter("truth", truth),
                "there is neither a column nor a file of that name",
                known,
            )
        )
    return in_order(read_labels(truth, id_name=id_name), ids, n, truth)
