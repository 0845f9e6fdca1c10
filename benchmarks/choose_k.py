"""How often each way to choose k finds the number of classes.

python -m benchmarks.choose_k [tables many noise evidence features] [--draws 3] [--sets 60]
    [--method consensus ptgp pta eac] [-o FILE.json]

Tables: ensembles of 20 members, drawn from the authors' pools, and of our own from features
(5,000 rows at most) with the defaults of `ensemblage.ensembles.generate`. Datasets that nobody
looked at while the default was made are apart. So are blobs of known number, as a check that
nothing prefers the ten classes that most of the datasets have, and the rule that says 10 always.

For every criterion: how often it chooses the number of classes, one within 1, one within 2; the
mean absolute logarithm of the ratio to it (0.69 is a factor of two); and the loss, the ARI with the
classes at the best k looked at less that at the k chosen. Datasets count alike. The last lines
leave out one dataset at a time, choose by the others the criterion with the smallest loss, and
judge that on the one left out.

Many, noise, evidence: generated sets (see `benchmarks.choose_k_sets`), chosen for by `Consensus`.
How often 12 to 16 clear blobs are found, how often noise is said to have no structure, and how
often a verdict of strong, moderate and weak evidence was right.

Features: the choice of `EnsembleClustering`, which the features judge too, for the blobs and
datasets of `benchmarks.quality_sets`, and its ARI beside that with the true number.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import track
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import minmax_scale, scale

import ensemblage as en
from benchmarks import choose_k_sets as sets
from benchmarks import quality_sets as known
from ensemblage.metrics.choosing import CRITERIA
from ensemblage.metrics.choosing._verdict import EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

POOLS = ("IS", "LS", "MF", "ODR", "PD")
FEATURES = (
    "IS",
    "LS",
    "MNIST",
    "USPS",
    "FC",
    "Pollen",
    "PBMC68k_reduced",
    "digits",
    "iris",
    "wine",
)
#: Not looked at while the rule "balance" was made.
FRESH = ("MF", "ODR", "PD", "KDD99-10P", "breast cancer")
BLOBS = (2, 3, 5, 8, 12, 16)
MEMBERS = 20
MOST_ROWS = 5000
AUTO = "the default"
ALWAYS = "always 10"
KINDS = ("datasets", "fresh datasets", "blobs")
PARTS = ("tables", "many", "noise", "evidence", "features")
N_UNEQUAL = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("part", nargs="*", default=PARTS, help=", ".join(PARTS))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--method", nargs="+", default=["consensus", "ptgp", "pta", "eac"])
    parser.add_argument("-o", "--output", help="write every choice to this JSON file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    begun = time.process_time()
    if "tables" in options.part:
        _print_tables(options)
    if "many" in options.part:
        _print_many(options.sets)
    if "noise" in options.part:
        _print_noise(options.sets)
    if "evidence" in options.part:
        _print_evidence(4 * options.sets)
    if "features" in options.part:
        _print_features()
    print(f"\n{time.process_time() - begun:.0f} CPU seconds")


def _print_tables(options: argparse.Namespace) -> None:
    records = [
        {"method": method, "kind": kind, "data": name, "classes": len(np.unique(truth)), **found}
        for kind, name, votes, truth in track(list(_ensembles(options.draws)), "Choosing k")
        for method in options.method
        for found in _choices(method, votes, truth)
    ]
    if options.output:
        Path(options.output).write_text(json.dumps(records), encoding="utf-8")
    for method in options.method:
        for kind in KINDS:
            rows = [row for row in records if (row["method"], row["kind"]) == (method, kind)]
            print(f"\n{method.upper()} on {kind}\n{_table(rows)}")
            if kind == "datasets":
                print(_left_out(rows))


def _print_many(n_sets: int) -> None:
    """Count how often 12 to 16 clear blobs are found, now and by the rule of before."""
    found: dict[str, list[tuple[bool, bool, bool]]] = {}
    for drawn in track(list(sets.many_clear(n_sets)), "Many clear groups"):
        choice, classes = _choice(drawn.votes), len(np.unique(drawn.truth))
        off, before = abs(choice.k - classes), abs(choice.recommended["balance"] - classes)
        found.setdefault(drawn.kind, []).append((off == 0, off <= 1, before <= 1))
    print("\n12 to 16 clear blobs             sets   hits     ±1  ±1 by balance")
    for kind, rows in found.items():
        shares = "".join(f"{share:7.2f}" for share in np.mean(rows, axis=0))
        print(f"{kind:30} {len(rows):6}{shares}")


def _print_noise(n_sets: int) -> None:
    """Count what is said of votes and of features without structure."""
    print("\nnoise                            sets" + "".join(f"{e:>10}" for e in EVIDENCE))
    for drawn in (sets.random_votes(n_sets), sets.noise_features(n_sets)):
        said: dict[str, list[str]] = {}
        for one in track(list(drawn), "Noise"):
            said.setdefault(one.kind, []).append(_choice(one.votes).evidence)
            if one.features is not None:
                model = en.EnsembleClustering("auto", random_state=0).fit(one.features)
                said.setdefault(f"EnsembleClustering, {one.kind}", []).append(
                    model.k_choice_.evidence
                )
        for kind, rows in said.items():
            shares = "".join(f"{rows.count(evidence) / len(rows):10.2f}" for evidence in EVIDENCE)
            print(f"{kind:30} {len(rows):6}{shares}")


def _print_features() -> None:
    """Count how often the number of groups is found from features, and show the ARI."""
    kinds = {
        "blobs": [known.blobs(seed) for seed in range(known.N_BLOBS)],
        "blobs of unequal size": [known.unequal(seed) for seed in range(N_UNEQUAL)],
        "datasets": [make(0) for make in known.DATASETS.values()],
    }
    print("\nEnsembleClustering()             sets   hits     ±1    ARI    ARI at the true number")
    for kind, drawn in kinds.items():
        rows = []
        for data in track(drawn, "Features"):
            model = en.EnsembleClustering(random_state=0).fit(data.features)
            given = en.EnsembleClustering(data.k, random_state=0).fit(data.features)
            off = abs(model.n_clusters_ - data.k)
            aris = [en.metrics.ari(data.truth, fitted.labels_) for fitted in (model, given)]
            rows.append((off == 0, off <= 1, *aris))
        shares = "".join(f"{share:7.2f}" for share in np.mean(rows, axis=0))
        print(f"{kind:30} {len(rows):6}{shares}")


def _print_evidence(n_sets: int) -> None:
    """Show how often each verdict was right."""
    rows: dict[str, list[tuple[bool, bool, bool, float]]] = {}
    for drawn in track(list(sets.mixed(n_sets)), "Evidence"):
        estimator = en.Consensus(2, random_state=0).fit(drawn.votes)
        choice, classes = en.metrics.choose_k(estimator), len(np.unique(drawn.truth))
        off, before = abs(choice.k - classes), abs(choice.recommended["balance"] - classes)
        ari = en.metrics.ari(drawn.truth, estimator.cut(choice.k))
        for name in (choice.evidence, "all", drawn.kind):
            rows.setdefault(name, []).append((off == 0, off <= 1, before <= 1, ari))
    print("\ngenerated sets                   sets   hits     ±1  ±1 by balance    ARI")
    order = [*EVIDENCE, "all", *sorted(name for name in rows if name.startswith("distance"))]
    for name in [name for name in order if name in rows]:
        shares = "".join(f"{share:7.2f}" for share in np.mean(rows[name], axis=0))
        print(f"{name:30} {len(rows[name]):6}{shares}")


def _choice(votes: np.ndarray) -> en.metrics.KChoice:
    return en.metrics.choose_k(en.Consensus(2, random_state=0).fit(votes))


def _ensembles(draws: int) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Give the kind and the name of the data, votes and classes."""
    for name in POOLS:
        pool = en.datasets.load_pool(name)
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            columns = rng.choice(pool.members.shape[1], MEMBERS, replace=False)
            yield "datasets", f"pool {name}", pool.members[:, columns], pool.truth
    for name in (*FEATURES, *FRESH):
        features, truth = _features(name)
        for draw in range(draws):
            votes = en.ensembles.generate(features, n_members=MEMBERS, random_state=draw)
            yield "fresh datasets" if name in FRESH else "datasets", name, votes, truth
    for k in BLOBS:
        for draw in range(draws):
            features, truth = make_blobs(100 * k, 6, centers=k, cluster_std=2.0, random_state=draw)
            votes = en.ensembles.generate(features, n_members=MEMBERS, random_state=draw)
            yield "blobs", f"blobs {k}", votes, truth


def _features(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "iris":
        return load_iris(return_X_y=True)
    if name in ("wine", "breast cancer"):
        load = load_wine if name == "wine" else load_breast_cancer
        features, truth = load(return_X_y=True)
        return scale(features), truth
    if name == "PBMC68k_reduced":
        folder = Path(os.environ.get("ENSEMBLAGE_DATA", "../shared")) / "data"
        with np.load(folder / f"{name}.npz", allow_pickle=False) as content:
            return content["X_pca"], content["y"]
    data = en.datasets.load(name)
    features = data.features if data.scale is None else minmax_scale(data.features)
    rows = np.arange(len(features))
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)
    return features[rows], data.truth[rows]


def _choices(method: str, votes: np.ndarray, truth: np.ndarray) -> list[dict[str, Any]]:
    """Return what each criterion chooses, and what the ARI with the classes loses by it."""
    estimator = en.METHODS[method](2)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(votes)
    choice = en.metrics.choose_k(estimator, criteria="all")
    ks = choice.ks.tolist()
    scores = {1: 0.0} | {k: en.metrics.ari(truth, estimator.cut(k)) for k in ks}
    chosen = {name: k for name, k in choice.recommended.items() if k is not None}
    chosen[AUTO] = choice.k
    chosen[ALWAYS] = min(10, ks[-1])
    chosen["best ARI"] = max(scores, key=lambda k: scores[k])
    best = max(scores.values())
    return [{"criterion": name, "k": k, "loss": best - scores[k]} for name, k in chosen.items()]


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'':18} {'hits':>6} {'±1':>6} {'±2':>6} {'|log|':>6} {'loss':>7}"]
    for name in (AUTO, *CRITERIA, ALWAYS, "best ARI"):
        some = [row for row in rows if row["criterion"] == name]
        if some:
            means = np.mean([_figures(of_one) for of_one in _by_data(some).values()], axis=0)
            hits = " ".join(f"{value:6.2f}" for value in means[:4])
            lines.append(f"{name:18} {hits} {means[4]:7.3f}")
    return "\n".join(lines)


def _by_data(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [row for row in rows if row["data"] == name] for name in _names(rows)}


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return sorted({row["data"] for row in rows})


def _figures(rows: list[dict[str, Any]]) -> np.ndarray:
    off = np.array([abs(row["k"] - row["classes"]) for row in rows])
    ratio = np.array([abs(np.log(row["k"] / row["classes"])) for row in rows])
    loss = np.array([row["loss"] for row in rows])
    return np.array(
        [(off == 0).mean(), (off <= 1).mean(), (off <= 2).mean(), ratio.mean(), loss.mean()]
    )


def _left_out(rows: list[dict[str, Any]]) -> str:
    """Return which criterion the other datasets would choose for each, and what it gives there."""
    present = [name for name in CRITERIA if any(row["criterion"] == name for row in rows)]
    losses = {
        name: {
            data: float(np.mean([row["loss"] for row in some]))
            for data, some in _by_data([row for row in rows if row["criterion"] == name]).items()
        }
        for name in present
    }
    picked = []
    for data in _names(rows):
        means = {
            name: np.mean([loss for other, loss in of_data.items() if other != data])
            for name, of_data in losses.items()
            if data in of_data
        }
        best = min(means, key=lambda name: means[name])
        picked.append((data, best, losses[best][data]))
    names = [best for _, best, _ in picked]
    counts = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
    mean = np.mean([loss for _, _, loss in picked])
    return f"leaving one dataset out, the others choose: {counts} times; loss there {mean:.3f}"


if __name__ == "__main__":
    main()
