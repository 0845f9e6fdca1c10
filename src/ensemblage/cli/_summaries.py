"""``--member-table`` and ``--cluster-table``: what a consensus is made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._votes import check_apart, check_format_to_write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ensemblage.cli._task import Task


def check_summaries(
    tables: dict[str, str | None], output: str, inputs: Iterable[str | None], *, one_k: bool
) -> None:
    """Refuse tables, by their options, that cannot be written or would replace something."""
    taken: dict[Path, str] = {} if output == "-" else {Path(output).absolute(): f"-o {output}"}
    inputs = list(inputs)
    for option, path in tables.items():
        if path is None:
            continue
        if not one_k:
            raise WrongCall(f"{option} tells of one consensus: give -k instead of --k-range.")
        if path == "-" or check_format_to_write(path) == "npy":
            raise WrongCall(f"{option} {path}: name a .csv, .tsv, .parquet or .npz file.")
        check_apart(path, inputs)
        other = taken.setdefault(Path(path).absolute(), f"{option} {path}")
        if other != f"{option} {path}":
            raise WrongCall(f"{option} {path} and {other} are the same file. Name another.")


def write_summaries(task: Task, fitted: Any, names: list[str]) -> None:
    """Write the tables that were asked for."""
    if task.member_table is not None:
        _write(task.member_table, _members(fitted, names))
    if task.cluster_table is not None:
        _write(task.cluster_table, _clusters(fitted))


def _write(path: str, columns: dict[str, Any]) -> None:
    from ensemblage import files

    shares = [name for name, column in columns.items() if column.dtype.kind == "f"]
    files.write_table(path, columns, decimals=dict.fromkeys(shares, 6))


def _members(fitted: Any, names: list[str]) -> dict[str, Any]:
    import numpy as np

    from ensemblage import metrics

    found = metrics.members(fitted, names=names)
    return {
        "member": np.array(found.names, dtype=object),
        "n_clusters": found.n_clusters,
        "turnout": found.turnout,
        "agreement": found.agreement,
        "agreement_with_others": found.agreement_with_others,
        "diversity": found.diversity,
        "look_at": np.where(found.look_at, "yes", "no").astype(object),
        "reasons": np.array(found.reasons, dtype=object),
    }


def _clusters(fitted: Any) -> dict[str, Any]:
    import numpy as np

    from ensemblage import metrics

    found = metrics.clusters(fitted)
    return {
        "label": np.arange(len(found.sizes)),
        "size": found.sizes,
        "consensus": found.consensus,
        "confidence": found.confidence,
        "nearest": found.nearest,
        "nearest_similarity": found.nearest_similarity,
    }
