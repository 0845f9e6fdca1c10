"""Fixtures and the slow, obvious twins that fast code is compared with."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Tests that run in the background ignore interrupts, and so would the processes they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run: whether a change is right is not left to chance. New examples
# are searched by "make fuzz", which loads the other profile.
settings.register_profile("ensemblage", deadline=None, max_examples=40, derandomize=True)
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


_LONGEST_BUILD = 900  # seconds
#: Scripts of the gallery that the site of the tests runs. All of them run in test_documents.py.
GALLERY = "labels_from_tools"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the documentation once; return its folder, or skip where Sphinx is absent.

    It is built from a copy, so that the checkout keeps the gallery of "make docs". Processes of
    xdist share it: the first builds it, the others wait.
    """
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "site"
    done = folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:
        limit = time.monotonic() + _LONGEST_BUILD
        while not done.exists() and time.monotonic() < limit:
            time.sleep(0.2)
        assert done.exists(), "the process that builds the site has failed"
    else:
        built = _build_site(folder)
        done.write_text(built.stderr if built.returncode else "", encoding="utf-8")
    assert done.read_text(encoding="utf-8") == ""
    return folder / "html"


def _build_site(folder):
    root = Path(__file__).parents[1]
    made = shutil.ignore_patterns("_build", "gallery", "__pycache__")
    shutil.copytree(root / "docs", folder / "docs", ignore=made)
    shutil.copytree(root / "examples", folder / "examples", ignore=made)
    for page in root.glob("*.md"):
        shutil.copy(page, folder)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "-q", "-b", "html"]
    command += ["-D", f"sphinx_gallery_conf.filename_pattern={GALLERY}", "docs", "html"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
