"""How often `metrics.drift` raises an alarm, where nothing has changed and where something has.

python -m benchmarks.drift [--sets 100] [--seed 1000]

Blobs of random number, size and spread, clustered by k-means many times. New objects are more of
the same; or more, of which a tenth or a third are a new blob; or more without one of the blobs; or
moved by half or by all of the spread of a blob; or their votes with one clustering numbered anew.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import ensemblage as en


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100, help="sets of blobs")
    parser.add_argument("--seed", type=int, default=1000, help="the first seed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    alarms: dict[str, int] = {}
    for seed in range(given.seed, given.seed + given.sets):
        for name, found in judged(np.random.default_rng(seed), seed).items():
            alarms[name] = alarms.get(name, 0) + found.changed
    print(f"alarms in {given.sets} sets")
    for name, count in alarms.items():
        print(f"{name:32} {count:5d}")


def judged(rng: np.random.Generator, seed: int) -> dict[str, en.metrics.Drift]:
    """Return what is said of several kinds of new objects."""
    k, n_fit, n_new = (int(rng.integers(*ends)) for ends in ((3, 9), (300, 1500), (100, 600)))
    spread, centres = float(rng.uniform(0.3, 2.0)), rng.uniform(-10, 10, (k + 1, 3))
    chances = rng.dirichlet(np.full(k, 5.0))

    def drawn(n: int, chances: np.ndarray) -> np.ndarray:
        blob = rng.choice(len(chances), n, p=chances)
        return centres[blob] + spread * rng.normal(size=(n, 3))

    def with_new(share: float) -> np.ndarray:
        return np.append(chances * (1 - share), share)

    features = drawn(n_fit, chances)
    model = en.EnsembleClustering(k, n_members=10, random_state=seed).fit(features)
    gone = np.where(np.arange(k) == chances.argmax(), 0, chances)
    same = drawn(n_new, chances)
    votes = model._votes_on(same)
    renumbered = votes.copy()
    renumbered[:, 0] += 1000
    drift = en.metrics.drift
    return {
        "more of the same": drift(model, same),
        "a tenth from a new blob": drift(model, drawn(n_new, with_new(0.1))),
        "a third from a new blob": drift(model, drawn(n_new, with_new(1 / 3))),
        "without the largest blob": drift(model, drawn(n_new, gone / gone.sum())),
        "moved by half the spread": drift(model, same + 0.5 * spread),
        "moved by the spread": drift(model, same + spread),
        "one clustering numbered anew": drift(model.consensus_, renumbered),
    }


if __name__ == "__main__":
    main()
