"""Small tables of figures in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with its first column to the left and all others to the right.

    Examples
    --------
    >>> print(aligned(["", "NMI"], [["PTA", "0.712"], ["PTGP", "0.71"]]))
            NMI
    PTA   0.712
    PTGP   0.71
    """
    lines = [header, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def counted(number: int, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1797, "object"), counted(1, "clustering")
    ('1,797 objects', '1 clustering')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
