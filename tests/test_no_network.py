"""Nothing asks the network at run time, other than the documented fetch of a dataset."""

import subprocess
import sys

#: Python itself reports each of these, whoever calls; no library can go round it.
WATCH = """
import sys
def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"):
        raise RuntimeError(f"asked the network: {event} {arguments}")
    if event == "socket.connect" and isinstance(arguments[1], tuple):  # not a socket in a folder
        raise RuntimeError(f"asked the network: {event} {arguments[1:]}")
sys.addaudithook(watch)
"""
VERBS = """
from typer.testing import CliRunner
from ensemblage.cli import app
for line in (
    "demo -o demo",
    "consensus demo/votes.csv -k 10 --confidence -o labels.csv",
    "consensus demo/votes.csv -k 10 --save model.npz -o labels.csv",
    "predict model.npz demo/votes.csv -o again.csv",
    "consensus demo/votes.csv -k 10 -o labels.parquet",
    "compare demo/votes.csv -k 10 --methods eac,vote -o compared.csv",
    "choose-k demo/votes.csv --k-range 8:12",
    "generate demo/votes.csv --members 3 -o made.csv",
    "report demo/votes.csv -k 10 -o report.html",
):
    done = CliRunner().invoke(app, line.split())
    assert done.exit_code == 0, (line, done.output, done.exception)
"""


def watched(program, folder):
    return subprocess.run(
        [sys.executable, "-c", WATCH + program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def test_the_command_asks_no_network(tmp_path):
    done = watched(VERBS, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_fetch_would_be_noticed(tmp_path):
    program = "from pathlib import Path\nfrom ensemblage.datasets._fetch import fetch\n"
    done = watched(program + "fetch(['http://127.0.0.1:9/x'], Path('x'))", tmp_path)
    assert "asked the network" in done.stderr
