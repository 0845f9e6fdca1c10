"""What Windows does otherwise than Linux, put into this process, as far as that can be done.

python tests/windows_like.py VERB ...       the command, in such a process

No fcntl, resource, fork or O_DIRECTORY; locks by msvcrt; text in cp1252 where nobody says otherwise
(and an error where a module of ours leaves it at that); files that are open or mapped can be
neither removed nor replaced, and folders that hold such files cannot be removed.
"""

import errno
import os
import signal
import sys
import types
import warnings
from pathlib import Path

_POSIX_MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
_POSIX_NAMES = ("fork", "O_DIRECTORY", "sysconf", "getuid", "geteuid", "killpg", "mkfifo")


def become():
    """Change this process. What other libraries need of Linux they have to have imported before."""
    warnings.filterwarnings("ignore", category=EncodingWarning)  # of other libraries
    import distributed  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import sklearn.cluster  # noqa: F401
    import typer.testing  # noqa: F401

    for name in _POSIX_MODULES:
        sys.modules[name] = None
    for name in _POSIX_NAMES:
        vars(os).pop(name, None)
    for name in ("pthread_sigmask", "SIGKILL", "SIGPIPE", "SIGALRM"):
        vars(signal).pop(name, None)
    sys.modules["msvcrt"] = _msvcrt()
    _keep_open_files()
    warnings.filterwarnings("error", category=EncodingWarning, module="ensemblage")
    from ensemblage.tables import locks, target

    locks.sys = target.sys = _Windows()


class _Windows:
    """The module sys, but for the platform."""

    platform = "win32"

    def __getattr__(self, name):
        return getattr(sys, name)


def _msvcrt():
    """Return a module that locks the first byte of a file for one open file at a time."""
    holders = {}

    def locking(handle, mode, n_bytes):
        del mode, n_bytes
        file = os.fstat(handle)[1:3]
        other = holders.get(file)
        if other is not None and other != handle and _is_open(other, file):
            raise OSError(errno.EACCES, "Permission denied")
        holders[file] = handle

    return types.SimpleNamespace(locking=locking, LK_NBLCK=2)


def _is_open(handle, file):
    try:
        return os.fstat(handle)[1:3] == file
    except OSError:
        return False


def _keep_open_files():
    """Let files that this process has open be neither removed nor replaced."""

    def guarded(function, *places):
        def call(*given, **named):
            for place in places:
                _refuse_open(given[place])
            return function(*given, **named)

        return call

    os.unlink = os.remove = guarded(os.unlink, 0)
    os.replace, os.rename = guarded(os.replace, 0, 1), guarded(os.rename, 0, 1)


def _refuse_open(path):
    name = os.path.realpath(path)
    used = {os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")}  # noqa: PTH208
    used |= {line.split()[-1] for line in Path("/proc/self/maps").read_text("utf-8").splitlines()}
    if name in used:
        reason = "The process cannot access the file because it is being used by another process"
        raise PermissionError(errno.EACCES, reason, str(path))


if __name__ == "__main__":
    become()
    from ensemblage.cli import main

    sys.argv = ["ensemblage", *sys.argv[1:]]
    main()
