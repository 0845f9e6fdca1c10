"""A call of the command: its options, and the steps that several verbs share.

A session reads votes, makes an `Ensemble` of them, makes the estimator that was asked for, and
checks outputs. Verbs are functions of a session; see `verb`.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from ensemblage.cli import options
from ensemblage.cli.errors import UsageError, did_you_mean, reported, warn, warnings_as_lines
from ensemblage.cli.output import Clock, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ensemblage.files import Labels, VoteTable

_SHOWN = 5
_TRUTH_NAMES = {"gt", "truth", "ground_truth", "true_label", "y_true", "class"}
#: Options that only some methods have, and the parameters of these methods.
_METHOD_OPTIONS = {
    "linkage": "linkage",
    "neighbors": "n_neighbors",
    "steps": "n_steps",
    "device": "device",
}


@dataclass(kw_only=True)
class Session:
    """A call of any verb. Attributes with a type of `options` are options of the command."""

    quiet: options.Quiet = False
    debug: options.Debug = False

    def __post_init__(self) -> None:
        self.clock = Clock()


@dataclass(kw_only=True)
class InputSession(Session):
    """A call of a verb that reads a table."""

    truth: options.Truth = None
    jobs: options.Jobs = -1
    id_column: options.IdColumn = "auto"
    header: options.Header = None
    format: options.Format = None
    key: options.Key = None
    as_json: options.Json = False

    def reading(self) -> dict[str, Any]:
        """Return the options that readers of tables take."""
        return {
            "format": self.format,
            "id_column": self.id_column,
            "header": "auto" if self.header is None else self.header,
            "key": self.key,
        }


@dataclass(kw_only=True)
class VoteSession(InputSession):
    """A call of a verb that reads votes."""

    votes: options.Votes

    def resolve(self) -> None:
        """Set `paths`, the files that folders and patterns stand for."""
        from ensemblage.scale import stream

        check_stdin(self.votes)
        self.paths = stream.resolve(self.votes)

    def read(self) -> Any:
        """Read the votes as one `table`, set `true_labels` apart, and return the `Ensemble`."""
        import ensemblage as en
        from ensemblage import files

        with stage("Reading votes", quiet=self.quiet):
            table = files.read_tables(self.paths, **self.reading())
        self.table, self.true_labels = take_truth(table, self.truth)
        _check_turnout(self.table)
        ensemble = en.Ensemble(files.votes_of(self.table), n_jobs=self.jobs)
        ensemble.names = self.table.names
        return ensemble

    def facts(self, ensemble: Any) -> dict[str, Any]:
        """Return what JSON says about the votes."""
        return {
            "n_objects": ensemble.n_objects,
            "n_clusterings": len(ensemble.names),
            "n_microclusters": len(ensemble.microclusters.sizes),
            "id_column": self.table.id_name,
        }


@dataclass(kw_only=True)
class FitSession(VoteSession):
    """A call of a verb that fits one method."""

    method: options.Method = "auto"
    linkage: options.Linkage = None
    neighbors: options.Neighbors = None
    steps: options.Steps = None
    device: options.Device = None
    seed: options.Seed = 0

    def estimator(self, n_clusters: int | str) -> Any:
        """Return the method, not fitted; options that it does not have are errors."""
        from ensemblage import METHODS

        kind = METHODS[self.method]
        accepted = kind._get_param_names()
        given = {name: getattr(self, name) for name in _METHOD_OPTIONS}
        given = {name: value for name, value in given.items() if value is not None}
        for name in given:
            if _METHOD_OPTIONS[name] not in accepted:
                raise UsageError(f"Method {self.method} has no --{name}. {self._advice(accepted)}")
        parameters = {_METHOD_OPTIONS[name]: value for name, value in given.items()}
        parameters |= seed_and_jobs(kind, self.seed, self.jobs)
        return kind(n_clusters=n_clusters, **parameters)

    def _advice(self, accepted: Iterable[str]) -> str:
        if self.title == "Consensus":
            return "Name a method that has it, such as --method pta, or leave it out."
        has = [f"--{name}" for name, parameter in _METHOD_OPTIONS.items() if parameter in accepted]
        return f"Of these options it has {', '.join(has)}." if has else "Leave it out."

    @property
    def title(self) -> str:
        """The method as texts name it."""
        return "Consensus" if self.method in ("auto", "consensus") else self.method.upper()


def seed_and_jobs(kind: Any, seed: int, jobs: int) -> dict[str, int]:
    """Return the seed and the number of threads, if a method has parameters for them."""
    values = {"random_state": seed, "n_jobs": jobs}
    return {name: value for name, value in values.items() if name in kind._get_param_names()}


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Make a verb of a function of a session and of options.

    The verb has the options of the function and those of the session's class. Exceptions and
    warnings are shown on standard error.
    """
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    kind, own = parameters[0].annotation, parameters[1:]
    hints = get_type_hints(kind, include_extras=True)
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(kind, name, inspect.Parameter.empty),
            annotation=hints[name],
        )
        for name in dict.fromkeys(
            name for base in kind.__mro__ for name in vars(base).get("__annotations__", ())
        )
    ]

    @functools.wraps(function)
    def run(**given: Any) -> None:
        session = kind(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        with reported(debug=session.debug), warnings_as_lines():
            function(session, **given)

    signature = inspect.Signature([*own, *shared])
    vars(run).pop("__wrapped__")
    vars(run)["__signature__"] = signature
    run.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return run


def check_stdin(paths: list[str]) -> None:
    """Check that standard input is read only once."""
    if paths.count("-") > 1:
        raise UsageError("Standard input (-) can be read only once.")


def check_apart(output: str, inputs: Iterable[str | None]) -> None:
    """Check that an output is not one of the inputs, under whatever name: it would replace it."""
    for path in inputs:
        if path is None or path == "-":
            continue
        try:
            same = Path(path).samefile(output) and Path(output).is_file()  # not a terminal
        except (OSError, ValueError):  # one of them does not exist, or is not a path
            continue
        if same:
            raise UsageError(
                f"The output {output} is the input {path}, which it would replace. Name another"
                " output."
            )


def check_json(output: str | None, *, as_json: bool) -> None:
    """Check that JSON has standard output for itself, and that somebody reads it."""
    if not as_json:
        return
    if output in ("-", "/dev/stdout"):
        raise UsageError(
            "--json prints a summary on standard output, where the result would go too. Name a"
            " file for the result with -o."
        )
    from ensemblage import files

    files.check_writable("-")


def output_format(output: str) -> str:
    """Return the format of an output by its name."""
    from ensemblage import files

    try:
        return files.format_to_write(output, None)
    except files.FileFormatError as error:
        raise UsageError(str(error)) from None


def check_k(largest: int, ensemble: Any) -> None:
    """Check that there are enough groups of objects, before any method begins."""
    groups = len(ensemble.microclusters.sizes)
    if largest > groups:
        raise ValueError(
            f"{largest} clusters were asked for, but the votes distinguish only {groups} group(s)"
            f" of objects. Ask for at most {groups}, or add clusterings that split the data"
            " further."
        )


def take_truth(table: VoteTable, truth: str | None) -> tuple[VoteTable, NDArray[Any] | None]:
    """Return the votes without the true labels, and those labels.

    `truth` names a column of the votes, an array of the same file, or another file.
    """
    from ensemblage import files

    if truth is None:
        warn_of_truth(table.names)
        return table, None
    if truth in table.names or truth in table.extra:
        labels, table = files.take_column(table, truth)
    else:
        known = [*table.names, *table.extra]
        labels = read_truth(truth, table.ids, table.id_name, files.n_objects(table), known)
    if files.is_missing(labels).all():
        raise files.FileFormatError(
            f"--truth {truth}: all of these labels are missing, so there is nothing to compare"
            " with. Leave --truth out."
        )
    return table, labels


def read_truth(
    truth: str, ids: NDArray[Any] | None, id_name: str | None, n: int, known: list[str]
) -> NDArray[Any]:
    """Return the true labels of a file in the order of the objects; `known` are the columns."""
    from ensemblage import files

    if truth == id_name:
        raise UsageError(
            f"--truth {truth}: that column holds the ids of the objects. If it holds true labels,"
            " name another column with --id-column, or none."
        )
    if not Path(truth).exists():
        raise UsageError(
            f"--truth {truth}: there is neither a column nor a file of that name."
            f"{did_you_mean(truth, known)} The columns are {format_names(known)}."
        )
    return in_order(files.read_labels(truth), ids, n, truth)


def format_names(names: Iterable[str]) -> str:
    """Return the first of some names."""
    names = list(names)
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def warn_of_truth(names: list[str]) -> None:
    """Warn of clusterings that have the name of true labels."""
    for name in names:
        if name.lower() in _TRUTH_NAMES:
            warn(f"column {name!r} counts as a clustering; --truth {name} would set it apart.")


def in_order(
    given: Labels, ids: NDArray[Any] | None, n: int, path: str, noun: str = "true label"
) -> NDArray[Any]:
    """Return labels in the order of the objects: by id if both files have ids."""
    import numpy as np

    from ensemblage import files

    if given.ids is None or ids is None:
        if len(given.labels) != n:
            raise files.FileFormatError(
                f"{path} has {len(given.labels)} {noun}s, but there are {n} objects. Give one for"
                " each, or ids in both files to match them by."
            )
        return given.labels
    if given.ids.dtype == ids.dtype and np.array_equal(given.ids, ids):
        return given.labels
    known, wanted = files.as_texts(given.ids), files.as_texts(ids)
    times = Counter(known)
    for name in wanted:
        if times[name] != 1:
            has = f"several {noun}s" if times[name] else f"no {noun}"
            raise files.FileFormatError(
                f"{path} has {has} for the object {name!r} of the votes. It must have one for each."
            )
    place_of = {name: place for place, name in enumerate(known)}
    return given.labels[[place_of[name] for name in wanted]]


def _check_turnout(table: VoteTable) -> None:
    """Check that every object has a vote; name those that have none."""
    from ensemblage import files

    silent = files.silent_objects(table)
    if len(silent):
        shown = [files.object_in_words(table, int(row)) for row in silent[:_SHOWN]]
        more = [f"and {len(silent) - _SHOWN} more"] if len(silent) > _SHOWN else []
        raise files.FileFormatError(
            f"{len(silent)} object(s) have no vote in any clustering: {'; '.join(shown + more)}."
            " Nothing can be said about them; leave these rows out."
        )
