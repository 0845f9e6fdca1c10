"""Whole fits with a GPU compared with the same on all threads of the processor.

python -m benchmarks.gpu_fits [--sizes 100000 1000000] [--methods consensus ptgp] [--members 50]

Votes in memory to labels, seconds by the clock after a small fit that compiles: all rows
different, ARI with the planted groups and of the two labellings with each other.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import ensemblage as en
from benchmarks.shapes import noisy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--methods", nargs="+", default=["consensus", "ptgp"])
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--devices", nargs="+", default=["cpu", "cuda"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in given.sizes:
        votes, truth = noisy(n, given.members)
        few = votes[np.random.default_rng(0).permutation(n)[:30_000]]
        for method in given.methods:
            labels = {}
            for device in given.devices:
                fit(method, few, device)
                begun, cpu = time.perf_counter(), time.process_time()
                labels[device] = fit(method, votes, device)
                seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
                same = en.metrics.ari(labels[given.devices[0]], labels[device])
                print(
                    f"{method:10} n = {n:9,d} {device:5}: {seconds:7.2f} s ({cpu:.1f} CPU-s),"
                    f" ARI {en.metrics.ari(truth, labels[device]):.4f}, with {given.devices[0]}"
                    f" {same:.6f}",
                    flush=True,
                )


def fit(method: str, votes: np.ndarray, device: str) -> np.ndarray:
    model = en.METHODS[method](20, random_state=0)
    if "device" in model.get_params():
        model.set_params(device=device)
    return model.fit(votes).labels_


if __name__ == "__main__":
    main()
