"""A call of the command: its options, and the steps that several verbs share.

Verbs are functions of a session; see `verb`.
"""

from __future__ import annotations

import fnmatch
import functools
import inspect
import itertools
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

from ensemblage import METHODS
from ensemblage._progress import Clock, Item, track, working
from ensemblage.cli import options  # noqa: TC001 - typer reads annotations
from ensemblage.cli.addresses import check_addresses
from ensemblage.cli.errors import OPTIONS, UsageError, reported, warn, warnings_as_lines
from ensemblage.cli.inputs import check_apart, check_stdin
from ensemblage.cli.output import print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from ensemblage.tables import VoteTable

_SHOWN = 5
_TRUTH_NAMES = {"gt", "truth", "ground_truth", "true_label", "y_true", "class"}
#: Parameters that only some methods have; a session has them without "n_".
_OF_METHODS = ("linkage", "n_neighbors", "n_steps", "min_cluster_size", "device")


@dataclass(kw_only=True)
class Session:
    """A call of any verb. Attributes with a type of `options` are options of the command."""

    quiet: options.Quiet = False
    debug: options.Debug = False

    def __post_init__(self) -> None:
        self.clock = Clock()

    def stage(self, title: str) -> AbstractContextManager[None]:
        """Show a spinner with this title on standard error, if that is a terminal."""
        return working(title, show=not self.quiet)

    def track(self, items: Iterable[Item], title: str, total: int) -> Iterable[Item]:
        """Return the items, to be walked through under a progress bar."""
        return track(items, title, total, show=not self.quiet)


@dataclass(kw_only=True)
class JsonSession(Session):
    """A call of a verb whose summary can be JSON."""

    as_json: options.Json = False

    def check_json(self, output: str | None) -> None:
        """Check that JSON has standard output for itself, and that it can be written."""
        if not self.as_json:
            return
        from ensemblage import tables

        if output and tables.identity(output) == tables.identity("-"):
            raise UsageError(
                "--json prints a summary on standard output, where the result would go too. Name a"
                " file for the result with -o."
            )
        tables.check_writable("-")

    def finish(
        self,
        verb: str,
        facts: dict[str, Any],
        summary: str,
        *,
        err: bool = True,
        asked: bool = False,
    ) -> None:
        """Print the facts as JSON, or else the summary; `asked` for, it is not left out."""
        if self.as_json:
            print_json(verb, facts)
        elif asked or not self.quiet:
            say(summary, err=err)


@dataclass(kw_only=True)
class InputSession(JsonSession):
    """A call of a verb that reads a table."""

    truth: options.Truth = None
    jobs: options.Jobs = -1
    id_column: options.IdColumn = "auto"
    header: options.Header = None
    format: options.Format = None
    key: options.Key = None

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
    columns: options.Columns = None
    layout: options.Layout = "wide"
    kinds: Any = None  # of the clusterings of a model: which hold names

    def resolve(self) -> None:
        """Set `paths`, the files that folders and patterns stand for."""
        from ensemblage import tables

        check_stdin(self.votes)
        self.paths = tables.resolve(self.votes)

    def reading(self, keep: Sequence[str] = ()) -> dict[str, Any]:
        """Return the options that readers of votes take."""
        columns = split_names(self.columns, "--columns") or None
        # A column of true labels may be kept, or not be named; other names are files.
        kept = any(fnmatch.fnmatchcase(str(self.truth), pattern) for pattern in keep)
        apart = (columns is not None or kept) and self.layout == "wide"
        truth = self.truth if apart and not self.has_truth_file() else None
        return {**super().reading(), "columns": columns, "layout": self.layout, "truth": truth}

    def has_truth_file(self) -> bool:
        """Return whether the true labels are in a file: none of the columns has its name."""
        from ensemblage import tables

        reading = super().reading()
        reading.pop("id_column")
        return self.truth is not None and tables.is_beside(self.truth, self.paths[0], **reading)

    def check_table(self, output: str | None, *formats: str) -> None:
        """Check a table that is written in one of some formats, or shown on standard output."""
        from ensemblage import tables

        self.check_json(output)
        if output is None:
            tables.check_writable("-")
            return
        check_apart(output, [*self.paths, self.truth])
        if "json" in formats and output.lower().endswith(".json"):
            tables.check_writable(output, format="csv")
        elif output_format(output) in formats:
            tables.check_writable(output)
        else:
            endings = ", ".join(f".{name}" for name in formats)
            raise UsageError(f"-o {output}: a table needs a name that ends in one of {endings}.")

    def read(self, keep: Sequence[str] = ()) -> Any:
        """Read the votes as one `table`, set `true_labels` apart, and return the `Ensemble`."""
        import ensemblage as en
        from ensemblage import tables

        with self.stage("Reading votes"):
            table = tables.read(self.paths, keep=keep, **self.reading(keep), _hold_names=self.kinds)
        self.table, self.true_labels = table, None
        if self.truth is None:
            warn_of_truth(table.names)
        else:
            self.table, self.true_labels = tables.take_truth(table, self.truth, self.paths)
        _check_turnout(self.table)
        ensemble = en.Ensemble(self.table, n_jobs=self.jobs)
        ensemble.names = self.table.names  # also where they are made: messages and models have them
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
    min_cluster_size: options.MinClusterSize = None
    device: options.Device = None
    seed: options.Seed = 0

    def estimator(self, n_clusters: int | str) -> Any:
        """Return the method, not fitted; options that it does not have are errors."""
        kind = METHODS[self.method]
        accepted = kind._get_param_names()
        given = {name: getattr(self, name.removeprefix("n_")) for name in _OF_METHODS}
        parameters = {name: value for name, value in given.items() if value is not None}
        for name in parameters:
            if name not in accepted:
                advice = self._advice(accepted)
                raise UsageError(f"Method {self.method} has no {OPTIONS[name]}. {advice}")
        always = {"random_state": self.seed, "n_jobs": self.jobs}
        parameters |= {name: value for name, value in always.items() if name in accepted}
        return kind(n_clusters=n_clusters, **parameters)

    def _advice(self, accepted: Iterable[str]) -> str:
        if self.is_default:
            return "Name a method that has it, such as --method pta, or leave it out."
        has = [OPTIONS[name] for name in _OF_METHODS if name in accepted]
        return f"Of these options it has {', '.join(has)}." if has else "Leave it out."

    @property
    def title(self) -> str:
        """The method as texts name it."""
        return METHODS.title(self.method)

    @property
    def is_default(self) -> bool:
        """Whether the method is the default, by whichever name."""
        return self.title == METHODS.title("auto")


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Make a verb of a function of a session and of options.

    The verb has the options of the function and those of the session's class.
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
            name for base in kind.__mro__ for name in inspect.get_annotations(base)
        )
        if get_origin(hints[name]) is Annotated
    ]

    @functools.wraps(function)
    def run(**given: Any) -> None:
        session = kind(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        with reported(debug=session.debug), warnings_as_lines():
            check_addresses()
            function(session, **given)

    signature = inspect.Signature([*own, *shared])
    vars(run).pop("__wrapped__")
    vars(run)["__signature__"] = signature
    run.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return run


def split_names(values: Iterable[str] | None, option: str) -> list[str]:
    """Return the names of columns of an option that can be repeated and takes names with commas."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    if names and not any(names):
        raise UsageError(f"{option} names no column. Name some, or leave it out.")
    return [name for name in names if name]


def output_format(output: str) -> str:
    """Return the format of an output by its name."""
    from ensemblage import tables

    try:
        return tables.format_to_write(output, None)
    except tables.FileFormatError as error:
        raise UsageError(str(error)) from None


def warn_of_truth(names: list[str]) -> None:
    """Warn of clusterings that look like true labels, by their names.

    They are called so, or they stand after the numbered clusterings of a pool of generate.
    """
    pattern = r"(kmeans|kmeans\+\+|rpcl)_0*"
    numbered = (re.fullmatch(f"{pattern}{i}", name) for i, name in enumerate(names, 1))
    n_members = sum(1 for _ in itertools.takewhile(bool, numbered))
    beside = set(names[n_members:]) if n_members else set()
    for name in names:
        if name in beside or name.lower() in _TRUTH_NAMES:
            option = f"--truth {shlex.quote(name)}"
            warn(f"column {name!r} counts as a clustering; {option} would set it apart.")


def check_k(largest: int, ensemble: Any) -> None:
    """Check that there are enough groups of objects, before any method begins."""
    groups = len(ensemble.microclusters.sizes)
    if largest > groups:
        raise ValueError(
            f"{largest} clusters were asked for, but the votes distinguish only {groups} group(s)"
            f" of objects. Ask for at most {groups}, or add clusterings that split the data"
            " further."
        )


def _check_turnout(table: VoteTable) -> None:
    """Check that every object has a vote; name those that have none."""
    from ensemblage import tables

    silent = tables.silent_objects(table)
    if len(silent):
        shown = [tables.format_object(table, int(row)) for row in silent[:_SHOWN]]
        more = [f"and {len(silent) - _SHOWN} more"] if len(silent) > _SHOWN else []
        raise tables.FileFormatError(
            f"{len(silent)} object(s) have no vote in any clustering: {'; '.join(shown + more)}."
            " Nothing can be said about them; leave these rows out."
        )
