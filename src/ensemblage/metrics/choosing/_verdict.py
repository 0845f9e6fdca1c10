"""Verdict from the curves: the k of each, the choice, and the strength of the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage.metrics.choosing._null import N_PERMUTATIONS, Null

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: From the strongest to the weakest.
EVIDENCE = ("strong", "moderate", "weak", "none")
#: Least recurrence in halves of the clusterings for strong and for moderate evidence.
_STRONG, _MODERATE = 0.95, 0.9
#: Evidence is not strong if another number of clusters has this share of the support.
_RIVAL = 0.8
#: Criteria whose smallest value is the best.
_LOWER_IS_BETTER = ("pac",)
#: A further cluster must add this share to the area under the distribution of the consensus index.
_LEAST_GAIN = 0.02
_MOST_RUNNERS_UP = 3
#: Scores that differ by at most this share of the largest are the same.
_TIE = 1e-9
#: Scores this close to the chosen one, as a share of their range, are nearly as good.
_CLOSE = 0.05

_CRITERION_NAMES = {
    "support": "support by halves of the clusterings",
    "recurrence": "overlap with the clusters of halves of the clusterings",
    "balance": "balance of agreement with the clusterings and confidence",
    "ensemble_nmi": "mean NMI with the clusterings",
    "confidence": "mean confidence",
    "lifetime": "lifetime in the tree",
    "eigengap": "gap between eigenvalues",
    "subset_stability": "stability over halves of the clusterings",
    "pac": "share of ambiguous pairs (PAC)",
    "delta_area": "gain in area under the consensus distribution",
    "seed_stability": "stability over seeds",
}


class Findings(NamedTuple):
    """The curves that a choice is based on.

    Attributes
    ----------
    method : str
        Name of the method.
    ks : ndarray of shape (n_ks,)
        The numbers of clusters that were compared.
    scores : dict of str to ndarray of shape (n_ks,)
        All curves.
    recommended : dict of str to int or None
        The choice of each of them alone.
    decisive : str
        The one that decides.
    attained : ndarray of shape (n_ks,)
        Whether the method gives the requested number of clusters, none of them too small.
    exact : ndarray of shape (n_ks,)
        Whether it gives that number, of any sizes.
    largest : int
        The largest possible number of clusters.
    n_groups : int
        The number of groups of several objects that votes link, stray votes ignored.
    """

    method: str
    ks: NDArray[np.int64]
    scores: dict[str, FloatArray]
    recommended: dict[str, int | None]
    decisive: str
    attained: NDArray[np.bool_]
    exact: NDArray[np.bool_]
    largest: int
    n_groups: int = 1

    @property
    def joins_groups(self) -> bool:
        """Whether groups that no vote links share a cluster at every k that was compared."""
        return self.n_groups > self.ks[-1]

    def at(self, name: str, k: int) -> float:
        """Return a score at k."""
        return float(self.scores[name][np.searchsorted(self.ks, k)])


class Verdict(NamedTuple):
    """A choice: the number, the strength of evidence, sentences, and other numbers."""

    k: int
    evidence: str
    reasons: list[str]
    runners_up: list[int]


def recommend(
    name: str, curve: FloatArray, ks: NDArray[np.int64], attained: NDArray[np.bool_]
) -> int | None:
    """Return the k that a criterion alone would choose, None if its scores are all the same.

    `attained` marks the k at which the method gives that many clusters; others are not recommended
    unless there are none. The smallest k wins a tie.
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


def decisive_of(
    ks: NDArray[np.int64], scores: dict[str, FloatArray], recommended: dict[str, int | None]
) -> str:
    """Return the criterion that decides by default.

    Support, if its clusters recur, and balance otherwise. A single member has no halves, so its own
    clusters are the answer.
    """
    if "support" not in scores:
        return "ensemble_nmi"
    k = recommended["support"]
    found_again = k is None or scores["recurrence"][np.searchsorted(ks, k)] >= _MODERATE
    return "support" if found_again else "balance"


def verdict(found: Findings) -> Verdict:
    """Return the choice, the strength of the evidence, and the reasons."""
    chosen = found.recommended[found.decisive]
    usable = found.ks[found.attained] if found.attained.any() else found.ks
    k = int(usable[0]) if chosen is None else chosen
    runners_up = _runners_up(found, k)
    evidence, rival = _evidence(found, k)
    reasons = [_evidence_sentence(found, k, evidence, rival)]
    if chosen is None:
        reasons.append(
            f"The {_CRITERION_NAMES[found.decisive]} is the same at every k, so the smallest that"
            f" {found.method} gives was chosen: {k}."
        )
    elif found.decisive != "support" or len(found.ks) == 1:
        reasons.append(_decision(found, k))
    reasons += [*_agreement(found, k), *_opinions(found, k), *_caveats(found, k)]
    return Verdict(k, evidence, reasons, runners_up)


def no_structure(k: int, null: Null) -> Verdict:
    """Return the verdict that there is one cluster, instead of k."""
    compared = (
        f"No structure: the clusterings agree no more than permuted votes do. Agreement (mean NMI)"
        f" exceeds chance by {null.excess:.3f}, and by up to {null.limit:.3f} in"
        f" {N_PERMUTATIONS} permutations."
    )
    otherwise = f"These votes support only one cluster. Without this test, k would be {k}."
    return Verdict(1, "none", [compared, otherwise], [])


# -- the strength of evidence ------------------------------------------------------------------


def _evidence(found: Findings, k: int) -> tuple[str, int | None]:
    """Return the strength of the evidence for k, and another k with nearly the same support.

    k - 1 and k + 1 are not counted as others. Evidence is weak for every k if the clusters with the
    largest support do not recur.
    """
    if "recurrence" not in found.scores or found.joins_groups:
        return "weak", None
    curve = found.scores["support"]
    others = (np.abs(found.ks - k) > 1) & found.attained & ~np.isnan(curve)
    rival = None
    if others.any():
        best = int(np.flatnonzero(others)[np.argmax(curve[others])])
        if curve[best] > _RIVAL * found.at("support", k):
            rival = int(found.ks[best])
    overlap = found.at("recurrence", k)
    if found.recommended["support"] is not None:
        overlap = min(overlap, found.at("recurrence", found.recommended["support"]))
    if overlap >= _STRONG and rival is None and len(found.ks) > 1:
        return "strong", None
    return ("moderate" if overlap >= _MODERATE else "weak"), rival


def _evidence_sentence(found: Findings, k: int, evidence: str, rival: int | None) -> str:
    clusters = f"{evidence.capitalize()} evidence for {k} clusters:"
    if found.joins_groups:
        return (
            f"{clusters} the votes link the objects into {found.n_groups} groups, more than the"
            f" largest k compared, so groups that hardly any clustering joins share a cluster."
        )
    if "recurrence" not in found.scores:
        return f"{clusters} there is only one clustering to compare."
    overlap = found.at("recurrence", k)
    if overlap >= _MODERATE and evidence == "weak":
        best = found.recommended["support"] or k
        return (
            f"{clusters} in halves of the clusterings, the {best} clusters with the largest support"
            f" do not recur ({found.at('recurrence', best):.0%} overlap on average)."
        )
    which = "the same" if overlap >= _STRONG else "nearly the same"
    which = "partly different" if overlap < _MODERATE else which
    again = f"halves of the clusterings give {which} ones ({overlap:.0%} overlap on average)"
    if evidence == "strong":
        return f"{clusters} {again}, and no number except its neighbours has similar support."
    also = "" if rival is None else f", and {rival} clusters have nearly the same or more support"
    return f"{clusters} {again}{also}."


# -- sentences ---------------------------------------------------------------------------------


def _decision(found: Findings, k: int) -> str:
    """Return the result of the requested criterion."""
    if len(found.ks) == 1:
        return f"k = {k} is the only number that was compared."
    score, looked = found.at(found.decisive, k), f"of {len(found.ks)} compared"
    if found.decisive == "delta_area":
        return (
            f"k = {k} is the last that adds {_LEAST_GAIN:.0%} or more to the area under the"
            f" consensus distribution ({score:.1%}), {looked}."
        )
    which = "smallest" if found.decisive in _LOWER_IS_BETTER else "largest"
    return f"k = {k} has the {which} {_CRITERION_NAMES[found.decisive]} ({score:.3g}) {looked}."


def _agreement(found: Findings, k: int) -> list[str]:
    if "ensemble_nmi" not in found.scores:
        return []
    nmi, sure = found.at("ensemble_nmi", k), found.at("confidence", k)
    return [f"Mean NMI with the clusterings {nmi:.3f}, mean confidence {sure:.3f}."]


def _opinions(found: Findings, k: int) -> list[str]:
    """Return the choices of the other criteria."""
    others = {
        _CRITERION_NAMES[name]: choice
        for name, choice in found.recommended.items()
        if name not in (found.decisive, "recurrence") and choice is not None
    }
    same = [words for words, choice in others.items() if choice == k]
    differ = [f"{words} ({choice})" for words, choice in others.items() if choice != k]
    return [
        *([f"Same number by: {', '.join(same)}."] if same else []),
        *([f"Different number by: {', '.join(differ)}."] if differ else []),
    ]


def _caveats(found: Findings, k: int) -> list[str]:
    """Return limitations of the choice."""
    reasons = []
    close = _close(found, k).tolist()
    if close:
        reasons.append(f"Nearly as good: k = {', '.join(map(str, close))}.")
    if len(found.ks) > 1 and k == found.ks[-1] < found.largest:
        reasons.append(f"It is the largest k compared: consider numbers above {k} as well.")
    fewer = found.ks[~found.exact].tolist()
    if fewer:
        reasons.append(f"{found.method} gives fewer clusters than requested at k = {_some(fewer)}.")
    small = found.ks[found.exact & ~found.attained].tolist()
    if small and found.attained.any():
        reasons.append(f"Not considered, because some clusters are very small: k = {_some(small)}.")
    return reasons


def _some(ks: list[int]) -> str:
    """Return the first numbers of an increasing list; three and more in a row as "6 to 20"."""
    runs: list[list[int]] = []
    for k in ks:
        if runs and k == runs[-1][-1] + 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    texts = [
        text
        for run in runs
        for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
    return ", ".join(texts[:5]) + (" and others" if len(texts) > 5 else "")


def _close(found: Findings, k: int) -> NDArray[np.int64]:
    """Return the other k with scores near the chosen one."""
    curve = found.scores[found.decisive]
    spread = np.nanmax(curve) - np.nanmin(curve)
    near = np.abs(curve - found.at(found.decisive, k)) <= _CLOSE * spread
    return found.ks[near & (found.ks != k) & found.attained]


def _runners_up(found: Findings, k: int) -> list[int]:
    """Return the k that are close or peaks of the decisive curve, the best first."""
    ks, curve, attained = found.ks, found.scores[found.decisive], found.attained
    signed = -curve if found.decisive in _LOWER_IS_BETTER else curve
    signed = np.where(np.isnan(signed) | (attained.any() & ~attained), -np.inf, signed)
    padded = np.concatenate([[-np.inf], signed, [-np.inf]])
    # Peaks in the lower half of the curve are ignored.
    finite = signed[np.isfinite(signed)]
    middle = (finite.min() + finite.max()) / 2 if len(finite) else 0.0
    peaks = (signed >= padded[:-2]) & (signed >= padded[2:]) & (signed >= middle)
    close = np.isin(ks, _close(found, k))
    candidates = np.flatnonzero((peaks | close) & (ks != k) & np.isfinite(signed))
    order = candidates[np.argsort(-signed[candidates], kind="stable")]
    return [int(other) for other in ks[order[:_MOST_RUNNERS_UP]]]
