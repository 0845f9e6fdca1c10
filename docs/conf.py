"""Sphinx configuration. Nothing is fetched, neither by the build nor by the pages."""

from __future__ import annotations

import os
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from PIL import Image
from sphinx import addnodes
from sphinx_gallery.directives import imgsgnode

import ensemblage

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Threads of k-means in the examples wait for each other on a busy machine: one is faster.
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "ensemblage"
author = "the ensemblage developers"
copyright = "2026, the ensemblage developers"
version = release = ensemblage.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
nitpicky = False
default_role = "py:obj"  # names in docstrings are links where they lead somewhere

myst_enable_extensions = ["attrs_block", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

#: Every script of examples/ runs once for each of its versions. An error ends the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",  # generated, not in the repository
    "filename_pattern": "/",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # no time on the pages: it is that of a busy machine
    "write_computation_times": False,  # that page would fetch a script from elsewhere
}

html_theme = "furo"
pygments_dark_style = "github-dark"  # the default underlines every imported module
html_title = f"ensemblage {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
html_domain_indices = False  # of Python modules: the reference has a table of them

#: An accented letter with an index is written as \tilde n{}_i: the index belongs to both.
_ACCENTED = re.compile(r'(<mover accent="true">.*?</mover>)\s*<msub>\s*<mrow></mrow>', re.DOTALL)


def _mathml(node: nodes.math | nodes.math_block, *, as_block: bool = False) -> str:
    text = _ACCENTED.sub(r"<msub>\1", tex2mathml(node.astext(), as_block=as_block))
    return text.replace("\N{MODIFIER LETTER MACRON}", "\N{MACRON}")  # fonts draw the second


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f"<div>{_mathml(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


#: A name that ends in an underscore, or a bar, outside of literals.
_MISREAD = re.compile(r"``.*?``|`.*?`|>>> .*|(?<=\w)_(?=[\s,)])|\|")


def _plain(*event: Any) -> None:
    """Escape what docstrings mean as it stands: RST takes n_steps_ for a link, |x| for a name.

    Pages have an introduction of their own: they do not need the docstring of a module.
    """
    what, lines = event[1], event[-1]
    if what == "module":
        lines.clear()
    lines[:] = [_MISREAD.sub(lambda m: m[0] if len(m[0]) > 1 else f"\\{m[0]}", x) for x in lines]


def _skip_field(*event: Any) -> bool | None:
    """Leave out the fields of named tuples, which their class describes as attributes."""
    member = event[3]
    return True if str(member.__doc__).startswith("Alias for field number") else None


def _public_signature(*event: Any) -> tuple[str | None, str | None]:
    """Leave out parameters that are not public, and write defaults as one would pass them."""
    thing, (signature, returns) = event[3], event[-2:]
    if signature is None:
        return None, returns
    if getattr(thing, "_is_protocol", False):  # a protocol is not called
        return "", returns
    defaults = {x.name: x.default_factory for x in fields(thing)} if is_dataclass(thing) else {}
    signature = re.sub(r"(\w+)=<factory>", lambda m: f"{m[1]}={defaults[m[1]]()}", signature)
    signature = re.sub(r"mappingproxy\((.*?)\)", r"\1", signature)
    return re.sub(r"(, |(?<=\())_\w+( ?= ?[^,()]*)?(?=[,)])", "", signature), returns


#: Names such as PTA-AL and KDD99-10P, and numbers with their units, stay on one line.
_WHOLE = re.compile(
    r"\b[A-Z][A-Z0-9]*-[A-Z0-9]+\b|[\d.,]+e-\d+|\b\d[\d.,]*\s(?:[kMGT]?B|s|ms|%|px)(?!\w)"
)
#: The most characters that are set on one line: of a cell of numbers and names, of a cell in a
#: table with prose, of a literal.
_SHORT_CELL, _SHORT_IN_PROSE, _SHORT_CODE = 24, 16, 24
#: Lines of more characters are sentences that a program prints: they are wrapped.
_LONGEST_CODE = 100
#: Text of ten points in pictures of more inches could not be read at the width of a phone.
_FITS_A_PHONE = 7.5
_DOTS_PER_INCH = 90  # of pictures that do not state it
#: Rows of more characters are set smaller; on a page with such a table, those of the second.
_LONG_ROW, _LONG_ROW_BESIDE = 80, 55
#: A letter with an index in the formulas of docstrings (s_ij, H_u, ECI_u), or a power (^t, ^(2p)).
_INDEXED = re.compile(
    r"(?<![\w.])(?!n_ks)([^\W\d_]|mu|Ent|ECI|PTS|SACT)_([a-z]{1,2}|\d)(?!(?!ᵀ)\w|\()"
    r"|\^(?P<power>\w+|\([^()]+\))"
)
_NOT_SPLIT = (
    nodes.literal,
    nodes.literal_block,
    nodes.title,
    nodes.math,
    nodes.raw,
    addnodes.desc_signature,
)


def _in_parts(text: nodes.Text, pattern: re.Pattern[str]) -> list[nodes.Node]:
    """Return a text in parts, of which those that match a pattern stay whole."""
    plain, parts, end = str(text), [], 0
    for match in pattern.finditer(plain):
        parts += [nodes.Text(plain[end : match.start()])] if match.start() > end else []
        whole = nodes.inline("", match[0], classes=["whole"])
        if match.groupdict().get("power"):
            whole = nodes.superscript("", match["power"].strip("()"))
        elif pattern is _INDEXED:
            index = nodes.subscript("", match[2])
            whole = nodes.inline("", "", nodes.emphasis("", match[1]), index, classes=["whole"])
        parts.append(whole)
        end = match.end()
    return [*parts, nodes.Text(plain[end:])] if parts else []


def _typeset(*event: Any) -> None:
    """Mark what must not break, printed sentences and large pictures, for the style sheet."""
    app, doctree, page = event
    _mark_tables(doctree)
    _mark_texts(doctree, _INDEXED if page.startswith("api/") else _WHOLE)
    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        is_long = max(map(len, text.splitlines()), default=0) > _LONGEST_CODE
        has_columns = re.search(r"\S {2,}\S", text)
        if is_long and not has_columns and block.get("language") != "sh":
            block["classes"].append("sentences")
    for image in doctree.findall(nodes.image):
        if _width(Path(app.srcdir, image["uri"])) > _FITS_A_PHONE:
            image["classes"].append("large")
    for image in list(doctree.findall(imgsgnode)):
        if _width(Path(app.srcdir, image["uri"].lstrip("/"))) > _FITS_A_PHONE:
            image["class"] = ["large"]
            image.replace_self(nodes.container("", image.deepcopy(), classes=["large"]))


def _mark_tables(doctree: nodes.document) -> None:
    numbers: list[tuple[int, nodes.table]] = []
    for table in doctree.findall(nodes.table):
        rows = [[len(cell.astext()) for cell in row] for row in table.findall(nodes.row)][1:]
        has_prose = max(map(max, rows), default=0) > _SHORT_CELL
        if not has_prose:
            numbers.append((max(map(sum, rows), default=0), table))
        limit = _SHORT_IN_PROSE if has_prose else _SHORT_CELL
        for entry in table.findall(nodes.entry):
            entry["classes"].append("whole" if len(entry.astext()) <= limit else "prose")
    longest = max((length for length, _ in numbers), default=0)
    limit = _LONG_ROW_BESIDE if longest > _LONG_ROW else _LONG_ROW
    for length, table in numbers:
        table["classes"] += ["dense"] if length > limit else []
    for literal in doctree.findall(nodes.literal):
        if len(literal.astext()) <= _SHORT_CODE:
            literal["classes"].append("whole")


def _mark_texts(doctree: nodes.document, pattern: re.Pattern[str]) -> None:
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        while parent is not None and not isinstance(parent, _NOT_SPLIT):
            parent = parent.parent
        parts = [] if parent is not None else _in_parts(text, pattern)
        if parts:
            text.parent.replace(text, parts)


def _width(path: Path) -> float:
    """Return the width of a picture in inches, 0 if there is no such file."""
    if not path.is_file():
        return 0.0
    if path.suffix == ".svg":
        box = re.search(r'viewBox="\S+ \S+ (\S+)', path.read_text(encoding="utf-8"))
        return float(box[1]) / _DOTS_PER_INCH if box else 0.0
    with Image.open(path) as picture:
        return float(picture.width / picture.info.get("dpi", [_DOTS_PER_INCH])[0])


def setup(app: Sphinx) -> None:
    """Write formulas as MathML, which browsers show by themselves; MathJax would be fetched."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.connect("autodoc-process-docstring", _plain, priority=900)  # after numpydoc
    app.connect("autodoc-process-signature", _public_signature)
    app.connect("autodoc-skip-member", _skip_field)
    app.connect("doctree-resolved", _typeset)
