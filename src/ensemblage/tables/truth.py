"""True labels of the objects of a table: a column, an array of the same file, or another file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Message, Parameter, did_you_mean
from ensemblage.tables.columns import as_texts
from ensemblage.tables.formats import FileFormatError, OptionError
from ensemblage.tables.labels import is_missing
from ensemblage.tables.reading import read_labels
from ensemblage.tables.table import n_objects, take_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage.tables.table import Labels, VoteTable


def take_truth(table: VoteTable, truth: str) -> tuple[VoteTable, NDArray[Any]]:
    """Return a table without its true labels, and those labels.

    `truth` is a column of the votes, an array of the same file, or another file, whose labels are
    matched by id if both have ids, else by position.
    """
    if truth in table.names or truth in table.extra:
        labels, table = take_column(table, truth)
    else:
        known = [*table.names, *table.extra]
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
    if not Path(truth).exists():
        raise OptionError(
            unknown_column(
                Parameter("truth", truth),
                "there is neither a column nor a file of that name",
                known,
            )
        )
    return in_order(read_labels(truth), ids, n, truth)


def unknown_column(asked: Parameter, problem: str, known: Sequence[str]) -> Message:
    """Return the message for a parameter that names a column which a table does not have."""
    return Message(
        "{asked}: {problem}.{near} The columns are {columns}.",
        asked=asked,
        problem=problem,
        near=did_you_mean(asked.value[0], known),
        columns=", ".join(known[:8]) + (", ..." if len(known) > 8 else ""),
    )


def in_order(
    given: Labels,
    ids: NDArray[Any] | None,
    n: int,
    path: str,
    noun: str = "true label",
    *,
    complete: bool = True,
) -> NDArray[Any]:
    """Return the labels of a file in the order of `n` objects: by id if both have ids.

    Unless they must be `complete`, an object whose id is not in the file gets -1.
    """
    if given.ids is None or ids is None:
        if len(given.labels) != n:
            raise FileFormatError(
                f"{path} has {len(given.labels)} {noun}s, but there are {n} objects. Give one for"
                " each, or ids in both files to match them by."
            )
        return given.labels
    if given.ids.dtype == ids.dtype and np.array_equal(given.ids, ids):
        return given.labels
    known, wanted = as_texts(given.ids), as_texts(ids)
    times = Counter(known)
    for name in wanted:
        if times[name] > 1 or (complete and not times[name]):
            has = f"several {noun}s" if times[name] else f"no {noun}"
            wanted_number = "one for each" if complete else "one at most"
            raise FileFormatError(
                f"{path} has {has} for the object {name!r} of the votes. It must have"
                f" {wanted_number}."
            )
    place_of = {name: place for place, name in enumerate(known)}
    places = [place_of.get(name, -1) for name in wanted]
    return given.labels[places] if complete else np.append(given.labels, -1)[places]
