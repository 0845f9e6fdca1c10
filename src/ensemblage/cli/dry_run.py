"""``ensemblage consensus --dry-run``: what a consensus will take, from the votes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensemblage.cli.session import FitSession
    from ensemblage.methods.estimating import Estimate


def dry_run(session: FitSession, engine: str, k: int) -> None:
    """Print what a consensus is expected to take. Nothing is written."""
    expected = _expected(session, k, streamed=engine != "memory")
    facts = {
        "method": session.method,
        "ks": [k],
        "n_objects": expected.shape.n_objects,
        "n_clusterings": expected.shape.n_clusterings,
        "n_microclusters": expected.shape.n_microclusters,
        "n_sampled": expected.n_sampled,
        "expected_cpu_seconds": round(expected.seconds, 3),
        "expected_bytes": expected.bytes,
        "engine": engine,
    }
    lines = f"{expected}.\nNothing was computed or written; the engine would be {engine}."
    session.finish("consensus", facts, lines, err=False, asked=True)


def _expected(session: FitSession, k: int, *, streamed: bool) -> Estimate:
    from ensemblage.methods import estimating

    with session.stage("Reading votes"):
        if streamed:
            sample, n_objects = _sampled(session)
        else:
            sample = session.read()
            n_objects = sample.n_objects
    return estimating.of_ensemble(sample, n_objects, session.method, k)


def _sampled(session: FitSession) -> tuple[Any, int]:
    """Return every second, fourth, ... row of files that do not fit in memory, and their number."""
    import numpy as np

    import ensemblage as en
    from ensemblage import tables
    from ensemblage.methods.estimating import MOST_SAMPLED, stride

    reading = session.reading()
    options = {name: reading[name] for name in ("format", "columns", "header")}
    id_column = None if session.id_column == "none" else session.id_column
    sources = tables.scan(session.paths, id_column=id_column, truth=session.truth, **options)
    n_votes = len(sources[0].names)
    codes = [tables.Codes(name) for name in sources[0].label_names]
    rows, step, n_objects = np.empty((0, n_votes), dtype=np.int64), 1, 0
    for source in sources:
        for batch in source.batches():
            votes = np.column_stack(source.votes(batch, codes)[:n_votes])
            rows = np.concatenate([rows, votes[-n_objects % step :: step]])
            n_objects += batch.n_rows
            while len(rows) > 2 * MOST_SAMPLED:
                rows, step = rows[::2], 2 * step
    rows = rows[:: max(1, stride(n_objects) // step)]
    return en.Ensemble(rows), n_objects
