"""Rules for ties of complete and single link: what they give at the true k, and what they cost.

python -m benchmarks.ties [NAME ...] [--draws 8] [--sizes 1000 3000 6000]

Prints NMI (MI / max) at the true k over draws of M = 10 from the authors' pools, for each rule of
`ties` and as the paper has it, and PTA with one elite neighbour, where the graph falls into parts
that have nothing in common. Then CPU seconds of a tree on the co-association of 20 noisy
clusterings, beside average link, which follows a chain of nearest neighbours.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ensemblage as en
from benchmarks.measure import cost
from ensemblage import flow
from ensemblage.experiments import sources
from ensemblage.experiments.paper import printed

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("MF", "IS", "ODR", "LS", "PD")
TIES = ("mean", "later", "octave")
_ONE_NEIGHBOUR: dict[str, Any] = {"n_neighbors": 1, "n_steps": 10}
#: Method, parameters, and the paper's name of it where that prints the true k.
ROWS: tuple[tuple[str, dict[str, Any], str | None], ...] = (
    ("EAC", {"linkage": "complete"}, "EAC-CL"),
    ("WEAC", {"linkage": "complete"}, "WEAC-CL"),
    ("WCT", {"linkage": "complete"}, "WCT-CL"),
    ("EAC", {"linkage": "single"}, "EAC-SL"),
    ("PTA", {"linkage": "complete"}, "PTA-CL"),
    ("PTA", {"linkage": "average", **_ONE_NEIGHBOUR}, None),
    ("PTA", {"linkage": "complete", **_ONE_NEIGHBOUR}, None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--sizes", nargs="*", type=int, default=[1000, 3000, 6000])
    options = parser.parse_args()
    if options.draws:
        _print_scores(options.names, options.draws)
    if options.sizes:
        _print_seconds(options.sizes)


def _print_scores(names: Sequence[str], draws: int) -> None:
    paper = printed()["comparison_nmi"]
    print(f"{'NMI at the true k':26} {'data':5}" + "".join(f"{t:>16}" for t in (*TIES, "paper")))
    for method, parameters, known_as in ROWS:
        title = f"{method} {parameters['linkage']}" + (" K=1" if len(parameters) > 1 else "")
        for name in names:
            found = np.array([_scores(name, draw, method, parameters) for draw in range(draws)])
            error = found.std(axis=0, ddof=1) / draws**0.5 if draws > 1 else 0.0 * found[0]
            cells = [
                f"{mean:8.3f} ({e:.3f})"
                for mean, e in zip(found.mean(axis=0), error, strict=True)
            ]  # fmt: skip
            theirs = paper[known_as][name]["true_k"] if known_as else None
            cells.append("" if theirs is None else f"{theirs:16.3f}")
            print(f"{title:26} {name:5}" + "".join(cells), flush=True)


def _scores(name: str, draw: int, method: str, parameters: dict[str, Any]) -> list[float]:
    ensemble, truth = sources.drawn(Path(), sources.AUTHORS, name, 10, draw)
    k = len(np.unique(truth))
    labels = (
        getattr(en, method)(k, ties=ties, **parameters).fit_predict(ensemble) for ties in TIES
    )
    return [en.metrics.nmi(truth, found) for found in labels]


def _print_seconds(sizes: Sequence[int]) -> None:
    columns = [("average", "mean"), *((link, t) for link in ("complete", "single") for t in TIES)]
    print(f"\n{'CPU s':>7}" + "".join(f"{f'{link} {ties}':>17}" for link, ties in columns))
    for n in sizes:
        table, sizes_of = _noisy(n)
        distance = 1.0 - flow.coassociation(table)
        seconds = []
        for link, ties in columns:
            found = cost(lambda: flow.agglomerate(distance.copy(), link, sizes_of, ties))  # noqa: B023
            seconds.append(found.cpu)
        print(f"{len(table):7}" + "".join(f"{value:17.3f}" for value in seconds), flush=True)


def _noisy(n: int) -> tuple[Any, Any]:
    """Return n distinct rows of 20 clusterings of twelve groups, every third vote being wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, n)
    shape = (n, 20)
    votes = np.where(rng.random(shape) < 1 / 3, rng.integers(0, 12, shape), truth[:, None])
    table, sizes, _ = en.microclusters(votes)
    return table, sizes


if __name__ == "__main__":
    main()
