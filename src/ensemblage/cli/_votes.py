"""Votes for a verb: what can be refused before they are read, and right after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._progress import stage
from ensemblage.cli._truth import take_truth
from ensemblage.cli._words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ensemblage.files import VoteTable

_SHOWN = 5


def check_call(votes: list[str], *, input_format: str | None, jobs: int) -> None:
    """Refuse what cannot work before anything heavy is imported or read."""
    from ensemblage import files

    if votes.count("-") > 1:
        raise WrongCall("Standard input (-) can be read once only.")
    if input_format is not None and input_format.lower() not in files.FORMATS:
        hint = did_you_mean(input_format, files.FORMATS)
        known = ", ".join(files.FORMATS)
        raise WrongCall(f"There is no format {input_format!r}.{hint} Known: {known}.")
    if jobs == 0:
        raise WrongCall("--jobs is a number of threads from 1 on, or -1 for all cores. Found 0.")


def check_apart(output: str, inputs: Iterable[str | None]) -> None:
    """Refuse an output that is one of the inputs, under whatever name: it would replace it."""
    for path in inputs:
        if path is None or path == "-":
            continue
        try:
            same = Path(path).samefile(output) and Path(output).is_file()  # not a terminal
        except (OSError, ValueError):  # one of them is not there, or is no path but a name
            continue
        if same:
            raise WrongCall(
                f"The output {output} is the input {path}, which it would replace. Name another"
                " output."
            )


def expanded(votes: list[str]) -> list[str]:
    """Return the files that folders and patterns stand for, and other names as they are.

    Shells expand patterns, except on Windows and in quotes.
    """
    from ensemblage.scale import stream

    return stream.resolve(votes)


def check_format_to_write(output: str) -> str:
    """Return the format that the name of an output tells, or refuse the call."""
    from ensemblage import files

    try:
        return files.format_to_write(output, None)
    except files.FileFormatError as error:
        raise WrongCall(str(error)) from None


def read_votes(
    votes: list[str],
    truth: str | None,
    *,
    input_format: str | None,
    id_column: str,
    header: bool | None,
    key: str | None,
    quiet: bool,
) -> tuple[VoteTable, NDArray[Any] | None]:
    """Read the files of votes as one table, and set the true labels apart if they are named.

    An object without any vote is refused.
    """
    from ensemblage import files

    with stage("Reading votes", quiet=quiet):
        table = files.read_tables(
            votes,
            format=input_format,
            id_column=id_column,
            header="auto" if header is None else header,
            key=key,
        )
    table, true_labels = take_truth(table, truth)
    _check_turnout(table)
    return table, true_labels


def _check_turnout(table: VoteTable) -> None:
    """Refuse objects without any vote, by the names and rows that their files know them by."""
    from ensemblage import files

    silent = files.silent_objects(table)
    if len(silent):
        shown = [files.object_in_words(table, int(row)) for row in silent[:_SHOWN]]
        more = [f"and {len(silent) - _SHOWN} more"] if len(silent) > _SHOWN else []
        raise files.FileFormatError(
            f"{len(silent)} object(s) have no vote in any clustering: {'; '.join(shown + more)}."
            " Nothing can be said about them; leave these rows out."
        )


def check_k(largest: int, ensemble: Any) -> None:
    """Refuse more clusters than there are groups to make them of, before any method begins."""
    groups = len(ensemble.microclusters.sizes)
    if largest > groups:
        raise ValueError(
            f"{largest} clusters were asked for, but the votes tell only {groups} group(s) of"
            f" objects apart. Ask for at most {groups}, or add clusterings that split the data"
            " further."
        )
