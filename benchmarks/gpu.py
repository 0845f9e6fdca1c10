"""The walk on a GPU compared with the CPU: where it is faster, and by how much.

python -m benchmarks.gpu [--sizes 1000 3000 10000 30000] [--columns 900] [--steps 20]

A random graph whose nodes link to near ones, about 40 links a node. For each size: seconds of PTS
(dense) and of PTGP's two parts (exact lengths of trajectories; product with the clusters) on all
threads of the processor and on the CUDA device, best of three after a warm-up, results on the
way included; and the largest difference of the two. Needs CuPy and a CUDA device.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ensemblage import _device, flow
from ensemblage.flow import n_threads

if TYPE_CHECKING:
    from collections.abc import Callable

LINKS = 20
REACH = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000, 10_000, 30_000])
    parser.add_argument("--columns", type=int, default=900)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--most-on-cpu", type=int, default=10_000, help="for dense PTS")
    options = parser.parse_args()
    gpu = _device.chosen("cuda", max(options.sizes))
    assert gpu is not None
    name = gpu.arrays.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, and a processor with {n_threads(None)} threads; seconds")
    print("what          n        cpu       gpu     ratio  difference")
    for n in options.sizes:
        P = _walk(n)
        rng = np.random.default_rng(0)
        columns = csr_array(_memberships(n, options.columns, rng))
        pts = (
            (lambda P=P: flow.trajectory_similarity(P, options.steps))
            if n <= options.most_on_cpu
            else None
        )
        _line("PTS", n, pts, lambda P=P: _device.trajectory_similarity(P, options.steps, gpu))
        stays = _best(lambda P=P: _there(P, options.steps, gpu))[0]
        print(f"{'PTS there':9} {n:6,d} {'':>10} {stays:9.4f}", flush=True)
        _line(
            "lengths",
            n,
            lambda P=P: flow.trajectory_norms(P, options.steps),
            lambda P=P: _device.trajectory_norms(P, options.steps, gpu),
        )
        norms = _device.trajectory_norms(P, options.steps, gpu)
        _line(
            "product",
            n,
            lambda P=P, c=columns, d=norms: flow.similarity_product(P, d, c, options.steps),
            lambda P=P, c=columns, d=norms: _device.similarity_product(P, d, c, options.steps, gpu),
        )


def _there(P: Any, n_steps: int, gpu: Any) -> None:
    """Compute PTS and leave it on the device."""
    _device.trajectory_similarity(P, n_steps, gpu, fetch=False)
    gpu.arrays.cuda.Device().synchronize()


def _line(what: str, n: int, cpu: Callable[[], Any] | None, gpu: Callable[[], Any]) -> None:
    on_gpu, there = _best(gpu)
    if cpu is None:
        print(f"{what:8} {n:7,d} {'not run':>10} {on_gpu:9.4f}", flush=True)
        return
    on_cpu, here = _best(cpu)
    difference = np.abs(here - there).max()
    ratio = on_cpu / on_gpu
    print(
        f"{what:8} {n:7,d} {on_cpu:10.4f} {on_gpu:9.4f} {ratio:9.1f}  {difference:.1e}", flush=True
    )


def _best(work: Callable[[], Any]) -> tuple[float, Any]:
    result = work()
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
        if sum(seconds) > 20:
            break
    return min(seconds), result


def _walk(n: int) -> Any:
    """Return the transition matrix of a graph whose nodes link to some of their neighbours."""
    rng = np.random.default_rng(n)
    rows = np.repeat(np.arange(n), LINKS)
    ends = (rows + rng.integers(1, min(REACH, n), len(rows))) % n
    graph = csr_array((rng.integers(1, 30, len(rows)) / 30.0, (rows, ends)), shape=(n, n))
    return flow.transition_matrix(
        csr_array(graph.maximum(graph.T)), rng.integers(1, 9, n).astype(np.int64)
    )


def _memberships(n: int, n_columns: int, rng: np.random.Generator) -> Any:
    """Return 30 clusterings of the nodes as columns of memberships."""
    n_clusterings = 30
    each = n_columns // n_clusterings
    columns = rng.integers(0, each, (n, n_clusterings)) + each * np.arange(n_clusterings)
    indptr = n_clusterings * np.arange(n + 1)
    return csr_array(
        (np.ones(columns.size), columns.ravel(), indptr), shape=(n, each * n_clusterings)
    )


if __name__ == "__main__":
    main()
