"""True labels beside the votes: where they come from, and how well a consensus meets them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._tables import aligned
from ensemblage.cli._warnings import warn
from ensemblage.cli._words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ensemblage.files import Labels, VoteTable

_SOUNDS_TRUE = {"gt", "truth", "ground_truth", "true_label", "y_true", "class"}


def take_truth(table: VoteTable, truth: str | None) -> tuple[VoteTable, NDArray[Any] | None]:
    """Return the votes without the true labels, and those labels.

    `truth` names a column of the votes, an array that came with them, or a file.
    """
    from ensemblage import files

    if truth is None:
        warn_of_truth(table.names)
        return table, None
    if truth in table.names or truth in table.extra:
        labels, table = files.take_column(table, truth)
    elif truth == table.id_name:
        raise WrongCall(
            f"--truth {truth}: that column holds the ids of the objects. If it holds true labels,"
            " name another column with --id-column, or none."
        )
    elif Path(truth).exists():
        labels = in_order(files.read_labels(truth), table.ids, files.n_objects(table), truth)
    else:
        raise _unknown(truth, table)
    if files.is_missing(labels).all():
        raise files.FileFormatError(
            f"--truth {truth}: all of these labels are missing, so there is nothing to compare"
            " with. Leave --truth out."
        )
    return table, labels


def warn_of_truth(names: list[str]) -> None:
    """Warn of clusterings that are called like true labels."""
    for name in names:
        if name.lower() in _SOUNDS_TRUE:
            warn(f"column {name!r} counts as a clustering; --truth {name} would set it apart.")


def _unknown(truth: str, table: VoteTable) -> WrongCall:
    columns = [*table.names[:8], *(["..."] if len(table.names) > 8 else []), *table.extra]
    return WrongCall(
        f"--truth {truth}: there is neither a column nor a file of that name."
        f"{did_you_mean(truth, [*table.names, *table.extra])} The columns are"
        f" {', '.join(columns)}."
    )


def in_order(
    found: Labels, ids: NDArray[Any] | None, n: int, path: str, what: str = "true label"
) -> NDArray[Any]:
    """Return the labels in the order of the objects: by id where both files have ids.

    `what` is what complaints call one of them.
    """
    import numpy as np

    from ensemblage import files

    if found.ids is None or ids is None:
        if len(found.labels) != n:
            raise files.FileFormatError(
                f"{path} has {len(found.labels)} {what}s, but there are {n} objects. Give one for"
                " each, or ids in both files to match them by."
            )
        return found.labels
    if found.ids.dtype == ids.dtype and np.array_equal(found.ids, ids):
        return found.labels
    known = files.as_texts(found.ids)
    times = Counter(known)
    wanted = files.as_texts(ids)
    for name in wanted:
        if times[name] != 1:
            has = f"several {what}s" if times[name] else f"no {what}"
            raise files.FileFormatError(
                f"{path} has {has} for the object {name!r} of the votes. It must have one for each."
            )
    place_of = {name: place for place, name in enumerate(known)}
    return found.labels[[place_of[name] for name in wanted]]


def scores_of(
    labels: Mapping[str, NDArray[Any]], truth: NDArray[Any], ensemble: Any
) -> dict[str, tuple[float, float, float]]:
    """Return how each labelling agrees with the truth (NMI, ARI), and with the votes."""
    from ensemblage import metrics

    return {
        name: (
            metrics.nmi(truth, found, average="max"),
            metrics.ari(truth, found),
            metrics.ensemble_nmi(found, ensemble),
        )
        for name, found in labels.items()
    }


def scores_as_text(scores: Mapping[str, tuple[float, float, float]]) -> str:
    """Return NMI and ARI with the truth, and NMI with the votes, of each labelling."""
    rows = [[name, *(f"{score:.4f}" for score in found)] for name, found in scores.items()]
    return aligned(["", "NMI (max)", "ARI", "NMI with the votes"], rows)


def scores_for_json(
    scores: Mapping[str, tuple[float, float, float]] | None,
) -> dict[str, dict[str, float]] | None:
    """Return the same with a name for each score."""
    if scores is None:
        return None
    names = ("nmi", "ari", "nmi_with_votes")
    return {column: dict(zip(names, found, strict=True)) for column, found in scores.items()}
