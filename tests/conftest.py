"""Fixtures and the slow, obvious twins that fast code is compared with."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Tests that run in the background ignore interrupts, and so would the processes they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run: whether a change is right is not left to chance. New examples
# are searched by "make fuzz", which loads the other profile.
settings.register_profile("ensemblage", deadline=None, max_examples=60, derandomize=True)
settings.register_profile(
    "fuzz", deadline=None, max_examples=int(os.environ.get("ENSEMBLAGE_EXAMPLES", "200"))
)
# For "make test-quick": a few of the same.
settings.register_profile("quick", deadline=None, max_examples=8, derandomize=True)
settings.load_profile("ensemblage")

#: The paper's Table 2, and the same with a third clustering.
E2 = np.array([[1, 1], [1, 1], [1, 1], [1, 2], [2, 2], [2, 2], [2, 3], [2, 3]])
E3 = np.column_stack([E2, [1, 1, 1, 1, 1, 1, 2, 2]])


@pytest.fixture
def e2():
    return E2.copy()


@pytest.fixture
def e3():
    return E3.copy()


@pytest.fixture(scope="session")
def data_folder():
    """Return the folder with `pools/` and `golden/`, or skip where it is absent."""
    folder = Path(os.environ.get("ENSEMBLAGE_DATA", Path(__file__).parents[2] / "shared"))
    if not (folder / "pools").is_dir():
        pytest.skip(f"ENSEMBLAGE_DATA: no pools under {folder}")
    return folder


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the documentation once; return its folder, or skip where Sphinx is absent."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "-q", "-b", "html", "docs"]
    root = Path(__file__).parents[1]
    built = subprocess.run(
        [*command, str(folder)], cwd=root, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder
