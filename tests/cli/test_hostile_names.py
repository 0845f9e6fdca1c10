"""Names of columns and files are shown, and never obeyed by a terminal."""

import json
import os
import re
import sys
import warnings
from contextlib import contextmanager, redirect_stdout

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import _validate, tables
from ensemblage._messages import printable, printable_json, printable_path
from ensemblage.cli import app
from ensemblage.cli.output import say
from ensemblage.scale import stream
from ensemblage.tables import target

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


@pytest.mark.parametrize("err", [True, False])
@pytest.mark.parametrize("text", HOSTILE)
def test_all_that_the_command_says_is_escaped(text, err, capsys):
    say(text, err=err)
    done = capsys.readouterr()
    assert not CONTROLS.search(done.err if err else done.out)
    assert "\\" in (done.err if err else done.out)


def test_other_text_stays_as_it_is():
    text = "Zürich\t1\n漢字 \\x1b é 😀"
    assert printable(text) == text
    assert json.loads(printable_json(json.dumps(text, ensure_ascii=False))) == text


def test_long_names_are_left_out(tmp_path):
    name = 100_000 * "n"
    (tmp_path / "v.csv").write_text(f"id,{name}\nx,1.5\ny,2\n")
    done = run("consensus", tmp_path / "v.csv", "-k", "2", "--columns", name)
    assert "nnn ... nnn" in done.output
    assert done.output.endswith("leave it empty if the vote is missing.\n")
    assert len(done.output) < 5000


def write_columns(folder, name):
    """Write votes.tsv and cells.tsv, of which the columns, also the ids, are called so."""
    rows = [f"x{i}\t{i % 2}\t{i % 3}\t{i % 4}\n" for i in range(12)]
    heading = f'"{name} id"\tkmeans_1\t"{name}"\tb\n'
    for file in ("votes.tsv", "cells.tsv"):
        (folder / file).write_text(heading + "".join(rows), encoding="utf-8", newline="")
        heading = heading.replace("kmeans_1", f'"other {name}"')


VERBS = [
    "consensus votes.tsv -k 2 -o labels.csv --save model.ensemblage",
    "consensus votes.tsv -k 99",
    "consensus votes.tsv -o labels.csv",
    "predict model.ensemblage votes.tsv -o labels.csv",
    "predict model.ensemblage cells.tsv -o labels.csv",
    "generate cells.tsv -m 2 -o pool.csv",
    "compare votes.tsv -k 2 --methods eac,vote -o table.csv",
    "choose-k votes.tsv --method eac -o table.csv",
    "report votes.tsv -k 2 --method eac -o page.html",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("verb", VERBS)
def test_columns_of_any_name(tmp_path, monkeypatch, name, verb):
    monkeypatch.chdir(tmp_path)
    write_columns(tmp_path, name)
    if verb.startswith("predict"):
        run(*VERBS[0].split())
    for call in (verb, f"{verb} --json"):
        done = run(*call.split())
        assert done.output
        assert not CONTROLS.search(done.output.replace("\r\n", "\n"))


def test_a_name_is_in_warnings_and_in_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_columns(tmp_path, "a\x9b31m")
    for verb in ("choose-k votes.tsv --method eac", "compare votes.tsv -k 2 --methods eac"):
        done = run(*verb.split(), "--json")
        assert "warning: column 'a\\x9b31m' counts as a clustering" in done.stderr
        assert '"a\\u009b31m id"' in done.stdout
        assert json.loads(done.stdout)["id_column"] == "a\x9b31m id"


@pytest.mark.parametrize("name", [name for name in HOSTILE if "\x00" not in name])
@pytest.mark.parametrize("verb", ["consensus", "compare", "choose-k", "generate", "report"])
def test_files_of_any_name(tmp_path, name, verb):
    name = name.replace("/", "")
    path = tmp_path / f"{name}.csv"
    path.write_text("a,b\n0,0\n0,0\n1,1\n1,0\n", encoding="utf-8")
    for given in (path, tmp_path / f"none{name}.csv", tmp_path / f"{name}.strange"):
        options = {"choose-k": [], "generate": ["-m", "2"]}.get(verb, ["-k", "2"])
        done = run(verb, given, *options, "-o", tmp_path / f"{name}.out.csv", "--json")
        assert not CONTROLS.search(done.output)
        assert done.output


@pytest.mark.parametrize("name", ["a\x1b[31m", "a\nb", "a\x9bb", "a\u202eb"])
def test_names_of_outputs_in_a_folder(name, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"{name}.csv").write_text("a,b\n" + "0,0\n1,1\n" * 9)
    call = ["consensus", tmp_path / "in", "-k", "2", "-o", f"{tmp_path / 'out'}{os.sep}"]
    done = run(*call)
    assert done.exit_code == 0
    written = next((tmp_path / "out").iterdir()).name
    assert written == f"{printable_path(name)}.csv"
    assert not CONTROLS.search(written)
    (tmp_path / "in" / f"{printable_path(name)}.csv").write_text("a,b\n" + "0,0\n1,1\n" * 9)
    done = run(*call)
    assert done.exit_code == 1
    assert "would both get" in done.output


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


@contextmanager
def terminal():
    """Make standard output a terminal; give a function that returns what it was sent."""
    if not hasattr(os, "openpty"):
        pytest.skip("there are no terminals here")
    shows, inner = os.openpty()
    os.set_blocking(shows, False)  # a test that shows nothing fails
    with os.fdopen(inner, "w", encoding="utf-8") as stdout, redirect_stdout(stdout):
        yield lambda: os.read(shows, 1 << 16).decode().replace("\r\n", "\n")
    os.close(shows)


def test_ids_do_not_command_a_terminal(tmp_path):
    file = tmp_path / "v.csv"
    file.write_text(f"id,a,b\n{ESCAPE}é,0,0\ny,0,0\nz\x9b31m,1,1\n", encoding="utf-8")
    call = ["consensus", str(file), "-k", "2", "-q"]
    with terminal() as shown:
        app(call, standalone_mode=False)
        assert shown() == "id,label\n\\x1b[2J\\x1b]0;owned\\x07é,0\ny,0\nz\\x9b31m,1\n"
    assert ESCAPE in run(*call).output  # not a terminal


def test_a_terminal_is_one_under_any_name():
    with terminal() as shown:
        tables.write(os.ttyname(sys.stdout.fileno()), {"id": np.array([ESCAPE])}, format="csv")
        assert not CONTROLS.search(shown())


def test_bytes_in_parts_and_no_text_at_all():
    with terminal() as shown:
        with target.replacing("-") as stream:
            for byte in "é\x1b".encode() + b"\xff\xc3":
                stream.write(bytes([byte]))
        assert shown() == "é\\x1b\\xff\\xc3"
