"""The memory that is available, and errors before an allocation that would not fit."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ensemblage._messages import Message
from ensemblage._validate.notices import MemoryBudgetError

_ROOMY = 4 << 30  # each thread takes some 100 MB of addresses, most of them unused
_CGROUP = Path("/sys/fs/cgroup")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(?:([kmgt])(i?))?b?", re.IGNORECASE)


class MemorySettingError(ValueError):
    """A limit of memory that is not a size."""


def check_memory(n_bytes: int, what: str, instead: str) -> None:
    """Raise where an allocation would not fit, before it is made."""
    limit = available_memory()
    if n_bytes > limit:
        message = Message(
            "{what} would take {needed} of memory, and {limit} are available. {instead}",
            what=what,
            needed=_format_size(n_bytes),
            limit=_format_size(limit),
            instead=instead,
        )
        raise MemoryBudgetError(message)


def available_memory() -> int:
    """Return the memory in bytes that may still be taken; ``ENSEMBLAGE_MEMORY`` overrides it."""
    override = os.environ.get("ENSEMBLAGE_MEMORY", "").strip()
    if override:
        return _size(override)
    limits = [_available_to_system(), _left_in_cgroup(), _left_of_addresses()]
    return min(limit for limit in limits if limit is not None)


def _size(text: str) -> int:
    """Return a number of bytes that may have a unit, such as 4GB."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise MemorySettingError(
            f"The variable ENSEMBLAGE_MEMORY must be a number of bytes, such as 4000000000, 4GB or"
            f" 3.5GiB. Got {text!r} instead. Unset it to use what the machine has."
        )
    number, unit, binary = match.groups()
    power = "kmgt".index(unit.lower()) + 1 if unit else 0
    return int(float(number) * (1024 if binary else 1000) ** power)


def _available_to_system() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 8 << 30  # no way to ask: a size that most machines have


def _left_in_cgroup() -> int | None:
    """Return what the control group has left; files that were read and can be read again go."""
    try:
        most = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        stat = (_CGROUP / "memory.stat").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    counts = dict(line.split(maxsplit=1) for line in stat.splitlines())
    cached = sum(int(counts.get(name, 0)) for name in ("inactive_file", "active_file"))
    return min(most, max(0, most - used + cached))


def is_cramped() -> bool:
    """Return whether ``ulimit -v`` leaves so little that threads and maps of files may not fit."""
    left = _left_of_addresses()
    return left is not None and left < _ROOMY


def address_limit() -> str | None:
    """Return the limit that ``ulimit -v`` sets, None where there is none."""
    try:
        import resource
    except ImportError:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else _format_size(most)


def _left_of_addresses() -> int | None:
    """Return what ``ulimit -v`` leaves to this process."""
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return max(0, most - pages * resource.getpagesize())


def _format_size(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
