"""Files are short, and no ten lines are written twice: what is needed twice is a function."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import ensemblage as en

SOURCE = Path(en.__file__).parent
MOST = 10
LONGEST = 350


def code_of(function, lines):
    """Return the lines of a function's body, without docstring, comments and blank lines."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return []
    places = range(body[0].lineno, body[-1].end_lineno + 1)
    code = ((place, lines[place - 1].strip()) for place in places)
    return [(place, line) for place, line in code if line and not line.startswith("#")]


def repeated(paths, most=MOST):
    """Return the places of runs of `most` lines that stand in several functions."""
    places = defaultdict(set)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                code = code_of(node, lines)
                for start in range(len(code) - most + 1):
                    run = code[start : start + most]
                    places[tuple(line for _, line in run)].add(f"{path.name}:{run[0][0]}")
    return sorted(sorted(found) for found in places.values() if len(found) > 1)


@pytest.mark.parametrize("folder", [SOURCE, Path(__file__).parent], ids=["src", "tests"])
def test_no_run_of_ten_lines_occurs_twice(folder):
    assert not repeated(sorted(folder.rglob("*.py")))


def test_no_file_is_longer_than_one_idea():
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")
    }
    assert not {str(path): length for path, length in lengths.items() if length > LONGEST}


def test_repeated_lines_are_found(tmp_path):
    body = "".join(f"    line{place}()\n" for place in range(MOST))
    (tmp_path / "a.py").write_text(f"def one():\n{body}\ndef other():\n    '''Text.'''\n{body}")
    assert repeated([tmp_path / "a.py"]) == [["a.py:15", "a.py:2"]]
    assert not repeated([tmp_path / "a.py"], MOST + 1)
