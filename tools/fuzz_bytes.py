"""Hostile bytes for everything that reads bytes, guided by the lines they reach.

python tools/fuzz_bytes.py [--minutes 10] [--only csv npy ...] [--keep FOLDER]

Each target (tests/fuzz_targets.py) gets a separate process and an equal share of the time, with a
limit on memory and on the seconds of one case. Any unexpected exception is a find: it is printed
once for each line that raises it, its bytes are kept, and the search continues. A crash, a hang or
a memory blow-up ends the process, which is started again. Finds make the exit code 1.
Needs atheris: pip install "ensemblage[fuzz]".
"""

from __future__ import annotations

import argparse
import hashlib
import re
import resource
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # where the targets are

SECONDS_OF_A_CASE = 20
MEGABYTES = 2000
ADDRESS_SPACE = 12 << 30  # far above what the libraries map, far below a blow-up
_RUNS = re.compile(r"#(\d+)\s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", help="targets, by name")
    parser.add_argument("--keep", type=Path, default=Path(".fuzz"), help="for finds and corpora")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked, rest = parser.parse_known_args()
    if asked.child:
        return _search(asked.child, asked.keep, rest)
    from fuzz_targets import TARGETS

    names = asked.only or list(TARGETS)
    finds = 0
    for name in names:
        before = _cpu()
        runs, seconds, found = _fuzz(name, 60 * asked.minutes / len(names), asked.keep)
        finds += len(found)
        spent = f"{seconds:6.0f} s {_cpu() - before:6.0f} CPU-s"
        print(f"{name:20} {runs:10,} cases {spent}  {len(found)} finds", flush=True)
        for what in found:
            print(f"    {what}", flush=True)
    return bool(finds)


def _fuzz(name: str, seconds: float, keep: Path) -> tuple[int, float, list[str]]:
    """Search until the time is over; return the number of cases, the time, and the finds."""
    place = (keep / name.replace(" ", "-")).absolute()
    (place / "corpus").mkdir(parents=True, exist_ok=True)
    begun, runs, found = time.monotonic(), 0, []
    while (left := seconds - (time.monotonic() - begun)) > 2 and len(found) < 5:
        with TemporaryDirectory() as scratch, (place / "log").open("w+") as log:
            done = subprocess.run(
                [sys.executable, __file__, "--child", name, "--keep", str(place),
                 f"-max_total_time={int(left)}", f"-timeout={SECONDS_OF_A_CASE}", "-max_len=8192",
                 f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={place}/", "-print_final_stats=1",
                 str(place / "corpus")],
                stderr=log, stdout=log, check=False, cwd=scratch,
            )  # fmt: skip
            log.seek(0)
            lines = log.read().splitlines()
        runs += max([int(m[1]) for line in lines if (m := _RUNS.match(line))], default=0)
        found += [line for line in lines if line.startswith("find:")]
        if done.returncode == 0:
            break
        told = [line for line in lines if "ERROR" in line or "Test unit written" in line]
        found.append(f"exit code {done.returncode}: {' '.join(told or lines[-5:])}")
    return runs, time.monotonic() - begun, found


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- in the process of a target --------------------------------------------------------------------


def _search(name: str, place: Path, options: list[str]) -> int:
    import atheris

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    # What is loaded before is not instrumented: kernels must not be, numba compiles their bytecode.
    import numpy

    import ensemblage.flow  # noqa: F401

    with atheris.instrument_imports(include=["ensemblage", "fuzz_targets"]):
        import fuzz_targets
    atheris.instrument_func(numpy.lib._format_impl._read_array_header)
    target = fuzz_targets.TARGETS[name]
    scratch = Path.cwd() / "case"
    scratch.mkdir()
    for seed in target.seeds():
        (place / "corpus" / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    words = place / "words"
    words.write_text("".join(f'"{word}"\n' for word in fuzz_targets.DICTIONARY))
    known: set[str] = set()

    def one_case(data: bytes) -> None:
        try:
            target.read(data, scratch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a find
            _tell(error, data, place, known)

    # What is loaded late would count as new coverage of the first case that needs it.
    for seed in target.seeds():
        one_case(seed)
    atheris.Setup([name, *options, f"-dict={words}"], one_case)
    atheris.Fuzz()
    return 0


def _tell(error: Exception, data: bytes, place: Path, known: set[str]) -> None:
    """Print a find once for each line of ours that it came through, and keep its bytes."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "ensemblage" in f.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    if where in known or len(known) > 20:
        return
    known.add(where)
    file = place / f"find-{hashlib.sha1(where.encode()).hexdigest()[:8]}"
    file.write_bytes(data)
    text = " ".join(str(error).split())[:200]
    print(f"find: {where}: {text} ({len(data)} bytes in {file})", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
