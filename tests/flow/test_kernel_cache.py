"""Compiled kernels are kept on disk; where that goes wrong they are compiled again."""

import os
import subprocess
import sys

import pytest

MIRROR = """
import numpy as np
from ensemblage.flow._symmetry import mirror
square = np.array([[1.0, 2.0], [0.0, 3.0]])
mirror(square)
print(square.tolist())
"""


def mirrored(cache):
    done = subprocess.run(
        [sys.executable, "-c", MIRROR],
        capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return mirrored(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_cache_is_made_anew(tmp_path, expected, ending):
    assert mirrored(tmp_path) == expected
    kept = list(tmp_path.rglob(f"*.{ending}"))
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:20])
    assert mirrored(tmp_path) == expected
    assert mirrored(tmp_path) == expected
    assert all(path.stat().st_size > 20 for path in tmp_path.rglob(f"*.{ending}"))


def test_no_place_for_a_cache_is_no_reason_to_fail(tmp_path, expected):
    (tmp_path / "file").touch()
    assert mirrored(tmp_path / "file" / "below") == expected


def test_a_full_disk_is_no_reason_to_fail(monkeypatch, tmp_path, expected):
    """Every write to the cache fails, as it does on a full disk."""
    code = "import numba.core.caching as c, errno\n"
    code += "def full(*_): raise OSError(errno.ENOSPC, 'No space left on device')\n"
    code += "c.IndexDataCacheFile.save = full\n"
    monkeypatch.setattr(sys.modules[__name__], "MIRROR", code + MIRROR)
    assert mirrored(tmp_path) == expected
