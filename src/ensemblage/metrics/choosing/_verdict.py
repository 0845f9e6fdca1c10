"""What curves say: the k each would choose, and the choice in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Curves whose smallest value is the best.
_LOWER_IS_BETTER = ("pac",)
#: A further cluster must add this share to the area under the distribution of the consensus index.
_LEAST_GAIN = 0.02
_MOST_RUNNERS_UP = 3
#: Scores that differ by no more than this share of the largest are the same.
_TIE = 1e-9
#: Scores this close to the chosen one, as a share of their range, are nearly as good.
_CLOSE = 0.05

_IN_WORDS = {
    "balance": "balance of agreement with the members and confidence",
    "ensemble_nmi": "mean NMI with the members",
    "confidence": "mean confidence",
    "lifetime": "lifetime in the tree",
    "eigengap": "gap between eigenvalues",
    "subset_stability": "stability over halves of the members",
    "pac": "share of ambiguous pairs (PAC)",
    "delta_area": "gain in area under the consensus distribution",
    "seed_stability": "stability over seeds",
}


def recommend(
    name: str, curve: FloatArray, ks: NDArray[np.int64], attained: NDArray[np.bool_]
) -> int | None:
    """Return the k that a criterion alone would choose, None where its scores are all the same.

    `attained` says at which k the method gives that many clusters; others are not recommended
    unless there are no such. The smallest k wins a tie.
    """
    allowed = ~np.isnan(curve) & (attained if attained.any() else True)
    if not allowed.any():
        return None
    curve, ks = curve[allowed], ks[allowed]
    if name == "delta_area":
        enough = np.flatnonzero(curve >= _LEAST_GAIN)
        return int(ks[enough[-1]]) if len(enough) else int(ks[0])
    if len(ks) > 1 and np.ptp(curve) <= _TIE * np.abs(curve).max():
        return None
    curve = -curve if name in _LOWER_IS_BETTER else curve
    best = curve >= curve.max() - _TIE * np.abs(curve).max()
    return int(ks[best][0])


def verdict(
    method: str,
    ks: NDArray[np.int64],
    scores: dict[str, FloatArray],
    recommended: dict[str, int | None],
    decisive: str,
    attained: NDArray[np.bool_],
) -> tuple[int, list[str], list[int]]:
    """Return the number of clusters, the reasons in sentences, and the runners-up."""
    chosen = recommended[decisive]
    if chosen is None:
        usable = ks[attained] if attained.any() else ks
        k = int(usable[0])
        reason = (
            f"The {_IN_WORDS[decisive]} is the same at every k, so the smallest that {method} gives"
            f" was taken: {k}."
        )
    else:
        k = chosen
        reason = _main_reason(k, ks, scores, decisive)
    runners_up = _runners_up(k, ks, scores[decisive], recommended, decisive, attained)
    more = _further_reasons(method, k, ks, scores, recommended, decisive, attained)
    return k, [reason, *more], runners_up


def _main_reason(
    k: int, ks: NDArray[np.int64], scores: dict[str, FloatArray], decisive: str
) -> str:
    place = int(np.searchsorted(ks, k))
    score = scores[decisive][place]
    if len(ks) == 1:
        return f"k = {k} is the only one looked at."
    looked = f"of the {len(ks)} looked at"
    if decisive == "delta_area":
        return (
            f"k = {k} is the last that adds {_LEAST_GAIN:.0%} or more to the area under the"
            f" consensus distribution ({score:.1%}), {looked}."
        )
    which = "smallest" if decisive in _LOWER_IS_BETTER else "largest"
    text = f"k = {k} has the {which} {_IN_WORDS[decisive]} ({score:.3g}) {looked}"
    if decisive == "balance":
        text += (
            f": mean NMI with the members {scores['ensemble_nmi'][place]:.3f}, mean confidence"
            f" {scores['confidence'][place]:.3f}"
            if {"ensemble_nmi", "confidence"} <= set(scores)
            else ""
        )
    return f"{text}."


def _further_reasons(
    method: str,
    k: int,
    ks: NDArray[np.int64],
    scores: dict[str, FloatArray],
    recommended: dict[str, int | None],
    decisive: str,
    attained: NDArray[np.bool_],
) -> list[str]:
    """Return what the others say, and what makes the choice less sure."""
    others = {name: found for name, found in recommended.items() if name != decisive}
    same = [name for name, found in others.items() if found == k]
    differ = [f"{name} {found}" for name, found in others.items() if found not in (k, None)]
    reasons = []
    if same:
        reasons.append(f"So would choose: {', '.join(same)}.")
    if differ:
        reasons.append(f"Others would choose: {', '.join(differ)}.")
    close = _close(k, ks, scores[decisive], attained).tolist()
    if close:
        reasons.append(f"Nearly as good: k = {', '.join(map(str, close))}.")
    if len(ks) > 1 and k == ks[-1]:
        reasons.append(f"It is the largest k looked at: look beyond {k} too, if that makes sense.")
    fewer = ks[~attained].tolist()
    if fewer:
        shown = ", ".join(map(str, fewer[:5])) + (", ..." if len(fewer) > 5 else "")
        reasons.append(f"{method} gives fewer clusters than asked for at k = {shown}.")
    return reasons


def _close(
    k: int, ks: NDArray[np.int64], curve: FloatArray, attained: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the other k whose scores are nearly that of the chosen one."""
    chosen = curve[np.searchsorted(ks, k)]
    spread = np.nanmax(curve) - np.nanmin(curve)
    return ks[(np.abs(curve - chosen) <= _CLOSE * spread) & (ks != k) & attained]


def _runners_up(
    k: int,
    ks: NDArray[np.int64],
    curve: FloatArray,
    recommended: dict[str, int | None],
    decisive: str,
    attained: NDArray[np.bool_],
) -> list[int]:
    """Return what is close or a peak by the decisive curve, or chosen by others, the best first."""
    signed = -curve if decisive in _LOWER_IS_BETTER else curve
    signed = np.where(np.isnan(signed) | (attained.any() & ~attained), -np.inf, signed)
    padded = np.concatenate([[-np.inf], signed, [-np.inf]])
    # A bump in the lower half of the curve is nothing to look at.
    finite = signed[np.isfinite(signed)]
    middle = (finite.min() + finite.max()) / 2 if len(finite) else 0.0
    peaks = (signed >= padded[:-2]) & (signed >= padded[2:]) & (signed >= middle)
    named = np.isin(ks, [found for found in recommended.values() if found is not None])
    close = np.isin(ks, _close(k, ks, curve, attained))
    candidates = np.flatnonzero((peaks | named | close) & (ks != k) & np.isfinite(signed))
    order = candidates[np.argsort(-signed[candidates], kind="stable")]
    return [int(other) for other in ks[order[:_MOST_RUNNERS_UP]]]
