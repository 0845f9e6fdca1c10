"""A table as a source of Arrow batches: its columns, what each is for, and its rows in batches."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage._validate import FEWEST_IDS
from ensemblage.tables.columns import cast_to, common_type, output_type, plain, to_array
from ensemblage.tables.files import arrow_errors
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.ids import Ids, present_ids, repeated_id
from ensemblage.tables.labels import arrow_votes
from ensemblage.tables.layout import clusterings, find_id, no_column, picked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.tables.choice import Choice
    from ensemblage.tables.columns import Codes
    from ensemblage.tables.files import File

_BYTES_AT_ONCE = 1 << 22  # votes of a batch stay in the cache, or near it
#: Rows by which it is decided which row holds names, and which column ids.
JUDGED_ROWS = 1 << 14


class Batch(NamedTuple):
    """Some rows of a table, from row `first` on (counted from 0).

    `columns` are the votes, then the true labels if asked for; `carried` are ids and kept columns.
    """

    first: int
    n_rows: int
    columns: list[Any]
    carried: list[Any]

    def cut(self, start: int, stop: int) -> Batch:
        """Return the rows of the table from `start` to `stop`, as far as they are in here."""
        start, stop = max(start, self.first), min(stop, self.first + self.n_rows)
        if (start, stop) == (self.first, self.first + self.n_rows):
            return self
        part = slice(start - self.first, stop - self.first)
        columns, carried = ([c[part] for c in each] for each in (self.columns, self.carried))
        return Batch(start, stop - start, columns, carried)


class Source:
    """A table of votes in a file. Formats say which columns it has, and how `rows` are read."""

    #: The clusterings in order, the column of ids, that of true labels, and those to keep.
    names: list[str]
    id_name: Any
    #: Whether the names are those of the file, and not made by the places of the columns.
    named = True
    #: Whether an id that occurs twice is an error: ids were detected, and not named by the user.
    ids_differ = False
    truth: Any = None
    kept: list[Any]
    #: None while it is not known, as of text before it was read.
    n_rows: int | None
    #: By how many rows ids were looked for, if they were.
    n_judged: int = FEWEST_IDS
    #: How many rows of the file come before the first object.
    n_before: int = 0
    #: Texts that mean that an object has no id, beside the empty one.
    no_ids: tuple[str, ...] = ()
    #: Start and step of the numbers that the rows had in pandas, if they had some.
    numbers: tuple[int, int] | None = None
    #: What may separate the names of an only column of text.
    suspect: Any = None
    #: Labels of the objects that came along, by name.
    extra: Mapping[str, NDArray[Any]] = MappingProxyType({})
    #: The votes as one matrix, if the file has them so and nothing beside them.
    matrix: NDArray[Any] | None = None
    _state: tuple[int, int, str] | None = None

    def __init__(self, file: File, choice: Choice) -> None:
        self.file, self.path = file, file.name
        self._choice = choice
        self._state = None if file.once else file.fingerprint()

    def rows(
        self, start: int, stop: int | None, columns: list[str], threads: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches with the row each begins at.

        The first may begin before `start`, and the last may end after `stop`.
        """
        raise NotImplementedError

    def _type(self, name: Any) -> Any:
        """Return the Arrow type of a column."""
        raise NotImplementedError

    def check_fits(self) -> None:
        """Raise where all rows do not fit in memory, as far as the file tells."""

    def bytes_in_memory(self) -> int:
        """Return about how many bytes the votes take in memory; formats with types know."""
        raise NotImplementedError

    @property
    def carried_names(self) -> list[Any]:
        """The ids, where there are any, and the columns that are kept."""
        ids = [] if self.id_name is None else [self.id_name]
        return list(dict.fromkeys([*ids, *self.kept]))

    @property
    def label_names(self) -> list[Any]:
        """The clusterings, and the true labels where there are any."""
        return [*self.names, *([] if self.truth is None else [self.truth])]

    # -- columns -------------------------------------------------------------------------------

    def _can_be_ids(self, name: str) -> bool:
        """Return whether the first values of a column differ as ids do."""
        raise NotImplementedError

    def _first_values(self, name: str) -> Iterable[Any]:
        """Return the values of a column in the rows judged; nothing where all differ."""
        raise NotImplementedError

    def _choose(
        self, names: list[str], *, n_rows: int, named: bool = True, index: tuple[str, ...] = ()
    ) -> None:
        """Decide which columns are votes, ids, true labels and kept."""
        asked, path, self.n_judged = self._choice, self.path, n_rows
        place = find_id(
            names,
            asked.id_column,
            path=path,
            n_rows=n_rows,
            is_unique=lambda at: self._can_be_ids(names[at]),
            named=named,
            is_name=asked.by_name,
        )
        self.id_name, self.truth = None if place is None else names[place], asked.truth
        detected = place is not None and asked.id_column == "auto" and n_rows >= FEWEST_IDS
        self.ids_differ = (detected or asked.ids_differ) and not (asked.features or asked.repeats)
        if self.ids_differ:
            self._check_different()
        self.kept = list(dict.fromkeys(picked(asked.keep, names, path, apart={self.id_name})))
        apart = {self.id_name, self.truth, *index, *self.kept}
        if asked.columns is None:
            self.names = [name for name in names if name not in apart]
        else:
            self.names = clusterings(asked.columns, names, path, apart=apart)
        self._check_columns(names)

    def _check_different(self) -> None:
        """Raise early where ids repeat in the first rows; missing ones are not compared."""
        seen: dict[Any, int] = {}
        for row, value in enumerate(self._first_values(self.id_name), self.n_before + 1):
            if isinstance(value, list | dict) or value in (None, "", *self.no_ids):
                continue
            first = seen.setdefault(value, row)
            if first != row:
                raise repeated_id(self.path, self.id_name, value, (first, row))

    def _check_columns(self, known: list[str]) -> None:
        """Raise where a column is not there, or is named for two purposes."""
        if self.truth is not None and self.truth not in known:
            raise no_column(self.path, self.truth, known)
        if self.truth is not None and self.truth == self.id_name:
            raise FileFormatError(
                f"Column {self.truth!r} of {self.path} holds the ids of the objects, so it cannot"
                " hold true labels. Name another column for one of them."
            )
        if not self.names and self._choice.columns != []:
            what = "features" if self._choice.features else "votes"
            if self.truth is None and not self.kept:
                raise FileFormatError(f"{self.path} has an id column and no {what} beside it.")
            raise FileFormatError(
                f"All columns of {self.path} are set apart as ids, true labels or columns to keep,"
                f" so no {what} are left. Set fewer apart."
            )
        use = {self.id_name: "holds the ids", self.truth: "holds true labels"}
        for name in self.names:
            if name in use:
                raise FileFormatError(
                    f"Column {name!r} of {self.path} is named as a clustering, but it {use[name]}."
                    " Name each column once."
                )

    # -- rows ----------------------------------------------------------------------------------

    def batches(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        carried: bool = False,
        truth: bool = False,
        threads: int = 1,
    ) -> Iterator[Batch]:
        """Yield the rows from `start` to `stop`; what is not asked for is left out."""
        names = self.label_names if truth else self.names
        others = self.carried_names if carried else []
        wanted = list(dict.fromkeys([*names, *others]))
        stop = self.n_rows if stop is None else stop
        for first, rows in self.rows(start, stop, wanted, threads):
            if not set(wanted) <= set(rows.schema.names):
                raise self.changed()
            columns, passed = ([rows.column(name) for name in each] for each in (names, others))
            end = first + rows.num_rows if stop is None else stop
            if first + rows.num_rows > start and first < end:
                yield Batch(first, rows.num_rows, columns, passed).cut(start, end)

    def spans(self, n_rows: int) -> list[tuple[int, int | None]]:  # noqa: ARG002 - not cut
        """Return ranges of about so many rows that can be read without those before them."""
        return [] if self.n_rows == 0 else [(0, self.n_rows)]

    def votes(self, batch: Batch, codes: list[Codes]) -> list[IntArray]:
        """Return the columns of a batch as integers, -1 for a missing vote.

        Whole numbers are themselves, and names have the codes of `codes`.
        """
        columns = []
        for column, known in zip(batch.columns, codes, strict=True):
            where = self.place(known.name)
            with arrow_errors(f"{where} cannot be read"):
                votes, kind = arrow_votes(column, known.of_names, where, batch.first)
            known.check_kind(votes, kind, self.path)
            columns.append(votes)
        return columns

    def coded(self, batch: Batch, codes: list[Codes]) -> list[IntArray]:
        """Return the columns of a batch as codes of signed integers, -1 for a missing vote."""
        votes = self.votes(batch, codes)
        return [known.of_integers(column) for known, column in zip(codes, votes, strict=True)]

    # -- what is carried -----------------------------------------------------------------------

    def ids(self, batch: Batch) -> Ids:
        """Return the ids of a batch that was read with them, without the missing ones."""
        where = self.place(self.id_name)
        column = plain(batch.carried[0], where)
        column = cast_to(output_type(column.type, is_id=True), column, where)
        return present_ids(column, self.n_before + batch.first, missing=self.no_ids)

    def carried_types(self) -> list[Any]:
        """Return the Arrow types that the carried columns have in the output."""
        return [output_type(self._type(n), is_id=n == self.id_name) for n in self.carried_names]

    def carried_arrays(self, batch: Batch, types: list[Any]) -> list[Any]:
        """Return the carried columns as Arrow arrays of types that hold those of every file."""
        columns = zip(self.carried_names, batch.carried, types, strict=True)
        return [cast_to(kind, column, self.place(name)) for name, column, kind in columns]

    def carried_values(self, batches: list[Batch]) -> list[NDArray[Any]]:
        """Return the carried columns of all batches as arrays."""
        return carried_of([(self, batches)], self.carried_types())

    # -- messages, and what is learned while the rows are read ---------------------------------

    def place(self, name: Any) -> str:
        """Return what a message calls a column."""
        return f"{self.path}, column {name!r}"

    def where(self, row: int) -> str:
        """Return where an object stands, for messages; rows of files are counted from 1."""
        return f"{self.path}, row {row + self.n_before + 1}"

    def learned(self) -> dict[str, Any]:
        """Return what reading has shown, to be kept."""
        return {"n_rows": self.n_rows}

    def recall(self, learned: dict[str, Any]) -> None:
        """Take what an earlier run, or a worker, has learned."""
        self.n_rows = learned["n_rows"]

    def has_changed(self) -> bool:
        """Return whether the file is another one than when it was opened."""
        return self._state is not None and self.file.fingerprint() != self._state

    def check_unchanged(self) -> None:
        """Raise where the file has changed, after its rows were read."""
        if self.has_changed():
            raise self.changed()

    def changed(self) -> FileFormatError:
        """Return the error to raise where it shows that the file has changed."""
        return FileFormatError(
            f"{self.path} has changed while it was read, so its votes and labels would not belong"
            " together. Leave the files alone until the labels are there, and run it again."
        )


def types_of(sources: list[Source]) -> dict[Any, Any]:
    """Return the Arrow types that the carried columns of all files have in the output."""
    kinds = zip(*(source.carried_types() for source in sources), strict=True)
    return dict(zip(sources[0].carried_names, map(common_type, map(list, kinds)), strict=True))


def carried_of(read: list[tuple[Source, list[Batch]]], types: list[Any]) -> list[NDArray[Any]]:
    """Return the carried columns of all batches of files as arrays."""
    import pyarrow as pa

    parts = [source.carried_arrays(batch, types) for source, batches in read for batch in batches]
    columns = [pa.chunked_array([part[i] for part in parts], t) for i, t in enumerate(types)]
    (first, _), *_ = read
    return [to_array(c, first.place(n)) for c, n in zip(columns, first.carried_names, strict=True)]


def rows_at_once(batch_rows: int, bytes_of_row: int) -> int:
    """Return how many rows a batch may have: fewer than asked for where these are long."""
    return max(1, min(batch_rows, max(1 << 12, _BYTES_AT_ONCE // max(1, bytes_of_row))))
