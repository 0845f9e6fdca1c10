"""The paper's own numbers: its printed tables, and its figures as read from the published PDF.

Lines of figures are dictionaries from the position on the axis to the height. Heights are exact to
2e-6 (Figures 4 and 10), to 2e-4 (Figures 1 and 8) and, in Figure 11, to 3e-4 seconds, but to 0.1
second where the published file contains only a smoothed line.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def printed() -> dict[str, Any]:
    """Return the numbers of all tables by name, and under "figures" those of the figures."""
    text = (files("ensemblage.experiments") / "paper.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)
    return numbers
