"""The two calls: a report as text, and as a file."""

from __future__ import annotations

import importlib.util
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import MOST_COLOURS, cluster_codes
from ensemblage.report._choice import k_facts
from ensemblage.report._facts import (
    MOST_MICROCLUSTERS,
    Subject,
    cluster_facts,
    member_facts,
    object_facts,
    seed_facts,
    truth_facts,
)
from ensemblage.report._pictures import heatmap, maps, tree
from ensemblage.report._sample import least_sure, representatives
from ensemblage.report._text import Names, short, visible
from ensemblage.report._texts import parts_of, texts
from ensemblage.report._words import counted, python_code, summary, tiles

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

_ALL_OBJECTS = 5000  # up to so many are all in the table
_SAMPLE = 2000
_LEAST_SURE = 1000


def html(
    model: Any,
    *,
    features: Any = None,
    truth: Any = None,
    ids: Any = None,
    names: Any = None,
    title: str = "Consensus of clusterings",
    command: str | None = None,
) -> str:
    """Return a report on a consensus as one HTML page that needs nothing else.

    Parameters
    ----------
    model : fitted estimator, or votes
        A fitted consensus method or `EnsembleClustering`; or a label matrix, whose consensus is
        then found by ``Consensus(random_state=0)``.
    features : array-like of shape (n_objects, n_features), optional
        Measurements of the objects, for a second map.
    truth : array-like of shape (n_objects,), optional
        True classes to compare the clusters with; -1, NaN and None are objects without one.
    ids : array-like of shape (n_objects,), optional
        What the objects are called. By default the index of the DataFrame that was fitted, or the
        row numbers.
    names : sequence of length n_clusterings, optional
        What the clusterings are called. By default the columns of that DataFrame, or their places.
    title : str, default="Consensus of clusterings"
        The heading.
    command : str, optional
        A command line that makes this report, to be shown in it.

    Returns
    -------
    str
        HTML with its style, its script and its data inside. A Content-Security-Policy forbids it
        to ask for anything. Names and labels are shown as text, whatever they hold.

    Notes
    -----
    Of more than 5,000 objects the tables and pictures show some, evenly chosen from all clusters,
    and those that the consensus is least sure of; the report says so. Figures of clusters and
    clusterings are always over all objects. Equal input gives an equal page.

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

    subject = _subject(model, features=features, truth=truth, ids=ids, names=names)
    fitted = subject.fitted
    sample, shown = _chosen(fitted)
    long_names = Names()
    clusters, members = cluster_facts(fitted), member_facts(subject, long_names)
    seeds = seed_facts(fitted)
    # The sample comes first among the objects shown, so pictures refer to it by place.
    data: dict[str, Any] = {
        "objects": object_facts(subject, shown, long_names, seeds),
        "clusters": clusters,
        "members": members,
        "heatmap": heatmap(subject, sample),
        "maps": maps(subject, sample),
        "tree": tree(subject),
        "truth": truth_facts(subject, shown, long_names),
        "k": k_facts(fitted),
    }
    n_classes = 0 if data["truth"] is None else len(data["truth"]["name"])
    data["colours"] = cluster_codes(min(max(fitted.n_clusters_, n_classes), MOST_COLOURS))
    heading = visible(title)
    return page(
        data,
        version=__version__,
        title=short(heading, 200),
        title_text=short(heading, 120),
        parts=parts_of(data),
        tiles=tiles(fitted, len(members["name"])),
        findings=summary(fitted, clusters, members, seeds, data["k"], data["truth"]),
        notes=_notes(fitted, len(shown), data["k"], long_names),
        objects_lead=_about_objects(subject.n_objects, len(shown)),
        command=None if command is None else visible(command),
        python=python_code(fitted, features=features is not None, truth=truth is not None),
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
    title: str = "Consensus of clusterings",
    command: str | None = None,
) -> None:
    """Write a report on a consensus as one HTML file, whole or not at all.

    Parameters
    ----------
    model : fitted estimator, or votes
        As for `html`.
    path : str or path-like
        The file, ``report.html`` say; ``-`` is standard output.
    features, truth, ids, names, title, command
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
    from ensemblage import files

    files.check_writable(path, format="csv")  # refused before the work is done
    text = html(
        model,
        features=features,
        truth=truth,
        ids=ids,
        names=names,
        title=title,
        command=command,
    )
    files.write_text(path, text)


def _subject(model: Any, *, features: Any, truth: Any, ids: Any, names: Any) -> Subject:
    """Return what the report is about, checked."""
    if not hasattr(model, "fit"):
        from ensemblage.methods import Consensus

        model = Consensus(random_state=0).fit(model)
    fitted = _validate.check_fitted("report", model)
    _validate.check_has_votes("report", fitted)
    ensemble = fitted._ensemble
    n, n_members = len(fitted.labels_), ensemble.n_clusterings
    _validate.check_each_object("report", n, ensemble.n_objects)
    if ids is None:
        ids = ensemble.index if ensemble.index is not None else getattr(model, "_index", None)
    else:
        ids = _validate.check_beside("report", "ids", ids, n, "object")
    if names is None:
        places = [f"clustering {place}" for place in range(1, n_members + 1)]
        names = places if ensemble.names is None else list(ensemble.names)
    else:
        names = list(_validate.check_beside("report", "names", names, n_members, "clustering"))
    if truth is not None:
        truth = _validate.check_beside("report", "truth", truth, n, "object")
    matrix = None
    if features is not None:
        matrix = _validate.check_features(features).matrix
        _validate.check_beside("report", "features", matrix, n, "object", one_each=False)
    return Subject(fitted, ids, names, truth, matrix)


def _chosen(fitted: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return objects that stand for all, and all that are shown: these, then the least sure."""
    n = len(fitted.labels_)
    if n <= _ALL_OBJECTS:
        return np.arange(n), np.arange(n)
    sample = representatives(fitted.labels_, _SAMPLE)
    unsure = np.setdiff1d(least_sure(fitted.confidence_, _LEAST_SURE), sample)
    return sample, np.concatenate([sample, unsure])


def _notes(fitted: Any, n_shown: int, k: Any, names: Names) -> list[str]:
    notes, n = [], len(fitted.labels_)
    if n_shown < n:
        notes.append(
            f"This report shows {n_shown:,} of {n:,} objects: some of every cluster, evenly chosen,"
            f" and {_LEAST_SURE:,} that the consensus is least sure of. All figures of clusters and"
            " clusterings are over all objects."
        )
    if k is None and fitted.n_microclusters_ > MOST_MICROCLUSTERS:
        notes.append(
            f"Beyond {MOST_MICROCLUSTERS:,} microclusters, other numbers of clusters and other"
            " seeds are not looked into: it takes long. ensemblage choose-k does the former."
        )
    if names.n_cut:
        notes.append(
            f"{counted(names.n_cut, 'very long name')} {'is' if names.n_cut == 1 else 'are'}"
            " shortened, to keep the file small."
        )
    return notes


def _about_objects(n: int, n_shown: int) -> str:
    if n_shown == n:
        return "All objects with their cluster, how sure it is, and where else they might belong."
    return (
        f"{n_shown:,} of {n:,} objects: a sample of every cluster and the {_LEAST_SURE:,} least"
        " sure. ensemblage consensus --confidence writes all of them to a file."
    )


def _settings(fitted: Any, version: str) -> list[tuple[str, str]]:
    """Return what was set or chosen, for the record."""
    found = [("method", type(fitted).__name__), ("clusters", str(fitted.n_clusters_))]
    found += [
        (f"{name} (chosen)" if fitted.get_params().get(name) == "auto" else name, str(value))
        for name in ("n_neighbors", "n_steps")
        if (value := getattr(fitted, f"{name}_", None)) is not None
    ]
    if "random_state" in fitted.get_params():
        found.append(("random_state", short(visible(fitted.get_params()["random_state"]), 60)))
    return [
        *found,
        ("ensemblage", version),
        ("numpy", np.__version__),
        ("Python", platform.python_version()),
    ]


def need_jinja() -> None:
    """Say how to get jinja2, where it is missing, before anything is run."""
    if importlib.util.find_spec("jinja2") is None:
        raise ImportError("Reports need jinja2. Install it with: pip install 'ensemblage[report]'")
