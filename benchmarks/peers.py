"""Another package on the same input: OpenEnsembles' co-association linkage beside ours.

python -m benchmarks.peers

OpenEnsembles (2.0.0, the newest) is installed into a throw-away environment under .benchmarks/,
without the versions it asks for, which no longer install; it runs all the same. It cuts its tree
at a height, so it is given the height at which our tree has k clusters. SciPy on the N × N matrix
of objects stands beside both. Time is that of co-association, tree and cut.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import quorate as qr
from benchmarks.inputs import mixture
from benchmarks.measure import peak_memory

ENVIRONMENT = Path(".benchmarks/peers")
PEER = """
import json, pathlib, re, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd, openensembles as oe
votes, height = np.load(sys.argv[1]), float(sys.argv[2])
cluster = oe.cluster(oe.data(pd.DataFrame(np.zeros((len(votes), 1))), [0]))
for m, column in enumerate(votes.T):
    cluster.labels[str(m)] = column
def kb(field):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(field + r":\\s+(\\d+)", status).group(1))
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
before = kb("VmRSS")
begun = time.perf_counter()
found = cluster.finish_co_occ_linkage(height, linkage="average").labels["co_occ_linkage"]
seconds = time.perf_counter() - begun
memory = (kb("VmHWM") - before) / 1024
print(json.dumps({"seconds": seconds, "mb": memory, "labels": np.asarray(found).tolist()}))
"""


def main() -> None:
    python = _environment()
    print("objects   package        seconds       MB   NMI with truth   ARI with ours")
    for n_objects in (1000, 2000, 4000, 8000):
        votes, truth = _votes(n_objects)
        k = len(np.unique(truth))
        qr.EAC(k).fit(votes)  # kernels compile
        begun = time.perf_counter()
        est = qr.EAC(k).fit(votes)
        ours = time.perf_counter() - begun
        used = peak_memory(lambda votes=votes, k=k: qr.EAC(k).fit(votes)) / 2**20
        _line(n_objects, "quorate EAC", ours, used, truth, est.labels_, est.labels_)
        heights = est.linkage_matrix_[:, 2]
        height = (heights[-k] + heights[-k + 1]) / 2
        begun = time.perf_counter()
        labels = object_level(votes, height)
        spent = time.perf_counter() - begun
        used = peak_memory(lambda votes=votes, height=height: object_level(votes, height)) / 2**20
        _line(n_objects, "SciPy, N x N", spent, used, truth, labels, est.labels_)
        peer = _peer(python, votes, height)
        found = np.array(peer["labels"])
        _line(n_objects, "OpenEnsembles", peer["seconds"], peer["mb"], truth, found, est.labels_)


def _votes(n_objects: int) -> tuple[np.ndarray, np.ndarray]:
    votes = mixture(n_objects, 10, 0.25)
    truth = np.random.default_rng(0)
    truth.normal(size=(60, 8))  # the same stream as in `mixture`
    return votes, truth.integers(0, 60, n_objects)


def object_level(votes: np.ndarray, height: float) -> np.ndarray:
    share = sum((column[:, None] == column[None, :]) for column in votes.T) / votes.shape[1]
    tree = linkage(squareform(1 - share, checks=False), "average")
    return fcluster(tree, height, "distance")


def _peer(python: Path, votes: np.ndarray, height: float) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/votes.npy", votes)
        call = [str(python), "-c", PEER, f"{folder}/votes.npy", str(height)]
        out = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def _line(
    n: int, name: str, seconds: float, mb: float, truth: np.ndarray, labels: object, ours: object
) -> None:
    print(
        f"{n:<8}  {name:14} {seconds:8.3f} {mb:8.0f}   {qr.metrics.nmi(truth, labels):14.4f}"
        f"   {qr.metrics.ari(ours, labels):13.4f}",
        flush=True,
    )


def _environment() -> Path:
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        needed = ["setuptools<70", "wheel", "numpy", "scipy", "pandas", "scikit-learn"]
        subprocess.run([*pip, *needed, "matplotlib", "networkx", "hdbscan"], check=True)
        alone = ["--no-deps", "--no-build-isolation", "openensembles==2.0.0"]
        subprocess.run([*pip, *alone], check=True)
    return python


if __name__ == "__main__":
    main()
