"""The package as a whole: names, versions, what importing it costs."""

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import quorate as qr

ROOT = Path(__file__).parents[1]
HEAVY = ("sklearn", "numba", "pandas", "scipy", "matplotlib", "numpy", "typer", "rich")


def test_importing_is_light():
    code = f"import sys, quorate; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in qr.__all__:
        assert getattr(qr, name) is not None
    assert dir(qr) == sorted(qr.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        qr.nonsense  # noqa: B018


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == qr.__version__
    assert f"## {qr.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_methods_by_name():
    for name, cls in qr.METHODS.items():
        assert getattr(qr, cls.__name__) is cls
        assert cls.__name__.lower() == name
        assert next(iter(inspect.signature(cls).parameters)) == "n_clusters"
        assert cls().n_clusters == 8
