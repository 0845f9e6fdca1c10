"""Generation of a label matrix from features: many randomised base clusterings."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._progress import track
from ensemblage.ensembles._plan import make_plan
from ensemblage.ensembles._run import run_labels
from ensemblage.ensembles.checkpoint import alone, open_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from ensemblage._types import IntArray
    from ensemblage.ensembles._plan import Plan
    from ensemblage.ensembles.checkpoint import Folder

_BYTES_OF_MEMBER = 128  # its number and its name, in lists


def generate(
    features: Any,
    n_members: int = 100,
    method: Any = "kmeans",
    n_clusters_range: tuple[int, int] | None = None,
    scale: str | None = None,
    *,
    n_clusters: int | None = None,
    subspace: float | None = None,
    projection: float | None = None,
    subsample: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool = False,
) -> IntArray:
    """Return many base clusterings of objects given by features: votes for a consensus method.

    Every member draws its own number of clusters and its own start, and optionally its own
    features, projection and objects.

    Parameters
    ----------
    features : array-like or DataFrame of shape (n_objects, n_features)
        Finite numbers. uint8, float32 and float64 are used without a copy.
    n_members : int, default=100
        Number of clusterings.
    method : "kmeans", "kmeans++", "rpcl", clusterer, or list of these, default="kmeans"
        Base clusterer; those of a list are used in turn. A clusterer of scikit-learn is cloned for
        each member, and its `n_clusters` (`n_components` of mixtures) and `random_state` are set,
        also inside a pipeline. One without, or with ``n_clusters=None``, runs unchanged, and noise
        (-1) is a missing vote.
    n_clusters_range : (int, int) or None, default=None
        Smallest and largest number of clusters; each member draws one of these, all equally likely.
        None is from 2 to ``ceil(sqrt(n_objects) / 2)``, at most 50, unless `n_clusters` is given. A
        member has at most as many clusters as distinct objects.
    scale : None, "minmax" or "standard", default=None
        Scale each feature to [0, 1], or to mean 0 and variance 1, before anything else. Without it,
        features whose scales differ by more than a factor of 100 raise an
        `UnscaledFeaturesWarning`.
    n_clusters : int or None, default=None
        Number of clusters of the consensus, if known. Without `n_clusters_range`, members then have
        the range of ``EnsembleClustering(n_clusters)``: from ``2 * n_clusters`` to
        ``4 * n_clusters``, or to the limit above if that is more.
    subspace : float, int or None, default=None
        Share of the features (a float up to 1.0), or number of features, drawn for each member.
    projection : float, int or None, default=None
        Share or number of dimensions of a random projection of each member's features.
    subsample : float or None, default=None
        Share of the objects of each member. The others have no vote in it (-1).
    random_state : int, Generator, RandomState or None, default=None
        Equal integers give equal votes. Member i depends on the seed and on i only: 50 members
        are the first 50 of 100.
    n_jobs : int or None, default=None
        Parallel members, in threads. None means the number of an active `joblib.parallel_config`,
        or else ``OMP_NUM_THREADS`` or else all cores; votes do not depend on it.
    checkpoint : path or None, default=None
        Folder in which each finished member is kept. The same call resumes an interrupted one, also
        with more members; other features or settings raise an error.
    progress : bool, default=False
        Show a bar and the time left on standard error, if that is a terminal.

    Returns
    -------
    ndarray of shape (n_objects, n_members)
        Labels from 0 in each column, in order of first appearance; -1 is a missing vote. Signed
        integers of the smallest type that holds them.

    See Also
    --------
    members : the same, one member at a time.
    ensemblage.EnsembleClustering : features in, consensus out.

    Notes
    -----
    "kmeans" is Lloyd's algorithm from randomly chosen objects, with one start and at most 100
    rounds; a cluster that loses its last object takes the one farthest from its centre. It skips
    distances that cannot affect a label. "kmeans++" starts from objects that are far from each
    other (Arthur and Vassilvitskii 2007), which finds small groups. "rpcl" is rival penalised
    competitive learning with a rate drawn from [0.01, 0.1] and 10 to 20 epochs. Huang, Lai and Wang
    (2016) used "kmeans" and "rpcl".

    Examples
    --------
    >>> import ensemblage as en
    >>> features = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [5.0, 5.1], [5.1, 5.0], [9.0, 0.0]]
    >>> en.ensembles.generate(features, n_members=4, n_clusters_range=(2, 3), random_state=0)
    array([[0, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 1],
           [1, 1, 1, 2],
           [1, 1, 1, 2],
           [1, 1, 2, 2]], dtype=int8)
    """
    parameters = locals()  # the parameters by name
    del parameters["progress"]
    plan, folder = _prepare("generate", **parameters)
    n_objects = len(plan.features)
    check_votes_fit(n_objects, n_members, plan.n_clusters_range[1])
    votes = np.empty((n_objects, n_members), dtype=np.int8)
    finished = _iterate(plan, n_members, n_jobs, folder)
    for index, labels in track(finished, "members", n_members, show=progress):
        if labels.dtype.itemsize > votes.dtype.itemsize:
            votes = votes.astype(labels.dtype)
        votes[:, index] = labels
    return votes


def members(
    features: Any,
    n_members: int = 100,
    method: Any = "kmeans",
    n_clusters_range: tuple[int, int] | None = None,
    scale: str | None = None,
    *,
    n_clusters: int | None = None,
    subspace: float | None = None,
    projection: float | None = None,
    subsample: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Iterator[tuple[int, IntArray]]:
    """Yield the members of `generate` one by one, as they finish.

    Use it to process members early, or not to hold all of them. Parameters are those of `generate`;
    they are checked at once, and work starts with the first member.

    Yields
    ------
    index : int
        The column of `generate`. Members are in no particular order.
    labels : ndarray of shape (n_objects,)
        Labels from 0, -1 for a missing vote.

    Examples
    --------
    >>> import ensemblage as en
    >>> features = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
    >>> found = en.ensembles.members(features, 3, n_clusters_range=(2, 3), random_state=0)
    >>> sorted(index for index, labels in found)
    [0, 1, 2]
    """
    plan, folder = _prepare("members", **locals())
    n_bytes = _BYTES_OF_MEMBER * n_members
    _validate.check_memory(n_bytes, f"A list of {n_members} members", "Use fewer members.")
    return _iterate(plan, n_members, n_jobs, folder)


def check_votes_fit(n_objects: int, n_members: int, most_clusters: int = 1) -> None:
    """Raise where the votes of all members, and their names, do not fit in memory."""
    itemsize = np.min_scalar_type(-most_clusters).itemsize
    _validate.check_memory(
        n_members * (n_objects * itemsize + _BYTES_OF_MEMBER),
        f"Votes of {n_members} members on {n_objects} objects",
        "Use fewer members.",
    )


def _prepare(
    owner: str,
    features: Any,
    n_members: int,
    *,
    random_state: Any,
    n_jobs: int | None,
    checkpoint: Any,
    **settings: Any,
) -> tuple[Plan, Folder | None]:
    _validate.check_whole(owner, "n_members", n_members, 1)
    _validate.check_n_jobs(owner, n_jobs)
    seed = _validate.check_random_state(owner, random_state)
    if settings["n_clusters"] is not None:
        _validate.check_n_clusters(owner, settings["n_clusters"])
    checked = _validate.check_features(features)
    plan = make_plan(owner, checked.matrix, seed=seed, names=checked.names, **settings)
    if checkpoint is None:
        return plan, None
    return open_folder(checkpoint, plan, any_seed=random_state is None)


def _iterate(
    plan: Plan, n_members: int, n_jobs: int | None, folder: Folder | None
) -> Iterator[tuple[int, IntArray]]:
    """Yield the members of the folder, then the missing ones."""
    with nullcontext() if folder is None else alone(folder.path):
        yield from _found_or_made(plan, n_members, n_jobs, folder)


def _found_or_made(
    plan: Plan, n_members: int, n_jobs: int | None, folder: Folder | None
) -> Iterator[tuple[int, IntArray]]:
    missing = []
    for index in range(n_members):
        labels = None if folder is None else folder.read(index)
        if labels is None:
            missing.append(index)
        else:
            yield index, labels
    with closing(run_labels(plan, missing, n_jobs)) as made:  # close at once
        for index, labels in made:
            if folder is not None:
                folder.write(index, labels)
            yield index, labels
