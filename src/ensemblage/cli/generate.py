"""``ensemblage generate``: features in, a pool of base clusterings out."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage._messages import counted
from ensemblage.cli import options
from ensemblage.cli.errors import UsageError, warn
from ensemblage.cli.inputs import check_apart, check_stdin
from ensemblage.cli.output import format_objects, format_target, say
from ensemblage.cli.session import InputSession, verb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ensemblage.ensembles.reading import Features

EXAMPLES = """\b
Examples:
  ensemblage generate cells.csv -m 100 -k 10 -o pool.parquet
  ensemblage generate cells.csv -m 200 --scale standard -o pool.mat
  ensemblage generate PD -m 100 --method kmeans,rpcl --truth truth -o pool.csv
  ensemblage consensus pool.csv -k 10 --truth truth -o labels.csv

\b
After an interruption, the same command resumes where it stopped.
"""


@verb
def generate(
    session: InputSession,
    *,
    data: options.Data,
    output: options.PoolFile,
    members: options.Members = 100,
    method: options.Generators = "kmeans",
    k: options.ConsensusK = None,
    k_range: options.MemberRange = None,
    scale: options.Scale = None,
    subspace: options.Subspace = None,
    projection: options.Projection = None,
    subsample: options.Subsample = None,
    drop: options.Drop = None,
    seed: options.Seed = 0,
    checkpoint: options.Checkpoint = None,
) -> None:
    """Make many clusterings of objects from their features.

    Reads features (a row for each object, a column of numbers for each feature) and writes the ids
    and a column for each clustering: kmeans_001, kmeans_002, ...
    """
    check_stdin(data)
    if k is not None and k_range is not None:
        raise UsageError(
            "-k is the number of clusters of the consensus, --k-range the range for each"
            " clustering. Use only one of them."
        )
    pool_format = _check_output(output, session.truth)
    session.check_json(output)
    from ensemblage import ensembles, tables
    from ensemblage._validate import Features as NamedFeatures
    from ensemblage.ensembles.checkpoint import COMMAND_LOCK, alone, remove_folder
    from ensemblage.ensembles.pool import check_votes_fit
    from ensemblage.ensembles.reading import read_features

    check_apart(output, [*tables.resolve(data), session.truth])
    tables.check_pool_writable(output)
    parts = _parts(output, checkpoint)
    with session.stage("Reading features"):
        features = read_features(
            data,
            truth=session.truth,
            drop=drop or (),
            classes_apart=pool_format in ("npz", "mat"),
            **session.reading(),
        )
    if features.scale is not None and scale is None:
        warn(f"the paper's authors clustered these data with --scale {features.scale}.")
    check_votes_fit(len(features.matrix), members, 1 if k_range is None else k_range[-1])
    width = max(3, len(str(members)))
    names = [f"{method[i % len(method)]}_{i + 1:0{width}d}" for i in range(members)]
    if pool_format not in ("npy", "npz", "mat"):
        _check_names(features, names)
    clusterings = ensembles.members(
        NamedFeatures(features.matrix, None, names=features.names),
        members,
        checkpoint=parts,
        n_clusters=k,
        n_clusters_range=None if k_range is None else (k_range[0], k_range[-1]),
        scale=scale,
        subspace=subspace,
        projection=projection,
        subsample=subsample,
        method=method,
        random_state=seed,
        n_jobs=session.jobs,
    )
    with nullcontext() if parts is None else alone(parts, COMMAND_LOCK):
        votes = _votes(clusterings, (len(features.matrix), members), parts, session)
        silent = int((votes < 0).all(axis=1).sum())
        if silent:
            warn(
                f"{silent} object(s) have no vote in any clustering, and a consensus would reject"
                " them. Make more clusterings, or let each see a larger share (--subsample)."
            )
        tables.write_pool(output, votes, names, ids=features.ids, truth=features.truth)
        if parts is not None and checkpoint is None:
            remove_folder(parts)
    elapsed, sizes = session.clock.elapsed(), votes.max(axis=0).astype(int) + 1
    (n_objects, n_features), n_clusterings = features.matrix.shape, votes.shape[1]
    facts = {
        "methods": method,
        "n_objects": n_objects,
        "n_features": n_features,
        "n_clusterings": n_clusterings,
        "n_clusters": sizes,
        "id_column": features.id_name,
        "truth": None if features.truth is None else features.truth.name,
        "output": output,
        **elapsed.facts(),
    }
    limits = sizes.min(), sizes.max()
    summary = (
        f"{format_objects(n_objects, features.id_name)}, {counted(n_features, 'feature')},"
        f" {counted(n_clusterings, 'clustering')} with {_sizes(*map(int, limits))} in"
        f" {format_target(output)}: {elapsed}"
    )
    session.finish("generate", facts, summary)


def _sizes(least: int, most: int) -> str:
    return counted(most, "cluster") if least == most else f"{least} to {most} clusters"


def _check_output(output: str, truth: str | None) -> str:
    """Return the format of the output, which must be able to hold what was asked for."""
    from ensemblage import tables

    try:
        pool_format = tables.pool_format(output)
    except tables.FileFormatError as error:
        raise UsageError(str(error)) from None
    if pool_format == "npy" and truth is not None:
        raise UsageError(
            "An NPY file holds votes only. For --truth use .parquet, .csv, .npz or .mat."
        )
    return pool_format


def _check_names(features: Features, names: list[str]) -> None:
    """Check that no two columns of the output have the same name."""
    from ensemblage import tables

    taken = [features.ids.name, *([] if features.truth is None else [features.truth.name])]
    for name in taken:
        if name in names or taken.count(name) > 1:
            raise tables.FileFormatError(
                f"Two columns of the output would be called {name!r}. Rename that column of the"
                " input."
            )


def _parts(output: str, checkpoint: str | None) -> Path | None:
    """Return the folder for finished clusterings; there is none beside a pipe."""
    from ensemblage import tables

    target = Path(output)
    if checkpoint is not None:
        folder = Path(checkpoint)
        if tables.identity(output) in [tables.identity(str(p)) for p in (folder, *folder.parents)]:
            raise UsageError(
                f"The output {output} and the checkpoint folder {checkpoint} have one name. Name"
                " another output."
            )
        if tables.identity(checkpoint) == tables.identity(str(target.parent)):
            raise UsageError(
                f"The output {output} is in the checkpoint folder and could replace a file of it."
                " Name another output."
            )
        return folder
    if output == "-" or tables.is_special(output):
        return None
    return target.with_name(f"{target.name}.parts")


def _votes(
    clusterings: Iterable[tuple[int, NDArray[Any]]],
    shape: tuple[int, int],
    parts: Path | None,
    session: InputSession,
) -> NDArray[Any]:
    """Return the clusterings, one a column; finished ones are kept in `parts` meanwhile."""
    import numpy as np

    members = shape[1]
    before = _n_kept(parts, members)
    if before and not session.quiet:
        say(f"Resuming: {before} of {members} clusterings are in {parts}.", err=True)
    votes = np.empty(shape, dtype=np.int8)
    try:
        for index, labels in session.track(clusterings, "Clustering", members):
            if labels.dtype.itemsize > votes.dtype.itemsize:
                votes = votes.astype(labels.dtype)
            votes[:, index] = labels
    except KeyboardInterrupt:
        if parts is not None:
            warn(
                f"{_n_kept(parts, members)} of {members} clusterings are kept in {parts}. The same"
                " command resumes from there."
            )
        raise
    return votes


def _n_kept(parts: Path | None, members: int) -> int:
    return 0 if parts is None else min(members, len(list(parts.glob("member-*.npy"))))
