"""The explanations of a report, from ``assets/texts.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return files("ensemblage.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def texts() -> dict[str, Any]:
    """Return the explanations: "parts", "glossary" and "criteria"."""
    return tomllib.loads(asset("texts.toml"))


def parts_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the sections with data."""
    return [part for part in texts()["parts"] if data.get(part["name"], True) is not None]
