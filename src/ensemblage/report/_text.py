"""Untrusted names as text that is safe to show and to put into a page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

SHORT = 60
_BUDGET = 1_500_000  # characters of long names that are kept whole in one report
_KEPT = 200  # kept characters of a long name above that

#: Controls, lone surrogates, and marks that change the text direction. Joiners stay: Arabic, Indic
#: scripts and emoji need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'\u2028\u2029"}


def visible(value: Any) -> str:
    r"""Return a name as text in which every character is visible, and none affects its neighbours.

    Examples
    --------
    >>> visible("a\u202eb"), visible("tab\there"), visible(7), visible(None)
    ('a\\u202eb', 'tab here', '7', '')
    """
    if value is None:
        return ""
    text = re.sub(r"[\t\r\n]+", " ", str(value))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def short(text: str, most: int = SHORT) -> str:
    """Return a text shortened to fit a line.

    Examples
    --------
    >>> short("abcdefgh", 5)
    'abcd…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


class Names:
    """Visible names, complete up to a total budget of characters.

    Examples
    --------
    >>> names = Names(budget=300)
    >>> [len(text) for text in names.of(["a" * 250, "b" * 250])]
    [250, 218]
    >>> names.n_cut
    1
    """

    def __init__(self, budget: int = _BUDGET) -> None:
        self.n_cut = 0
        self._left = budget

    def of(self, values: Any) -> list[str]:
        """Return these names as text."""
        return [self._one(visible(value)) for value in values]

    def _one(self, text: str) -> str:
        if len(text) <= _KEPT:
            return text
        if len(text) <= self._left:
            self._left -= len(text)
            return text
        self.n_cut += 1
        return f"{text[:_KEPT]}… ({len(text):,} characters)"


def in_script(data: Any) -> Markup:
    r"""Return data as JSON that cannot end the script element around it.

    Examples
    --------
    >>> print(in_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    from markupsafe import Markup  # part of jinja2, which is optional

    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Safe: no character with a meaning in HTML is left, and JSON parses the escapes back.
    return Markup(text.translate(_IN_SCRIPT))
