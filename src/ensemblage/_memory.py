"""Peak memory of a piece of work."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class Peak:
    """Bytes added at the peak; None if the system does not report it."""

    n_bytes: int | None = None


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the work inside. Linux keeps a high-water mark that can be reset."""
    peak = Peak()
    try:
        _RESET.write_text("5", encoding="ascii")
        before = _field("VmRSS")
    except OSError:
        yield peak
        return
    yield peak
    peak.n_bytes = max(0, _field("VmHWM") - before)


def _field(name: str) -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {name} in {_STATUS}")
