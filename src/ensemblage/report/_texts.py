"""The texts that explain a report: kept apart from code, in ``assets/texts.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def asset(name: str) -> str:
    """Return the text of a file that comes with the package."""
    return files("ensemblage.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def texts() -> dict[str, Any]:
    """Return the explanations: "parts", "glossary" and "criteria"."""
    return tomllib.loads(asset("texts.toml"))


def parts_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the sections that there are data for."""
    return [part for part in texts()["parts"] if data.get(part["name"], True) is not None]
