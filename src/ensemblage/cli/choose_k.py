"""``ensemblage choose-k``: how many clusters, with the scores of each number and reasons."""

from __future__ import annotations

from ensemblage.cli import options
from ensemblage.cli.errors import UsageError
from ensemblage.cli.output import format_absent, format_choice, format_choice_scores
from ensemblage.cli.session import FitSession, check_k, verb

EXAMPLES = """\b
Examples:
  ensemblage choose-k votes.csv
  ensemblage choose-k votes.csv -m pta --k-range 2:30 --criteria all
  ensemblage choose-k pool.mat --truth gt --criteria lifetime,pac -o k.csv
  ensemblage choose-k votes.parquet --json

\b
Criteria: support, recurrence, balance, ensemble_nmi, confidence, lifetime,
eigengap (cheap, the default); subset_stability, pac, delta_area,
seed_stability (refits); all.
"""


@verb
def choose_k(
    session: FitSession,
    *,
    k_range: options.ScoreRange = None,
    criteria: options.Criteria = "cheap",
    criterion: options.Criterion = "auto",
    refits: options.Refits = 10,
    output: options.ScoreFile = None,
) -> None:
    """Recommend a number of clusters, with the evidence for it.

    Fits a method once and scores its cuts at many k. Prints a table of the scores (a star marks
    the best k of each; higher is better except for PAC), the recommendation, how strong the
    evidence is and why, and the alternatives. One cluster is recommended if the clusterings agree
    no more than permuted votes. With --truth the number of true classes is printed.
    """
    if k_range is not None and k_range[0] < 2:
        raise UsageError(
            "--k-range must begin at 2 or later, since a single cluster cannot be compared, got"
            f" {k_range[0]}:{k_range[-1]}."
        )
    session.resolve()
    session.check_table(output, "csv", "tsv", "parquet")
    from ensemblage import metrics, tables

    estimator = session.estimator(1)
    ensemble = session.read()
    with session.stage(f"Cuts of {session.title}"):
        check_k(1 if k_range is None else k_range[-1], ensemble)
        choice = metrics.choose_k(
            estimator.fit(ensemble),
            k_range,
            criterion,
            criteria=criteria,
            n_refits=refits,
            random_state=session.seed,
        )
    if output is not None:
        columns = {"k": choice.ks, **choice.scores}
        tables.write(output, columns, decimals=dict.fromkeys(choice.scores, 6))
    n_classes = None
    if session.true_labels is not None:
        classes = session.true_labels[~tables.is_missing(session.true_labels)]
        n_classes = len(set(classes.tolist()))
    facts = {
        "method": session.method,
        **session.facts(ensemble),
        "output": output,
        **session.clock.elapsed().facts(),
        "n_classes": n_classes,
        **choice.to_dict(),
    }
    lines = [format_choice_scores(choice), ""] if choice.scores else []
    lines += [format_choice(choice), *format_absent(choice)]
    lines += [] if n_classes is None else [f"The true labels have {n_classes} classes."]
    session.finish("choose-k", facts, "\n".join(lines), err=output == "-", asked=output is None)
