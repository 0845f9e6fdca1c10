"""Claims about parameters, ensemble sizes and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.experiments.tables.ensemble_size import (
    METHODS,
    RUNS,
    average_grid,
    averaged_grids,
    size_grid,
)
from ensemblage.experiments.tables.execution_time import BESIDE, BESIDE_SIZES
from ensemblage.experiments.tables.parameters import parameter_grid
from ensemblage.experiments.verdicts import FAILS, HOLDS, IN_PART, UNDECIDED, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from ensemblage.experiments.evidence import Evidence
    from ensemblage.experiments.grids import Grid

#: A score within this distance of the best of its row is equally good.
_AS_GOOD = 0.01


def _by_dataset(grid: Grid, column: str) -> dict[str, float]:
    cells = {name: grid.cell(name, column).ours for name in grid.rows}
    return {name: value for name, value in cells.items() if value is not None}


def _elite_neighbours(evidence: Evidence) -> list[Finding]:
    better, all_pairs, losses = 0, 0, []
    for method in ("PTA", "PTGP"):
        grid = parameter_grid(evidence, method, "K")
        whole = _by_dataset(grid, "ALL")
        for name in whole:
            middle = [grid.cell(name, column).ours for column in ("8", "16")]
            if None in middle:
                continue
            gain = float(np.mean([value for value in middle if value is not None])) - whole[name]
            all_pairs += 1
            better += gain > 0
            if gain <= 0:
                losses.append(f"{method} on {name} ({gain:+.3f})")
    if not all_pairs:
        return []
    return [
        Finding(
            "A few strong links are better than all links",
            "Keeping a small share of the links (K from 5 to 20) is significantly better than"
            " keeping all.",
            "4.3, Tables 6 to 8",
            f"K = 8 and 16 beat K = ALL in {better} of {all_pairs} cases"
            + (f"; not for {', '.join(losses)}." if losses else "."),
            HOLDS if better == all_pairs else (IN_PART if 2 * better > all_pairs else FAILS),
        )
    ]


def _parameters(evidence: Evidence) -> list[Finding]:
    claims = []
    for letter, columns in (("K", ("4", "8", "16")), ("T", ("4", "8", "16", "32"))):
        spread, flat = {}, 0
        for method in ("PTA", "PTGP"):
            grid = parameter_grid(evidence, method, letter)
            for name in grid.rows:
                values = [grid.cell(name, column).ours for column in columns]
                present = [value for value in values if value is not None]
                if len(present) == len(columns):
                    spread[method, name] = max(present) - min(present)
                    flat += spread[method, name] <= 0.02
        if spread:
            (method, name), worst = max(spread.items(), key=lambda item: item[1])
            claims.append(
                Finding(
                    f"{letter} has little effect in a middle range",
                    f"PTA and PTGP are robust to {letter} in a middle range.",
                    "4.3, Tables 7 and 8",
                    f"{letter} = {', '.join(columns)}: the NMI of {flat} of {len(spread)} rows"
                    f" varies by at most .02; most by {worst:.3f} ({method} on {name}).",
                    HOLDS if flat == len(spread) else (IN_PART if flat else FAILS),
                )
            )
    return claims


def _suggested_range(evidence: Evidence) -> list[Finding]:
    """Judge "K and T between a fifth of the root of n and the root", n the microclusters."""
    rows, losses = 0, []
    for method in ("PTA", "PTGP"):
        for letter in "KT":
            grid = parameter_grid(evidence, method, letter)
            for name in grid.rows:
                counts = [r["scores"]["microclusters"] for r in evidence.select("graph", name)]
                cells = {c: grid.cell(name, c).ours for c in grid.columns if c != "ALL"}
                present = {int(c): value for c, value in cells.items() if value is not None}
                if not counts or len(present) < len(cells):
                    continue
                root = float(np.mean(counts)) ** 0.5
                inside = [value for c, value in present.items() if root / 5 <= c <= root]
                rows += 1
                loss = max(present.values()) - max(inside)
                if loss > _AS_GOOD:
                    losses.append(f"{method} by {letter} on {name} ({loss:.3f})")
    if not rows:
        return []
    return [
        Finding(
            "The suggested range of K and T contains good values",
            "K and T are well chosen between a fifth of the root of the number of microclusters and"
            " the root itself.",
            "4.3, Tables 7 and 8",
            f"In {rows - len(losses)} of {rows} rows the best value in that range is within"
            f" {_AS_GOOD} of the best of all"
            + (f"; not for {', '.join(losses)}." if losses else "."),
            HOLDS if not losses else (IN_PART if 2 * len(losses) < rows else FAILS),
        )
    ]


def _ensemble_sizes(evidence: Evidence) -> list[Finding]:
    grids = [size_grid(evidence, name) for name in evidence.datasets("scores")]
    grids = averaged_grids([grid for grid in grids if grid.cell("PTGP", "20").ours is not None])
    if not grids:
        return []
    mean = average_grid(grids)
    said, ahead = [], True
    runs = {size: mean.cell("PTGP", size).runs for size in mean.columns}
    sizes = [size for size in mean.columns if runs[size] >= RUNS] or mean.columns
    for size in sizes:
        cells = {name: mean.cell(name, size).ours for name in METHODS}
        present = {name: value for name, value in cells.items() if value is not None}
        ours = [present.get(name) for name in ("PTA-AL", "PTGP")]
        rivals = {name: value for name, value in present.items() if not name.startswith("PT")}
        if None in ours or not rivals:
            continue
        rival = max(rivals, key=lambda name: rivals[name])
        gap = min(value for value in ours if value is not None) - rivals[rival]
        ahead &= gap > 0
        said.append(f"M = {size} {gap:+.3f} ({rival}; {runs[size]} draws)")
    names = ", ".join(grid.name.removeprefix("ensemble-size-") for grid in grids)
    rises = [
        (mean.cell(name, sizes[-1]).ours or 0) - (mean.cell(name, sizes[0]).ours or 0)
        for name in ("PTA-AL", "PTGP")
    ]
    whole = len(grids) >= 9
    few = "" if sizes == mean.columns else f" Other sizes have fewer than {RUNS} draws."
    return [
        Finding(
            "PTA and PTGP lead at every ensemble size",
            "PTA and PTGP are the best or nearly so at every ensemble size, and better with larger"
            " ensembles.",
            "4.6, Figures 4 and 10",
            f"Average over {names}: the worse of the two less the best rival: {', '.join(said)}."
            f" From M = {sizes[0]} to {sizes[-1]} PTA-AL gains {rises[0]:+.3f}, PTGP"
            f" {rises[1]:+.3f}.{few}",
            (HOLDS if whole else IN_PART) if ahead and min(rises) > 0 else IN_PART,
        )
    ]


def _seconds(evidence: Evidence, dataset: str, method: str, **words: Any) -> float | None:
    records = evidence.select("seconds", dataset, method=method, **words)
    return float(np.mean([r["cpu_seconds"] for r in records])) if records else None


def _time(evidence: Evidence) -> list[Finding]:
    claims = []
    whole = {
        name: _seconds(evidence, "KDD99", name, objects=494_020)
        for name in ("PTA-AL", "PTGP", "GP-MGLA", "EAC-AL", "WEAC-AL", "MCLA")
    }
    present = {name: value for name, value in whole.items() if value is not None}
    if "PTA-AL" in present and "PTGP" in present:
        text = ", ".join(f"{name} {value:.2f}" for name, value in present.items())
        claims.append(
            Finding(
                "Half a million objects take seconds",
                "PTA and PTGP cluster half a million objects in seconds.",
                "4.7, Figure 11",
                f"CPU seconds on all of KDD99: {text}.",
                HOLDS if max(present["PTA-AL"], present["PTGP"]) < 10 else IN_PART,
            )
        )
        faster = min(("PTA-AL", "PTGP"), key=lambda name: present[name])
        claims.append(
            Finding(
                "PTGP is faster than PTA",
                "Which of the two is faster: the text has PTGP (3.22 s against 3.70 s), the legend"
                " of Figure 11 has PTA with the same two numbers.",
                "4.7, Figure 11",
                f"Here {faster} is the faster one: PTA-AL {present['PTA-AL']:.2f}, PTGP"
                f" {present['PTGP']:.2f} CPU seconds. The two sources contradict each other.",
                UNDECIDED,
            )
        )
    size = BESIDE_SIZES[-1]
    levels = {
        level: {
            name: _seconds(evidence, BESIDE, name, objects=size, level=level)
            for name in ("PTA-AL", "PTGP", "EAC-AL", "WEAC-AL", "WCT-AL", "GP-MGLA")
        }
        for level in ("microclusters", "objects")
    }
    micro, objects = levels["microclusters"], levels["objects"]
    both = [n for n in micro if micro[n] is not None and objects[n] is not None]
    if both:
        text = ", ".join(f"{n} {micro[n]:.3f} and {objects[n]:.2f}" for n in both)
        slowest = max(both, key=lambda name: objects[name] or 0.0)
        tied = slowest in ("PTA-AL", "PTGP")
        reason = ": identical objects are each other's elite neighbours" if tied else ""
        claims.append(
            Finding(
                "PTA and PTGP are faster than their rivals",
                "The methods are more efficient than their rivals.",
                "4.7, Figure 11",
                f"{size:,} objects of {BESIDE}, CPU seconds on microclusters and on objects:"
                f" {text}. On objects {slowest} is the slowest{reason}. Microclusters make the"
                " difference, and they serve the rivals as well: on microclusters none of these is"
                " slow.",
                IN_PART,
            )
        )
    return claims


SETTINGS_CLAIMS: tuple[Callable[[Evidence], list[Finding]], ...] = (
    _elite_neighbours,
    _parameters,
    _suggested_range,
    _ensemble_sizes,
    _time,
)
