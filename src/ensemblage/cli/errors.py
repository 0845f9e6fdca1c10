"""Errors and warnings of the command: one paragraph on standard error, and an exit code."""

from __future__ import annotations

import _thread
import inspect
import os
import shlex
import signal
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ensemblage._messages import did_you_mean, printable, written
from ensemblage.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ensemblage._messages import Parameter

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count
BROKEN_PIPE = 141  # 128 + SIGPIPE
_LONGEST_MESSAGE = 4000  # characters; names in files may have millions
_AGAIN = 0.1  # seconds until an interruption that was lost is raised again

#: What the command calls a parameter of the library.
OPTIONS = {"n_clusters": "-k", "n_clusters_range": "--k-range", "random_state": "--seed"}
_SAME_NAME = (
    *("checkpoint", "columns", "device", "drop", "format", "header", "id_column", "keep", "key"),
    *("layout", "linkage", "n_jobs", "n_members", "n_neighbors", "n_refits", "n_steps"),
    *("align_to", "min_cluster_size", "projection", "scale", "subsample", "subspace", "truth"),
)
OPTIONS |= {name: f"--{name.removeprefix('n_').replace('_', '-')}" for name in _SAME_NAME}

#: What typer raises for a call that it cannot parse. It has no public name of its own.
_TyperUsageError: type[Exception] = typer.BadParameter.__mro__[1]


class UsageError(Exception):
    """The arguments are wrong, whatever the files contain."""


def unknown(noun: str, word: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that is not known, with the nearest one that is."""
    known = list(known)
    return UsageError(
        f"Unknown {noun} {word!r}.{did_you_mean(word, known)} Known: {', '.join(known)}."
    )


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Turn any exception into a paragraph on standard error and an exit code."""
    with _interrupts_noted() as interrupts:
        try:
            yield
        except typer.Exit:
            raise
        except BrokenPipeError:
            discard_stdout()
            raise typer.Exit(BROKEN_PIPE) from None
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - every one is reported
            if debug:
                say("".join(traceback.format_exception(error)), err=True)
            if interrupts or isinstance(error, KeyboardInterrupt):
                say("Interrupted. Each output is complete, or as it was before.", err=True)
                raise typer.Exit(INTERRUPTED) from None
            code, message = describe(error)
            show_error(message)
            raise typer.Exit(code) from None


@contextmanager
def _interrupts_noted() -> Iterator[list[int]]:
    """Note each SIGINT in a list: an error that follows one may be caused by it.

    A KeyboardInterrupt in Python code that C code calls is lost, such as while numba compiles. Its
    traceback is not shown, and it is raised again a moment later.
    """
    interrupts: list[int] = []
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook

    def note(number: int, frame: Any) -> None:
        interrupts.append(number)
        signal.default_int_handler(number, frame)

    def show(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(_AGAIN, _thread.interrupt_main)
            again.daemon = True
            again.start()
        elif not interrupts:
            hook(lost)

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or handler is not signal.default_int_handler:
        yield interrupts
        return
    signal.signal(signal.SIGINT, note)
    sys.unraisablehook = show
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, handler)
        if not interrupts:  # else destructors of what was left half made may still fail
            sys.unraisablehook = hook


def describe(error: Exception) -> tuple[int, str]:
    """Return the exit code for an error, and its message."""
    if isinstance(error, UsageError):
        return WRONG_USAGE, str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return FAILED, f"{error.strerror}{place}"
    text = with_options(error)
    if isinstance(error, MemoryError) or "start new thread" in text:
        from ensemblage._validate.memory import address_limit

        text, limit = text or "There was not enough memory for this", address_limit()
        hint = f" The limit of addresses (ulimit -v) is {limit}: raise it." if limit else ""
        return FAILED, f"{text.rstrip('.')}.{hint}"
    if isinstance(error, (ValueError, TypeError, OSError)):
        wrong_option = isinstance(error, _loaded("ensemblage.tables", "OptionError"))
        return WRONG_USAGE if wrong_option else FAILED, text or type(error).__name__
    if isinstance(error, ImportError) and "pip install" in text:
        return FAILED, text
    if isinstance(error, _loaded("ensemblage._device", "DeviceError")):
        return FAILED, text
    return FAILED, (
        f"Unexpected error: {type(error).__name__}: {text}. This is a bug in ensemblage: run the"
        " same command with --debug, and please report what it shows."
    )


def _loaded(module: str, name: str) -> Any:
    """Return a class of a module, if that is loaded; importing it may be what has just failed."""
    return getattr(sys.modules.get(module), name, ())


def show_error(message: str) -> None:
    """Show an error as one paragraph on standard error."""
    typer.echo(f"{coloured('error:', 'red')} {_shortened(message)}", err=True)


def warn(message: Warning | str) -> None:
    """Show a warning as one line on standard error."""
    text = with_options(message) if isinstance(message, Warning) else " ".join(message.split())
    typer.echo(f"{coloured('warning:', 'yellow')} {_shortened(text)}", err=True)


def _shortened(message: str) -> str:
    """Return a message that is safe to print, with its middle left out if a name in it is long."""
    text, half = printable(message), _LONGEST_MESSAGE // 2
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:half]} ... {text[-half:]}"


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show each warning for users once, and no warning for developers (deprecations)."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            warn(message)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def coloured(text: str, colour: str) -> str:
    """Return a text in a colour if standard error is a terminal; NO_COLOR turns colours off."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if not wanted or not sys.stderr.isatty():
        return text
    return typer.style(text, fg=colour, bold=True)


def option_name(parameter: Parameter) -> str:
    """Return a parameter of the library as an option of the command: ``--scale minmax``."""
    if parameter.name == "n_samples":
        return " ".join(map(str, parameter.value))
    if parameter.name not in OPTIONS:
        return str(parameter)
    name = OPTIONS[parameter.name]
    if parameter.value == (None,):
        return f"no {name}"
    if parameter.value == (True,):
        return name
    if parameter.value == (False,):
        return f"--no-{name.removeprefix('--')}"
    if parameter.value and isinstance(parameter.value[0], list):
        return " ".join(f"{name} {shlex.quote(str(value))}" for value in parameter.value[0])
    return " ".join([name, *(shlex.quote(str(value)) for value in parameter.value)])


def with_options(error: BaseException) -> str:
    """Return the message of an error or a warning in one line, with options for parameters."""
    return " ".join(written(error, option_name).split())


def discard_stdout() -> None:
    """Point standard output nowhere: its reader has gone, and the last flush must not fail."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Verb(TyperCommand):
    """A verb of the command: its help and its errors name words, not types of Python."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        hints = get_type_hints(inspect.unwrap(self.callback), include_extras=True)  # type: ignore[arg-type]
        self._types = {name: list(_parts(hint)) for name, hint in hints.items()}
        for param in self.params:
            words = self._choices(param)
            if words and param.metavar is None:
                param.metavar = "|".join(words)
            if param.param_type_name == "argument":
                vars(param)["display_type_rich"] = lambda ctx: None  # noqa: ARG005 - of some versions

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line without the braces that some versions add."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a value of the wrong type is an error that says what is right."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except _TyperUsageError as error:
            vars(error)["ctx"] = ctx  # some come without it
            if type(error) is not typer.BadParameter or error.param is None:
                raise
            values, _, _ = self.make_parser(ctx).parse_args(given)
            raise self._wrong_value(error, values.get(str(error.param.name))) from None

    def _choices(self, param: Any) -> tuple[str, ...]:
        """Return the words that a parameter takes, if its type is a Literal."""
        types = self._types.get(param.name, ())
        return next((get_args(one) for one in types if get_origin(one) is Literal), ())

    def _wrong_value(self, error: Any, value: Any) -> Exception:
        """Return the error for a value that typer does not accept."""
        param, types = error.param, self._types.get(error.param.name, ())
        if self._choices(param):
            return unknown(str(param.name).rstrip("s"), value, self._choices(param))
        if int not in types:
            return error
        least = next((info.min for info in types if hasattr(info, "min")), None)
        start = "" if least is None else f" from {least} up"
        return UsageError(f"{_names(param)[0]} must be a whole number{start}, got {value!r}.")


def _parts(hint: Any) -> Iterator[Any]:
    """Yield a type and those inside of it: of a union, and what Annotated adds."""
    yield hint
    if get_origin(hint) is not Literal:
        for part in get_args(hint):
            yield from _parts(part)


class Verbs(TyperGroup):
    """The verbs, and the messages for calls that typer cannot parse."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that the first argument names."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            raise unknown("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the verb; exit with its code if that is wanted."""
        try:
            code = super().main(*args, **(extra | {"standalone_mode": False}))
        except UsageError as error:
            show_error(str(error))
            code = WRONG_USAGE
        except _TyperUsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                say(str(error.format_message()), err=True)  # type: ignore[attr-defined]
            else:
                show_error(_describe_usage(error))
            code = WRONG_USAGE
        if standalone_mode:
            sys.exit(code or 0)
        return code


def _describe_usage(error: Any) -> str:
    """Return a message of typer in the words of the other errors."""
    kind, message = type(error).__name__, str(error.format_message())
    params = error.ctx.command.params if error.ctx else ()
    by_option = {option: param for param in params for option in param.opts if option[0] == "-"}
    if kind == "NoSuchOption":
        message = f"Unknown option {error.option_name}.{did_you_mean(error.option_name, by_option)}"
    elif kind == "BadOptionUsage" and not getattr(
        by_option.get(error.option_name), "is_flag", True
    ):
        message = f"{error.option_name} needs a value, and none was given"
    elif kind == "MissingParameter" and error.param is not None:
        message = f"{' or '.join(_names(error.param))} is missing."
    message = f"{message.rstrip('.')}." if message[-1] not in "?!" else message
    return message if error.ctx is None else f"{message} See: {error.ctx.command_path} --help"


def _names(param: Any) -> list[str]:
    options = [option for option in param.opts if option.startswith("-")]
    return options or [param.metavar or param.name]
