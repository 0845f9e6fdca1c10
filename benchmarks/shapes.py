"""Tables that people have: many members, many draws, many different rows.

python -m benchmarks.shapes [wide] [draws] [tall] [close] [elite] [--largest]     default: all

- wide: 3,636 objects, 20 to 305 members, as a table of spatial transcriptomics; and exponents.
- draws: 1,000 objects, 5,000 draws of a partition, each little different from the one before.
- tall: 100,000 objects, all rows different, 50 members; --largest: 1,000,000 objects too.
- close: 10,000 objects; labels of the tree that begins with groups against those of the exact one,
  beside what leaving out one of the 50 members changes in the exact one.
- elite: 30,000 objects; labels of PTGP with the approximate elite graph, each row compared with a
  fifteenth of the others as at 10^6, against those with the exact one; and another seed of k-means.

CPU seconds of one thread of a whole fit, without compiling, the bytes that it adds at its peak, and
the ARI with the planted groups. Each fit is in a separate process.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import time
import warnings
from unittest import mock

import numpy as np

import ensemblage as en
from ensemblage import flow
from ensemblage._memory import peak_memory
from ensemblage.methods import _shared_clusters

METHODS = ("consensus", "lwgp", "vote", "ptgp")
WIDE = (20, 80, 305)
TALL, LARGEST, TALL_MEMBERS = 100_000, 1_000_000, 50
ELITE, ELITE_SEEDS = 30_000, range(3)
CLOSE, CLOSE_SEEDS, CLOSE_KS = 10_000, range(5), (10, 20, 30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--largest", action="store_true")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    given = parser.parse_args()
    for part in given.parts or PARTS:
        print(f"\n== {part}", flush=True)
        PARTS[part](given)


def wide(given: argparse.Namespace) -> None:
    votes, truth = spots()
    for method in given.methods:
        seconds = [
            show(method, votes[:, :size], truth, 7, f"{len(votes):,} x {size}") for size in WIDE
        ]
        exponent = np.log(seconds[-1] / seconds[0]) / np.log(WIDE[-1] / WIDE[0])
        print(f"{method}: seconds grow with M to the power of {exponent:.2f}", flush=True)


def draws(given: argparse.Namespace) -> None:
    votes, truth = chain()
    for method in set(given.methods) & {"consensus", "vote"}:
        show(method, votes, truth, 8, f"{votes.shape[0]:,} x {votes.shape[1]:,}")


def tall(given: argparse.Namespace) -> None:
    for n in (TALL, LARGEST) if given.largest else (TALL,):
        votes, truth = noisy(n, TALL_MEMBERS)
        for method in given.methods:
            show(method, votes, truth, 20, f"{n:,} x {TALL_MEMBERS}")


def close(given: argparse.Namespace) -> None:  # noqa: ARG001 - as the others
    for seed in CLOSE_SEEDS:
        votes, truth = noisy(CLOSE, TALL_MEMBERS, 0.35, seed)
        exact = en.Consensus(2, random_state=0).fit(votes)
        with lower_limits():
            grouped = en.Consensus(2, random_state=0).fit(votes)
        assert "approximate" in grouped.reasons_[-1]
        fewer = en.Consensus(2, random_state=0).fit(votes[:, :-1])
        for k in CLOSE_KS:
            one, other, without = exact.cut(k), grouped.cut(k), fewer.cut(k)
            print(
                f"ensemble {seed}, k = {k}: ARI with the exact route"
                f" {en.metrics.ari(one, other):.4f} (exact without the last member"
                f" {en.metrics.ari(one, without):.4f}); with the planted groups exact"
                f" {en.metrics.ari(truth, one):.4f}, grouped {en.metrics.ari(truth, other):.4f}",
                flush=True,
            )


def elite(given: argparse.Namespace) -> None:  # noqa: ARG001 - as the others
    approximate = functools.partial(
        flow.large_elite_graph, most_pairs=0, n_groups=60, n_candidates=ELITE // 15
    )
    for seed in ELITE_SEEDS:
        votes, truth = noisy(ELITE, TALL_MEMBERS, 0.35, seed)
        exact = en.PTGP(20, random_state=0).fit(votes)
        other_seed = exact._with_seed(1)
        with warnings.catch_warnings(), mock.patch.object(flow, "large_elite_graph", approximate):
            warnings.simplefilter("ignore", en.ApproximateSimilarityWarning)
            grouped = en.PTGP(20, random_state=0).fit(votes)
        for k in CLOSE_KS:
            one, other, again = (model.cut(k) for model in (exact, grouped, other_seed))
            print(
                f"ensemble {seed}, k = {k}: {grouped.captured_links_:.1%} of neighbours found; ARI"
                f" with the exact graph {en.metrics.ari(one, other):.4f} (exact with another seed"
                f" {en.metrics.ari(one, again):.4f}); with the planted groups exact"
                f" {en.metrics.ari(truth, one):.4f}, grouped {en.metrics.ari(truth, other):.4f}",
                flush=True,
            )


class lower_limits:  # noqa: N801 - used as a function
    """Let the tree of `Consensus` begin with groups also where the exact one is affordable."""

    def __enter__(self) -> None:
        self._before = _shared_clusters.MOST_STEPS
        _shared_clusters.MOST_STEPS = 0

    def __exit__(self, *_: object) -> None:
        _shared_clusters.MOST_STEPS = self._before


PARTS = {"wide": wide, "draws": draws, "tall": tall, "close": close, "elite": elite}


# -- measuring -------------------------------------------------------------------------------------


def show(method: str, votes: np.ndarray, truth: np.ndarray, k: int, title: str) -> float:
    """Print what a fit takes, and return its CPU seconds."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(send, method, votes, truth, k))
    process.start()
    send.close()
    seconds, n_bytes, ari = receive.recv()
    process.join()
    print(
        f"{method:10} {title:>16}: {seconds:7.2f} CPU-s {n_bytes / 1e9:6.2f} GB   ARI {ari:.3f}",
        flush=True,
    )
    return float(seconds)


def _measure(send, method: str, votes: np.ndarray, truth: np.ndarray, k: int) -> None:
    warnings.simplefilter("ignore")
    few = np.random.default_rng(0).permutation(len(votes))[:16_000]
    _fit(method, votes[few], 2)  # compiles
    with peak_memory() as peak:
        begun = time.process_time()
        labels = _fit(method, votes, k).labels_
        seconds = time.process_time() - begun
    send.send((seconds, peak.n_bytes or 0, en.metrics.ari(truth, labels)))


def _fit(method: str, votes: np.ndarray, k: int):
    kind = en.METHODS[method]
    model = kind(k, n_jobs=1)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(votes)


# -- tables ----------------------------------------------------------------------------------------


def spots(n: int = 3_636, n_members: int = 305) -> tuple[np.ndarray, np.ndarray]:
    """Return members of 4 to 19 clusters, each from four projections of noisy layers."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 7, n)
    features = 2.2 * np.eye(7)[truth] + 0.9 * rng.normal(size=(n, 7))
    votes = np.empty((n, n_members), dtype=np.uint8)
    for m in range(n_members):
        seen = features @ rng.normal(size=(7, 4))
        centres = seen[rng.choice(n, rng.integers(4, 20), replace=False)]
        for _ in range(4):
            labels = ((seen[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
            for c in np.unique(labels):
                centres[c] = seen[labels == c].mean(axis=0)
        votes[:, m] = labels
    return votes, truth


def chain(n: int = 1_000, n_draws: int = 5_000, k: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of which each moves one of the doubtful objects of the one before."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, n)
    other = (truth + rng.integers(1, k, n)) % k
    doubtful = np.flatnonzero(rng.random(n) < 0.15)
    votes = np.empty((n, n_draws), dtype=np.uint8)
    current = truth.copy()
    for m in range(n_draws):
        moved = rng.choice(doubtful)
        current[moved] = truth[moved] if rng.random() < 0.5 else other[moved]
        votes[:, m] = current
    return votes, truth


def noisy(
    n: int, n_members: int, noise: float = 0.25, seed: int = 0, k: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    """Return members that join or split the planted groups at random, and err on some objects."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    votes = np.empty((n, n_members), dtype=np.uint8)
    for m in range(n_members):
        n_clusters = int(rng.integers(k // 2, 2 * k))
        names = rng.integers(0, n_clusters, 3 * k)
        parts = rng.integers(0, 3, n) if rng.random() < 0.5 else 0
        votes[:, m] = names[3 * truth + parts]
        wrong = rng.random(n) < noise
        votes[wrong, m] = rng.integers(0, n_clusters, wrong.sum())
    return votes, truth


if __name__ == "__main__":
    main()
