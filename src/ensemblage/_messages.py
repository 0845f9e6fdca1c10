"""Parts of messages: names, and parameters that the command shows as options."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

# How similar names must be, from 0 to 1: one of three letters may be wrong, or two of eight.
_NEAR, _NEAR_IF_SHORT, _SHORT = 0.75, 0.6, 3


def did_you_mean(word: Any, known: Iterable[Any]) -> str:
    """Return a question that suggests the nearest known name, or an empty text.

    Examples
    --------
    >>> did_you_mean("PTGB", ["pta", "ptgp"]), did_you_mean("kmeans", ["pta", "median"])
    (" Did you mean 'ptgp'?", '')
    """
    by_letters = {str(one).lower().lstrip("-"): one for one in known}
    letters = str(word).strip().lower().lstrip("-")
    cutoff = _NEAR if len(letters) > _SHORT else _NEAR_IF_SHORT
    near = difflib.get_close_matches(letters, by_letters, n=1, cutoff=cutoff)
    return f" Did you mean {by_letters[near[0]]!r}?" if near else ""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "object"), counted(1200, "object")
    ('1 object', '1,200 objects')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def shown(
    names: Sequence[Any] | NDArray[Any], most: int = 12, form: Callable[[Any], str] = repr
) -> str:
    """Return names for a message, the first ones if there are many."""
    return ", ".join(map(form, names[:most])) + (", ..." if len(names) > most else "")


#: Characters that terminals interpret or do not show, or that reverse text, with their escapes:
#: controls except tabs and line ends, marks of direction, characters of no width, other line ends,
#: lone surrogates.
_SHOWN = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for codes in (
        range(9),
        range(0x0B, 0x20),
        range(0x7F, 0xA0),
        (0x061C, 0x2060, 0xFEFF),
        range(0x200B, 0x2010),
        range(0x2028, 0x202F),
        range(0x2066, 0x206A),
        range(0xD800, 0xE000),
    )
    for code in codes
}


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, safe to print.

    Examples
    --------
    >>> printable("one\x1b[2J two\n")
    'one\\x1b[2J two\n'
    """
    return text.translate(_SHOWN)


def printable_path(path: str) -> str:
    r"""Return the name of a file in one line, safe to print.

    Examples
    --------
    >>> printable_path("a\x1b[2J\nb.csv")
    'a\\x1b[2J\\nb.csv'
    """
    return printable(path).replace("\n", "\\n").replace("\t", "\\t")


def printable_json(text: str) -> str:
    """Return equivalent JSON without control characters."""
    return text.translate({code: f"\\u{code:04x}" for code in _SHOWN})


class Parameter:
    """A parameter in a message, optionally with a value.

    Examples
    --------
    >>> str(Parameter("n_clusters")), str(Parameter("scale", "minmax"))
    ('n_clusters', "scale='minmax'")
    """

    def __init__(self, name: str, *value: Any) -> None:
        self.name = name
        self.value = value

    def __str__(self) -> str:
        return f"{self.name}={self.value[0]!r}" if self.value else self.name


class Advice(str):
    """A part of a message for Python users, with another text for users of the command.

    Examples
    --------
    >>> advice = Advice("pass votes.T", "exchange rows and columns")
    >>> advice, advice.written()
    ('pass votes.T', 'exchange rows and columns')
    """

    __slots__ = ("command",)
    command: str

    def __new__(cls, text: str, command: str = "") -> Self:
        """Return the text for Python users."""
        advice = super().__new__(cls, text)
        advice.command = command
        return advice

    def written(self, *_: Any) -> str:
        """Return the text for users of the command."""
        return self.command


class Message(str):
    """A text for Python users that can also be written with other names of parameters.

    Fields in braces are filled with `fields`; `written` may rename those that are a `Parameter`.

    Examples
    --------
    >>> message = Message("Use {use} for {n} objects.", use=Parameter("scale", "minmax"), n=3)
    >>> message
    "Use scale='minmax' for 3 objects."
    >>> message.written(lambda parameter: f"--{parameter.name} {parameter.value[0]}")
    'Use --scale minmax for 3 objects.'
    """

    __slots__ = ("fields", "template")
    template: str
    fields: dict[str, Any]

    def __new__(cls, template: str, **fields: Any) -> Self:
        """Return the text, with its template."""
        message = super().__new__(cls, template.format(**fields))
        message.template = template
        message.fields = fields
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return _message, (self.template, self.fields)

    def written(self, name: Callable[[Parameter], str]) -> str:
        """Return the text with the parameters written by `name`."""
        fields = {
            field: name(value) if isinstance(value, Parameter) else _written(value, name)
            for field, value in self.fields.items()
        }
        return self.template.format(**fields)


def _message(template: str, fields: dict[str, Any]) -> Message:
    return Message(template, **fields)


def _written(value: Any, name: Callable[[Parameter], str]) -> Any:
    return value.written(name) if isinstance(value, Message | Advice) else value


def written(error: BaseException, name: Callable[[Parameter], str]) -> str:
    """Return the text of an error or a warning, with the parameters written by `name`."""
    if isinstance(error, ParameterError):
        return error.written(name)
    text = error.args[0] if len(error.args) == 1 else error
    return text.written(name) if isinstance(text, Message) else str(error)


class ParameterError(ValueError):
    """A parameter has an invalid value.

    Parameters
    ----------
    owner : str
        The class or function that was called.
    parameter : str
        The name of the parameter.
    expected : str
        The valid values, as a phrase: "a whole number from 1 up".
    got : object
        The value that was passed.
    hint : str, default=""
        How to fix it, as a sentence.
    optional : bool, default=False
        Whether None is also valid.

    Examples
    --------
    >>> error = ParameterError("members", "subspace", "a share", 9, optional=True)
    >>> str(error)
    "The 'subspace' parameter of members must be None or a share. Got 9 instead."
    >>> error.written(lambda parameter: f"--{parameter}")
    '--subspace must be a share. Got 9 instead.'
    """

    def __init__(
        self,
        owner: str,
        parameter: str,
        expected: str,
        got: Any,
        hint: str = "",
        *,
        optional: bool = False,
    ) -> None:
        self.owner, self.parameter, self.expected = owner, parameter, expected
        self.got, self.hint, self.optional = got, hint, optional
        none = ("None, " if " or " in expected else "None or ") if optional else ""
        super().__init__(self._sentences(f"The {parameter!r} parameter of {owner}", none, hint))

    def written(self, name: Callable[[Parameter], str]) -> str:
        """Return the message with parameters written by `name`; options do not mention None."""
        return self._sentences(name(Parameter(self.parameter)), "", _written(self.hint, name))

    def _sentences(self, subject: str, none: str, hint: str) -> str:
        hint = f" {hint}" if hint else ""
        return f"{subject} must be {none}{self.expected}. Got {self.got!r} instead.{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.owner, self.parameter, self.expected, self.got, self.hint, self.optional)
        return _parameter_error, parts


class UnknownNameError(ParameterError):
    """A parameter has a value that is not one of the known names.

    Examples
    --------
    >>> str(UnknownNameError("Consensus", "method", "ptpg", ["pta", "ptgp"]))
    "Unknown method 'ptpg' in Consensus. Did you mean 'ptgp'? Known: pta, ptgp."
    """

    def __init__(self, owner: str, parameter: str, got: Any, known: list[str]) -> None:
        self.known = known
        expected = f"one of {', '.join(map(repr, known))}"
        super().__init__(owner, parameter, expected, got, did_you_mean(got, known).strip())

    def _sentences(self, subject: str, none: str, hint: str) -> str:  # noqa: ARG002
        hint = f" {hint}" if hint else ""
        known = ", ".join(self.known)
        return f"Unknown {self.parameter} {self.got!r} in {self.owner}.{hint} Known: {known}."

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.parameter, self.got, self.known)


def _parameter_error(*parts: Any) -> ParameterError:
    return ParameterError(*parts[:-1], optional=parts[-1])
