"""Licences of what ensemblage installs, from the metadata of the installed packages.

python tools/licences.py        prints the table of docs/reliability.md

Followed from the requirements with all extras but `dev`, `docs` and `gpu`. The exit code is 1
if one of them is GPL or AGPL, or has no licence. LGPL may be linked to, and is reported.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata

EXTRAS = ("anndata", "dask", "graph", "io", "metis", "report", "testing")
STRICT = re.compile(r"\bA?GPL|GNU (Affero )?General Public", re.IGNORECASE)
LESSER = re.compile(r"\bLGPL|Lesser General Public", re.IGNORECASE)


def main() -> int:
    found = {name: licence(name) for name in sorted(requirements("ensemblage", EXTRAS))}
    for name, words in found.items():
        print(f"{name:28} {metadata.version(name):14} {words or 'missing'}")
    bad = [name for name, words in found.items() if not words or is_strict(words)]
    lesser = [name for name, words in found.items() if LESSER.search(words)]
    print(f"\n{len(found)} packages; GPL, AGPL or unknown: {', '.join(bad) or 'none'};"
          f" LGPL: {', '.join(lesser) or 'none'}")  # fmt: skip
    return bool(bad)


def is_strict(words: str) -> bool:
    return bool(STRICT.search(LESSER.sub("", words))) and "exception" not in words.lower()


def requirements(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """Return the names of installed packages that one needs, directly or not."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    waiting = [(name, extras)]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for line in metadata.requires(current[0]) or []:
            need = Requirement(line)
            wished = ({"extra": extra} for extra in (*current[1], ""))
            if need.marker and not any(need.marker.evaluate(wish) for wish in wished):
                continue
            plain = re.sub(r"[-_.]+", "-", need.name).lower()
            if plain != name:
                found.add(plain)
            waiting.append((plain, tuple(sorted(need.extras))))
    return found


def licence(name: str) -> str:
    """Return the licence that a package's metadata names: expression, classifiers, text."""
    data = metadata.metadata(name)
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in data.get_all("Classifier", [])
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    text = (data.get("License") or "").strip()
    return data.get("License-Expression") or ", ".join(classifiers) or text[:60].split("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
