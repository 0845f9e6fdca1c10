"""Wrong calls, in the words of the other errors: what was asked, what may have been meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ensemblage.cli._errors import WRONG_CALL, WrongCall, complain
from ensemblage.cli._words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What typer raises for a call that it cannot read. It has no public name of its own.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class Verb(TyperCommand):
    """A verb, whose help names its arguments without their Python types."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in self.params:
            if param.param_type_name == "argument":
                setattr(param, "display_type_rich", _no_type)  # noqa: B010 - not in all versions


def _no_type(ctx: Any) -> None:  # noqa: ARG001 - the form of what it replaces
    return None


class Verbs(TyperGroup):
    """The verbs of the command, and how it says that a call is wrong."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that the first argument names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            verbs = self.list_commands(ctx)
            raise WrongCall(
                f"There is no command {name!r}.{did_you_mean(name, verbs)} Known:"
                f" {', '.join(verbs)}."
            )
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - the form of what it replaces
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002
        **extra: Any,
    ) -> Any:
        """Run the verb; end the process with its exit code where that is wanted."""
        try:
            code = super().main(
                args,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except WrongCall as error:
            complain(str(error))
            code = WRONG_CALL
        except _UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                typer.echo(str(error.format_message()), err=True)  # type: ignore[attr-defined]
            else:
                complain(in_words(error))
            code = WRONG_CALL
        if standalone_mode:
            sys.exit(code or 0)
        return code


def in_words(error: Any) -> str:
    """Return a complaint of typer as one that can be read aloud."""
    kind = type(error).__name__
    message = str(error.format_message())
    if kind == "NoSuchOption":
        known = [option for param in error.ctx.command.params for option in param.opts]
        message = f"There is no option {error.option_name}.{did_you_mean(error.option_name, known)}"
    elif kind == "BadOptionUsage" and "requires" in message:
        message = f"{error.option_name} needs a value, and none was given"
    elif kind == "MissingParameter" and error.param is not None:
        message = f"{' or '.join(_names(error.param))} is missing."
    message = f"{message.rstrip('.')}." if message[-1] not in "?!" else message
    return message if error.ctx is None else f"{message} See: {error.ctx.command_path} --help"


def _names(param: Any) -> list[str]:
    options = [option for option in param.opts if option.startswith("-")]
    return options or [param.metavar or param.name]
