"""Compiled kernels are kept on disk; where that goes wrong they are compiled again."""

import os
import subprocess
import sys

import pytest

SUM = """
import numpy as np
from ensemblage.flow.kmeans import _weighted_sum
print(_weighted_sum(np.array([1.0, 2.0]), np.array([0.5, 3.0])))
"""


def summed(cache):
    done = subprocess.run(
        [sys.executable, "-c", SUM],
        capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return summed(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_cache_is_made_anew(tmp_path, expected, ending):
    assert summed(tmp_path) == expected
    kept = list(tmp_path.rglob(f"*.{ending}"))
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:20])
    assert summed(tmp_path) == expected
    assert summed(tmp_path) == expected
    assert all(path.stat().st_size > 20 for path in tmp_path.rglob(f"*.{ending}"))


def test_no_place_for_a_cache_is_no_reason_to_fail(tmp_path, expected):
    (tmp_path / "file").touch()
    assert summed(tmp_path / "file" / "below") == expected


def test_a_full_disk_is_no_reason_to_fail(monkeypatch, tmp_path, expected):
    """Every write to the cache fails, as it does on a full disk."""
    code = "import numba.core.caching as c, errno\n"
    code += "def full(*_): raise OSError(errno.ENOSPC, 'No space left on device')\n"
    code += "c.IndexDataCacheFile.save = full\n"
    monkeypatch.setattr(sys.modules[__name__], "SUM", code + SUM)
    assert summed(tmp_path) == expected


def test_kernels_of_others_without_a_module_compile_too():
    """Code made by exec has no module; while ours are counted it is passed over."""
    code = """
import numba
import ensemblage.flow
made = {}
exec("def double(x): return 2 * x", made)
double = made["double"]
double.__module__ = None
print(numba.njit(double)(21))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "42\n", done.stderr
