"""A report's findings in plain words: sentences for somebody who has never seen a consensus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.report._facts import SURE
from ensemblage.report._text import short, visible

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
    found = [
        ("What was done", _what(fitted, len(members["name"]))),
        ("How sure it is", _how_sure(fitted)),
        ("Weak clusters", _weak(clusters)),
        ("Clusterings to look at", _look_at(members)),
    ]
    if seeds is not None:
        found.insert(2, ("What chance decides", _chance(fitted, seeds)))
    if k is not None:
        found.append(("How many clusters", k["words"]))
    if truth is not None:
        found.append(("Beside the true classes", _truth(truth)))
    return [{"heading": heading, "text": text} for heading, text in found]


def tiles(fitted: Any, n_members: int) -> list[dict[str, str]]:
    """Return the figures that stand at the top."""
    sure = fitted.confidence_
    return [
        {"figure": f"{len(fitted.labels_):,}", "text": "objects"},
        {"figure": f"{n_members:,}", "text": "clusterings"},
        {"figure": f"{fitted.n_microclusters_:,}", "text": "microclusters"},
        {"figure": f"{fitted.n_clusters_:,}", "text": "clusters"},
        {"figure": f"{sure.mean():.2f}", "text": "mean confidence"},
    ]


def counted(n: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "object"), counted(1200, "object")
    ('1 object', '1,200 objects')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _what(fitted: Any, n_members: int) -> str:
    n, groups, k = len(fitted.labels_), fitted.n_microclusters_, fitted.n_clusters_
    asked = fitted.n_clusters
    fewer = isinstance(asked, (int, np.integer)) and k < asked
    return (
        f"{counted(n, 'object')} had been clustered {n_members:,} time{'s' * (n_members != 1)}. The"
        f" clusterings tell {counted(groups, 'group')} of objects apart (microclusters: their"
        f" objects are together in every clustering). {type(fitted).__name__} put them together"
        f" into {counted(k, 'cluster')}"
        + (f", though {asked} were asked for: the votes gave no reason for more." if fewer else ".")
    )


def _how_sure(fitted: Any) -> str:
    if fitted.n_clusters_ == 1:
        return "With a single cluster there is nothing to be unsure about."
    sure = fitted.confidence_
    clear, lost = int((sure >= SURE).sum()), int((sure <= 0).sum())
    text = (
        f"{clear:,} of {counted(len(sure), 'object')} ({_share(clear / len(sure))}) are at least"
        f" twice as close to their own cluster as to any other (confidence {SURE} or more)."
        f" Confidence is {sure.mean():.2f} on average, from 0 (could as well be elsewhere) to 1"
        " (sure)."
    )
    if lost:
        text += f" {counted(lost, 'object')} {'has' if lost == 1 else 'have'} no confidence at all."
    return text


def _chance(fitted: Any, seeds: metrics.SeedSpread) -> str:
    name = type(fitted).__name__
    if seeds.exact:
        return f"Nothing: {name} draws no random numbers, so equal votes give equal clusters."
    moved = int((seeds.agreement < 1.0).sum())
    if moved == 0:
        return f"Nothing here: {name} gives the same clusters with {seeds.n_seeds} other seeds."
    return (
        f"With {seeds.n_seeds} other seeds {counted(moved, 'object')}"
        f" {'changes' if moved == 1 else 'change'} cluster at least once. Two such runs agree with"
        f" an adjusted Rand index of {_below(seeds.mean_ari)} on average and"
        f" {_below(seeds.min_ari)} at the least; 1 would be equal."
    )


def _below(score: float) -> str:
    """Return a score with three decimals, cut off: only what is 1 says so.

    Examples
    --------
    >>> _below(0.99996), _below(1.0)
    ('0.999', '1.000')
    """
    return f"{np.floor(score * 1000) / 1000:.3f}"


def _share(part: float) -> str:
    """Return a share in percent that says 100 % or 0 % only where that is so.

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
    if not weak:
        return (
            "None: in every cluster the objects are, on average, clearly closer to each other than"
            " to the next cluster."
        )
    shown = "; ".join(f"cluster {place} ({why})" for place, why in weak[:_NAMED])
    more = f"; and {len(weak) - _NAMED} more" if len(weak) > _NAMED else ""
    return f"{shown[0].upper()}{shown[1:]}{more}. Look at what they are near to before using them."


def _look_at(members: dict[str, Any]) -> str:
    found = [
        f"{short(name, 40)}: {short(why, 160)}"
        for name, why in zip(members["name"], members["reason"], strict=True)
        if why
    ]
    if not found:
        return "None stands out: no copies, no empty ones, none that agrees with nobody."
    more = f"; and {len(found) - _NAMED} more, marked in the table" * (len(found) > _NAMED)
    return f"{'; '.join(found[:_NAMED])}{more}."


def _truth(truth: dict[str, Any]) -> str:
    text = (
        f"NMI {truth['nmi']:.3f} and ARI {truth['ari']:.3f} with {len(truth['name'])} true"
        " classes; 1 would be the same partition, 0 none in common."
    )
    if truth["missing"]:
        text += f" {counted(truth['missing'], 'object')} without a class are left out."
    return text


def python_code(fitted: Any, *, features: bool, truth: bool) -> str:
    """Return Python that makes the same report again."""
    given = _call(fitted)
    beside = [word for word, is_there in (("features", features), ("truth", truth)) if is_there]
    arguments = "".join(f", {word}={word}" for word in beside)
    return (
        "import ensemblage as en\n\n"
        f"model = en.{given}.fit({_fitted_on(fitted)})\n"
        f'en.report.write(model, "report.html"{arguments})'
    )


def _fitted_on(fitted: Any) -> str:
    """Return what fit was given."""
    if fitted.member_weight_ is None:
        return "votes"
    return f"votes, member_weight={short(str(fitted.member_weight_.tolist()), 400)}"


def _call(fitted: Any) -> str:
    """Return the constructor's call, with those parameters that differ from their defaults."""
    import inspect

    signature = inspect.signature(type(fitted).__init__).parameters
    words = []
    for name, value in fitted.get_params(deep=False).items():
        default = signature[name].default
        if name == "n_clusters" or not (value is default or _same(value, default)):
            words.append(f"{name}={short(visible(repr(value)), 80)}")
    words.sort(key=lambda word: not word.startswith("n_clusters="))
    return f"{type(fitted).__name__}({', '.join(words)})"


def _same(value: Any, default: Any) -> bool:
    plain = (str, int, float, bool, type(None))
    return isinstance(value, plain) and isinstance(default, plain) and value == default
