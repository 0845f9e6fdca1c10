"""Curves of the criteria of a choice of k."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import cluster_colours
from ensemblage.plot import canvas

_MARKERS = "osD^vPX*h"
#: Criteria whose lower values are better; drawn upside down.
_LESS_IS_BETTER = ("pac",)


def k_curves(choice: Any, *, ax: Any = None) -> Any:
    """Draw the score of each number of clusters by each criterion.

    Parameters
    ----------
    choice : KChoice
        The result of `ensemblage.metrics.choose_k`.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Criteria have different units, so each curve is scaled to [0, 1] over its own range, the best k
    on top; PAC, of which lower is better, is inverted. A large marker is the choice of the
    criterion alone, the dashed line the recommendation.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [2, 2, 2], [2, 2, 3]]
    >>> ax = en.plot.k_curves(en.metrics.choose_k(en.EAC(n_clusters=2).fit(votes)))
    >>> ax.get_xlabel()
    'number of clusters'
    """
    _check_choice_of_k("plot.k_curves", choice)
    ax = canvas.axes(ax)
    from matplotlib.ticker import MaxNLocator

    ks = np.asarray(choice.ks)
    curves = {name: _scaled(name, values) for name, values in choice.scores.items()}
    curves = {name: values for name, values in curves.items() if not np.isnan(values).all()}
    canvas.plain_frame(ax)
    colours = cluster_colours(len(curves))
    for place, (name, values) in enumerate(curves.items()):
        decided = name == choice.criterion
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(
            ks,
            values,
            color=colours[place],
            marker=marker,
            markersize=3,
            linewidth=2.4 if decided else 1.2,
            label=_format_criterion(name) + (" (decides)" if decided else ""),
        )
        best = choice.recommended.get(name)
        if best is not None:
            ax.plot(best, values[ks == best], marker, color=colours[place], markersize=9)
    ax.axvline(choice.k, color="black", linestyle="--", linewidth=1, zorder=0)
    for other in choice.runners_up:
        ax.axvline(other, color="black", linestyle=":", linewidth=0.6, zorder=0)
    ticks = ax.xaxis.get_major_locator()
    if isinstance(ticks, MaxNLocator):  # others were set by the user
        ticks.set_params(integer=True)
    ax.set_xlabel("number of clusters")
    ax.set_ylabel("score, scaled to its own range")
    if curves:
        ax.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    others = ", ".join(map(str, choice.runners_up))
    evidence = f"{choice.evidence} evidence" if choice.evidence != "none" else "no structure"
    canvas.title(
        ax,
        f"k = {choice.k}: {evidence}",
        f"alternatives (dotted): {others}" if others else "",
    )
    return ax


def cdf(choice: Any, *, ax: Any = None) -> Any:
    """Draw the distribution of the consensus index of pairs of objects, for each k.

    A flat line between 0 and 1 means that pairs are nearly always together or nearly always apart:
    that k is stable (Monti and others).

    Parameters
    ----------
    choice : KChoice
        The result of ``ensemblage.metrics.choose_k(..., criteria="all")``.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [2, 2, 2], [2, 2, 3]]
    >>> choice = en.metrics.choose_k(en.EAC(n_clusters=2).fit(votes), criteria=["pac"])
    >>> en.plot.cdf(choice).get_ylabel()
    'cumulative share of pairs'
    """
    _check_choice_of_k("plot.cdf", choice)
    _check_has_cdf("plot.cdf", choice)
    from matplotlib import colormaps

    ax = canvas.axes(ax)
    canvas.plain_frame(ax)
    at = np.linspace(0, 1, choice.cdf.shape[1])
    shades = colormaps["viridis"](np.linspace(0, 0.92, len(choice.ks)))
    for k, values, shade in zip(choice.ks, choice.cdf, shades, strict=True):
        chosen = k == choice.k
        ax.plot(
            at,
            values,
            color="black" if chosen else shade,
            linestyle="--" if chosen else "-",
            linewidth=2.2 if chosen else 1.2,
            zorder=3 if chosen else 2,
            label=f"{k}" + (" (recommended)" if chosen else ""),
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.01)
    ax.set_xlabel("consensus index of a pair of objects")
    ax.set_ylabel("cumulative share of pairs")
    columns = -(-len(choice.ks) // 16)
    ax.legend(
        title="clusters",
        fontsize="small",
        frameon=False,
        ncols=columns,
        loc="upper left",
        bbox_to_anchor=(1, 1),
    )
    canvas.title(ax, "Distribution of the consensus index")
    return ax


def _scaled(name: str, values: Any) -> Any:
    """Return scores in [0, 1], the best 1; 0.5 if all are equal."""
    values = np.asarray(values, dtype=float) * (-1.0 if name in _LESS_IS_BETTER else 1.0)
    if np.isnan(values).all():
        return values
    low, high = np.nanmin(values), np.nanmax(values)
    if high == low:
        return np.where(np.isnan(values), np.nan, 0.5)
    return (values - low) / (high - low)


def _format_criterion(name: str) -> str:
    words = {
        "support": "support by halves of the clusterings",
        "recurrence": "overlap with halves of the clusterings",
        "pac": "PAC, inverted",
        "ensemble_nmi": "NMI with the clusterings",
    }
    return words.get(name, name.replace("_", " "))


def _check_choice_of_k(owner: str, choice: Any) -> None:
    """Raise an error if an object is not a choice of the number of clusters."""
    if not all(hasattr(choice, name) for name in ("k", "ks", "scores", "runners_up")):
        raise TypeError(
            f"{owner} needs the result of ensemblage.metrics.choose_k(estimator), got"
            f" {_validate.article(type(choice).__name__)}."
        )


def _check_has_cdf(owner: str, choice: Any) -> None:
    """Raise an error if a choice of k has no distribution of the consensus index."""
    if choice.cdf is None:
        absent = getattr(choice, "absent", {})
        why = absent.get("pac") or absent.get("delta_area")  # it was requested
        raise ValueError(
            f"{owner} needs the distribution of the consensus index, which this choice of k does"
            f" not have. " + (why or 'Request it with choose_k(estimator, criteria=["pac"]).')
        )
