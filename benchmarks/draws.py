"""Scores of methods on draws from the authors' pools: run once, recorded at once, resumable.

A draw is M columns of a pool, chosen without replacement by a seed that depends on the draw only,
so every method sees the same ensembles. A record is one line of JSON: pool, members, draw, method,
seed, and at the true number of classes and at the best k (the largest score over
{2..20, 25, 30, 35, 40, 45, 50, true k}, for NMI and for ARI each) the scores with the classes.
Start a run again and it goes on with what is missing. What was run for the documentation is kept in
`docs/results/draws.jsonl.gz` and counts as done (give `--records` another file to
start from nothing); `python -m benchmarks.draws` publishes.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.io import loadmat

import quorate as qr

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = Path(os.environ.get("QUORATE_DATA", "../shared"))
RECORDS = Path(".benchmarks/draws.jsonl")
PUBLISHED = Path(__file__).parents[1] / "docs" / "results" / "draws.jsonl.gz"
POOLS = ("MF", "IS", "ODR", "LS", "PD")
CLUSTER_NUMBERS = (*range(2, 21), 25, 30, 35, 40, 45, 50)
LINKAGES = {"AL": "average", "CL": "complete", "SL": "single"}


def variants() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the methods under the names that tables give them: class name and parameters."""
    linked = {"PTA": "PTA", "EAC": "EAC", "WEAC": "WEAC", "WCT": "WCT", "SRS": "SRS"}
    found: dict[str, tuple[str, dict[str, Any]]] = {
        f"{name}-{short}": (cls, {"linkage": linkage})
        for name, cls in linked.items()
        for short, linkage in LINKAGES.items()
    }
    found |= {
        f"ECMC-{short}": ("ECMC", {"linkage": linkage, "level": "objects"})
        for short, linkage in LINKAGES.items()
    }
    found |= {
        "PTGP": ("PTGP", {}),
        "GP-MGLA": ("GPMGLA", {}),
        "CSPA": ("CSPA", {"level": "objects", "partitioner": "metis"}),
        "CSPA-micro": ("CSPA", {}),
        "HGPA": ("HGPA", {"level": "objects"}),
        "HGPA-micro": ("HGPA", {}),
        "MCLA": ("MCLA", {}),
        "SRW": ("SRW", {}),
        "HBGF": ("HBGF", {}),
        "NMF": ("NMF", {}),
        "LWEA": ("LWEA", {}),
        "LWGP": ("LWGP", {}),
        "ECPCS-HC": ("ECPCS", {"variant": "hc"}),
        "ECPCS-MC": ("ECPCS", {"variant": "mc"}),
        "U-SENC": ("USENC", {}),
        "LWPT": ("LWPT", {}),
        "Vote": ("Vote", {}),
    }
    return {name: what for name, what in found.items() if hasattr(qr, what[0])}


#: No cheap cut: these are scored at the true k only.
TRUE_K_ONLY = frozenset({"ECMC-AL", "ECMC-CL", "ECMC-SL", "NMF", "CSPA", "HGPA", "HGPA-micro"})


def run(
    names: Iterable[str],
    draws: int,
    members: Iterable[int] = (10,),
    seeds: Iterable[int] = (0,),
    pools: Iterable[str] = POOLS,
    records: Path = RECORDS,
    workers: int | None = None,
) -> list[dict[str, Any]]:
    """Return the records asked for, computing those that the file lacks."""
    wanted = [
        (pool, m, draw, name, seed)
        for m in members
        for draw in range(draws)
        for pool in pools
        for name in names
        for seed in seeds
    ]
    done = {_key(record): record for record in read(records)}
    missing = [key for key in wanted if key not in done]
    by_ensemble: dict[tuple[str, int, int], list[tuple[str, int]]] = {}
    for pool, m, draw, name, seed in missing:
        by_ensemble.setdefault((pool, m, draw), []).append((name, seed))
    records.parent.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    os.environ["OMP_NUM_THREADS"] = "1"  # for the workers: one thread each
    with (
        records.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(workers or os.cpu_count(), mp_context=context) as pool_of_workers,
    ):
        jobs = pool_of_workers.map(_score_ensemble, by_ensemble.items())
        for found in track(
            jobs, "draws", total=len(by_ensemble), disable=not missing, console=Console(stderr=True)
        ):
            for record in found:
                file.write(json.dumps(record) + "\n")
                done[_key(record)] = record
            file.flush()
    return [done[key] for key in wanted]


def read(records: Path) -> list[dict[str, Any]]:
    """Return all records of a file; a line that was cut off by a kill is not one."""
    lines = []
    if records == RECORDS and PUBLISHED.exists():
        lines += gzip.decompress(PUBLISHED.read_bytes()).decode().splitlines()
    if records.exists():
        lines += records.read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[_key(record)] = record
    return list(found.values())


def publish() -> None:
    """Put all records into the file that the documentation is made from."""
    text = "".join(json.dumps(record) + "\n" for record in sorted(read(RECORDS), key=_key))
    PUBLISHED.write_bytes(gzip.compress(text.encode(), mtime=0))


def _key(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record[word] for word in ("pool", "members", "draw", "method", "seed"))


def _score_ensemble(
    item: tuple[tuple[str, int, int], list[tuple[str, int]]],
) -> list[dict[str, Any]]:
    (pool, members, draw), names = item
    content = loadmat(DATA / "pools" / f"bc_pool_{pool}.mat")
    votes, truth = content["members"], content["gt"].ravel().astype(np.int64)
    rng = np.random.default_rng([20160501, members, draw])
    columns = rng.choice(votes.shape[1], members, replace=False)
    ensemble = qr.Ensemble(votes[:, columns])
    about = {"pool": pool, "members": members, "draw": draw, "version": qr.__version__}
    return [{**about, **_score(name, seed, ensemble, truth)} for name, seed in names]


def _score(name: str, seed: int, ensemble: qr.Ensemble, truth: np.ndarray) -> dict[str, Any]:
    cls, parameters = variants()[name]
    true_k = len(np.unique(truth))
    est = getattr(qr, cls)(true_k, **parameters)
    if "random_state" in est.get_params():
        est.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", qr.FewerClustersWarning)
        begun = time.process_time()
        est.fit(ensemble)
        seconds = time.process_time() - begun
        by_k = {true_k: est.labels_}
        if name not in TRUE_K_ONLY:
            most = est.n_microclusters_
            by_k |= {k: est.cut(k) for k in CLUSTER_NUMBERS if k <= most and k != true_k}
    nmi = {k: qr.metrics.nmi(truth, labels) for k, labels in by_k.items()}
    ari = {k: qr.metrics.ari(truth, labels) for k, labels in by_k.items()}
    best = len(by_k) > 1
    return {
        "method": name,
        "seed": seed,
        "nmi_true": nmi[true_k],
        "ari_true": ari[true_k],
        "nmi_best": max(nmi.values()) if best else None,
        "ari_best": max(ari.values()) if best else None,
        "cpu_seconds": round(seconds, 4),
    }


if __name__ == "__main__":
    publish()
