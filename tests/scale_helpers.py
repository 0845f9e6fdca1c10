"""What several tests of ``ensemblage.scale`` need: votes, files of them, runs that stop early."""

import os
import warnings

import numpy as np
import pytest

from ensemblage.scale import _checkpoint, stream

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# -- votes -----------------------------------------------------------------------------------------


def make_votes(n=200, n_clusterings=5, seed=0, gaps=True):
    """Return votes that see three clusters, a fifth of them wrong or (with gaps) missing."""
    rng = np.random.default_rng(seed)
    votes = np.repeat((np.arange(n) % 3)[:, None], n_clusterings, axis=1)
    wrong = rng.random(votes.shape) < 0.2
    votes[wrong] = rng.integers(-1 if gaps else 0, 5, wrong.sum())
    votes[(votes < 0).all(axis=1), 0] = 0
    return votes


def random_votes(n, seed=0):
    """Return votes of four clusterings that know nothing of each other."""
    return np.random.default_rng(seed).integers(0, 3, (n, 4))


# -- files -----------------------------------------------------------------------------------------


def table_of(votes):
    return pa.table({f"m{m}": pa.array(column) for m, column in enumerate(votes.T)})


def write_parts(votes, folder, n_files=3, row_group=17):
    """Write the votes to v0.parquet, v1.parquet and so on, with ids in the column 'cell'."""
    paths = []
    for place, part in enumerate(np.array_split(np.arange(len(votes)), n_files)):
        table = table_of(votes[part]).add_column(0, "cell", pa.array(part))
        paths.append(folder / f"v{place}.parquet")
        pq.write_table(table, paths[-1], row_group_size=row_group)
    return paths


def labels_of(path, column="label"):
    return pq.read_table(path).column(column).to_numpy()


def change(path, place, new):
    """Change some bytes of a file; its size and time of change stay."""
    state, content = path.stat(), bytearray(path.read_bytes())
    content[place : place + len(new)] = new
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


# -- runs ------------------------------------------------------------------------------------------


def in_memory(votes, estimator):
    """Return the estimator fitted to the whole votes, its warnings not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(votes)


def run_stream(sources, estimator, output, **options):
    """Return what a stream returns, its warnings not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stream.consensus(sources, estimator, output, **options)


class Stop(Exception):
    """Stands for whatever ends a run before it is finished."""


def stop_after(monkeypatch, name, n):
    """Let the n-th call of a method of a run's folder fail."""
    real = getattr(_checkpoint.Folder, name)
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == n:
            raise Stop
        return real(*arguments)

    monkeypatch.setattr(_checkpoint.Folder, name, failing)
