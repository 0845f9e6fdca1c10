"""The two programs for Lloyd's algorithm on the inputs of each: CPU seconds, one thread.

python -m benchmarks.lloyds

`flow.lloyd` ends a spectral method: few thousand rows, as many dimensions as clusters. It sums
distances in blocks of dimensions and stops early. `flow.bounded_lloyd` makes members of an ensemble
of features: many rows, few dimensions, types as they come. It skips rows by bounds.
"""

from __future__ import annotations

import time

import numpy as np

from ensemblage import flow

ROUNDS = 100


def spectral(n: int, k: int) -> np.ndarray:
    """Return rows like those of a spectral embedding: k unit directions and noise."""
    rng = np.random.default_rng(0)
    rows = 0.5 * rng.normal(size=(n, k)) / np.sqrt(k)
    rows[np.arange(n), rng.integers(0, k, n)] += 1.0
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def features(n: int, width: int, groups: int, dtype: str) -> np.ndarray:
    """Return rows of Gaussians that overlap."""
    rng = np.random.default_rng(0)
    rows = 40 * rng.normal(size=(groups, width))[rng.integers(0, groups, n)]
    rows += 20 * rng.normal(size=(n, width)) + 128
    return np.clip(rows, 0, 255).astype(dtype)


def main() -> None:
    cases = {
        "spectral, 3,000 rows, k = 10": (spectral(3_000, 10), 10),
        "spectral, 3,000 rows, k = 100": (spectral(3_000, 100), 100),
        "spectral, 3,000 rows, k = 1,000": (spectral(3_000, 1_000), 1_000),
        "features, 100,000 × 16 float64, k = 20": (features(100_000, 16, 10, "float64"), 20),
        "features, 100,000 × 16 uint8, k = 20": (features(100_000, 16, 10, "uint8"), 20),
        "features, 20,000 × 200 float32, k = 50": (features(20_000, 200, 30, "float32"), 50),
    }
    print(f"{'input':42} {'blocks':>8} {'bounds':>8} {'ratio':>6}  equal labels")
    for name, (rows, k) in cases.items():
        starts = np.random.default_rng(1).choice(len(rows), k, replace=False)
        both = (
            lambda rows, starts: flow.lloyd(
                rows.astype(np.float64), rows[starts].astype(np.float64), max_iter=ROUNDS
            ),
            lambda rows, starts: flow.bounded_lloyd(rows, starts, ROUNDS)[1],
        )
        seconds, labels = [], []
        for run in both:
            run(rows[:50], np.arange(3))  # compiles
            begun = time.process_time()
            labels.append(run(rows, starts))
            seconds.append(time.process_time() - begun)
        equal = np.array_equal(*labels)
        ratio = seconds[0] / seconds[1]
        print(f"{name:42} {seconds[0]:8.2f} {seconds[1]:8.2f} {ratio:6.1f}  {equal}")


if __name__ == "__main__":
    main()
