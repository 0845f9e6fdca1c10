"""Rendering of records: a page of Markdown, CSV and pictures for each experiment, and an index."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ensemblage import tables
from ensemblage.experiments import records as record_files
from ensemblage.experiments.claims import findings
from ensemblage.experiments.evidence import Evidence
from ensemblage.experiments.paper import printed
from ensemblage.experiments.tables import EXPERIMENTS
from ensemblage.experiments.verdicts import claims_in_html, claims_in_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from ensemblage.experiments.evidence import Experiment, Results

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; margin: 1rem 0; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
thead th { border-bottom: 2px solid; }
tbody tr:nth-child(even) { background: rgb(128 128 128 / .12); }
td.best { font-weight: 700; }
img { max-width: 100%; background: white; border-radius: 4px; }
figcaption, .small { font-size: .9rem; opacity: .8; }
table.claims { white-space: normal; }
table.claims th, table.claims td { text-align: left; white-space: normal; vertical-align: top; }
table.claims td:last-child { white-space: nowrap; font-weight: 600; }
"""


def need_matplotlib() -> None:
    """Raise an error if matplotlib is missing, before anything is run."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib. Install it with: pip install 'ensemblage[report]'"
        ) from error


def render(folder: Path, pools: str | None = None) -> Path:
    """Write the tables and pictures of all records; return the page that shows them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ensemblage.experiments import render
    >>> with TemporaryDirectory() as folder:
    ...     render(Path(folder)).name
    'index.html'
    """
    need_matplotlib()
    records = record_files.read(folder)
    evidence = Evidence(records.values(), printed(), pools)
    parts, contents = [], []
    for name, experiment in EXPERIMENTS.items():
        results = experiment.results(evidence)
        empty = not any(grid.cells for grid in results.grids)
        contents.append(f'<li><a href="#{name}">{escape(experiment.heading)}</a></li>')
        if empty:
            parts.append(_empty(experiment))
            continue
        _write_files(folder, results)
        tables.write_text(folder / f"{name}.md", _markdown(experiment, results))
        parts.append(_html(experiment, results))
    judged = findings(evidence)
    if judged:
        tables.write_text(folder / "claims.md", claims_in_markdown(judged))
    index = folder / "index.html"
    tables.write_text(index, _page(claims_in_html(judged), contents, parts, len(records)))
    return index


def _write_files(folder: Path, results: Results) -> None:
    for grid in results.grids:
        tables.write_text(folder / f"{grid.name}.csv", grid.to_csv().rstrip("\n"))
    for picture in results.pictures:
        figure = picture.draw()
        for ending in ("png", "svg"):
            temporary = folder / f"{picture.name}.tmp.{ending}"
            # No dates or random names: equal records give equal files.
            with _steady_names():
                figure.savefig(temporary, dpi=_DPI, metadata=_NO_DATE[ending])
            if ending == "png":
                _pack_colours(temporary)
            temporary.replace(folder / f"{picture.name}.{ending}")


_DPI = 120
_NO_DATE: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


def _pack_colours(path: Path) -> None:
    """Store a picture with 256 colours, in a third of the bytes: the repository contains it."""
    from PIL import Image  # Matplotlib requires it

    with Image.open(path) as picture:
        packed = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    packed.save(path, optimize=True, dpi=(_DPI, _DPI))


def _steady_names() -> Any:
    from matplotlib import rc_context

    return rc_context({"svg.hashsalt": "ensemblage", "svg.fonttype": "none"})


def _markdown(experiment: Experiment, results: Results) -> str:
    parts = [f"# {experiment.heading}", experiment.protocol, *filter(None, results.remarks)]
    parts.append("Cells: our number, and the paper's in brackets.")
    for grid in results.grids:
        parts += [f"## {grid.title}", grid.to_markdown(), f"[CSV]({grid.name}.csv)"]
    for picture in results.pictures:
        parts += [f"![{picture.caption}]({picture.name}.png)", f"*{picture.caption}*"]
    return "\n\n".join(parts)


def _html(experiment: Experiment, results: Results) -> str:
    parts = [_heading(experiment)]
    parts.append(f"<p>{escape(experiment.protocol)}</p>")
    parts += [f'<p class="small">{escape(remark)}</p>' for remark in results.remarks if remark]
    for picture in results.pictures:
        caption = escape(picture.caption, quote=True)
        parts.append(
            f'<figure><img src="{picture.name}.svg" alt="{caption}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    for grid in results.grids:
        link = f'<a href="{escape(grid.name, quote=True)}.csv">CSV</a>'
        parts.append(f"<h3>{escape(grid.title)}</h3>{grid.to_html()}<p>{link}</p>")
    return "\n".join(parts)


def _heading(experiment: Experiment) -> str:
    """Return the heading with an anchor for the name and for each of the paper's numbers."""
    anchors = "".join(f'<a id="{alias}"></a>' for alias in experiment.aliases)
    return f'<h2 id="{experiment.name}">{anchors}{escape(experiment.heading)}</h2>'


def _empty(experiment: Experiment) -> str:
    return (
        f"{_heading(experiment)}<p>{escape(experiment.protocol)}</p><p><em>Nothing is recorded yet:"
        f" <code>ensemblage reproduce {experiment.name}</code> runs it.</em></p>"
    )


def _page(claims: str, contents: list[str], parts: list[str], n_records: int) -> str:
    about = (
        "Cells show our number, and the paper's in brackets; n=… is the number of draws of a cell"
        " if it is not the paper's; the pointer shows the standard error and the number of"
        " runs. Thin lines in figures are the paper's."
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The experiments, reproduced</title><style>{_STYLE}</style></head><body>"
        "<h1>Robust ensemble clustering using probability trajectories: the experiments,"
        " reproduced</h1>"
        f"<p>{about} Made by <code>ensemblage reproduce</code> from {n_records:,} records.</p>"
        + claims
        + f"<nav><h2>Contents</h2><ul>{''.join(contents)}</ul></nav>"
        + "\n".join(parts)
        + "</body></html>"
    )
