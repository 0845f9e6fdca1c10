"""Sphinx configuration. Nothing is fetched, neither by the build nor by the pages."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

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


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f"<div>{tex2mathml(node.astext(), as_block=True)}</div>\n")
    raise nodes.SkipNode


#: A name that ends in an underscore, or a bar, outside of literals.
_MISREAD = re.compile(r"``.*?``|`.*?`|>>> .*|(?<=\w)_(?=[\s,)])|\|")


def _plain(*event: Any) -> None:
    """Escape what docstrings mean as it stands: RST takes n_steps_ for a link, |x| for a name."""
    lines = event[-1]
    lines[:] = [_MISREAD.sub(lambda m: m[0] if len(m[0]) > 1 else f"\\{m[0]}", x) for x in lines]


def setup(app: Sphinx) -> None:
    """Write formulas as MathML, which browsers show by themselves; MathJax would be fetched."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.connect("autodoc-process-docstring", _plain, priority=900)  # after numpydoc
