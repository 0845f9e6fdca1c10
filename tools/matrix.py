"""Labels of every method under other versions of the libraries and other numbers of threads.

python tools/matrix.py [--folder build/matrix]

Two virtual environments are made: with the oldest versions that pyproject.toml allows, and with the
newest that the index has. Each labels the same ensembles, with different numbers of BLAS and OpenMP
threads. Labels must be equal where a method draws no random numbers and the gap of heights or
eigenvalues at the cut is above 1e-8; elsewhere the agreement is reported. The tests of kernels,
laws and estimators then run with the oldest versions. The exit code is 1 if labels differ that
must be equal, or a test fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLEAR = 1e-8
LIBRARIES = ("joblib", "numba", "numpy", "rich", "scikit-learn", "scipy", "threadpoolctl", "typer")
#: Environment, and threads of BLAS and OpenMP; the first is what the others are compared with.
RUNS = [("newest", 1), ("newest", 2), ("newest", 4), ("oldest", 1), ("oldest", 2)]
CUTS = (2, 3, 5, 8)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "matrix")
    parser.add_argument("--label", type=Path, metavar="OUT", help="only label, in this environment")
    asked = parser.parse_args()
    if asked.label:
        asked.label.write_text(json.dumps(labels_here(asked.folder)))
        return 0
    asked.folder.mkdir(parents=True, exist_ok=True)
    write_ensembles(asked.folder)
    pythons = {name: environment(asked.folder, name) for name in ("newest", "oldest")}
    results = [run(asked.folder, pythons[name], name, threads) for name, threads in RUNS]
    differ = compare(results)
    return differ or tests_with(pythons["oldest"])


def tests_with(python: Path) -> int:
    """Run the tests of kernels, laws and estimators; return the exit code."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "pytest", "hypothesis", "pandas==2.2.2"], check=True)
    tests = ("tests/flow", "tests/laws", "tests/methods/test_estimators.py")
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, check=False, cwd=ROOT).returncode


def oldest_versions() -> list[str]:
    """Return the lower bounds of pyproject.toml as pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.sub(r">=", "==", line) for line in project["dependencies"]]


def environment(folder: Path, name: str) -> Path:
    """Return the Python of a virtual environment with ensemblage and these versions."""
    home = folder / name
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pins = oldest_versions() if name == "oldest" else ["--upgrade"]
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(ROOT)], check=True)
    subprocess.run([*pip, *pins, str(ROOT)], check=True)
    return python


def run(folder: Path, python: Path, name: str, threads: int) -> dict:
    """Label in another process, with so many threads of BLAS and OpenMP."""
    out = folder / f"{name}-{threads}.json"
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    subprocess.run(
        [str(python), __file__, "--folder", str(folder), "--label", str(out)],
        check=True, cwd=folder, env=os.environ | dict.fromkeys(names, str(threads)),
    )  # fmt: skip
    return json.loads(out.read_text()) | {"name": f"{name}, {threads} threads"}


def write_ensembles(folder: Path) -> None:
    """Write the ensembles once, so that no library's random numbers take part."""
    import numpy as np

    rng = np.random.default_rng(20)

    def planted(n: int, k: int, members: int, noise: float) -> np.ndarray:
        truth = rng.integers(k, size=n)
        votes = np.empty((n, members), dtype=np.int64)
        for m in range(members):
            finer = truth * 2 + rng.integers(2, size=n) if m % 2 else truth
            astray = rng.random(n) < noise
            votes[:, m] = np.where(astray, rng.integers(finer.max() + 1, size=n), finer)
        return votes

    clear, noisy = planted(400, 5, 12, 0.05), planted(300, 6, 10, 0.3)
    missing = planted(250, 4, 9, 0.15)
    missing[rng.random(missing.shape) < 0.2] = -1
    missing[(missing == -1).all(axis=1)] = 0
    tied = planted(60, 3, 3, 0.2)
    everything = {"clear": clear, "noisy": noisy, "missing": missing, "tied": tied}
    for name, votes in everything.items():
        np.save(folder / f"{name}.npy", votes)


def labels_here(folder: Path) -> dict:
    """Return labels of every method on every ensemble, and how clear each was."""
    import importlib.metadata

    import numpy as np

    import ensemblage as en

    warnings.simplefilter("ignore")
    found = {}
    for path in sorted(folder.glob("*.npy")):
        votes = np.load(path)
        for name, method in en.METHODS.items():
            est = method(n_clusters=CUTS[0])
            random = "random_state" in est.get_params()
            if random:
                est.set_params(random_state=0)
            est.fit(votes)
            for k in CUTS:
                found[f"{path.stem} {name} {k}"] = {
                    "labels": np.asarray(est.cut(k)).tolist(),
                    "random": random,
                    "gap": clearness(est, k),
                }
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"versions": versions, "found": found}


def clearness(est, k: int) -> float | None:
    """Return the gap that decides a cut: of heights or of eigenvalues; None where there is none."""
    import numpy as np

    tree = getattr(est, "linkage_matrix_", None)
    if tree is not None:
        heights = np.concatenate([[0.0], np.sort(tree[:, 2]), [np.inf]])
        place = len(heights) - 1 - k  # so many merges are made
        return float(min(heights[place + 1] - heights[place], 1.0))
    cut = getattr(est, "_transfer_cut", None)
    if cut is not None:
        values = cut.eigenvalues(k + 1)
        return float(values[k - 1] - values[k]) if len(values) > k else 1.0
    return None


def compare(results: list[dict]) -> int:
    """Print how labels agree with those of the first run; return 1 where they must and do not."""
    first, wrong = results[0], []
    for result in results:
        print(f"{result['name']}: ", ", ".join(" ".join(v) for v in result["versions"].items()))
    kinds = ("clear, no random numbers", "unclear, no random numbers", "random numbers")
    print(f"\n{'run':22}{'labels of':30}{'sets':>6}{'equal':>7}{'lowest ARI':>12}")
    for result in results[1:]:
        scores: dict[str, dict[str, float]] = {kind: {} for kind in kinds}
        for key, one in first["found"].items():
            other = result["found"][key]
            gaps = [gap for gap in (one["gap"], other["gap"]) if gap is not None]
            clear = len(gaps) == 2 and min(gaps) > CLEAR
            kind = kinds[2] if one["random"] else kinds[0] if clear else kinds[1]
            scores[kind][key] = agreement(one["labels"], other["labels"])
        for kind, some in scores.items():
            unequal = {key: score for key, score in some.items() if score < 1}
            lowest = min(some.values())
            equal = len(some) - len(unequal)
            print(f"{result['name']:22}{kind:30}{len(some):6}{equal:7}{lowest:12.4f}")
            for key, score in unequal.items():
                print(f"{'':24}{key}: ARI {score:.4f}, gap {first['found'][key]['gap']}")
            wrong += unequal if kind == kinds[0] else []
    print(f"\n{len(wrong)} sets of labels differ that must be equal")
    return bool(wrong)


def agreement(a: list[int], b: list[int]) -> float:
    from ensemblage.metrics import ari

    return 1.0 if a == b else min(float(ari(a, b)), 1 - 1e-9)


if __name__ == "__main__":
    sys.exit(main())
