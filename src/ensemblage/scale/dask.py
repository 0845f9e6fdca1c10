"""Consensus of votes on the workers of a Dask cluster.

Workers index pieces of the votes and merge the indices; the client fits; workers label objects.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage.scale._index import numbers_of, unpacked
from ensemblage.scale._work import Ask, consensus_of, fit, opened
from ensemblage.tables import is_folder, is_remote, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ensemblage.scale._partitions import PartitionSource

__all__ = ["consensus"]

_EXTRA = 'pip install "ensemblage[dask]"'
_OTHER_SERVER = "what answers there is not a scheduler of Dask"


def consensus(
    votes: Any,
    estimator: Any,
    output: str | PathLike[str] | None = None,
    *,
    client: Any = None,
    columns: Sequence[Any] | None = None,
    keep: Sequence[Any] = (),
    id_column: Any = None,
    confidence: bool = False,
    cuts: Iterable[int] | None = None,
    by_size: bool = False,
    truth: Any = None,
    task_rows: int = 1 << 21,
    batch_rows: int = 1 << 20,
    progress: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    header: bool | str = "auto",
    format: str | None = None,  # noqa: A002 - what tables.read calls it
) -> Any:
    """Find the consensus of votes that are spread over a Dask cluster.

    Labels are those that the estimator gives for the same votes in memory. Workers may die on the
    way: Dask gives their tasks to others.

    Parameters
    ----------
    votes : dask.dataframe.DataFrame, dask.array.Array, or files
        A row for each object, a column for each clustering. Files, folders and patterns are those
        that `ensemblage.scale.stream.consensus` takes, and every worker must see them under the
        same path. Workers read them without Dask's DataFrame, in ranges of row groups.
    estimator : estimator
        Any consensus method, such as ``PTGP(10)``, with ``level="microclusters"`` if it has levels.
        It is fitted in this process.
    output : str or path-like, optional
        Where labels go: a file (``.parquet``, ``.csv`` or ``.tsv``), or a folder, named with a
        slash at the end unless it exists, which gets a file for each of the sources or
        partitions. Workers write it, so all must see it under the same path. Without it, labels
        of a DataFrame or an Array are returned; for files it is required.
    client : distributed.Client or str, optional
        A client, or the address of a scheduler. By default the current client. For TLS a client
        that was made with ``security=``, or ``"tls://host:8786"`` with the certificates in Dask's
        configuration.
    columns : list, optional
        The clusterings; by default all columns but the ids, `truth` and those to `keep`. Of files,
        names or patterns such as ``leiden_*``.
    id_column : str, int or None, default=None
        The column that names the objects in the output, or the name of a DataFrame's index. None
        writes row numbers; "auto", for files only, looks for it.
    truth : str, optional
        A column of true labels, which is not a clustering; the result then has scores. It needs
        `output`.
    task_rows : int, default=2097152
        About how many rows of a file one task goes through. A row group is not cut, and text is
        read by one task for each file. Partitions of collections stay as they are.
    keep, confidence, cuts, by_size, batch_rows, progress, checkpoint, header, format
        As for `ensemblage.scale.stream.consensus`. Runs over collections cannot be resumed.

    Returns
    -------
    dask.dataframe.Series, dask.array.Array or StreamResult
        Without `output`, labels that are computed when asked for, in the partitions that the votes
        have: a Series with their index, or an Array. With `cuts` a DataFrame or an Array with a
        column for each; with `confidence` a DataFrame with the columns ``label`` and
        ``confidence``. With `output`, what was read and the fitted estimator, as of a stream.

    Raises
    ------
    ImportError
        Where Dask is not installed.
    ValueError
        Where there is no client, or the votes do not allow what was asked.
    OSError
        Where no scheduler answers, a file cannot be read or written, a worker does not see it, or
        workers keep dying.

    Notes
    -----
    Votes are gone through twice. If a collection is expensive to compute and fits in the memory of
    the workers, `persist` it first.

    Dask makes strings of columns of objects unless its setting ``dataframe.convert-string`` was
    False when the DataFrame was made. Labels such as Decimal are then compared as text, and -1 is a
    name. Nothing in the DataFrame tells these from strings, so there is no warning.

    Examples
    --------
    >>> import ensemblage as en
    >>> import dask.dataframe as dd                                        # doctest: +SKIP
    >>> from dask.distributed import Client                                # doctest: +SKIP
    >>> from ensemblage.scale import dask as on_dask                          # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")                            # doctest: +SKIP
    >>> labels = on_dask.consensus(dd.read_csv("votes/*.csv"), en.PTGP(10))  # doctest: +SKIP
    >>> labels.value_counts().compute()                                    # doctest: +SKIP
    """
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(f"A cluster needs Dask. Install it with: {_EXTRA}") from error
    _validate.check_whole("consensus", "task_rows", task_rows, 1)
    from dask import is_dask_collection

    from ensemblage.scale._partitions import taken_apart
    from ensemblage.scale._tasks import Tasks

    where = None if output is None else _absolute(output)
    ask = Ask(estimator, where or "", cuts, confidence, by_size, progress, checkpoint, format)
    if not is_dask_collection(votes):
        if output is None:
            raise ValueError(
                "Labels of files are written to files: name an 'output'. Votes in a Dask DataFrame"
                " or Array give a Series or an Array without one."
            )
        paths = [
            path if is_remote(path) else os.path.abspath(path)  # noqa: PTH100 - links stay links
            for path in resolve(votes)  # workers stand elsewhere
        ]
        with _client(client) as connected:
            ask = ask.checked()
            files, known = opened(
                paths,
                estimator,
                format=format,
                columns=columns,
                id_column=id_column,
                truth=truth,
                keep=keep,
                header=header,
                batch_rows=batch_rows,
            )
            return consensus_of(files, known, ask, Tasks(connected, task_rows))
    ask = replace(ask.checked(), format="parquet")
    collection, partitions, sources = taken_apart(votes, columns, keep, id_column, truth)
    with _client(client) as connected:
        tasks = Tasks(connected, 0, partitions)
        if output is not None:
            return consensus_of(sources, {"partitions": len(partitions)}, ask, tasks)
        if truth is not None:
            raise ValueError("Scores belong to a result: name an 'output', or leave 'truth'.")
        return _labels(collection, sources, ask, tasks)


# -- the cluster -----------------------------------------------------------------------------------


@contextmanager
def _client(asked: Any) -> Iterator[Any]:
    """Give the client that was asked for; one that was made here is closed."""
    from distributed import Client

    if isinstance(asked, str):
        try:
            _reach(asked)
        except Exception as error:
            # distributed raises a TypeError for tls:// without certificates.
            if isinstance(error, TypeError) and asked.startswith("tls://"):
                raise ConnectionError(
                    f"{asked} needs certificates: {error}. Set distributed.comm.tls.ca-file,"
                    " .client.cert and .client.key in Dask's configuration, or pass a Client that"
                    " was made with a Security."
                ) from error
            # It parses whatever answers, so bytes of another server may raise any error.
            reason = error if isinstance(error, OSError | ValueError) else _OTHER_SERVER
            raise ConnectionError(
                f"No scheduler answers at {asked}: {reason}. Check the address (as"
                " tcp://host:8786), and that 'dask scheduler' runs there."
            ) from error
        with Client(asked, set_as_default=False) as made:
            yield made
        return
    if asked is not None:
        if not hasattr(asked, "compute") or not hasattr(asked, "gather"):
            raise TypeError(
                "'client' is a dask.distributed.Client or the address of a scheduler, not"
                f" {asked!r}."
            )
        if getattr(asked, "status", "running") == "closed":
            raise ValueError("The client is closed. Make a new one, or name the scheduler.")
        yield asked
        return
    try:
        current = Client.current()
    except ValueError as error:
        raise ValueError(
            "There is no Dask client. Make one first: `from dask.distributed import Client`, then"
            " `Client('tcp://host:8786')` for a cluster that runs, or `Client()` for processes of"
            " this machine. Or name the scheduler: client='tcp://host:8786'."
        ) from error
    yield current


def _reach(address: str) -> None:
    """Connect to a scheduler and leave, or raise the reason why a client could not.

    A client that fails is closed when it is collected. If that happens while the next client
    starts, in its thread, the two wait for one lock of distributed forever.
    """
    from distributed import Security
    from distributed.comm import connect
    from distributed.utils import LoopRunner

    async def connection() -> None:
        found = await connect(address, **Security().get_connection_args("client"))
        await found.close()

    LoopRunner(asynchronous=False).run_sync(connection)


def local_cluster(n_workers: int) -> Any:
    """Return a cluster of processes on this machine, quiet, to be closed by the caller.

    Where cryptography is installed, the processes speak TLS with a key that only they know: other
    users of the machine reach the scheduler's port, and who connects to it may run code.
    """
    import importlib.util
    import logging

    import dask
    from distributed import LocalCluster, Security

    private = importlib.util.find_spec("cryptography") is not None

    # Memory of batches is used again. As Dask sets it, each array of a batch is given back to the
    # system, which then has to clear other pages: a fifth of the CPU.
    environment = "distributed.nanny.pre-spawn-environ"
    kept = {
        f"{environment}.MALLOC_MMAP_THRESHOLD_": 1 << 25,
        f"{environment}.MALLOC_TRIM_THRESHOLD_": 1 << 27,
    }
    with dask.config.set(kept):
        return LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # any port that is free
            silence_logs=logging.CRITICAL,  # a heartbeat that fails at the end is an ERROR
            security=Security.temporary() if private else None,
        )


def _absolute(output: str | PathLike[str]) -> str:
    if not os.fspath(output):
        return ""  # an error, and not this folder
    path = os.path.abspath(output)  # noqa: PTH100 - links stay links
    return f"{path}{os.sep}" if is_folder(os.fspath(output)) else path


# -- collections -----------------------------------------------------------------------------------


def _labels(collection: Any, sources: list[PartitionSource], ask: Ask, tasks: Any) -> Any:
    """Return the labels as a collection with the partitions of the votes."""
    from ensemblage.scale._partitions import is_frame

    if ask.confidence and not is_frame(collection):
        raise ValueError(
            "Labels of an Array have no room for confidence. Use a Dask DataFrame, or name an"
            " 'output'."
        )
    index = unpacked(tasks.index_partitions(sources, show=ask.progress))
    if len(index.groups) == 0:
        raise ValueError("Votes have no objects: all partitions are empty.")
    _, answer = fit(ask, index, sources[0].names)
    shared = tasks.share((index, answer))
    alone = ask.cuts is None and not ask.confidence
    if is_frame(collection):
        kinds = {name: "f8" if name == "confidence" else "i8" for name in answer}
        meta = ("label", "i8") if alone else kinds
        return collection.map_partitions(_label_frame, shared, sources[0], alone=alone, meta=meta)
    shape = {"drop_axis": 1} if alone else {"chunks": (collection.chunks[0], (len(answer),))}
    return collection.map_blocks(
        _label_array, shared, sources[0], alone=alone, dtype=np.int64, **shape
    )


def _label_frame(frame: Any, shared: Any, source: PartitionSource, *, alone: bool) -> Any:
    import pandas as pd

    labels = pd.DataFrame(_columns(frame, shared, source), index=frame.index)
    return labels["label"] if alone else labels


def _label_array(votes: Any, shared: Any, source: PartitionSource, *, alone: bool) -> Any:
    columns = list(_columns(votes, shared, source).values())
    return columns[0] if alone else np.column_stack(columns)


def _columns(data: Any, shared: Any, source: PartitionSource) -> dict[str, Any]:
    source, (index, answer) = source.holding(data), shared.value
    parts = [numbers_of(source, batch, index) for batch in source.batches(0)]
    numbers = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    columns = {name: np.take(values, numbers) for name, values in answer.items()}
    return {n: c if c.dtype.kind == "f" else c.astype(np.int64) for n, c in columns.items()}
