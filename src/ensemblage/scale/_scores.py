"""How labels agree with the truth, from counts of votes and true labels that occur together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage._messages import Message, Parameter
from ensemblage.flow.codes import MISSING
from ensemblage.metrics.agreement import ari_of_groups, nmi_of_groups
from ensemblage.tables import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Scores(NamedTuple):
    """Agreement of one labelling: with the true labels, and with the votes."""

    nmi: float
    ari: float
    ensemble_nmi: float


def without_truth(
    groups: flow.MicroclusterIndex,
) -> tuple[flow.MicroclusterIndex, NDArray[np.int32]]:
    """Return the microclusters of the votes alone, and to which of them each row belongs.

    The last column of `groups` holds true labels. Rows come in order of first appearance, and so
    do those without it.
    """
    table, sizes = groups.finish()
    if (table[:, -1] == MISSING).all():
        message = Message(
            "All of the true labels are missing, so there is nothing to compare with. Leave {truth}"
            " out.",
            truth=Parameter("truth"),
        )
        raise FileFormatError(message)
    votes = flow.MicroclusterIndex(groups.n_clusterings - 1)
    return votes, votes.add_groups(table[:, :-1], sizes)


def scores_of(
    groups: flow.MicroclusterIndex, of_row: NDArray[np.int32], columns: dict[str, NDArray[Any]]
) -> dict[str, Scores]:
    """Return the scores of each column of labels, which has one for each microcluster."""
    codes, _ = groups.codes()
    sizes = groups.sizes()
    votes, truth = codes[:, :-1], codes[:, -1]
    heard = votes[:, (votes >= 0).any(axis=0)]
    scores = {}
    for name, labels in columns.items():
        if labels.dtype.kind != "f":
            found = labels[of_row].astype(np.int64)
            with_votes = [nmi_of_groups(found, vote, sizes) for vote in heard.T]
            scores[name] = Scores(
                nmi_of_groups(truth, found, sizes),
                ari_of_groups(truth, found, sizes),
                float(np.mean(with_votes)),
            )
    return scores
