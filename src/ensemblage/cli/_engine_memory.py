"""The consensus of votes that fit in memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._models import save_model
from ensemblage.cli._options import method_title
from ensemblage.cli._progress import stage
from ensemblage.cli._summaries import write_summaries
from ensemblage.cli._task import Done, Task
from ensemblage.cli._truth import scores_of
from ensemblage.cli._votes import check_k, read_votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.files import VoteTable


def in_memory(task: Task) -> Done:
    """Read all votes, find their consensus, write the labels."""
    import ensemblage as en
    from ensemblage import files

    if task.output_is_folder:
        raise WrongCall(
            f"-o {task.output}: a folder gets a file for each input, which --engine stream writes."
            " Name a file, or leave --engine out."
        )
    for path in (task.output, task.member_table, task.cluster_table):
        if path is not None:
            files.check_writable(path)
    table, true_labels = read_votes(
        task.votes,
        task.truth,
        input_format=task.format,
        id_column=task.id_column,
        header=task.header,
        key=task.key,
        quiet=task.quiet,
    )
    _check_id_name(table, task)
    with stage(f"Consensus by {method_title(task.method)}", quiet=task.quiet):
        ensemble = en.Ensemble(files.votes_of(table), n_jobs=task.jobs)
        ensemble.names = table.names
        check_k(task.ks[-1], ensemble)
        fitted = task.estimator.fit(ensemble)
        if task.by_size:
            fitted._number_by_size()
        labels = _labels(fitted, task)
    columns = _with_ids(table, labels, task.output)
    if task.confidence:
        columns["confidence"] = fitted.confidence_
    decimals = {"confidence": 6} if task.confidence else None
    files.write_table(task.output, columns, decimals=decimals)
    save_model(task, fitted)
    write_summaries(task, fitted, table.names)
    return Done(
        files.n_objects(table),
        len(table.names),
        fitted.n_microclusters_,
        table.id_name,
        getattr(fitted, "k_choice_", None),
        None if true_labels is None else scores_of(labels, true_labels, ensemble),
        getattr(fitted, "method_", None),
        getattr(fitted, "reasons_", None),
    )


def _check_id_name(table: VoteTable, task: Task) -> None:
    """Refuse ids whose column is called as one of the output, before the work is done."""
    from ensemblage import files

    if table.id_name is None or files.format_to_write(task.output, None) == "npy":
        return
    name = table.id_name
    number = re.fullmatch(r"k([1-9][0-9]{0,17})", name)
    is_labels = name == "label" if task.one_k else number is not None and int(number[1]) in task.ks
    if is_labels or (task.confidence and name == "confidence"):
        raise files.FileFormatError(
            f"The id column is called {name!r}, which is the name of a column of the output."
            " Rename it."
        )


def _labels(fitted: Any, task: Task) -> dict[str, NDArray[Any]]:
    if task.one_k:
        return {"label": fitted.labels_}
    from ensemblage import metrics

    found = {f"k{k}": fitted.cut(k) for k in task.ks}
    return {name: metrics.by_size(cut) for name, cut in found.items()} if task.by_size else found


def _with_ids(
    table: VoteTable, labels: dict[str, NDArray[Any]], output: str
) -> dict[str, NDArray[Any]]:
    """Return what is written: ids first, except where the format holds labels only."""
    import numpy as np

    from ensemblage import files

    if files.format_to_write(output, None) == "npy":
        return dict(labels)
    if table.ids is None or table.id_name is None:
        return {"row": np.arange(files.n_objects(table)), **labels}
    return {table.id_name: table.ids, **labels}
