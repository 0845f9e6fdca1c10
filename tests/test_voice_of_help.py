"""Help of every verb, and the expected messages of tests/messages, avoid the phrases of `voice`.

Tests of `voice` in `test_voice_of_src` read the source; here the texts are those that users see,
composed, wrapped and with the names of options.
"""

import ast
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner
from voice import BANNED, PAGES, offences

from ensemblage.cli import app

VERBS = ["", *typer.main.get_command(app).commands]
MESSAGES = sorted((Path(__file__).parent / "messages").glob("test_*.py"))


def help_of(verb, width):
    result = CliRunner().invoke(app, [*verb.split(), "--help"], terminal_width=width)
    assert result.exit_code == 0
    return result.stdout


def unwrapped(text):
    """Return each paragraph as one line, so that phrases across line ends are seen."""
    return re.sub(r"(?<=\S)\n +(?=\S)", " ", text)


def messages(path):
    """Return the strings of a test file that read as sentences; docstrings are not messages."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and re.search(r"\w \w+ \w.*[.?]", text)]


@pytest.mark.parametrize("verb", VERBS)
def test_help_avoids_banned_phrases(verb):
    assert offences(unwrapped(help_of(verb, 200)), BANNED + PAGES) == []


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_the_terminal(verb, width):
    lines = help_of(verb, width).splitlines()
    assert [line for line in lines if len(line) > width] == []


@pytest.mark.parametrize("verb", VERBS)
def test_usage_has_no_braces(verb):
    assert "{" not in help_of(verb, 80)


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_messages_avoid_banned_phrases(path):
    found = messages(path)
    assert len(found) > 10
    assert [offence for text in found for offence in offences(text)] == []


def test_a_banned_phrase_across_lines_is_found():
    assert offences(unwrapped("Labels of a file that is\n     no table."))
