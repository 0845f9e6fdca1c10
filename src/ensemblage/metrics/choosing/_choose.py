"""Choice of k: which curves to compute, and the recommendation that follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._messages import ParameterError
from ensemblage._validate.parameters import is_whole
from ensemblage.metrics.choosing import _curves, _recurrence, _resampling
from ensemblage.metrics.choosing._choice import KChoice
from ensemblage.metrics.choosing._default import are_the_answer, default_ks, of_equal_clusterings
from ensemblage.metrics.choosing._null import compare_with_permuted
from ensemblage.metrics.choosing._verdict import (
    Findings,
    decisive_of,
    no_structure,
    recommend,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.metrics.choosing._cuts import Cuts

#: Criteria from one fit, by a cut for each k, and from small consensuses of a sample of objects.
CHEAP = (
    "support",
    "recurrence",
    "balance",
    "ensemble_nmi",
    "confidence",
    "lifetime",
    "eigengap",
)
#: Criteria from further cuts with other seeds, and from consensuses of halves of the clusterings.
COSTLY = ("subset_stability", "pac", "delta_area", "seed_stability")
CRITERIA = CHEAP + COSTLY
#: The criterion that was best on generated data, see docs/how_many_clusters.md.
DEFAULT = "support"
_N_SEEDS = 5


def choose_k(
    estimator: Any,
    ks: Iterable[int] | None = None,
    criterion: str = "auto",
    *,
    criteria: str | Iterable[str] = "cheap",
    n_refits: int = 10,
    random_state: Any = 0,
) -> KChoice:
    """Recommend a number of clusters for a fitted consensus, with the evidence for it.

    Parameters
    ----------
    estimator : estimator
        A fitted consensus method, or a fitted `EnsembleClustering`, with any `n_clusters`.
    ks : iterable of int, optional
        The numbers of clusters to compare, at least 2. By default 2 to 20, or higher if members are
        finer: up to the number of clusters that nine tenths of them do not exceed, at most 50; and
        never more than there are microclusters. If votes link the objects into more groups than
        that, stray votes ignored, the number of these groups is compared too, unless there are
        thousands. If all clusterings are equal, and finer than that, their number of clusters is
        the choice and nothing is compared.
    criterion : str, default="auto"
        The criterion that decides, or "auto" for "support", and for "balance" if clusters do not
        recur (recurrence below 0.9).
    criteria : {"cheap", "all"} or iterable of str, default="cheap"
        The criteria to compute. "cheap" are the first seven below, from one fit and small
        consensuses of a sample; the others refit the method on random halves of the clusterings, or
        cut again with other seeds.

        - "support": the effective number of clusters times the 10th power of the recurrence, so
          that twice as many clusters may cost 7 % of it.
        - "recurrence": how well the clusters recur in consensuses of halves of the clusterings.
        - "balance": the sum of the next two, each scaled to [0, 1] over `ks`.
        - "ensemble_nmi": mean NMI of the cut with the clusterings (Strehl and Ghosh).
        - "confidence": mean confidence of the objects in the cut.
        - "lifetime": how long the method's tree has k clusters (Fred and Jain).
        - "eigengap": by how much the k-th eigenvalue of the method's cut exceeds the next.
        - "subset_stability": mean ARI of the cuts of consensuses of halves of the clusterings.
        - "pac": the share of pairs of objects about which these consensuses are ambiguous; lower
          is better (Șenbabaoğlu and others).
        - "delta_area": by what share the area under the distribution of the consensus index grows
          from the k before (Monti and others).
        - "seed_stability": mean ARI of the cuts with five seeds.
    n_refits : int, default=10
        Number of halves of the clusterings for the costly criteria, at least 2.
    random_state : int, Generator, RandomState or None, default=0
        Seed of all these draws.

    Returns
    -------
    KChoice
        `k`, `evidence`, `reasons`, `runners_up` and the scores. `k` is 1, and the evidence "none",
        if the members agree no more than permuted votes, unless there are groups that no vote
        links, of at least five objects or of equal votes. The evidence is at most "weak" if votes
        link more groups, of at least two objects, than the largest of `ks`. Criteria that do not
        apply to a method are in `absent`, with the reason.

    Notes
    -----
    Members count by their `member_weight`, if the fit had one. Scores are over objects, through
    microclusters and their sizes. In addition to the cuts themselves,
    "ensemble_nmi" takes O(n·M) for each k with n microclusters and M members, and "confidence" a
    product of co-association with k columns. "recurrence" takes eight trees of a sample of 600
    objects, the comparison with permuted votes 21 of a sample of 300. The others of "cheap" are
    read off the fit. The costly ones take `n_refits` fits on half of the members.

    The sample and the halves are drawn from an order that is derived from the votes, so if the
    method's cuts do not depend on the order of objects and clusterings and on the names of
    clusters, neither does the choice.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [2, 2, 2], [2, 2, 3]]
    >>> choice = en.metrics.choose_k(en.EAC(n_clusters=2).fit(votes))
    >>> choice.k, choice.evidence
    (3, 'moderate')
    >>> choice.scores["ensemble_nmi"].round(3)
    array([0.738, 0.97 , 0.939])
    """
    owner = "choose_k"
    fitted = _validate.check_fitted(owner, estimator)
    _check_can_choose(owner, fitted)
    _validate.check_has_votes(owner, fitted)
    names = wanted_criteria(owner, criteria, criterion)
    _validate.check_whole(owner, "n_refits", n_refits, 2)
    seed = _validate.check_random_state(owner, random_state)
    checked = None if ks is None else _check_ks(owner, ks, fitted.n_microclusters_)
    return choose(fitted._cuts(), checked, names, criterion, n_refits=n_refits, seed=seed)


def wanted_criteria(owner: str, criteria: Any, criterion: Any = "auto") -> tuple[str, ...]:
    """Return the names of the criteria to compute, including the one that decides."""
    _validate.check_choice(owner, "criterion", criterion, ("auto", *CRITERIA))
    decisive = DEFAULT if criterion == "auto" else criterion
    groups = {"cheap": CHEAP, "all": CRITERIA}
    valid = (*CRITERIA, *groups)
    listed = criteria if np.iterable(criteria) and not isinstance(criteria, str) else [criteria]
    chosen: list[str] = []
    for one in listed:
        name = _validate.check_choice(owner, "criteria", one, valid)
        chosen += groups.get(name, (name,))
    return tuple(name for name in CRITERIA if name in (*chosen, decisive))


def choose(
    cuts: Cuts,
    ks: NDArray[np.int64] | None = None,
    names: tuple[str, ...] = CHEAP,
    criterion: str = "auto",
    *,
    n_refits: int = 10,
    seed: int | None = None,
) -> KChoice:
    """Return the choice for a consensus, from checked parameters.

    The default seed is that of ``random_state=0``, so that a fit chooses as `choose_k` does.
    """
    if len(cuts.sizes) == 1:
        reason = "The votes do not separate the objects, so there is one cluster."
        absent = {name: reason for name in names if name in COSTLY}
        return KChoice(1, np.array([1]), None, {}, {}, [reason], [], absent)
    if ks is None and criterion == "auto" and are_the_answer(cuts):
        return of_equal_clusterings(cuts, names)
    ks = default_ks(cuts) if ks is None else ks
    seed = _validate.check_random_state("choose_k", 0) if seed is None else seed
    for_halves, for_null, rng = np.random.default_rng(seed).spawn(3)
    labels = [cuts.cut(k) for k in ks.tolist()]
    null = compare_with_permuted(cuts, default_ks(cuts), for_null)  # regardless of ks
    scores, absent = _cheap_scores(cuts, ks, labels, for_halves)
    more, missing, cdf = _costly_scores(cuts, ks, names, n_refits, rng)
    scores, absent = scores | more, absent | missing
    exact = np.array([int(label.max()) + 1 for label in labels]) == ks
    smallest = np.array([np.bincount(label, cuts.sizes).min() for label in labels])
    attained = exact & (smallest >= [cuts.least(k) for k in ks.tolist()])
    recommended = {name: recommend(name, curve, ks, attained) for name, curve in scores.items()}
    decisive = decisive_of(ks, scores, recommended) if criterion == "auto" else criterion
    if decisive not in scores:
        raise ValueError(
            f"{cuts.name} does not support the criterion {decisive!r}: {absent[decisive]}"
            f" Use one of {', '.join(repr(name) for name in names if name in scores)}."
        )
    findings = Findings(
        cuts.name,
        ks,
        scores,
        recommended,
        decisive,
        attained,
        exact,
        len(cuts.sizes),
        cuts.n_shared_groups,
    )
    k, evidence, reasons, runners_up = verdict(findings)
    if null is not None and not null.exceeded and not cuts.has_unlinked_groups:
        k, evidence, reasons, runners_up = no_structure(k, null)
    shown = [name for name in CRITERIA if name in scores and name in (*names, decisive)]
    return KChoice(
        k=k,
        ks=ks,
        criterion=decisive,
        scores={name: scores[name] for name in shown},
        recommended={name: recommended[name] for name in shown},
        reasons=reasons,
        runners_up=runners_up,
        absent={name: reason for name, reason in absent.items() if name in names},
        cdf=cdf,
        evidence=evidence,
        null=None if null is None else null._asdict(),
    )


def _cheap_scores(
    cuts: Cuts, ks: NDArray[np.int64], labels: list[NDArray[np.int64]], rng: np.random.Generator
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    scores: dict[str, FloatArray] = {}
    absent: dict[str, str] = {}
    if len(cuts.voters) > 1:
        scores["recurrence"] = _recurrence.recurrence(cuts, ks, labels, rng)
        scores["support"] = _recurrence.support(scores["recurrence"], labels, cuts.sizes)
    else:
        absent |= dict.fromkeys(("support", "recurrence"), "At least two clusterings are required.")
    agreement, sureness = _curves.agreement_and_confidence(cuts, labels, rng)
    scores["ensemble_nmi"], scores["confidence"] = agreement, sureness
    scores["balance"] = _curves.balance(agreement, sureness)
    if cuts.heights is not None:
        scores["lifetime"] = _curves.lifetimes(cuts.heights, ks)
    else:
        absent["lifetime"] = f"{cuts.name} does not build a tree."
    if cuts.eigenvalues is not None:
        scores["eigengap"] = _curves.eigengaps(cuts.eigenvalues(int(ks.max()) + 1), ks)
    else:
        absent["eigengap"] = f"{cuts.name} does not cut by eigenvectors."
    return scores, absent


def _costly_scores(
    cuts: Cuts,
    ks: NDArray[np.int64],
    names: tuple[str, ...],
    n_refits: int,
    rng: np.random.Generator,
) -> tuple[dict[str, FloatArray], dict[str, str], FloatArray | None]:
    scores: dict[str, FloatArray] = {}
    absent: dict[str, str] = {}
    cdf = None
    by_halves = [name for name in ("subset_stability", "pac", "delta_area") if name in names]
    if by_halves and len(cuts.voters) < 2:
        absent |= dict.fromkeys(by_halves, "At least two clusterings are required.")
    elif by_halves:
        halves = _resampling.cuts_of_halves(cuts, ks, n_refits, rng)
        scores["subset_stability"] = _stabilities(halves, cuts)
        if by_halves != ["subset_stability"]:
            scores["pac"], scores["delta_area"], cdf = _monti(halves, cuts, rng)
    if "seed_stability" in names:
        if cuts.with_seed is None:
            absent["seed_stability"] = f"{cuts.name} is deterministic."
        else:
            seeds = [int(seed) for seed in rng.integers(2**63, size=_N_SEEDS)]
            again = _resampling.cuts_by_seed(cuts.with_seed, ks, seeds)
            scores["seed_stability"] = _stabilities(again, cuts)
    return scores, absent, cdf


def _stabilities(by_k: list[list[NDArray[np.int64]]], cuts: Cuts) -> FloatArray:
    return np.array([_resampling.stability(at_k, cuts.sizes) for at_k in by_k])


def _monti(
    halves: list[list[NDArray[np.int64]]], cuts: Cuts, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return PAC, the relative gain in area, and the distribution itself, for each k."""
    distributions = [
        _resampling.consensus_distribution(at_k, cuts.sizes, rng, n_jobs=cuts.n_jobs)
        for at_k in halves
    ]
    nothing = np.full(len(_resampling.GRID), np.nan)
    pac = np.array(
        [np.nan if one is None else _resampling.ambiguous_share(one) for one in distributions]
    )
    # The area under a distribution on [0, 1] is 1 minus its mean.
    areas = np.array([np.nan if one is None else 1.0 - one.mean for one in distributions])
    cdf = np.array([nothing if one is None else one.cdf for one in distributions])
    return pac, _resampling.area_gains(areas), cdf


def _check_ks(owner: str, ks: Any, n_microclusters: int) -> NDArray[np.int64]:
    """Return numbers of clusters of at least 2 in increasing order, each once."""
    try:
        wanted = list(ks)
    except TypeError:
        expected = "a list of integers, such as range(2, 21)"
        raise ParameterError(owner, "ks", expected, ks, optional=True) from None
    for k in wanted:
        if not is_whole(k) or k < 2:
            hint = "A single cluster cannot be compared."
            raise ParameterError(owner, "ks", "integers of at least 2", k, hint)
    if not wanted:
        raise ParameterError(owner, "ks", "at least one number of clusters", ks)
    if max(wanted) > n_microclusters:
        raise ValueError(
            f"ks of {owner} must be at most {n_microclusters}, the number of groups of objects that"
            f" the ensemble distinguishes, got {max(wanted)}. Pass smaller numbers."
        )
    return np.unique(np.array(wanted, dtype=np.int64))


def _check_can_choose(owner: str, estimator: Any) -> None:
    """Raise an error if an estimator is not a fitted consensus method of this library."""
    if not hasattr(estimator, "_cuts"):
        raise TypeError(
            f"{owner} needs a fitted consensus method of ensemblage, got"
            f" {type(estimator).__name__}."
        )
