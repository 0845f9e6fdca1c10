"""Docstrings, comments, messages and texts of the package avoid the phrases of `voice`."""

import io
import re
import tokenize
from pathlib import Path

import pytest
from voice import offences

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "ensemblage"
PACKAGES = [
    "_validate",
    "cli",
    "datasets",
    "ensembles",
    "experiments",
    "flow",
    "graph",
    "methods",
    "metrics",
    "plot",
    "report",
    "sc",
    "scale",
    "tables",
    "testing",
]
MODULES = sorted(PACKAGE.glob("*.py"))
ASSETS = sorted((PACKAGE / "report" / "assets").glob("*.*"))
TEXTS = {"STRING", "COMMENT", "FSTRING_MIDDLE"}
INLINE_CODE = re.compile(r"``[^`\n]*``|`[^`\n]*`")


def python_files(package):
    return sorted((PACKAGE / package).rglob("*.py"))


def prose(path):
    """Return the strings and comments of a file, with the rest blank, line by line."""
    source = path.read_text(encoding="utf-8")
    lines = [""] * (source.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] in TEXTS:
            for offset, text in enumerate(token.string.splitlines()):
                lines[token.start[0] - 1 + offset] += f" {text}"
    return "\n".join(INLINE_CODE.sub("X", line) for line in lines)


def sentences(text):
    """Return paragraphs of comments and docstrings as one line each, without quotes and marks."""
    stripped = re.sub(r"^[ \t]*(?:[rf]*\"{1,3}|#:?)?[ \t]*", "", text, flags=re.MULTILINE)
    return "\n".join(" ".join(part.split()) for part in stripped.split("\n\n"))


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_avoid_banned_phrases(package):
    found = [
        f"{path.relative_to(PACKAGE)}, {offence}"
        for path in python_files(package)
        for offence in offences(prose(path))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_modules_avoid_banned_phrases(path):
    assert not offences(prose(path))


@pytest.mark.parametrize("path", ASSETS, ids=lambda path: path.name)
def test_texts_of_reports_avoid_banned_phrases(path):
    assert not offences(path.read_text(encoding="utf-8"))
