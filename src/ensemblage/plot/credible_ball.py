"""The credible ball: distances of draws of a clustering to an estimate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._messages import ParameterError
from ensemblage.metrics.losses import CredibleBall
from ensemblage.plot import canvas

_INSIDE, _OUTSIDE, _MARK = "#0b5fa5", "#999999", "#c1272d"
#: Markers and names of extreme draws.
_BOUNDS = {
    "upper": ("^", "fewest clusters"),
    "lower": ("v", "most clusters"),
    "horizontal": (">", "farthest"),
}
_LARGEST_DOT, _JITTER, _GOLDEN = 320.0, 0.3, 1.2360679775


def credible_ball(ball: CredibleBall, *, ax: Any = None) -> Any:
    """Draw the distance of each draw to the estimate, by its number of clusters.

    Discs are draws, larger if several coincide. Those in the shaded part are in the ball. Triangles
    are its extreme members: the farthest draws with the fewest clusters, with the most, and of all.
    The cross at distance 0 is the estimate.

    Parameters
    ----------
    ball : CredibleBall
        The result of `ensemblage.metrics.credible_ball`.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ensemblage as en
    >>> draws = [[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 2, 0]]
    >>> ax = en.plot.credible_ball(en.metrics.credible_ball([0, 0, 1, 1], draws))
    >>> ax.get_title(loc="left")
    'Credible ball of 95 %: radius 1.00'
    """
    if not isinstance(ball, CredibleBall):
        hint = "Pass the result of ensemblage.metrics.credible_ball."
        raise ParameterError("plot.credible_ball", "ball", "a CredibleBall", ball, hint)
    ax = canvas.axes(ax)
    counted = np.isfinite(ball.distances)
    places, counts = np.unique(
        np.column_stack([np.round(ball.distances, 9), ball.n_clusters])[counted],
        axis=0,
        return_counts=True,
    )
    inside = places[:, 0] <= ball.radius + 1e-9
    sizes = np.maximum(6.0, _LARGEST_DOT * counts / max(counts.max(), 8))
    # Draws with one number of clusters overlap less if slightly displaced.
    shift = _JITTER * (np.arange(len(places)) * _GOLDEN % 2.0 - 1.0) * (counts < counts.max() / 4)
    ax.axvspan(0, ball.radius, color=_INSIDE, alpha=0.07, lw=0)
    ax.axvline(ball.radius, color=_INSIDE, lw=1, ls="--")
    parts = {
        f"draws inside: {ball.share:.0%}": (inside, _INSIDE),
        f"draws outside: {1.0 - ball.share:.0%}": (~inside, _OUTSIDE),
    }
    for name, (some, colour) in parts.items():
        if some.any():
            ax.scatter(
                places[some, 0],
                places[some, 1] + shift[some],
                s=sizes[some],
                color=colour,
                alpha=0.45,
                lw=0,
                label=name,
            )
    for name, (mark, words) in _BOUNDS.items():
        first = int(getattr(ball, name)[0])
        at = ball.distances[first], ball.n_clusters[first]
        ax.scatter(*at, marker=mark, s=70, color=_MARK, label=f"{words}: draw {first}", zorder=4)
    ax.scatter(
        0, ball.n_clusters_of_estimate, marker="X", s=90, color="black", label="estimate", zorder=5
    )
    whole = np.unique(np.append(ball.n_clusters[counted], ball.n_clusters_of_estimate))
    if len(whole) <= 15:
        ax.set_yticks(whole)
    ax.set_xlim(left=-0.03 * max(places[:, 0].max(), 1e-9))
    ax.set_xlabel("distance to the estimate")
    ax.set_ylabel("clusters of the draw")
    ax.legend(fontsize="small", frameon=False, loc="best")
    canvas.plain_frame(ax)
    canvas.title(ax, f"Credible ball of {100 * ball.level:g} %: radius {ball.radius:.2f}")
    return ax
