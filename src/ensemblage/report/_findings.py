"""The findings of a report as sentences, for readers new to consensus clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import counted
from ensemblage.methods.fresh import params_of_fit
from ensemblage.report._facts import SURE
from ensemblage.report._text import short

if TYPE_CHECKING:
    from ensemblage import metrics

_NAMED = 5


def summary(
    fitted: Any,
    clusters: dict[str, Any],
    members: dict[str, Any],
    seeds: metrics.SeedSpread | None,
    k: dict[str, Any] | None,
    truth: dict[str, Any] | None,
) -> list[dict[str, str]]:
    """Return the sentences of the summary, each with a heading."""
    parts = [
        ("Method", _method(fitted, len(members["name"]))),
        ("Confidence", _confidence(fitted, clusters)),
        ("Weak clusters", _weak(clusters)),
        ("Clusterings to check", _to_check(members)),
    ]
    if seeds is not None:
        parts.insert(2, ("Effect of the seed", _seed_effect(fitted, seeds)))
    if k is not None:
        parts.append(("Number of clusters", k["text"]))
    if truth is not None:
        parts.append(("True classes", _truth(truth)))
    return [{"heading": heading, "text": text} for heading, text in parts]


def tiles(fitted: Any, n_members: int) -> list[dict[str, str]]:
    """Return the figures at the top."""
    sure = fitted.confidence_
    return [
        *(
            {"figure": f"{n:,}", "text": noun if n == 1 else f"{noun}s"}
            for n, noun in (
                (len(fitted.labels_), "object"),
                (n_members, "clustering"),
                (fitted.n_microclusters_, "microcluster"),
                (fitted.n_clusters_, "cluster"),
            )
        ),
        {"figure": f"{sure.mean():.2f}", "text": "mean confidence"},
    ]


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _method(fitted: Any, n_members: int) -> str:
    n, groups, k = len(fitted.labels_), fitted.n_microclusters_, fitted.n_clusters_
    requested = params_of_fit(fitted)["n_clusters"]
    fewer = isinstance(requested, (int, np.integer)) and k < requested
    # The NMI of a single cluster is always 0, so it is not a reason.
    reasons = [why for why in getattr(fitted, "reasons_", []) if k > 1 or "mean NMI" not in why]
    formed = "It is the only cluster"
    if groups > 1:
        formed = f"{type(fitted).__name__} merged them into {counted(k, 'cluster')}"
    if fewer:
        formed += f"; {requested} were requested, but the votes do not support more"
    text = (
        f"{counted(n, 'object')} {'was' if n == 1 else 'were'} clustered"
        f" {counted(n_members, 'time')}. The"
        f" {'clustering separates' if n_members == 1 else 'clusterings separate'}"
        f" {counted(groups, 'group')} of objects (microclusters: objects with the same label in"
        f" every clustering). {formed}."
    )
    return " ".join([text, *reasons])


def _confidence(fitted: Any, clusters: dict[str, Any]) -> str:
    if fitted.n_clusters_ == 1:
        text = "There is a single cluster, so there is no other one to compare with."
        if len(fitted.labels_) == 1:
            return text
        return (
            f"{text} Confidence is then the mean similarity of an object to the other objects:"
            f" {fitted.confidence_.mean():.2f} on average."
        )
    any_other, another = ("the other",) * 2 if fitted.n_clusters_ == 2 else ("any other", "another")
    sure = fitted.confidence_
    clear, lost = int((sure >= SURE).sum()), int((sure <= 0).sum())
    text = (
        f"{clear:,} of {counted(len(sure), 'object')} ({_share(clear / len(sure))})"
        f" {'is' if clear == 1 else 'are'} at least twice as close to"
        f" {'its' if clear == 1 else 'their'} own cluster as to {any_other} (confidence {SURE} or"
        f" more). The mean confidence is {sure.mean():.2f}, on a scale from 0 (as close to"
        f" {another} cluster) to 1 (never together with {another} cluster)."
    )
    if lost:
        text += f" {counted(lost, 'object')} {'has' if lost == 1 else 'have'} a confidence of 0."
    if any("two groups" in why for why in clusters["weak"]):
        text += " Confidence does not show that a cluster is two groups; see the weak clusters."
    return text


def _seed_effect(fitted: Any, seeds: metrics.SeedSpread) -> str:
    name = type(fitted).__name__
    if seeds.exact:
        return f"None: {name} is deterministic."
    moved = int((seeds.agreement < 1.0).sum())
    if moved == 0:
        return f"None: {name} gives the same clusters with {seeds.n_seeds} other seeds."
    return (
        f"With {seeds.n_seeds} other seeds, {counted(moved, 'object')}"
        f" {'changes' if moved == 1 else 'change'} cluster at least once. The adjusted Rand index"
        f" of two such runs is {_below(seeds.mean_ari)} on average and {_below(seeds.min_ari)} at"
        " the least; 1 means equal."
    )


def _below(score: float) -> str:
    """Return a score with three decimals, rounded down: only 1 is shown as 1.

    Examples
    --------
    >>> _below(0.99996), _below(1.0)
    ('0.999', '1.000')
    """
    return f"{np.floor(score * 1000) / 1000:.3f}"


def _share(part: float) -> str:
    """Return a share in percent; only exact values are shown as 100 % or 0 %.

    Examples
    --------
    >>> _share(1.0), _share(0.9996), _share(0.42)
    ('100 %', '99.9 %', '42 %')
    """
    if 0 < part < 0.001 or 0.999 < part < 1:
        return "99.9 %" if part > SURE else "0.1 %"
    return f"{100 * part:.3g} %"


def _weak(clusters: dict[str, Any]) -> str:
    weak = [(place, why) for place, why in enumerate(clusters["weak"]) if why]
    if not weak and len(clusters["weak"]) == 1:
        return "None: there is a single cluster, and no evidence that it is two groups."
    if not weak:
        return (
            "None: in every cluster the objects are, on average, clearly closer to each other than"
            " to the next cluster, and no cluster seems to be two groups."
        )
    shown = "; ".join(f"cluster {place} ({why})" for place, why in weak[:_NAMED])
    more = f"; and {len(weak) - _NAMED} more" if len(weak) > _NAMED else ""
    them = "it" if len(weak) == 1 else "them"
    return (
        f"{shown[0].upper()}{shown[1:]}{more}. Check {them} in the heatmap before you use {them}."
    )


def _to_check(members: dict[str, Any]) -> str:
    reasons = [
        f"{short(name, 40)}: {short(why, 160)}"
        for name, why in zip(members["name"], members["reason"], strict=True)
        if why
    ]
    if not reasons:
        return "None: no duplicates, no empty clusterings and no outliers."
    more = f"; and {len(reasons) - _NAMED} more, marked in the table" * (len(reasons) > _NAMED)
    return f"{'; '.join(reasons[:_NAMED])}{more}."


def _truth(truth: dict[str, Any]) -> str:
    n = len(truth["name"])
    text = (
        f"NMI {truth['nmi']:.3f} and ARI {truth['ari']:.3f} with {n} true"
        f" {'class' if n == 1 else 'classes'}; 1 is the same partition, 0 is independent."
    )
    if truth["missing"]:
        text += f" Without a class, and ignored: {counted(truth['missing'], 'object')}."
    return text
