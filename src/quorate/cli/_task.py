"""What ``quorate consensus`` was asked for, and what came of it."""

from __future__ import annotations

from typing import Any, NamedTuple


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


class Done(NamedTuple):
    """What the summary tells."""

    n_objects: int
    n_clusterings: int
    n_microclusters: int
    id_name: str | None
    choice: Any = None
