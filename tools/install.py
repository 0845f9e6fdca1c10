"""The wheel and the source archive: what is in them, and whether they work where nothing else is.

python tools/install.py [--folder build/install] [--extras metis,...]

Both are built and their contents looked at. The wheel is installed into an empty virtual
environment without extras, then into one for each extra alone; each imports, fits, and runs the
command. Features of a missing extra must raise an error that names the extra. The exit code is 1
if something failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "none,metis,report,anndata,dask,graph,testing"  # gpu needs a GPU, docs and all are sums
WANTED = ("ensemblage/py.typed", "ensemblage/report/", "ensemblage/cli/__init__.py")
UNWANTED = ("tests/", "tools/", "benchmarks/", "docs/", "examples/", "__pycache__", ".pyc", ".nbi")

VERBS = ("consensus", "predict", "generate", "choose-k", "compare", "report", "reproduce", "demo")

SMOKE = """
import sys, warnings
import ensemblage as en
heavy = {"sklearn", "numba", "pandas", "matplotlib", "dask", "plotly"} & set(sys.modules)
assert not heavy, f"import ensemblage loads {heavy}"
votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
for name in sys.argv[1].split(",") if len(sys.argv) > 1 else en.METHODS:
    est = en.METHODS[name](n_clusters=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        assert len(est.fit_predict(votes)) == 6, name
"""
#: What an extra is for, as a program; without the extra its last line must name it.
USES = {
    "report": ["report", "votes.csv", "-k", "2", "-o", "report.html"],
    "dask": ["consensus", "votes.csv", "-k", "2", "--engine", "dask", "-o", "out/"],
}
PROGRAMS = {
    "metis": "import ensemblage as en;"
    " en.CSPA(2, partitioner='metis').fit([[0, 0], [0, 1], [1, 1]])",
    "anndata": "import anndata, numpy, ensemblage.anndata as q, pandas as p;"
    " a = anndata.AnnData(numpy.ones((4, 1)), p.DataFrame({'x': [0, 0, 1, 1], 'y': [0, 0, 1, 1]},"
    " index=list('abcd'))); q.consensus(a, keys=['x', 'y'], n_clusters=2)",
    "graph": "import ensemblage as en; en.graph.consensus([[0, 1], [1, 2], [0, 2], [3, 4]])",
    "testing": "import ensemblage.testing.strategies",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "install")
    parser.add_argument("--extras", default=EXTRAS)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    problems = []
    wheel, archive = built(asked.folder / "dist")
    problems += contents(wheel, archive)
    for extra in asked.extras.split(","):
        begun = time.monotonic()
        found = tried(asked.folder / extra, wheel, extra)
        print(f"{extra:10} {time.monotonic() - begun:6.1f} s  {'; '.join(found) or 'works'}")
        problems += [f"{extra}: {problem}" for problem in found]
    print(f"{len(problems)} problems", *problems, sep="\n  ")
    return bool(problems)


def built(folder: Path) -> tuple[Path, Path]:
    """Build the wheel from the source archive; return both."""
    for old in folder.glob("ensemblage-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT), check=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def contents(wheel: Path, archive: Path) -> list[str]:
    """Return what is missing from the wheel and the archive, or should not be there."""
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    with tarfile.open(archive) as opened:
        sources = opened.getnames()
    package = ROOT / "src" / "ensemblage"
    data = [
        path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    kept = {str(path.relative_to(package.parent).as_posix()) for path in data}
    problems = [f"not in the wheel: {name}" for name in sorted(kept - set(names))]
    problems += [f"in the wheel: {n}" for n in names if any(word in n for word in UNWANTED)]
    problems += [
        f"not in the wheel: {w}" for w in WANTED if not any(n.startswith(w) for n in names)
    ]
    problems += [] if any(n.endswith("licenses/LICENSE") for n in names) else ["no licence"]
    problems += [] if any(n.endswith("/pyproject.toml") for n in sources) else ["no pyproject.toml"]
    for path, count in ((wheel, len(names)), (archive, len(sources))):
        print(f"{path.name}: {count} files, {path.stat().st_size / 1e3:,.0f} kB")
    return problems


def tried(home: Path, wheel: Path, extra: str) -> list[str]:
    """Install the wheel with one extra into an empty environment; return what does not work."""
    venv.create(home, clear=True, with_pip=True)
    places = home / ("Scripts" if os.name == "nt" else "bin")
    python, command = str(places / "python"), str(places / "ensemblage")
    wanted = str(wheel) if extra == "none" else f"{wheel}[{extra}]"
    done = run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wanted)
    if done.returncode:
        return [f"cannot be installed: {last_line(done)}"]
    (home / "votes.csv").write_text("a,b,c\n0,0,0\n0,0,1\n1,1,1\n1,2,1\n")
    few = [] if extra == "none" else ["ptgp,cspa"]  # all methods once is enough
    done = run(python, "-W", "error::DeprecationWarning:ensemblage", "-c", SMOKE, *few, cwd=home)
    problems = [] if done.returncode == 0 else [f"a fit: {last_line(done)}"]
    for verb in ([], *([name] for name in VERBS if extra == "none")):
        done = run(command, *verb, "--help", cwd=home)
        problems += [f"{verb} --help: {last_line(done)}"] if done.returncode else []
    done = run(command, "consensus", "votes.csv", "-k", "2", "-o", "labels.csv", cwd=home)
    problems += [f"consensus: {last_line(done)}"] if done.returncode else []
    for name in (*USES, *PROGRAMS):
        call = [command, *USES[name]] if name in USES else [python, "-c", PROGRAMS[name]]
        problems += use_of(name, run(*call, cwd=home), here=installed(python, name))
    return problems


def installed(python: str, extra: str) -> bool:
    """Return whether what an extra brings is there, be it by another extra."""
    modules = {
        "report": "jinja2", "dask": "distributed",
        "metis": "pymetis", "anndata": "anndata", "graph": "sknetwork", "testing": "hypothesis",
    }  # fmt: skip
    return run(python, "-c", f"import {modules[extra]}").returncode == 0


def use_of(name: str, done: subprocess.CompletedProcess[str], *, here: bool) -> list[str]:
    """Return what is wrong: an extra that is there fails, or one that is not is not named."""
    if name == "anndata" and not here:
        return []  # nobody has an object of a library that is not there
    if here:
        return [f"use of {name}: {last_line(done)}"] if done.returncode else []
    if done.returncode == 0:
        return [f"use of {name} works without it"]
    kind = f"ensemblage[{name}]" in done.stderr and "pip install" in done.stderr
    plain = name in PROGRAMS or "Traceback" not in done.stderr
    return [] if kind and plain else [f"absence of {name} is reported as: {last_line(done)}"]


def run(*command: str, cwd: Path | None = None, check: bool = False):
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=clean, timeout=600
    )
    if check and done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip() or done.stdout.strip() or "no words").splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main())
