"""The plugin of "make mutants" and "make coverage" is loaded before any kernel."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_kernels_are_plain_python_under_the_plugin(tmp_path):
    test = tmp_path / "test_plain.py"
    test.write_text(
        "from types import FunctionType\n"
        "from ensemblage.flow import _neighbours\n"
        "def test_plain():\n"
        "    assert isinstance(_neighbours._search, FunctionType)\n"
    )
    options = ("-q", "-p", "plain_kernels", "-p", "no:cacheprovider", "-c", "pyproject.toml")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(test)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
