"""Median partitions: the least expected loss that is found, and the time it takes.

python -m benchmarks.median [draws] [restarts] [scale] [--sets 3]

- draws: 2,000 draws of a clustering of 300 objects from the sampler of a Dirichlet-process mixture
  of normals (collapsed Gibbs, after 200 sweeps), for several sets of objects. Expected VI of
  `Median`, of the best draw, and of the best of 20 random restarts of a slow search: single objects
  move where the loss is least, in NumPy, without microclusters and without taking clusters apart.
- restarts: how often one run of each kind reaches the least loss that any has found.
- scale: CPU seconds of `Median` by number of objects and of clusterings, each object voting for its
  group with probability 0.9 and at random else, groups merged at random in each clustering.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import ensemblage as en

PARTS = ("draws", "restarts", "scale")
N_OBJECTS, N_DRAWS, BURN_IN = 300, 2000, 200
RESTARTS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=["draws", "scale"])
    parser.add_argument("--sets", type=int, default=3)
    given = parser.parse_args()
    if "draws" in given.parts:
        compare(given.sets)
    if "restarts" in given.parts:
        restarts(given.sets)
    if "scale" in given.parts:
        scale()


# -- draws of a posterior --------------------------------------------------------------------------


def sampled(seed: int, n_draws: int = N_DRAWS) -> np.ndarray:
    """Return draws of a clustering in columns, from a Dirichlet-process mixture of normals.

    Components have unit variance in two dimensions and means from N(0, 9); the concentration is 1.
    """
    rng = np.random.default_rng([seed, 29])
    centres = rng.normal(scale=3.0, size=(6, 2))
    points = centres[rng.integers(6, size=N_OBJECTS)] + rng.normal(size=(N_OBJECTS, 2))
    labels = np.zeros(N_OBJECTS, dtype=np.int64)
    counts, sums = [N_OBJECTS], [points.sum(axis=0)]
    found = np.empty((N_OBJECTS, n_draws), dtype=np.int32)
    for sweep in range(-BURN_IN, n_draws):
        for i, x in enumerate(points):
            c = labels[i]
            counts[c] -= 1
            sums[c] = sums[c] - x
            if counts[c] == 0:
                del counts[c], sums[c]
                labels[labels > c] -= 1
            n, total = np.array([*counts, 0.0]), np.array([*sums, np.zeros(2)])
            precision = n + 1.0 / 9.0  # of the mean of a component, given its points
            spread = 1.0 + 1.0 / precision
            far = ((x - total / precision[:, None]) ** 2).sum(axis=1)
            n[-1] = 1.0  # the concentration
            chance = n * np.exp(-far / (2.0 * spread)) / spread
            c = int(np.searchsorted(np.cumsum(chance), rng.random() * chance.sum()))
            if c == len(counts):
                counts.append(0)
                sums.append(np.zeros(2))
            counts[c] += 1
            sums[c] = sums[c] + x
            labels[i] = c
        if sweep >= 0:
            found[:, sweep] = labels
    return found


def compare(n_sets: int) -> None:
    print(f"{N_DRAWS:,} draws of {N_OBJECTS} objects, expected VI")
    print("set  clusters of draws      Median  k  best draw  slow twin   difference  CPU-s  twin's")
    for seed in range(n_sets):
        votes = sampled(seed)
        en.Median(random_state=0, n_jobs=1).fit(votes[:20, :30])  # compiles
        start = time.process_time()
        model = en.Median(random_state=0, n_jobs=1).fit(votes)
        seconds = time.process_time() - start
        best = en.metrics.median_of(votes).expected_loss
        start = time.process_time()
        slow = SlowSearch(votes, 2 * int(votes.max() + 1))
        twin = min(slow.run(np.random.default_rng([seed, i])) for i in range(RESTARTS))
        twins_seconds = time.process_time() - start
        numbers = votes.max(axis=0) + 1
        print(
            f"{seed:>3}  {numbers.min():>3} to {numbers.max():>3}, mean {numbers.mean():4.1f}"
            f"  {model.expected_loss_:.9f} {model.n_clusters_:>2} {best:>10.6f}  {twin:.9f}"
            f"  {model.expected_loss_ - twin:>10.1e}  {seconds:>5.1f}  {twins_seconds:>6.1f}",
            flush=True,
        )


class SlowSearch:
    """A search for the least expected VI that moves single objects, in NumPy."""

    def __init__(self, votes: np.ndarray, most: int) -> None:
        before = np.concatenate([[0], np.cumsum(votes.max(axis=0) + 1)])
        self.rows = votes + before[:-1]
        self.n_rows, self.most = int(before[-1]), most
        self.n, self.n_members = votes.shape
        x = np.arange(self.n + 2, dtype=float)
        self.f = x * np.log2(np.maximum(x, 1.0))
        self.of_members = self.f[np.bincount(self.rows.ravel())].sum()

    def run(self, rng: np.random.Generator) -> float:
        """Return the expected VI that sweeps from random labels end with."""
        labels = rng.integers(self.most, size=self.n)
        z = np.bincount(labels, minlength=self.most)
        o = np.zeros((self.n_rows, self.most), dtype=np.int64)
        np.add.at(o, (self.rows, labels[:, None]), 1)
        moved = True
        while moved:
            moved = False
            for i in rng.permutation(self.n):
                old, rows = labels[i], self.rows[i]
                z[old] -= 1
                o[rows, old] -= 1
                shared = o[rows]
                gain = (self.f[shared + 1] - self.f[shared]).sum(axis=0)
                change = self.n_members * (self.f[z + 1] - self.f[z]) - 2.0 * gain
                new = int(change.argmin())
                if change[new] >= change[old] - 1e-9:
                    new = old
                moved |= new != old
                labels[i] = new
                z[new] += 1
                o[rows, new] += 1
        total = self.of_members + self.n_members * self.f[z].sum() - 2.0 * self.f[o].sum()
        return float(total / self.n_members / self.n)


def restarts(n_sets: int) -> None:
    print("Share of runs that reach the least expected VI, within 1e-9")
    for seed in range(n_sets):
        votes = sampled(seed)
        model = en.Median(random_state=0, n_runs=40, n_jobs=1).fit(votes)
        slow = SlowSearch(votes, 2 * int(votes.max() + 1))
        twins = [slow.run(np.random.default_rng([seed, i])) for i in range(RESTARTS)]
        least = min(model.expected_loss_, *twins)
        given, drawn = model.run_losses_[:-40], model.run_losses_[-40:]
        shares = [np.mean(np.array(some) <= least + 1e-9) for some in (given, drawn, twins)]
        print(
            f"{seed}: given starts {shares[0]:.2f}, random runs {shares[1]:.2f},"
            f" slow twin {shares[2]:.2f}",
            flush=True,
        )


# -- scale -----------------------------------------------------------------------------------------


def grouped(n_objects: int, n_members: int) -> np.ndarray:
    rng = np.random.default_rng([n_objects, n_members])
    truth = rng.integers(30, size=n_objects)
    votes = np.empty((n_objects, n_members), dtype=np.int32)
    for m in range(n_members):
        k = int(rng.integers(10, 31))
        votes[:, m] = rng.integers(k, size=30)[truth]
        wrong = rng.random(n_objects) < 0.1
        votes[wrong, m] = rng.integers(k, size=int(wrong.sum()))
    return votes


def scale() -> None:
    small = grouped(500, 10)
    for loss in ("vi", "binder"):
        en.Median(loss=loss, random_state=0).fit(small)  # compiles
    print("objects    M  microclusters  loss    CPU-s  expected loss   k")
    sizes = [(30_000, 20), (100_000, 20), (300_000, 20), (3_000, 200), (300, 2_000), (300, 5_000)]
    for n_objects, n_members in sizes:
        votes = grouped(n_objects, n_members)
        for loss in ("vi", "binder"):
            start = time.process_time()
            model = en.Median(loss=loss, random_state=0, n_jobs=1).fit(votes)
            seconds = time.process_time() - start
            print(
                f"{n_objects:>7,} {n_members:>5,} {model.n_microclusters_:>10,}  {loss:<6}"
                f" {seconds:>6.1f} {model.expected_loss_:>12.6f} {model.n_clusters_:>5}",
                flush=True,
            )


if __name__ == "__main__":
    main()
