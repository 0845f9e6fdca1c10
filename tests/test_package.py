"""The package as a whole: names, versions, what importing it costs."""

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ensemblage as en

ROOT = Path(__file__).parents[1]
HEAVY = ("sklearn", "numba", "pandas", "scipy", "matplotlib", "numpy", "typer", "rich")


def test_importing_is_light():
    code = f"import sys, ensemblage; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in en.__all__:
        assert getattr(en, name) is not None
    assert dir(en) == sorted(en.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        en.nonsense  # noqa: B018


def test_one_version():
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert whole["project"]["dynamic"] == ["version"]
    assert Path(en.__file__).samefile(ROOT / whole["tool"]["hatch"]["version"]["path"])
    assert f"## {en.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_methods_by_name():
    for name, cls in en.METHODS.items():
        assert getattr(en, cls.__name__) is cls
        assert cls.__name__.lower() == ("consensus" if name == "auto" else name)
        assert next(iter(inspect.signature(cls).parameters)) == "n_clusters"
        assert cls().n_clusters == ("auto" if cls in (en.Consensus, en.Median) else 8)
