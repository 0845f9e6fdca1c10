"""How often labels of LCA are right, by the probability that it gives them.

python -m benchmarks.latent_classes [--quick] [--pools] [--plot FILE.png]

- model: 20 sets of 2,000 objects of 5 classes of unequal size that vote as the model of LCA says,
  independently given the class, in 3, 6 or 12 clusterings of 6 clusters; one vote in ten missing.
- k-means: 20 sets of strongly overlapping blobs, 12 runs of k-means of random k, whose votes are
  not independent given the class.

- pools: NMI (max) with the classes on the authors' pools, M = 10, 4 draws, at the true k.

A label is right if it is the class that a Hungarian matching gives the cluster. The probability of
a label is the largest membership of its object. The expected calibration error (ECE) is the mean
distance of probability and share of right labels in bins of width 0.1, by objects. "new" are 2,000
other objects of the same classes, by `predict_proba`. The last word is `init`, where LCA starts.
Sets and seeds were fixed before the first run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import ensemblage as en
from benchmarks.quality_records import table
from benchmarks.quality_sets import blobs

N_OBJECTS, N_CLASSES, N_LABELS = 2000, 5, 6
SIZES = (3, 6, 12)
INITS = ("lwpt", "best")
N_BINS = 10
POOLS = ("MF", "IS", "ODR", "LS", "PD")
Scored = tuple[np.ndarray, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pools", action="store_true", help="only the pools")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    if options.pools:
        pools(1 if options.quick else 4)
        return
    seeds = range(3 if options.quick else 20)
    found: dict[str, list[Scored]] = {}
    for seed in seeds:
        for init in INITS:
            for n_members in SIZES:
                fitted, new = of_model(seed, n_members, init)
                name = f"model, {n_members} clusterings, {init}"
                found.setdefault(name, []).append(fitted)
                found.setdefault(f"{name}, new", []).append(new)
            found.setdefault(f"k-means, 12 clusterings, {init}", []).append(of_kmeans(seed, init))
    found = dict(sorted(found.items(), key=lambda item: item[0].startswith("k-means")))
    joined = {
        name: tuple(np.concatenate(part) for part in zip(*sets, strict=True))
        for name, sets in found.items()
    }
    show(joined)
    if options.plot:
        draw(joined, options.plot)


# -- measuring -------------------------------------------------------------------------------------


def of_model(seed: int, n_members: int, init: str) -> tuple[Scored, Scored]:
    """Return probabilities and whether labels are right: of objects in the fit, and of new ones."""
    rng = np.random.default_rng([seed, n_members])
    weights = rng.dirichlet(np.full(N_CLASSES, 5.0))
    chances = rng.dirichlet(np.full(N_LABELS, 0.5), size=(n_members, N_CLASSES))
    truth = rng.choice(N_CLASSES, size=2 * N_OBJECTS, p=weights)
    drawn = rng.random((len(truth), n_members, 1))
    votes = (drawn > chances[:, truth].transpose(1, 0, 2).cumsum(axis=2)).sum(axis=2)
    votes = np.minimum(votes, N_LABELS - 1)
    votes[rng.random(votes.shape) < 0.1] = -1
    silent = (votes < 0).all(axis=1)
    votes[silent, 0] = 0
    half = N_OBJECTS
    model = en.LCA(N_CLASSES, init=init, random_state=seed).fit(votes[:half])
    class_of = matched(model.labels_, truth[:half])
    new = model.predict_proba(votes[half:])
    return scored(model.memberships_, class_of, truth[:half]), scored(new, class_of, truth[half:])


def of_kmeans(seed: int, init: str) -> Scored:
    data = blobs(500 + seed, 2.5 + 0.1 * (seed % 10))
    votes = en.ensembles.generate(data.features, 12, n_clusters=data.k, random_state=seed)
    model = en.LCA(data.k, init=init, random_state=seed).fit(votes)
    return scored(model.memberships_, matched(model.labels_, data.truth), data.truth)


def matched(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the class of each cluster by a Hungarian matching, -1 where there is none left."""
    counts = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(counts, (labels, truth), 1)
    class_of = np.full(len(counts), -1)
    clusters, classes = linear_sum_assignment(counts, maximize=True)
    class_of[clusters] = classes
    return class_of


def scored(memberships: np.ndarray, class_of: np.ndarray, truth: np.ndarray) -> Scored:
    labels = memberships[:, : len(class_of)].argmax(axis=1)
    return memberships[np.arange(len(labels)), labels], class_of[labels] == truth


def bins_of(chance: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return objects, mean probability and share of right labels in each bin; NaN if empty."""
    place = np.minimum((chance * N_BINS).astype(int), N_BINS - 1)
    count, sums, rights = (
        np.bincount(place, weights=some, minlength=N_BINS) for some in (None, chance, right)
    )
    with np.errstate(invalid="ignore"):
        return count, sums / count, rights / count


def pools(n_draws: int) -> None:
    """Print the mean NMI of each start, and of the methods that LCA starts from."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name in POOLS:
        pool = en.datasets.load_pool(name)
        k = len(np.unique(pool.truth))
        for draw in range(n_draws):
            votes = en.Ensemble(pool.draw(10, 200 + draw))
            models = [
                en.LWEA(k, weights="normalized"),
                en.LWPT(k, weights="normalized"),
                *(en.LCA(k, init=init, random_state=0) for init in ("lwpt", "lwea", "random")),
                en.LCA(k, init="best", random_state=0),
            ]
            for model in models:
                start = getattr(model, "init", "")
                found = scores.setdefault(f"{type(model).__name__} {start}".strip(), {})
                score = en.metrics.nmi(pool.truth, model.fit_predict(votes))
                found.setdefault(name, []).append(score)
    means = {method: [np.mean(found[name]) for name in POOLS] for method, found in scores.items()}
    rows = [[m, *(f"{mean:.3f}" for mean in (*some, np.mean(some)))] for m, some in means.items()]
    print(table(["method", *POOLS, "mean"], rows))


# -- showing ---------------------------------------------------------------------------------------


def show(found: dict[str, Scored]) -> None:
    rows = []
    for name, (chance, right) in found.items():
        count, mean, share = bins_of(chance, right)
        error = np.nansum(count * np.abs(mean - share)) / count.sum()
        numbers = (chance.mean(), right.mean(), error)
        rows.append([name, f"{len(right):,}", *(f"{number:.3f}" for number in numbers)])
    print(table(["votes", "labels", "mean probability", "right", "ECE"], rows), "\n")
    rows = [
        [
            name,
            *(
                "" if n < 30 else f"{p:.2f}: {s:.2f}"
                for n, p, s in zip(*bins_of(*one), strict=True)
            ),
        ]
        for name, one in found.items()
    ]
    edges = [f"{low / N_BINS:.1f}" for low in range(N_BINS)]
    print("Mean probability: share of right labels, by bins that begin at\n")
    print(table(["votes", *edges[2:]], [[name, *cells[2:]] for name, *cells in rows]))


def draw(found: dict[str, Scored], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    lines = {
        "model, 3 clusterings, best": ("#5b2a86", "o-"),
        "model, 6 clusterings, best": ("#0b5fa5", "o-"),
        "model, 12 clusterings, best": ("#00897b", "o-"),
        "k-means, 12 clusterings, lwpt": ("#cc3311", "s--"),
    }
    figure, (above, below) = plt.subplots(
        2, figsize=(5.2, 5.6), layout="constrained", sharex=True, height_ratios=[3, 1.2]
    )
    above.plot([0.2, 1], [0.2, 1], color="#cccccc", zorder=0)
    for shift, (name, (colour, style)) in enumerate(lines.items()):
        count, mean, share = bins_of(*found[name])
        seen = count >= 30
        label = f"{name.rpartition(',')[0]} (init={name.split(', ')[-1]!r})"
        above.plot(mean[seen], share[seen], style, color=colour, label=label, ms=4)
        places = (np.arange(N_BINS) + 0.5) / N_BINS + (shift - 1.5) * 0.02
        below.bar(places, count / count.sum(), 0.018, color=colour)
    above.set_title("How often labels of LCA are right", loc="left", fontsize=11)
    above.set_ylabel("share of right labels")
    above.legend(loc="upper left", fontsize=8, frameon=False)
    above.set(xlim=(0.2, 1.02), ylim=(0.2, 1.02))
    below.set_xlabel("probability of the label (largest membership)")
    below.set_ylabel("share of objects")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main()
