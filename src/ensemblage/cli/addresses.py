"""Limits of addresses (``ulimit -v``), under which libraries would wait without end, or crash."""

from __future__ import annotations

import os

# In kB of 1024 bytes, as in ulimit -v. With one thread, libraries take less than this; threads of
# a core take addresses of their own. Most are never used.
_LEAST = 1_300_000
_ROOMY, _ROOM_OF_A_CORE = 4_000_000, 250_000
#: OpenBLAS takes buffers for each thread, and tries again without end where they do not fit. The
#: allocator of Arrow reserves a gigabyte at once.
_SPARING = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def check_addresses() -> None:
    """Make libraries that are not imported yet take few addresses, where these are limited.

    Variables that the user set stay. A limit that is too small for the libraries is an error.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return
    if most < _LEAST * 1024:
        raise OSError(
            f"The limit of addresses (ulimit -v) must be at least {_LEAST} kB for the libraries of"
            f" this command, got {most // 1024} kB. Raise it."
        )
    if most // 1024 < _ROOMY + _ROOM_OF_A_CORE * (os.cpu_count() or 1):
        for name, value in _SPARING.items():
            os.environ.setdefault(name, value)
