"""The two functions: a report as text, and as a file."""

from __future__ import annotations

import importlib.util
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import MOST_COLOURS, cluster_codes
from ensemblage._messages import counted
from ensemblage.report._cautions import cautions
from ensemblage.report._choice import chosen_k, k_facts, plausible_splits, recommended_k
from ensemblage.report._code import fitted_on, python_code
from ensemblage.report._facts import (
    MOST_MICROCLUSTERS,
    Subject,
    cluster_facts,
    member_facts,
    object_facts,
    seed_facts,
    truth_facts,
)
from ensemblage.report._findings import listed, summary, tiles
from ensemblage.report._objects import knows_objects, with_objects_of, with_repeated_objects
from ensemblage.report._page import check_suffix
from ensemblage.report._pictures import heatmap, maps, tree
from ensemblage.report._sample import least_sure, representatives
from ensemblage.report._text import Names, short, visible
from ensemblage.report._texts import parts_of, texts

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

TITLE = "Consensus of clusterings"
_ALL_OBJECTS = 5000  # up to this number all are in the table
_SAMPLE, _LEAST_SURE = 2000, 1000


def html(
    model: Any,
    *,
    features: Any = None,
    truth: Any = None,
    ids: Any = None,
    names: Any = None,
    votes: Any = None,
    title: str = TITLE,
    command: str | None = None,
) -> str:
    """Return a report on a consensus as one self-contained HTML page.

    Parameters
    ----------
    model : fitted estimator, or votes
        A fitted consensus method or `EnsembleClustering`; or a label matrix, whose consensus is
        then computed by ``Consensus(random_state=0)``.
    features : array-like of shape (n_objects, n_features), optional
        Measurements of the objects, for a second map.
    truth : array-like of shape (n_objects,), optional
        True classes to compare the clusters with; -1, NaN and None are missing.
    ids : array-like of shape (n_objects,), optional
        Names of the objects. By default the index of the fitted DataFrame, or the row numbers.
    names : sequence of length n_clusterings, optional
        Names of the clusterings. By default the columns of that DataFrame, or their positions.
    votes : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings), optional
        The votes that the model was fitted on, for a model that was saved without its objects. They
        give the order of objects; without them, objects are named by their microclusters.
    title : str, default="Consensus of clusterings"
        The heading.
    command : str, optional
        The command line that makes this report, shown in it.

    Returns
    -------
    str
        HTML with its style, script and data inside. A Content-Security-Policy forbids all requests.
        Names and labels are always shown as text.

    Notes
    -----
    Above 5,000 objects the tables and pictures show a sample, evenly chosen from all clusters, and
    the objects with the lowest confidence, with a note. Figures of clusters and clusterings are
    always over all objects. Equal input gives an equal page. Series are matched by index.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [["a", 1], ["a", 1], ["a", 2], ["b", 3], ["b", 3], ["b", 4]]
    >>> page = en.report.html(en.EAC(n_clusters=2).fit(votes), names=["letters", "numbers"])
    >>> "2 clusters" in page, "letters" in page, " src=" in page
    (True, True, False)
    """
    need_jinja()
    from ensemblage import __version__
    from ensemblage.report._page import page

    subject = _subject(model, features=features, truth=truth, ids=ids, names=names, votes=votes)
    fitted = subject.fitted
    sample, shown = _chosen(fitted)
    long_names = Names()
    choice = recommended_k(subject.model, fitted)
    splits, seeds = plausible_splits(fitted, choice), seed_facts(fitted)
    clusters, members = cluster_facts(fitted, splits), member_facts(subject, long_names)
    # The sample comes first among the objects shown, so pictures refer to it by position.
    data: dict[str, Any] = {
        "objects": object_facts(subject, shown, long_names, seeds),
        "clusters": clusters,
        "members": members,
        "heatmap": heatmap(subject, sample),
        "maps": maps(subject, sample),
        "tree": tree(subject),
        "truth": truth_facts(subject, shown, long_names),
        "k": k_facts(fitted, choice),
    }
    n_classes = 0 if data["truth"] is None else len(data["truth"]["name"])
    data["colours"] = cluster_codes(min(max(fitted.n_clusters_, n_classes), MOST_COLOURS))
    heading = visible(title)
    inputs = {"features": features, "truth": truth, "ids": ids, "names": names}
    beside = [name for name, value in inputs.items() if value is not None]
    return page(
        data,
        version=__version__,
        title=short(heading, 200),
        title_text=short(heading, 120),
        parts=parts_of(data),
        cautions=cautions(fitted, splits, chosen_k(subject.model)),
        tiles=tiles(fitted, len(members["name"])),
        findings=summary(fitted, clusters, members, seeds, data["k"], data["truth"]),
        notes=_notes(subject, len(shown), data["k"], long_names),
        objects_lead=_about_objects(subject, len(shown)),
        command=None if command is None else visible(command),
        python=python_code(subject.model, beside, None if title == TITLE else title),
        python_data=fitted_on(subject.model),
        python_beside=beside,
        settings=_settings(fitted, __version__),
        glossary=texts()["glossary"],
    )


def write(
    model: Any,
    path: str | PathLike[str],
    *,
    features: Any = None,
    truth: Any = None,
    ids: Any = None,
    names: Any = None,
    votes: Any = None,
    title: str = TITLE,
    command: str | None = None,
) -> None:
    """Write a report on a consensus as one HTML file, complete or not at all.

    Parameters
    ----------
    model : fitted estimator, or votes
        As for `html`.
    path : str or path-like
        The file, such as ``report.html``; ``-`` is standard output. A suffix must be ``.html`` or
        ``.htm``.
    features, truth, ids, names, votes, title, command
        As for `html`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ensemblage as en
    >>> votes = [[0, 0], [0, 0], [0, 1], [1, 2], [1, 2], [1, 2]]
    >>> with TemporaryDirectory() as folder:
    ...     en.report.write(en.EAC(n_clusters=2).fit(votes), Path(folder, "report.html"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['report.html']
    """
    from ensemblage import tables

    check_suffix(path)
    tables.check_writable(path, format="csv")  # raises early
    text = html(
        model,
        features=features,
        truth=truth,
        ids=ids,
        names=names,
        votes=votes,
        title=title,
        command=command,
    )
    tables.write_text(path, text)


def _subject(
    model: Any, *, features: Any, truth: Any, ids: Any, names: Any, votes: Any = None
) -> Subject:
    """Return the checked subject of the report."""
    if not hasattr(model, "fit"):
        from ensemblage.methods import Consensus

        model = Consensus(random_state=0).fit(model)
    fitted = _validate.check_fitted("report", model)
    _validate.check_has_votes("report", fitted)
    in_order = True
    if votes is not None:
        fitted = with_objects_of(fitted, votes)
    elif not knows_objects(fitted):
        inputs = {"ids": ids, "truth": truth, "features": features}
        _check_nothing_beside([name for name, value in inputs.items() if value is not None])
        fitted, in_order = with_repeated_objects(fitted), False
    ensemble = fitted._ensemble
    n, n_members = len(fitted.labels_), ensemble.n_clusterings
    index = ensemble.index if ensemble.index is not None else getattr(model, "_index", None)
    ids = index if ids is None else _beside("ids", ids, n, "object", index)
    if names is None:
        places = [f"clustering {place}" for place in range(1, n_members + 1)]
        names = places if ensemble.names is None else list(ensemble.names)
    else:
        names = list(_beside("names", names, n_members, "clustering"))
    if truth is not None:
        truth = _beside("truth", truth, n, "object", index)
    matrix = None
    if features is not None:
        matrix = _validate.check_features(_validate.in_order_of_index(features, index)).matrix
        _beside("features", matrix, n, "object", one_each=False)
    return Subject(model, fitted, ids, names, truth, matrix, in_order=in_order)


def _check_nothing_beside(names: list[str]) -> None:
    """Reject arguments for single objects if their order is unknown."""
    if names:
        raise ValueError(
            f"The model was saved without its objects, so {listed(names)} cannot be matched with"
            " them. Pass the votes that it was fitted on: votes=..."
        )


def _chosen(fitted: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return objects that represent all, and all that are shown: these and the least confident."""
    n = len(fitted.labels_)
    if n <= _ALL_OBJECTS:
        return np.arange(n), np.arange(n)
    sample = representatives(fitted.labels_, _SAMPLE)
    unsure = np.setdiff1d(least_sure(fitted.confidence_, _LEAST_SURE), sample)
    return sample, np.concatenate([sample, unsure])


def _notes(subject: Subject, n_shown: int, k: Any, names: Names) -> list[str]:
    fitted, notes, n = subject.fitted, [], subject.n_objects
    if not subject.in_order:
        notes.append(
            "The model was saved without its objects. All figures are those of the fit, but objects"
            " are named by their microclusters. To see their names, make the report from the model"
            " and the votes."
        )
    if n_shown < n:
        notes.append(
            f"This report shows {n_shown:,} of {n:,} objects: some of every cluster, evenly chosen,"
            f" and the {_LEAST_SURE:,} with the lowest confidence. All figures of clusters and"
            " clusterings are over all objects."
        )
    if k is None and fitted.n_microclusters_ > MOST_MICROCLUSTERS:
        notes.append(
            f"Above {MOST_MICROCLUSTERS:,} microclusters, other numbers of clusters and other"
            " seeds are skipped, because they take long. Run ensemblage choose-k for the former."
        )
    if names.n_cut:
        notes.append(
            f"{counted(names.n_cut, 'very long name')} {'is' if names.n_cut == 1 else 'are'}"
            " shortened, to keep the file small."
        )
    return notes


def _about_objects(subject: Subject, n_shown: int) -> str:
    n = subject.n_objects
    if n_shown == n:
        if subject.fitted.n_clusters_ == 1:
            return "All objects with their cluster and its confidence."
        return "All objects with their cluster, its confidence and the next cluster."
    return (
        f"{n_shown:,} of {n:,} objects: a sample of every cluster and the {_LEAST_SURE:,} with the"
        " lowest confidence. ensemblage consensus --confidence writes all of them to a file."
    )


def _settings(fitted: Any, version: str) -> list[tuple[str, str]]:
    """Return the settings that were passed or chosen."""
    settings = [("method", type(fitted).__name__), ("clusters", str(fitted.n_clusters_))]
    settings += [
        (f"{name} (chosen)" if fitted.get_params().get(name) == "auto" else name, str(value))
        for name in ("n_neighbors", "n_steps")
        if (value := getattr(fitted, f"{name}_", None)) is not None
    ]
    if "random_state" in fitted.get_params():
        settings.append(("random_state", short(visible(fitted.get_params()["random_state"]), 60)))
    return [
        *settings,
        ("ensemblage", version),
        ("numpy", np.__version__),
        ("Python", platform.python_version()),
    ]


def need_jinja() -> None:
    """Raise an error if jinja2 is missing, before any computation.

    Examples
    --------
    >>> from ensemblage.report import need_jinja
    >>> need_jinja()
    """
    if importlib.util.find_spec("jinja2") is None:
        raise ImportError("Reports need jinja2. Install it with: pip install 'ensemblage[report]'")


def _beside(
    what: str, values: Any, n: int, of: str, index: Any = None, *, one_each: bool = True
) -> Any:
    """Return values of which there must be one for each object or clustering, as an array.

    Without `one_each` an object may have several, as it has features.
    """
    array = _validate.as_array(_validate.in_order_of_index(values, index))
    if array.ndim == 0 or len(array) != n:
        found = "a single value" if array.ndim == 0 else f"{len(array):,}"
        raise ValueError(
            f"report needs {what} for each of the {n:,} {of}s, but got {found}. Pass them in the"
            f" order of the {'rows' if of == 'object' else 'columns'} of the votes."
        )
    if one_each and array.ndim > 1:
        raise ValueError(
            f"report needs {what} for each of the {n:,} {of}s, one value each, but got an array of"
            f" shape {array.shape}. Pass a single column."
        )
    return array
