"""The command as a process: start-up, exit codes, interruption, broken pipes."""

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from quorate.cli import app
from quorate.cli._errors import WrongCall, reported

resource = pytest.importorskip("resource")  # POSIX

HEAVY = ("numba", "sklearn", "scipy", "pandas", "pyarrow", "rich", "matplotlib")


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_is_light_and_quick():
    code = (
        "import sys\nfrom quorate.cli import main\nsys.argv = ['quorate', '--help']\n"
        "try:\n    main()\nfinally:\n"
        f"    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run([sys.executable, "-c", code])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0
        assert done.stderr.strip() == "[]"
        assert "consensus" in done.stdout
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.3


def test_version_and_verbs():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("quorate ")
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


@pytest.mark.parametrize("verb", ["compare", "consensus", "demo", "generate"])
def test_every_verb_shows_an_example(verb):
    result = CliRunner().invoke(app, [verb, "--help"])
    assert result.exit_code == 0
    assert f"\n    quorate {verb}" in result.stdout


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (WrongCall("Say k."), 2, "error: Say k.\n"),
        (ValueError("Votes are\n  no votes."), 1, "error: Votes are no votes.\n"),
        (OSError(28, "No space left on device", "x.csv"), 1, "No space left on device: x.csv"),
        (MemoryError(), 1, "not enough memory"),
        (KeyError("gone"), 1, "defect of quorate"),
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


def test_a_reader_that_leaves_early_hears_no_complaint(tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b\n" + "0,0\n0,1\n1,1\n" * 50_000)
    command = (
        f"{sys.executable} -c 'from quorate.cli import main; main()' consensus {votes} -k 2 -q"
    )
    done = run(["bash", "-c", f"set -o pipefail; {command} | head -n 1"])
    assert done.stdout == "row,label\n"
    assert done.stderr == ""
    assert done.returncode == 141
