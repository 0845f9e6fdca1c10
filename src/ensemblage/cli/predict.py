"""``ensemblage predict``: a saved model and new votes in, a file of labels out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ensemblage._messages import counted
from ensemblage.cli import options
from ensemblage.cli.engines import LabelSession
from ensemblage.cli.errors import UsageError
from ensemblage.cli.output import format_objects
from ensemblage.cli.session import verb

EXAMPLES = """\b
Examples:
  ensemblage consensus votes.csv -k 10 -o labels.csv --save model.ensemblage
  ensemblage predict model.ensemblage new.csv -o new_labels.csv
  ensemblage predict model.ensemblage votes/*.parquet -o out/ --confidence

\b
An object whose votes occurred in the fit gets the same label; any other gets
the label of the objects that it agrees with most. Clusterings are matched by
name if both files have names, otherwise by position.
"""


@verb
def predict(
    session: LabelSession, *, model: options.Model, engine: options.PredictEngine = "auto"
) -> None:
    """Label new objects by a saved model.

    Reads votes of the clusterings that the model was fitted on, and writes a label for each
    object. The columns of the output are the ids (row numbers if there are none), label, and
    confidence if requested.
    """
    session.check(model)
    loaded = _load(model)
    from ensemblage.ensembles.placement import NamesOfFit, Placement

    session.called = type(loaded).__name__
    digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    session.kinds = NamesOfFit.of(loaded, session.truth)
    session.model = Placement(model, digest, confidence=session.confidence)
    outcome = session.run(engine)
    elapsed = session.clock.elapsed()
    facts = {"method": session.called.lower(), "ks": [loaded.n_clusters_], "model": model}
    summary = (
        f"{format_objects(outcome.n_objects, outcome.id_name)},"
        f" {counted(loaded.n_features_in_, 'clustering')}, k = {loaded.n_clusters_},"
        f" {session.called}: {elapsed}"
    )
    outcome.show_scores(session)
    session.finish("predict", facts | outcome.facts(session.output, elapsed), summary)


def _load(path: str) -> Any:
    """Return the model, if it is one of votes."""
    import ensemblage as en

    if path == "-":
        raise UsageError("A model is read from a file, not from standard input. Name the file.")
    model = en.load(path)
    if hasattr(model, "members_"):
        raise UsageError(
            f"{path} is a model of features (EnsembleClustering), and this command takes votes. In"
            " Python: ensemblage.load(path).predict(features)."
        )
    return model
