"""What must hold before a release: archives, metadata, licences, README, links.

python tools/release_check.py [--folder build/release] [--install]

Builds the source archive and the wheel, checks them, and prints what is left for a human. With
--install the wheel is also installed into empty environments, with each extra alone (slow). The
exit code is 1 if a check fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from itertools import pairwise
from pathlib import Path

import install
import licences

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/*.md", "docs/*/*.md", "packaging/*/*.md")
LINK = re.compile(r"\]\(([^)\s]+)(?:\s[^)]*)?\)")
CODE = re.compile(r"^(`{3,}).*?^\1`*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LARGEST_FILE = 400_000  # bytes of one file in the source archive
LARGEST = {".whl": 2_000_000, ".gz": 6_000_000}
NEEDED = ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Author")

FOR_HUMANS = """
Left for a human:
  - Read CHANGELOG.md: give {version} a date.
  - Look at the README as the package index would show it.{relative}
  - `make lint test docs` on a clean clone; `python tools/release_check.py --install`.
  - The workflows on GitHub: macOS, Windows and Python 3.14 were not run here.
  - The first time: add the repository as a trusted publisher on the index, with environment
    'pypi', and reserve the project on Read the Docs.
  - Tag v{version} and publish a release on GitHub; the workflow uploads the archives.
  - Afterwards: sha256 and maintainers in packaging/conda, contact in packaging/scverse,
    authors in packaging/joss.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--install", action="store_true", help="also try each extra (slow)")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wheel, archive = install.built(asked.folder)
    checks = {
        "contents": lambda: [*install.contents(wheel, archive), *check_archives(wheel, archive)],
        "metadata": lambda: check_metadata(wheel),
        "twine": lambda: check_with_twine(wheel, archive),
        "licences": check_licences,
        "README": check_readme,
        "links": check_links,
    }
    if asked.install:
        checks["installs"] = lambda: check_installs(asked.folder)
    n_problems = 0
    for name, check in checks.items():
        problems = check()
        n_problems += len(problems or [])
        text = "skipped: not installed" if problems is None else "; ".join(problems) or "ok"
        print(f"{name:10} {text}", flush=True)
    relative = len(relative_links(ROOT / "README.md"))
    note = f"\n    It has {relative} relative links, which do not work there." if relative else ""
    print(FOR_HUMANS.format(version=version(), relative=note))
    print(f"{n_problems} problems")
    return bool(n_problems)


def version() -> str:
    """Return the version of the source, which is the only place that has it."""
    source = (ROOT / "src" / "ensemblage" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)[0]


def check_archives(wheel: Path, archive: Path) -> list[str]:
    """Return what is wrong with sizes, and whether the licence is missing."""
    problems = [
        f"{path.name} has {path.stat().st_size:,} bytes, more than {LARGEST[path.suffix]:,}"
        for path in (wheel, archive)
        if path.stat().st_size > LARGEST[path.suffix]
    ]
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    problems += [
        f"{member.name} has {member.size:,} bytes, more than {LARGEST_FILE:,}"
        for member in members
        if member.size > LARGEST_FILE
    ]
    wanted = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "src/ensemblage/py.typed")
    problems += [f"not in the source archive: {name}" for name in wanted if name not in names]
    outside = [
        name for name in names if name.startswith((".venv", "build/", "demo/", "reproduced"))
    ]
    problems += [f"in the source archive: {name}" for name in sorted(outside)]
    return problems


def check_metadata(wheel: Path) -> list[str]:
    """Return fields that the wheel lacks or that differ from the source."""
    with zipfile.ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        fields = HeaderParser().parsestr(opened.read(name).decode())
    problems = [f"no {field}" for field in NEEDED if not fields.get(field)]
    if fields["Version"] != version():
        problems.append(f"version {fields['Version']}, the source has {version()}")
    if f"## {version()}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        problems.append(f"CHANGELOG.md has no part {version()}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if len(fields.get_all("Project-URL", [])) != len(project["urls"]):
        problems.append("addresses are missing")
    return problems


def check_with_twine(*archives: Path) -> list[str] | None:
    """Return what ``twine check`` says, which also renders the README; None without twine."""
    if importlib.util.find_spec("twine") is None:
        return None
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).strip().splitlines()


def check_licences() -> list[str]:
    """Return dependencies whose licence is GPL, AGPL or unknown."""
    problems = []
    for name in sorted(licences.requirements("ensemblage", licences.EXTRAS)):
        try:
            words = licences.licence(name)
        except ModuleNotFoundError:
            problems.append(f"{name} is not installed")
            continue
        if not words or licences.is_strict(words):
            problems.append(f"{name}: {words or 'no licence in its metadata'}")
    return problems


def check_readme() -> list[str]:
    """Return what would be shown wrongly: fences left open, jumps between levels of headings."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    problems = [] if text.startswith("# ") else ["README.md does not begin with its title"]
    if len(re.findall(r"^```", text, re.MULTILINE)) % 2:
        problems.append("a block of code in README.md is not closed")
    levels = [len(mark) for mark in re.findall(r"^(#+) ", CODE.sub("", text), re.MULTILINE)]
    problems += [
        f"README.md: level {after} follows {before}"
        for before, after in pairwise(levels)
        if after > before + 1
    ]
    return problems


def check_links() -> list[str]:
    """Return links between pages that lead nowhere: no such file, or no such heading."""
    problems = []
    for page in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
        if "_build" in page.parts or "gallery" in page.parts:
            continue
        for target in relative_links(page):
            place, _, anchor = target.partition("#")
            aim = (page.parent / place).resolve() if place else page
            if not aim.exists():
                problems.append(f"{page.relative_to(ROOT)}: no file {target}")
            elif anchor and aim.suffix == ".md" and anchor not in anchors(aim):
                problems.append(f"{page.relative_to(ROOT)}: no heading {target}")
    return problems


def relative_links(page: Path) -> list[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """Return the anchors that headings get on the site and on GitHub, and those set by hand."""
    text = page.read_text(encoding="utf-8")
    included = re.findall(r"^```\{include\} (\S+)", text, re.MULTILINE)
    text += "".join((page.parent / name).read_text(encoding="utf-8") for name in included)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(text))
    by_hand = re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    return {title.strip().replace(" ", "-") for title in plain} | set(by_hand)


def check_installs(folder: Path) -> list[str]:
    command = [sys.executable, str(ROOT / "tools" / "install.py"), "--folder", str(folder / "try")]
    done = subprocess.run(command, check=False)
    return [] if done.returncode == 0 else ["tools/install.py failed, see above"]


if __name__ == "__main__":
    sys.exit(main())
