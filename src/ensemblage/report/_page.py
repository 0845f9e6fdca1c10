"""Rendering of the facts as one self-contained HTML page."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from os import fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ensemblage.report._text import in_script
from ensemblage.report._texts import asset
from ensemblage.tables import OptionError

if TYPE_CHECKING:
    from os import PathLike

_SCRIPTS = ("base.js", "tables.js", "matrix.js", "plots.js", "main.js")


def check_suffix(path: str | PathLike[str]) -> None:
    """Reject names of other kinds of file, such as ``report.pdf``.

    Examples
    --------
    >>> import ensemblage as en
    >>> en.report.check_suffix("report.pdf")
    Traceback (most recent call last):
        ...
    ensemblage.tables.formats.OptionError: The file name of a report must end with .html or ...
    """
    name = PurePath(fspath(path))
    if name.suffix.lower() not in ("", ".", ".html", ".htm"):
        raise OptionError(
            f"The file name of a report must end with .html or .htm, got {name.name!r}."
            f" Use {name.with_suffix('.html').name!r}."
        )


def page(data: dict[str, Any], **texts: Any) -> str:
    """Return the page for `data`, drawn by its script, and `texts`, shown by the template."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    # Our own script and style are included unescaped, by hash; everything else is escaped.
    style = asset("page.css")
    body = "\n".join(map(asset, _SCRIPTS))
    script = f'(() => {{\n"use strict";\n{body}}})();\n'
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(asset("page.html")).render(
        **texts,
        style=Markup(style),
        script=Markup(script),
        data=in_script(data),
        policy=policy(script, style),
    )


def policy(script: str, style: str) -> str:
    """Return a Content-Security-Policy that allows only this script and this style.

    Nothing may be fetched, embedded, sent or run: not even an attribute such as ``onclick``.
    """
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}"
