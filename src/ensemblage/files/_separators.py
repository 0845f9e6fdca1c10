"""What separates the cells of a text file, and what looks like a separator that is not known."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ensemblage.files._cells import Kind, understand
from ensemblage.files._text_column import has_decimal_comma

if TYPE_CHECKING:
    from collections.abc import Sequence

KNOWN = "Cells are separated by commas, semicolons or tabs"
_DELIMITERS = ",;\t"
_QUOTED = re.compile(r'"(?:[^"]|"")*("|$)')
_OTHERS = {"|": "bars (|)", " ": "spaces", ":": "colons (:)"}
_NEARLY_ALL = 0.9


class Suspect(NamedTuple):
    """Something that occurs equally often in the cells of an only column."""

    called: str
    is_sure: bool


def delimiter(line: str, preferred: str) -> str:
    """Return what separates the cells of a line: the usual one if it occurs outside of quotes.

    Examples
    --------
    >>> delimiter("a;b;c", ","), delimiter('"Smith, J";b', ","), delimiter("a", ",")
    (';', ';', ',')
    >>> delimiter("1,71;2,3", ",")  # decimal commas
    ';'
    """
    line = _QUOTED.sub("", line)
    if ";" in line and all(map(has_decimal_comma, line.split(";"))):
        return ";"
    if preferred in line:
        return preferred
    most = max(_DELIMITERS, key=line.count)
    return most if most in line else preferred


def suspect(cells: Sequence[str]) -> Suspect | None:
    """Return what may separate the cells of a file that was read as one column of names.

    Names may have spaces in them (``T cell``, ``cluster 3``), so spaces and colons are surely
    separators only where most of what they part are numbers.

    Examples
    --------
    >>> suspect(["1 2 1", "1 2 2"])
    Suspect(called='spaces', is_sure=True)
    >>> suspect(["T cell", "B cell"])
    Suspect(called='spaces', is_sure=False)
    >>> suspect(["T", "helper T"])
    """
    cells = [cell.strip() for cell in cells if understand(cell).kind is not Kind.MISSING]
    for mark, called in _OTHERS.items():
        parts = [cell.split(None if mark == " " else mark) for cell in cells]
        width, times = Counter(map(len, parts)).most_common(1)[0] if parts else (1, 0)
        if width > 1 and times >= _NEARLY_ALL * len(cells):
            kinds = [understand(piece).kind for pieces in parts for piece in pieces]
            numbers = sum(kind is not Kind.NAME for kind in kinds)
            return Suspect(called, mark == "|" or 2 * numbers > len(kinds))
    return None
