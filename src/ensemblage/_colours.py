"""Colours of clusters that stay distinguishable with normal and colour-blind vision.

Plots and reports use the same colours in the same order. The first eight are of Paul Tol's "bright"
and "vibrant" schemes and are visible on white and on black. Each further one is, of many
candidates, the farthest from all before it, where the distance of two colours is the smallest of
those for normal vision, without red cones and without green cones (Machado, Oliveira and Fernandes
2009), in the OKLab space.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST = (
    *("4477AA", "EE6677", "228833", "CCBB44", "66CCEE", "AA3377"),
    *("EE7733", "009988"),
)
#: Perceived light (red, green, blue): normal vision; without red cones; without green cones.
_EYES = (
    np.eye(3),
    np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
)
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
#: Lightness of candidates: visible on white and on black; no signal colours.
_LIGHTNESS = (0.5, 0.8)
_MOST_CHROMA = 0.2
MOST_COLOURS = 120  # different ones; then they repeat
GREY = "#9a9a9a"


def cluster_codes(n: int) -> list[str]:
    """Return the colours of `n` clusters in hexadecimal notation.

    Examples
    --------
    >>> cluster_codes(2)
    ['#4477aa', '#ee6677']
    """
    levels = np.rint(255 * cluster_colours(n)).astype(int).tolist()
    return ["#" + "".join(f"{level:02x}" for level in colour) for colour in levels]


def cluster_colours(n: int) -> NDArray[Any]:
    """Return a colour for each of `n` clusters, as an array of shape (n, 3) in [0, 1]."""
    different = _farthest(min(max(n, 1), MOST_COLOURS))
    return different[np.arange(n) % len(different)]


@cache
def _farthest(n: int) -> NDArray[Any]:
    first = np.array([[int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)] for code in _FIRST])
    if n <= len(first):
        return first[:n]
    steps = np.linspace(0, 1, 12)
    candidates = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    lightness, *chroma = seen(candidates)[0].T
    visible = (lightness >= _LIGHTNESS[0]) & (lightness <= _LIGHTNESS[1])
    candidates = candidates[visible & (np.hypot(*chroma) <= _MOST_CHROMA)]
    chosen = list(first)
    nearest = np.min([_distance(candidates, colour) for colour in first], axis=0)
    while len(chosen) < n:
        best = int(nearest.argmax())
        chosen.append(candidates[best])
        nearest = np.minimum(nearest, _distance(candidates, candidates[best]))
    return np.array(chosen)


def seen(colours: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the colours in OKLab for each type of vision."""
    light = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return [np.cbrt(np.clip(light @ eye.T, 0, 1) @ _TO_CONES.T) @ _TO_LAB.T for eye in _EYES]


def _distance(colours: NDArray[Any], one: NDArray[Any]) -> NDArray[Any]:
    """Return the distance of each colour from `one`, for the worst type of vision."""
    pairs = zip(seen(colours), seen(one[None, :]), strict=True)
    smallest: NDArray[Any] = np.min([np.linalg.norm(a - b, axis=1) for a, b in pairs], axis=0)
    return smallest
