"""The command as a process: start-up, exit codes, interruption, broken pipes."""

import ctypes
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ensemblage.cli import app
from ensemblage.cli.errors import UsageError, reported

HEAVY = ("numpy", "numba", "sklearn", "scipy", "pandas", "pyarrow", "rich", "matplotlib")
VERBS = (
    *("choose-k", "compare", "consensus", "demo", "generate"),
    *("predict", "report", "reproduce"),
)


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["--help"], ["consensus", "--help"]])
def test_help_is_light(words):
    """What it costs in seconds is told by benchmarks.startup."""
    code = (
        f"import sys\nfrom ensemblage.cli import main\nsys.argv = ['ensemblage', *{words}]\n"
        "try:\n    main()\nfinally:\n"
        f"    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = run([sys.executable, "-c", code])
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"
    assert "consensus" in done.stdout


def test_version_and_verbs():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("ensemblage ")
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


def test_these_are_the_verbs():
    assert sorted(typer.main.get_command(app).commands) == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_an_example(verb):
    result = CliRunner().invoke(app, [verb, "--help"])
    assert result.exit_code == 0
    assert f"\n    ensemblage {verb}" in result.stdout
    assert "<" not in result.stdout  # no types of Python


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_in_the_section_of_its_verb(verb):
    docs = Path(__file__).parents[2] / "docs"
    pages = [docs / "command.md", docs / "command_more.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    section = text.partition(f"\n## Options of `ensemblage {verb}`\n")[2].partition("\n## ")[0]
    for parameter in typer.main.get_command(app).commands[verb].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-") and option not in ("-h", "--help"):
                assert f"`{option}`" in section, option


def test_options_of_several_verbs_are_called_alike():
    commands = typer.main.get_command(app).commands
    for verb, command in commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--quiet", "-q", "--debug"} <= options, verb
        assert ("--output" in options) == ("-o" in options), verb
        assert ("--clusters" in options) == ("-k" in options), verb
        assert ("--json" in options) == (verb != "demo"), verb


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (UsageError("Say k."), 2, "error: Say k.\n"),
        (ValueError("Votes are\n  no votes."), 1, "error: Votes are no votes.\n"),
        (OSError(28, "No space left on device", "x.csv"), 1, "No space left on device: x.csv"),
        (MemoryError(), 1, "not enough memory"),
        (KeyError("gone"), 1, "bug in ensemblage"),
        (KeyboardInterrupt(), 130, "Interrupted"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_errors_become_words_and_codes(capsys, error, code, words):
    with pytest.raises(typer.Exit) as stopped, reported(debug=False):
        raise error
    assert stopped.value.exit_code == code
    shown = capsys.readouterr().err
    assert words in shown
    assert bool(shown) == bool(words)


def end_by_another_error():
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    raise RuntimeError("no compiled object yet")


def go_on():
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    time.sleep(10)


@pytest.mark.parametrize("loses", [end_by_another_error, go_on])
def test_an_interruption_that_compiled_code_loses(loses, capsys, monkeypatch):
    """As numba does: its compiler calls Python code by ctypes."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # is restored at the end
    with pytest.raises(typer.Exit) as stopped, reported(debug=False):
        loses()
    assert stopped.value.exit_code == 130
    assert capsys.readouterr().err == "Interrupted. Each output is complete, or as it was before.\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_reader_that_leaves_early_hears_no_complaint(tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b\n" + "0,0\n0,0\n1,1\n" * 50_000)
    command = (
        f"{sys.executable} -c 'from ensemblage.cli import main; main()' consensus {votes} -k 2 -q"
    )
    done = run(["bash", "-c", f"set -o pipefail; {command} | head -n 1"])
    assert done.stdout == "row,label\n"
    assert done.stderr == ""
    assert done.returncode == 141
