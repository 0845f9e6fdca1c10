"""A number of clusters with its reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class KChoice:
    """A recommended number of clusters, the reasons, and the alternatives.

    Attributes
    ----------
    k : int
        The recommendation.
    ks : ndarray of shape (n_ks,)
        The numbers of clusters that were compared.
    criterion : str or None
        Which of `scores` decided; None if there was only one choice.
    scores : dict of str to ndarray of shape (n_ks,)
        A score for each of `ks` by criterion, NaN if undefined. Higher is better, except for "pac".
    recommended : dict of str to int or None
        The choice of each criterion alone; None if its scores are all the same.
    reasons : list of str
        The reasons, as sentences.
    runners_up : list of int
        Up to three other good numbers of clusters, the best first.
    absent : dict of str to str
        Requested criteria that are not available here, and why.
    cdf : ndarray of shape (n_ks, 101) or None
        With "pac" or "delta_area": for each k the share of pairs of objects whose consensus index
        is at most 0, 0.01, ..., 1.
    evidence : {"strong", "moderate", "weak", "none"}
        Strength of the evidence for `k`; "none" for one cluster.
    null : dict of str to float, or None
        Agreement of the votes with their consensus (mean NMI) beyond chance, ``"excess"``, and its
        maximum over 20 permutations of the votes, ``"limit"``. None for a single clustering, a
        single group of objects, or equal clusterings that were not compared.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [2, 2, 2], [2, 2, 3]]
    >>> choice = en.metrics.choose_k(en.EAC(n_clusters=2).fit(votes))
    >>> choice
    KChoice(k=3, evidence='moderate', ks=2..4, criterion='support', runners_up=[])
    >>> sorted(choice.to_dict())[:4]
    ['absent', 'cdf', 'criterion', 'evidence']
    """

    k: int
    ks: NDArray[np.int64]
    criterion: str | None
    scores: dict[str, FloatArray]
    recommended: dict[str, int | None]
    reasons: list[str]
    runners_up: list[int]
    absent: dict[str, str] = field(default_factory=dict)
    cdf: FloatArray | None = None
    evidence: str = "none"
    null: dict[str, float] | None = None

    def __repr__(self) -> str:
        return (
            f"KChoice(k={self.k}, evidence={self.evidence!r}, ks={format_ks(self.ks)},"
            f" criterion={self.criterion!r}, runners_up={self.runners_up})"
        )

    def __str__(self) -> str:
        return "\n".join([f"k = {self.k}", *self.reasons, self.alternatives])

    @property
    def alternatives(self) -> str:
        """The runners-up as a sentence."""
        others = ", ".join(map(str, self.runners_up))
        return f"Alternatives: k = {others}." if others else "No other number stands out."

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain lists, numbers and strings, ready for JSON; NaN is None."""
        return {
            "k": self.k,
            "evidence": self.evidence,
            "criterion": self.criterion,
            "reasons": list(self.reasons),
            "runners_up": list(self.runners_up),
            "ks": self.ks.tolist(),
            "scores": {name: _plain(values) for name, values in self.scores.items()},
            "recommended": dict(self.recommended),
            "absent": dict(self.absent),
            "null": None if self.null is None else dict(self.null),
            "cdf": None if self.cdf is None else [_plain(row) for row in self.cdf],
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> KChoice:
        """Return the choice described by `to_dict`."""
        scores = {name: _array(values) for name, values in plain["scores"].items()}
        cdf = None if plain["cdf"] is None else np.array([_array(row) for row in plain["cdf"]])
        ks = np.array(plain["ks"], dtype=np.int64)
        return cls(**{**plain, "ks": ks, "scores": scores, "cdf": cdf})


def format_ks(ks: NDArray[np.int64]) -> str:
    """Return a short text for the numbers of clusters: ``2..20`` if they are consecutive."""
    low, high = int(ks[0]), int(ks[-1])
    if low == high:
        return str(low)
    if len(ks) == high - low + 1:
        return f"{low}..{high}"
    return ", ".join(map(str, ks.tolist())) if len(ks) <= 6 else f"{len(ks)} of {low}..{high}"


def _array(values: list[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _plain(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
