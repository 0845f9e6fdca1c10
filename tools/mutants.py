"""Small wrong changes to `ensemblage.flow`, and which of them no test notices.

python tools/mutants.py [MODULE ...] [--minutes 10] [--seed 0] [--jobs 2]

cosmic-ray makes the changes (mutants). Kernels run as plain Python (`plain_kernels`), so every line
has a list of tests that reach it, and only these are run, the quickest first. Mutants are drawn
at random, modules taking turns, until time is up. Results are kept in .mutants, by the text of the
module: the same command resumes. Ends with a table, and the mutants that no test noticed.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.machinery
import json
import multiprocessing
import os
import random
import sys
import time
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FLOW = ROOT / "src" / "ensemblage" / "flow"
KEPT = ROOT / ".mutants"
#: The tests that are about kernels. More would notice more, but take hours without a compiler.
ASKED = (
    "tests/flow",
    "tests/numbers",
    *(f"tests/methods/test_{name}_family.py" for name in ("linkage", "partition", "spectral")),
    *(
        f"tests/methods/test_{name}.py"
        for name in (
            *("ecpcs", "large_pta", "mcla", "other_rivals", "partitioners"),
            *("stray_votes", "tied_cuts"),
        )
    ),
    "tests/ensembles/test_generate.py",
    "tests/metrics/test_explain.py",
)
#: A mutant may make a loop endless.
SECONDS, SLOWER = 20.0, 5.0
SECONDS_OF_TESTS = 60.0
#: Numba's decorators do nothing here, and replaced names are almost never mistakes people make.
LEFT_OUT = ("RemoveDecorator", "VariableReplacer", "VariableInserter")


class Mutant(NamedTuple):
    """A change of one place of one module."""

    module: str
    operator: str
    occurrence: int
    line: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="names of files, without .py; all if none")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    KEPT.mkdir(exist_ok=True)
    _preload()
    sources = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted(FLOW.glob("*.py"))
        if path.stem != "__init__" and path.stem in (asked.modules or [path.stem])
    }
    seconds, reached_by = _known_or_learnt()
    drawn = in_turns([mutants_of(name, text) for name, text in sources.items()], asked.seed)
    results = Results(sources)
    until = time.monotonic() + 60 * asked.minutes
    running: list[tuple[Mutant, Any, float]] = []
    for mutant in drawn:
        if results.of(mutant) is not None:
            continue
        if time.monotonic() > until:
            break
        tests = sorted(reached_by[mutant.module].get(mutant.line, ()), key=seconds.get)
        changed = _changed(sources[mutant.module], mutant)
        if changed is None:
            results.add(mutant, "same program")
        elif not tests:
            results.add(mutant, "not reached")
        else:
            tests = _affordable(tests, seconds)
            limit = SECONDS + SLOWER * sum(seconds[test] for test in tests)
            child = _FORK.Process(target=_ask, args=(mutant.module, changed, tests))
            child.start()
            running.append((mutant, child, time.monotonic() + limit))
        running = _settled(running, results, asked.jobs - 1)
    _settled(running, results, 0)
    results.show(len(drawn))
    return 0


def mutants_of(module: str, text: str) -> list[Mutant]:
    """Return every mutant of a module but those of annotations, which nothing executes."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    unread = _lines_of_annotations(text)
    nodes = list(ast_nodes(get_ast(text)))
    found = []
    for name in operator_names():
        if name.removeprefix("core/") in LEFT_OUT:
            continue
        operator = get_operator(name)()
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, ((line, _), _) in enumerate(places):
            if line not in unread:
                found.append(Mutant(module, name, occurrence, line))
    return found


def in_turns(of_modules: list[list[Mutant]], seed: int) -> list[Mutant]:
    """Return all mutants in a random order in which no module waits for another to be done."""
    placed = []
    for mutants in of_modules:
        order = mutants.copy()
        random.Random(seed).shuffle(order)
        placed += [((place + 1) / len(order), mutant) for place, mutant in enumerate(order)]
    return [mutant for _, mutant in sorted(placed)]


def _lines_of_annotations(text: str) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        for name in ("annotation", "returns"):
            note = getattr(node, name, None)
            if note is not None:
                lines.update(range(note.lineno, note.end_lineno + 1))
    return lines


def _changed(text: str, mutant: Mutant) -> str | None:
    """Return the changed text, or None if it reads as the same program."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    changed = mutate_code(text, get_operator(mutant.operator)(), mutant.occurrence)
    try:
        same = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text))
    except SyntaxError:
        return None
    return None if same else changed


def _affordable(tests: list[str], seconds: dict[str, float]) -> list[str]:
    total, kept = 0.0, []
    for test in tests:
        total += seconds[test]
        if kept and total > SECONDS_OF_TESTS:
            break
        kept.append(test)
    return kept


_FORK = multiprocessing.get_context("fork")


def _preload() -> None:
    """Import once what every forked process needs, but nothing of ensemblage."""
    sys.path.insert(0, str(ROOT / "tests"))
    sys.dont_write_bytecode = True
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in (
        *("plain_kernels", "pytest", "hypothesis.extra.numpy", "pandas", "scipy.sparse.linalg"),
        *("scipy.cluster.hierarchy", "sklearn.cluster", "sklearn.utils.estimator_checks"),
    ):
        importlib.import_module(name)


def _ask(module: str, changed: str, tests: list[str]) -> None:
    """Run tests with a changed module; the exit code is 0 if all pass. For a separate process."""
    import plain_kernels
    import pytest

    plain_kernels.TOO_SLOW = TimeoutError

    plain = importlib.machinery.SourceFileLoader.get_code
    path = FLOW / f"{module}.py"

    def get_code(self: Any, name: str) -> Any:
        if name == f"ensemblage.flow.{module}":
            return compile(changed, str(path), "exec")
        return plain(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    _silence()
    os._exit(int(pytest.main([*_OPTIONS, "-x", *tests])))


_OPTIONS = ("-q", "--assert=plain", "-p", "plain_kernels", "-p", "no:cacheprovider", "--tb=no")


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(ROOT)


def _settled(running: list[Any], results: Results, n_left: int) -> list[Any]:
    """Wait until no more than so many run; note what became of the others."""
    while len(running) > n_left:
        time.sleep(0.01)
        still = []
        for mutant, child, until in running:
            if child.is_alive() and time.monotonic() < until:
                still.append((mutant, child, until))
                continue
            late = child.is_alive()
            child.kill()
            child.join()
            survived = not late and child.exitcode == 0
            results.add(mutant, "late" if late else "survived" if survived else "noticed")
        running = still
    return running


def _known_or_learnt() -> tuple[dict[str, float], dict[str, dict[int, set[str]]]]:
    """Return the seconds of each test that passes, and for each line the tests that reach it."""
    path = KEPT / "reached.json"
    if not path.exists() or not _all_there(json.loads(path.read_text(encoding="utf-8"))["seconds"]):
        child = _FORK.Process(target=_learn, args=(path,))
        child.start()
        child.join()
    kept = json.loads(path.read_text(encoding="utf-8"))
    reached_by: dict[str, dict[int, set[str]]] = defaultdict(dict)
    for module, lines in kept["reached_by"].items():
        # What is computed when a module is imported matters to all who use the module.
        everybody = {test for tests in lines.values() for test in tests}
        for line, tests in lines.items():
            reached_by[module][int(line)] = set(tests) if tests else everybody
    return kept["seconds"], reached_by


def _all_there(tests: dict[str, float]) -> bool:
    """Tell whether the tests can still be found: one that cannot would "notice" every mutant."""
    child = _FORK.Process(target=_ask, args=("no module", "", ["--collect-only", *tests]))
    child.start()
    child.join()
    return child.exitcode == 0


def _learn(path: Path) -> None:
    import coverage
    import pytest

    measured = coverage.Coverage(data_file=None, config_file=False, include=[f"{FLOW}/*"])
    seconds: dict[str, float] = {}

    class Recorder:
        def pytest_runtest_setup(self, item: Any) -> None:
            measured.switch_context(item.nodeid)

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" and report.passed:
                seconds[report.nodeid] = report.duration

    os.chdir(ROOT)
    measured.start()
    # The time limit of a test may be raised while a tracer holds this lock, and all would wait.
    measured._collector.data_lock = None  # type: ignore[union-attr]
    pytest.main([*_OPTIONS, *ASKED], plugins=[Recorder()])
    measured.stop()
    data = measured.get_data()
    reached_by = {
        Path(name).stem: {
            str(line): [test for test in tests if test in seconds]
            for line, tests in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }
    text = json.dumps({"seconds": seconds, "reached_by": reached_by})
    path.with_suffix(".part").write_text(text, encoding="utf-8")
    path.with_suffix(".part").replace(path)
    os._exit(0)  # pools that tests left behind would wait for each other


class Results:
    """What became of mutants, in a file with a line for each."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._path = KEPT / "results.jsonl"
        self._sources = sources
        self._prints = {n: sha256(text.encode()).hexdigest()[:12] for n, text in sources.items()}
        self._known: dict[Mutant, str] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                *fields, fingerprint, outcome = json.loads(line)
                if self._prints.get(fields[0]) == fingerprint:
                    self._known[Mutant(*fields)] = outcome

    def of(self, mutant: Mutant) -> str | None:
        return self._known.get(mutant)

    def add(self, mutant: Mutant, outcome: str) -> None:
        self._known[mutant] = outcome
        if len(self._known) % 50 == 0:
            print(f"{len(self._known):,} tried, now {mutant.module}", flush=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([*mutant, self._prints[mutant.module], outcome]) + "\n")

    def show(self, n_drawn: int) -> None:
        outcomes = ("noticed", "late", "survived", "not reached")
        tried = {m: outcome for m, outcome in self._known.items() if outcome in outcomes}
        for mutant in sorted(m for m, outcome in tried.items() if outcome in outcomes[2:]):
            line = self._sources[mutant.module].splitlines()[mutant.line - 1].strip()
            name = mutant.operator.removeprefix("core/")
            print(f"{tried[mutant]:11} {mutant.module}:{mutant.line} {name}: {line}")
        print(f"\n{'module':20}" + "".join(f"{outcome:>13}" for outcome in outcomes))
        for module in [*self._sources, "all"]:
            found = [o for m, o in tried.items() if module in (m.module, "all")]
            print(f"{module:20}" + "".join(f"{found.count(outcome):13,}" for outcome in outcomes))
        print(f"\n{len(tried):,} of {n_drawn:,} mutants were tried.")


if __name__ == "__main__":
    sys.exit(main())
