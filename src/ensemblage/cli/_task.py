"""What ``ensemblage consensus`` was asked for, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage.cli._truth import scores_for_json

if TYPE_CHECKING:
    from ensemblage.cli._clock import Took


class Task(NamedTuple):
    """A call of the command whose arguments make sense."""

    votes: list[str]
    output: str
    output_is_folder: bool
    ks: range
    one_k: bool
    estimator: Any
    method: str
    confidence: bool
    truth: str | None
    id_column: str
    header: bool | None
    format: str | None
    key: str | None
    jobs: int
    scheduler: str | None
    quiet: bool
    member_table: str | None = None
    cluster_table: str | None = None
    save: str | None = None
    by_size: bool = False


class Done(NamedTuple):
    """What the summary shows; `scores` where there were true labels, by column of the output."""

    n_objects: int
    n_clusterings: int
    n_microclusters: int
    id_name: str | None
    choice: Any = None
    scores: dict[str, tuple[float, float, float]] | None = None
    method: str | None = None  # whose labels were taken, where the default method chose
    reasons: list[str] | None = None


def facts_of(done: Done, task: Task, engine: str, took: Took) -> dict[str, Any]:
    """Return what the summary of an engine's work tells, for machines."""
    return {
        "n_objects": done.n_objects,
        "n_clusterings": done.n_clusterings,
        "n_microclusters": done.n_microclusters,
        "id_column": done.id_name,
        "engine": engine,
        "output": task.output,
        **took.facts(),
        "scores": scores_for_json(done.scores),
    }
