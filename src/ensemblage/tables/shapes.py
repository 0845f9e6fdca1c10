"""Other shapes of votes: a row for each vote, and a file for each clustering."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._messages import Message, Parameter
from ensemblage._types import Origin, VoteTable
from ensemblage._validate import check_memory, is_id_name, is_likely_id_name
from ensemblage.flow.codes import MISSING
from ensemblage.tables.columns import Codes, as_texts, joined
from ensemblage.tables.files import File, arrow_errors, resolve
from ensemblage.tables.formats import FileFormatError, OptionError, packing
from ensemblage.tables.labelling import LABEL_NAMES, read_labels
from ensemblage.tables.labels import (
    NAMES,
    NUMBERS,
    arrow_votes,
    bad_cell,
    cell_votes,
    count_kinds,
    joined_numbers,
    mostly,
    smallest,
    with_missing,
)
from ensemblage.tables.layout import clusterings, open_sources, place_of
from ensemblage.tables.table import in_order, table_of
from ensemblage.tables.text import TextSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.tables.choice import Choice
    from ensemblage.tables.source import Source

_MEMBERS = ("member", "clustering", "run", "method", "partition", "model")
_NOT_NAMED = ("auto", None, "none")
_LABELS = ("label", "cluster", "vote", "labels")


def _refuse(choice: Choice, layout: str, **others: Any) -> None:
    """Raise where an option does not apply to a layout."""
    for name, value in {"truth": choice.truth, "keep": choice.keep or None, **others}.items():
        if value is not None:
            message = "{name} is for wide tables, but the layout is {layout}. Leave it out."
            raise OptionError(Message(message, name=Parameter(name), layout=layout))


# -- a row for each vote ---------------------------------------------------------------------------


def read_long(
    sources: Any,
    choice: Choice,
    format: str | None,  # noqa: A002
    key: str | None,
) -> VoteTable:
    """Read a table with a row for each vote: the object, the clustering and the label.

    Columns are recognised by name, else taken in this order. A vote without a row is missing. Of
    several columns with a name for ids, one without a repeated value numbers the votes.
    """
    _refuse(choice, "long", key=key)
    files = [File(path) for path in resolve(sources)]
    (probe,) = open_sources(files[:1], choice._replace(columns=None, id_column=None), format=format)
    candidates, member, label = _roles(probe.names, choice.id_column, probe.path)
    asked = choice._replace(columns=[], id_column=None)
    for objects in candidates:
        roles = (objects, member, label)
        read = _long_rows(open_sources(files, asked._replace(keep=roles), format=format))
        if not read.voted_once or objects == candidates[0]:
            id_name, votes = objects, read
        if not read.voted_once:
            break
    if votes.voted_once and choice.id_column in _NOT_NAMED:
        message = Message(
            "No value of column {name!r} of {path} occurs twice, so each object has one vote. If"
            " the objects are in another column, name it with {id_column}.",
            name=id_name,
            path=probe.path,
            id_column=Parameter("id_column"),
        )
        warnings.warn(message, UserWarning, stacklevel=3)
    rows, names = votes.rows, votes.members
    called = names.dictionary.to_pylist()
    place, column = (encoded.indices.to_numpy() for encoded in (rows, names))
    first = np.unique(place, return_index=True)[1]
    check_memory(8 * len(first) * len(called), "The votes of this long table", "Read fewer.")
    row_of = np.full((len(called), len(first)), -1, dtype=np.int64)
    row_of[column, place] = np.arange(len(place))
    again = np.flatnonzero(row_of[column, place] != np.arange(len(place)))
    if len(again):
        raise FileFormatError(
            f"{probe.path}: object {votes.ids[again[0]]!r} has several labels in clustering"
            f" {called[column[again[0]]]!r}. Give one for each object and clustering."
        )
    wanted = called if choice.columns is None else clusterings(choice.columns, called, probe.path)
    of_names = choice.of_names(wanted)
    columns = [
        votes.column(row_of[called.index(name)], name, probe.path, names=name in of_names)
        for name in wanted
    ]
    return table_of(wanted, columns, ids=votes.ids[first], id_name=id_name)


def _roles(names: list[str], id_column: Any, path: str) -> tuple[list[str], str, str]:
    """Return the columns that may hold objects, and those of clusterings and labels."""
    objects: list[str] = []
    if id_column not in _NOT_NAMED:
        objects = [names[place_of(id_column, names, path, " to take objects from")]]
    called = {name.strip().lower(): name for name in reversed(names) if name not in objects}
    member = next((called[name] for name in _MEMBERS if name in called), None)
    label = next((called[name] for name in _LABELS if name in called), None)
    if not objects:
        likely = [name for name in names if is_id_name(name) or is_likely_id_name(name)]
        objects = [name for name in likely if name not in (member, label)]
    roles = [next(iter(objects), None), member, label]
    if None in roles and len(names) != 3:
        raise FileFormatError(
            f"{path} has {len(names)} column(s), and it is not clear which of them are the object,"
            " the clustering and the label. Call them object, member and label."
        )
    rest = [name for name in names if name not in roles]
    first, member, label = (rest.pop(0) if role is None else str(role) for role in roles)
    return [name for name in objects if name not in (member, label)] or [first], member, label


class _Votes(NamedTuple):
    """The rows of a long table: objects, clusterings and labels.

    `rows` and `members` are Arrow dictionaries: the texts of `ids`, and the clusterings. `labels`
    are whole numbers, or codes of `cells`: names, or with `is_text` cells of text files.
    """

    ids: NDArray[Any]
    rows: Any
    members: Any
    labels: NDArray[Any]
    cells: list[str] | None
    is_text: bool

    @property
    def voted_once(self) -> bool:
        """Whether no object occurs twice, though there are several clusterings."""
        return len(self.members.dictionary) > 1 and len(self.rows.dictionary) == len(self.rows)

    def column(self, rows: NDArray[np.int64], name: str, path: str, *, names: bool) -> NDArray[Any]:
        """Return the votes of a clustering, of which the place of each object's row is given.

        They are `names`, or what most of them are.
        """
        labels = with_missing(self.labels[rows], rows < 0, f"{path}, clustering {name!r}")
        if self.cells is None:
            return labels
        cells: list[Any] = [*self.cells, None]
        if not self.is_text:
            return np.take(np.array(cells, dtype=object), labels)
        known, inverse = np.unique(labels, return_inverse=True)
        texts = [cells[code] or "" for code in known.tolist()]
        kinds = count_kinds(texts, np.bincount(inverse).tolist())
        codes, kind = Codes(name), NAMES if names else mostly(kinds)
        votes = cell_votes(texts, kind, codes.of_names)
        if votes is None:
            text = next(
                text for text in texts if cell_votes([text], NUMBERS, codes.of_names) is None
            )
            where = np.flatnonzero(inverse == texts.index(text))[0]
            there = f"{path}, object {self.ids[rows[where]]!r}, clustering {name!r}"
            raise bad_cell(text, kinds, there)
        if kind == NAMES:
            return np.take(np.array([*codes.labels(), None], dtype=object), votes[inverse])
        return smallest(votes[inverse])


def _long_rows(sources: list[Source]) -> _Votes:
    """Return the rows of a long table; one text file makes all labels cells of text."""
    import pyarrow as pa

    is_text = any(isinstance(source, TextSource) for source in sources)
    ids, members, labels, codes = [], [], [], Codes(sources[0].kept[2])
    for source in sources:
        source.check_fits()
        batches = list(source.batches(carried=True, threads=2))
        if not batches:
            raise FileFormatError(f"{source.path} holds no rows. A long table has one a vote.")
        for batch in batches:
            column, where = batch.carried[2], source.place(codes.name)
            with arrow_errors(f"{where} cannot be read"):
                votes, kind = arrow_votes(column, codes.of_names, where, batch.first)
            if not is_text:
                codes.check_kind(votes, kind, source.path)
            elif kind == NUMBERS:
                numbers, inverse = np.unique(votes, return_inverse=True)
                texts = [None if number == MISSING else str(number) for number in numbers.tolist()]
                votes = codes.of_names(texts)[inverse]
            labels.append(votes)
        objects, runs, _ = source.carried_values(batches)
        for values in (objects, runs):
            _check_present(values, source)
        ids.append(objects)
        members.append(runs)
    cells = codes.labels() if is_text or codes.holds_names else None
    numbers = joined_numbers(codes.name, labels)
    every, called = _joined(ids), as_texts(_joined(members))
    rows = pa.array(as_texts(every)).dictionary_encode()
    return _Votes(every, rows, pa.array(called).dictionary_encode(), numbers, cells, is_text)


def _check_present(values: NDArray[Any], source: Source) -> None:
    """Raise where a row has no object, or no clustering."""
    kind = values.dtype.kind
    if kind not in "fOM":
        return
    missing = np.isnan(values) if kind == "f" else np.array([t == "" for t in as_texts(values)])
    if missing.any():
        raise FileFormatError(
            f"{source.where(int(missing.argmax()))} is a row without an object or without a"
            " clustering. Fill in its cell, or leave the row out."
        )


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of several files as one array: 1.0 in one is 1 in another."""
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [_whole(part) if part.dtype.kind == "f" else part for part in parts]
    return joined(parts)


def _whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return floats as integers where all of them are whole, else as objects."""
    values = [int(value) if value.is_integer() else value for value in numbers.tolist()]
    return np.array(values, dtype=None if all(isinstance(v, int) for v in values) else object)


# -- a file for each clustering --------------------------------------------------------------------


def read_members(
    sources: Any,
    choice: Choice,
    format: str | None,  # noqa: A002
    key: str | None,
) -> VoteTable:
    """Read a file for each clustering; objects are matched by id, or by position."""
    _refuse(choice, "members")
    paths: dict[str, str] = {}
    for path in resolve(sources):
        other = paths.setdefault(_name_of(path), path)
        if other != path:
            raise FileFormatError(
                f"The clusterings of {other} and {path} would both be called {_name_of(path)!r}."
                " Rename one of the files."
            )
    names = list(paths)
    if choice.columns is not None:
        names = clusterings(choice.columns, names, "The folder or list of files")
    asked = None if choice.id_column == "none" else choice.id_column
    of_names = choice.of_names(names)
    parts = {
        name: read_labels(
            paths[name],
            format=format,
            key=key,
            header=choice.header,
            id_column=asked,
            names=LABEL_NAMES,
            _hold_names=set if name in of_names else None,
        )
        for name in names
    }
    _check_lengths({paths[name]: len(part.labels) for name, part in parts.items()})
    first = parts[names[0]]
    with_ids = [name for name in names if parts[name].ids is not None]
    if with_ids and len(with_ids) < len(names):
        without = next(name for name in names if name not in with_ids)
        message = Message(
            "{first} has ids and {other} has none, so their objects cannot be matched. Give ids in"
            " all files, or match rows by position with {none}.",
            first=paths[with_ids[0]],
            other=paths[without],
            none=Parameter("id_column", "none"),
        )
        raise FileFormatError(message)
    for name in with_ids:
        ((text, times),) = Counter(as_texts(np.asarray(parts[name].ids))).most_common(1)
        if times > 1:
            raise FileFormatError(f"{paths[name]} has several labels for the object {text!r}.")
    columns = [
        in_order(part, first.ids, len(first.labels), paths[name], noun="label")
        for name, part in parts.items()
    ]
    table = table_of(names, columns, ids=first.ids, id_name=first.id_name)
    return table._replace(origin=(Origin(paths[names[0]], 1, len(first.labels)),))


def _name_of(path: str) -> str:
    name = PurePath(path)
    return name.with_suffix("").stem if packing(path) else name.stem


def _check_lengths(lengths: dict[str, int]) -> None:
    usual = Counter(lengths.values()).most_common(1)[0][0]
    odd = [path for path, length in lengths.items() if length != usual]
    if odd:
        other = next(path for path, length in lengths.items() if length == usual)
        shown = ", ".join(f"{path} has {lengths[path]}" for path in odd[:5])
        raise FileFormatError(
            f"Every file must have a label for each object, but {shown}, and {other} has {usual}."
            " Leave the label empty if a clustering did not label an object."
        )
