"""The pages are written as a manual: no banned phrase, no title without a noun, short lines."""

from pathlib import Path

import pytest
import voice

ROOT = Path(__file__).parents[1]
GENERATED = {"results", "gallery", "_build"}
#: Pages with lines of many writers, or of others.
COLLECTED = {"CHANGELOG.md", "CODE_OF_CONDUCT.md"}
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(
        path for path in (ROOT / "docs").rglob("*.md") if not GENERATED.intersection(path.parts)
    ),
]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_banned_phrase(page):
    text = voice.prose(page.read_text(encoding="utf-8"))
    assert voice.offences(text, voice.BANNED + voice.HEADLESS + voice.PAGES) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_are_short(page):
    lines = voice.without_blocks(page.read_text(encoding="utf-8")).splitlines()
    long = {n: len(line) for n, line in enumerate(lines, 1) if len(line) >= voice.LONGEST_LINE}
    assert long == {}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in COLLECTED], ids=name_of
)
def test_one_sentence_a_line(page):
    lines = voice.prose(page.read_text(encoding="utf-8")).splitlines()
    assert [line for line in lines if voice.sentences(line) > 1] == []


@pytest.mark.parametrize(
    ("phrase", "is_banned"),
    [
        ("the reader is told", True),
        ("a file that is no table", True),
        ("there is no table", False),
        ("it is no longer there", False),
        ("the run goes on", True),
        ("labels come back in kind", True),
        ("this kind of table", False),
        ("What is read.", True),
        ("What is read?", False),
        ("## What is read", True),
        ("## How many clusters", False),
    ],
)
def test_phrases_are_recognised(phrase, is_banned):
    assert bool(voice.offences(phrase, voice.BANNED + voice.HEADLESS)) == is_banned


def test_code_and_quotations_are_not_prose():
    page = 'One `is no x`, "is told".\n```text\nit goes on\n```\nTwo.\n'
    assert voice.offences(voice.prose(page)) == []
    assert voice.prose(page).splitlines()[-1] == "Two."
