"""The command: arguments, progress, exit codes. No science, and nothing heavy until a verb runs."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensemblage.cli._app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line.

    Whatever can take time is imported in here, where an interruption ends without a traceback.
    Before that, while Python itself starts, it cannot be caught.
    """
    try:
        from ensemblage.cli._streams import replace_closed_streams

        replace_closed_streams()
        from ensemblage.cli._app import app

        app(prog_name="ensemblage")
    except KeyboardInterrupt:
        sys.exit(130)  # as in ensemblage.cli._errors, which may not be there yet
    except OSError as error:  # help or version that could not be shown: verbs tell of their own
        from ensemblage.cli._errors import complain, let_go_of_stdout

        let_go_of_stdout()
        complain(error.strerror or str(error))
        sys.exit(1)
    finally:
        # Another interruption, while Python shuts down, ends the process and shows no traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def __getattr__(name: str) -> Any:
    if name == "app":
        from ensemblage.cli import _app

        return _app.app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
