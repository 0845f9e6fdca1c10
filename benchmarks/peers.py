"""Other packages on growing votes until they fail, compared with the same method here.

python -m benchmarks.peers [--seconds 60] [--gigabytes 8]

- OpenEnsembles 2.0.0: linkage of co-association. It cuts its tree at a height, so it is given the
  height at which our tree has k clusters.
- ensembleclustering 1.0.2 (known as ClusterEnsembles): CSPA, MCLA, HBGF and NMF.

Each is installed into a throw-away environment under .benchmarks/, without the versions it asks
for, which no longer install, but with such that it runs. A package has failed where it takes more
than the time or the memory allowed; it is not asked for more then. Seconds are those of the call
alone, without imports, and without the compilation of our kernels; MB are above the votes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import ensemblage as en
from benchmarks.inputs import mixture
from benchmarks.measure import peak_memory
from ensemblage.flow import compiling

ENVIRONMENTS = Path(".benchmarks")
#: What each needs to run, and the package itself, which asks for versions that do not install.
PACKAGES = {
    "OpenEnsembles": (
        ["setuptools<70", "wheel", "numpy", "scipy", "pandas", "scikit-learn", "matplotlib",
         "networkx", "hdbscan"],
        "openensembles==2.0.0",
    ),
    "ensembleclustering": (
        ["numpy<2", "scipy<1.11", "scikit-learn<1.3", "pandas", "kahypar", "pymetis"],
        "ensembleclustering==1.0.2",
    ),
}  # fmt: skip
SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)
MEMBERS = 10
OURS = {
    "OpenEnsembles, linkage": "eac",
    "ensembleclustering, CSPA": "cspa",
    "ensembleclustering, MCLA": "mcla",
    "ensembleclustering, HBGF": "hbgf",
    "ensembleclustering, NMF": "nmf",
}
PEER = """
import json, pathlib, re, resource, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd
task = json.loads(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (int(task["bytes"]),) * 2)
votes, name = np.load(task["votes"]), task["name"]
if name.startswith("OpenEnsembles"):
    import openensembles as oe
    cluster = oe.cluster(oe.data(pd.DataFrame(np.zeros((len(votes), 1))), [0]))
    for m, column in enumerate(votes.T):
        cluster.labels[str(m)] = column
    def call():
        found = cluster.finish_co_occ_linkage(task["height"], linkage="average")
        return found.labels["co_occ_linkage"]
else:
    import ensembleclustering as ce
    rows, solver = votes.T.astype(float), name.split()[-1].lower()
    def call():
        return ce.cluster_ensembles(rows, nclass=task["k"], solver=solver, random_state=0)
def kb(field):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(field + r":\\s+(\\d+)", status).group(1))
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
before = kb("VmRSS")
begun = time.perf_counter()
found = np.asarray(call())
seconds = time.perf_counter() - begun
memory = (kb("VmHWM") - before) / 1024
print(json.dumps({"seconds": seconds, "mb": memory, "labels": found.tolist()}))
"""


def main(seconds: float = 60, gigabytes: float = 8) -> None:
    pythons = {package: _environment(package) for package in PACKAGES}
    warnings.simplefilter("ignore", en.FewerClustersWarning)
    going = list(OURS)
    print("objects    who                             seconds       MB   NMI with truth")
    for n_objects in SIZES:
        votes, truth = _votes(n_objects)
        k = len(np.unique(truth))
        heights = en.EAC(k).fit(votes).linkage_matrix_[:, 2]
        task = {
            "k": k, "height": (heights[-k] + heights[-k + 1]) / 2, "bytes": gigabytes * 1e9,
        }  # fmt: skip
        for name in ("ptgp", *OURS.values()):
            _ours(name, votes, truth, k)
        for name in list(going):
            found = _peer(pythons[name.split(",")[0]], votes, {**task, "name": name}, seconds)
            if isinstance(found, str):
                going.remove(name)
                print(f"{n_objects:<10,} {name:30} {found}", flush=True)
            else:
                labels = np.array(found["labels"])
                _line(n_objects, name, found["seconds"], found["mb"], truth, labels)


def _ours(name: str, votes: np.ndarray, truth: np.ndarray, k: int) -> None:
    est = en.METHODS[name](k)
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    with compiling.kernels_for(everything=True):
        est.fit(votes[:500])
    begun = time.perf_counter()
    labels = est.fit(votes).labels_
    spent = time.perf_counter() - begun
    used = peak_memory(lambda: est.fit(votes)) / 2**20
    _line(len(votes), f"ensemblage, {name.upper()}", spent, used, truth, labels)


def _votes(n_objects: int) -> tuple[np.ndarray, np.ndarray]:
    votes = mixture(n_objects, MEMBERS, 0.12)
    truth = np.random.default_rng(0)
    truth.normal(size=(60, 8))  # the same stream as in `mixture`
    return votes, truth.integers(0, 60, n_objects)


def _peer(python: Path, votes: np.ndarray, task: dict, seconds: float) -> dict | str:
    """Return what a package found, or how it failed."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/votes.npy", votes)
        call = [str(python), "-c", PEER, json.dumps({**task, "votes": f"{folder}/votes.npy"})]
        try:
            done = subprocess.run(
                call, capture_output=True, text=True, check=False, timeout=seconds + 10
            )
        except subprocess.TimeoutExpired:
            return f"more than {seconds:.0f} seconds"
    if done.returncode:
        return f"failed: {(done.stderr.strip().splitlines() or ['killed'])[-1][:60]}"
    return json.loads(done.stdout.splitlines()[-1])


def _line(n: int, name: str, seconds: float, mb: float, truth: np.ndarray, labels: object) -> None:
    score = en.metrics.nmi(truth, labels)
    print(f"{n:<10,} {name:30} {seconds:8.3f} {mb:8.0f}   {score:14.4f}", flush=True)


def _environment(package: str) -> Path:
    """Return the Python of a new environment with a package, made once."""
    folder = ENVIRONMENTS / package
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        needed, alone = PACKAGES[package]
        subprocess.run([*pip, *needed], check=True)
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", alone], check=True)
        (folder / "ready").touch()
    return python


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gigabytes", type=float, default=8)
    options = parser.parse_args()
    main(options.seconds, options.gigabytes)
