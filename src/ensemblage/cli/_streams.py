"""Standard streams that the caller has closed (``2>&-``), which Python gives as None."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_LAST_STANDARD = 2


def replace_closed_streams() -> None:
    """Let messages go nowhere where standard error is closed, and keep its number occupied.

    Otherwise the next file to be opened would get the number of the closed stream, and with it
    whatever a library prints there. Closed standard input and output stay None: whoever needs them
    says so.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD:
        pass
    os.close(handle)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
