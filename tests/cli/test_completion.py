"""Completion in a shell: what typer's scripts call, and that it loads nothing heavy."""

import os
import subprocess
import sys

import pytest

from ensemblage import METHODS

RUN = (
    "import sys\nfrom ensemblage.cli import main\nsys.argv = ['ensemblage']\n"
    "try:\n    main()\nfinally:\n"
    "    heavy = ('numpy', 'sklearn', 'numba', 'scipy', 'pandas', 'matplotlib')\n"
    "    print([name for name in heavy if name in sys.modules], file=sys.stderr)"
)


def completed(line):
    """Return what bash is offered for the last word of a line."""
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    environment = os.environ | asked | {"_ENSEMBLAGE_COMPLETE": "complete_bash"}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ensemblage co", ["consensus", "compare"]),
        ("ensemblage consensus v.csv -m pt", ["pta", "ptgp"]),
        ("ensemblage report v.csv --method ", list(METHODS)),
        ("ensemblage compare v.csv --methods eac,v", ["eac,vote"]),
        (
            "ensemblage choose-k v.csv --criteria pac,s",
            ["pac,support", "pac,subset_stability", "pac,seed_stability"],
        ),
        ("ensemblage consensus v.csv --device c", ["cpu", "cuda"]),
        ("ensemblage consensus v.csv --neighbors a", ["auto", "all"]),
        ("ensemblage consensus v.csv -k ", ["auto"]),
        ("ensemblage predict m v.csv --engine ", ["auto", "memory", "stream"]),
        ("ensemblage reproduce com", ["comparison"]),
        ("ensemblage consensus v.csv --membe", ["--member-table"]),
        ("ensemblage consensus v", []),  # files are the shell's own business
    ],
)
def test_bash_is_offered(line, offered):
    assert completed(line) == offered


def test_the_script_can_be_shown_without_an_installation():
    environment = os.environ | {"_ENSEMBLAGE_COMPLETE": "source_bash"}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "complete -o default -F _ensemblage_completion ensemblage" in done.stdout
