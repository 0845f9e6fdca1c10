"""Print which files of the package a command walks through.

python tools/walk.py [--list]

A file is called if at least one of its functions runs other than while a module is imported, and
imported if its module is loaded. Bodies of modules and classes and comprehensions are not
functions; kernels that Numba compiled are not seen. Each command runs in its own process, on a
small file of votes.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

COMMANDS = {
    "memory": "consensus votes.csv -k 10 -o out.csv",
    "stream": "consensus votes.csv -k 10 -o out.csv --engine stream",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the files, by package")
    parser.add_argument("--trace", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.trace:
        trace(asked.trace)
        return
    for name, words in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            write_votes(Path(folder, "votes.csv"))
            call = [sys.executable, str(Path(__file__).resolve()), "--trace", *words.split()]
            done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
        files = json.loads(done.stdout)
        print(f"{name}: {len(files['called'])} files called, {len(files['imported'])} imported")
        if asked.list:
            for file in files["called"]:
                print(f"  {file}")


def write_votes(path: Path) -> None:
    """Write ten clusterings of 300 objects that mostly agree."""
    rows = [[f"o{i}", *((i % 15 + (i * m) % 7 // 6) % 15 for m in range(10))] for i in range(300)]
    lines = [["id", *(f"m{m}" for m in range(10))], *rows]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))


def trace(words: list[str]) -> None:
    """Run the command and print the files that it calls and imports, as JSON."""
    called: set[str] = set()

    def see(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        if "/ensemblage/" not in code.co_filename or code.co_name.endswith("comp>"):
            return
        if code.co_filename not in called and not importing(frame):
            called.add(code.co_filename)

    sys.argv = ["ensemblage", *words, "--quiet"]
    threading.setprofile(see)
    sys.setprofile(see)
    from ensemblage.cli import main as command

    with contextlib.suppress(SystemExit):
        command()
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]
    if not Path("out.csv").exists():
        sys.exit(f"failed: {words}")
    import ensemblage

    home = Path(ensemblage.__file__).parent
    modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    imported = {path for path in modules if path and Path(path).is_relative_to(home)}
    files = {
        name: sorted(str(Path(path).relative_to(home)) for path in paths)
        for name, paths in (("called", called), ("imported", imported))
    }
    print(json.dumps(files))


def importing(frame: Any) -> bool:
    """Return whether a module of the package is being imported around a call."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and "/ensemblage/" in code.co_filename:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    main()
