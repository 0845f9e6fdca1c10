"""Agreement of the members of an ensemble with each other and with the consensus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow, metrics
from ensemblage.metrics.explain_members import some_members
from ensemblage.plot import canvas
from ensemblage.plot._selection import like_beside_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Microclusters

_NAMED = 60  # with more members, only some names are written
_SHOWN = 600  # with more members, a sample is drawn


def members(estimator: Any, *, names: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Draw the agreement (NMI) of every two members, similar ones adjacent, and with the consensus.

    A light row is a member that agrees with no other; a dark block is a group of similar votes. The
    column on the right, behind the gap, is the agreement with the consensus. Names of members to
    check (see `ensemblage.metrics.members`) are red. Above 600 members a sample is drawn, with a
    note in the title.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    names : sequence of str, optional
        Names of the members, if not those of the table of votes.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = en.plot.members(en.EAC(n_clusters=2).fit(votes), names=["a", "b", "c"])
    >>> ax.get_title(loc="left")
    'Agreement of members'
    """
    fitted = _validate.check_fitted("plot.members", estimator)
    _validate.check_has_votes("plot.members", fitted)
    summary = metrics.members(fitted, names=names)
    about = summary.names, summary.agreement, summary.look_at
    return draw_members(fitted.microclusters_, *about, ax, n_jobs=fitted.n_jobs)


def draw_members(
    votes: Microclusters,
    names: list[str],
    agreement: FloatArray,
    look_at: NDArray[np.bool_],
    ax: Any = None,
    *,
    n_jobs: int | None = None,
) -> Any:
    """Draw the agreement of members, similar ones adjacent, and that with the consensus.

    The names of members to check are red. Of very many members a sample is drawn.
    """
    table, sizes, _ = votes
    shown = some_members(table, sizes, _SHOWN)
    if shown is None:
        shown = np.arange(table.shape[1])
    similarity = flow.member_nmi(table[:, shown], sizes, n_jobs=n_jobs)
    of_shown = like_beside_like(similarity)
    order, n = shown[of_shown], len(shown)
    start, end = 1.03 * n, 1.1 * n  # the column of the consensus, behind a gap
    side = 5.6 if n > _NAMED else max(4.4, 1.5 + 0.15 * n)
    ax = canvas.axes(ax, side + 1.6, side)
    look = {"cmap": "YlGnBu", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    ax.imshow(similarity[np.ix_(of_shown, of_shown)], extent=(0, n, n, 0), **look)
    image = ax.imshow(agreement[order, None], extent=(start, end, n, 0), **look)
    ax.set_xlim(0, end)
    ax.figure.colorbar(image, ax=ax, label="NMI", shrink=0.8)
    ax.spines[:].set_visible(False)
    ax.set_xticks([(start + end) / 2], ["consensus"])
    ax.tick_params(length=0)
    _name_rows(ax, names, look_at, order)
    of_all = f" ({n} of {table.shape[1]:,})" if n < table.shape[1] else ""
    canvas.title(ax, f"Agreement of members{of_all}")
    return ax


def _name_rows(
    ax: Any, names: list[str], look_at: NDArray[np.bool_], order: NDArray[np.int64]
) -> None:
    """Write the names of the members; of many only those to check, as far as there is room."""
    n = len(order)
    named = canvas.short_names(names)
    if n <= _NAMED:
        places = np.arange(n)
    else:
        looked = np.flatnonzero(look_at[order])
        gaps = np.diff(looked, prepend=-n) >= n / _NAMED
        places = looked[gaps]
    ax.set_yticks(places + 0.5, [named[order[place]] for place in places])
    ax.tick_params(axis="y", labelsize="small" if n <= 30 else "xx-small")
    for text, place in zip(ax.get_yticklabels(), places, strict=True):
        if look_at[order[place]]:
            text.set_color("#b3001b")
    ax.set_ylabel("member" if n <= _NAMED else f"{n:,} members")
