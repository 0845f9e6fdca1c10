"""Names of columns and files are shown, and never obeyed by a terminal."""

import json
import re
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import _validate, tables
from ensemblage._messages import printable, printable_json
from ensemblage.cli import app
from ensemblage.scale import stream

ESCAPE = "\x1b[2J\x1b]0;owned\x07"
HOSTILE = [ESCAPE, "a\x9b31m", "a\u202eb", "a\rb", "a\x00b"]
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    "text", [*HOSTILE, "\ud800", "\u2028", "\x7f", "\u061c", "\u200b", "\ufeff"]
)
def test_control_characters_are_escaped(text):
    assert not CONTROLS.search(printable(text))
    assert json.loads(printable_json(json.dumps(text, ensure_ascii=False))) == text


def test_other_text_stays_as_it_is():
    text = "Zürich\t1\n漢字 \\x1b é 😀"
    assert printable(text) == text
    assert json.loads(printable_json(json.dumps(text, ensure_ascii=False))) == text


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("arguments", [["-k", "2"], ["-k", "2", "--json"], ["-k", "99"], []])
def test_columns_of_any_name(tmp_path, name, arguments):
    path = tmp_path / "votes.tsv"
    cells = "\n".join(f"{i % 2}\t{i % 3}" for i in range(12))
    path.write_text(f'"{name}"\tb\n{cells}\n', encoding="utf-8", newline="")
    done = run("consensus", path, *arguments, "-o", tmp_path / "labels.csv")
    assert not CONTROLS.search(done.output.replace("\r\n", "\n"))


@pytest.mark.parametrize("name", [name for name in HOSTILE if "\x00" not in name])
@pytest.mark.parametrize("verb", ["consensus", "compare", "choose-k"])
def test_files_of_any_name(tmp_path, name, verb):
    name = name.replace("/", "")
    path = tmp_path / f"{name}.csv"
    path.write_text("a,b\n0,0\n0,0\n1,1\n1,0\n", encoding="utf-8")
    for given in (path, tmp_path / f"none{name}.csv", tmp_path / f"{name}.strange"):
        options = [] if verb == "choose-k" else ["-k", "2"]
        done = run(verb, given, *options, "-o", tmp_path / f"{name}.out.csv")
        assert not CONTROLS.search(done.output)
        assert done.output


@pytest.mark.parametrize("name", HOSTILE)
def test_options_of_any_value(name):
    for arguments in (["consensus", "x.csv", "--method", name], [name], ["consensus", f"--{name}"]):
        assert not CONTROLS.search(run(*arguments).output)


@pytest.mark.parametrize(
    "call",
    [
        lambda name: tables.read(f"{name}.csv"),
        lambda name: tables.read(f"{name}*.csv"),
        lambda name: tables.write(f"no{name}/l.csv", {"label": np.arange(3)}),
        lambda name: en.load(f"{name}.ensemblage"),
        lambda name: stream.consensus(f"{name}.csv", en.EAC(2), "l.csv"),
        lambda name: stream.consensus("v.csv", en.EAC(2), f"no{name}/l.csv"),
    ],
)
def test_errors_of_python_name_files_in_one_line(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("a,b\n0,0\n1,1\n")
    with pytest.raises(FileNotFoundError) as raised:
        call(f"{ESCAPE}\n")
    assert not re.search(r"[\x00-\x1f]", str(raised.value))


def test_tracebacks_too(tmp_path):
    done = run("consensus", tmp_path / f"none{ESCAPE}.csv", "-k", "2", "--debug")
    assert "Traceback" in done.output
    assert not CONTROLS.search(done.output)


def test_warnings_of_python_are_escaped():
    with pytest.warns(UserWarning, match=re.escape("\\x1b[2J")):
        _validate.warn(f"Column {ESCAPE}", UserWarning)
    votes = {f"id{ESCAPE}": np.arange(50), "a": np.arange(50) % 3, "b": np.arange(50) % 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        en.EAC(3).fit(votes)
    assert not any(CONTROLS.search(str(warning.message)) for warning in caught)
