"""The claims of the paper's experiments, with evidence from the records and a verdict for each.

A verdict is computed from tables of records, by the rule next to the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensemblage.experiments.claims_settings import SETTINGS_CLAIMS
from ensemblage.experiments.protocol import PAPER_METHODS
from ensemblage.experiments.tables.comparison import TOP, WHICH, comparison_grid, top_counts
from ensemblage.experiments.tables.execution_time import BESIDE
from ensemblage.experiments.verdicts import FAILS, HOLDS, IN_PART, UNDECIDED, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ensemblage.experiments.evidence import Evidence
    from ensemblage.experiments.grids import Grid

#: Scores that differ by less are equal: about two standard errors of a mean of 100 draws.
_CLOSE = 0.005
_GRAPH_RIVALS = ("CSPA", "HGPA", "MCLA", "SRW", "GP-MGLA")
_PAIR_RIVALS = ("EAC", "SRS", "WCT", "ECMC", "WEAC")


def findings(evidence: Evidence) -> list[Finding]:
    """Return all claims that the records contain evidence for."""
    best, true = (comparison_grid(evidence, which, PAPER_METHODS, "c") for which in WHICH)
    if not best.rows:
        return []
    parts: list[Callable[[Evidence, Grid, Grid], list[Finding]]] = [
        _top_three,
        _ahead_of_rivals,
        _true_k_of_kdd,
        _base_clusterings,
    ]
    findings = [finding for part in parts for finding in part(evidence, best, true)]
    return findings + [finding for part in SETTINGS_CLAIMS for finding in part(evidence)]


def _top_three(_: Evidence, best: Grid, true: Grid) -> list[Finding]:
    counts, printed = top_counts([best, true]), top_counts([best, true], paper=True)
    rival = max((name for name in best.rows if not name.startswith("PT")), key=lambda n: counts[n])
    n_columns = 2 * len(best.columns)
    text = ", ".join(f"{n} {counts[n]} (paper {printed[n]})" for n in ("PTGP", "PTA-AL", rival))
    least = min(counts["PTGP"], counts["PTA-AL"])
    verdict = HOLDS if least > max(counts[rival], n_columns / 2) else IN_PART
    if max(counts["PTGP"], counts["PTA-AL"]) <= counts[rival]:
        verdict = FAILS
    return [
        Finding(
            "PTA-AL and PTGP lead the comparison",
            "PTA-AL and PTGP are among the three best methods of nearly every column, and no rival"
            " comes near.",
            "4.5, Table 9, Figure 9",
            f"Times in the top {TOP} of {n_columns} columns: {text}; {rival} is the best rival.",
            verdict,
        )
    ]


def _ahead(
    grids: Sequence[Grid], ours: str, rivals: Sequence[str], title: str, claim: str
) -> list[Finding]:
    """Judge "ours is better than all of these on every dataset", by columns and a margin."""
    ahead, draws = 0, set[int]()
    level: list[str] = []
    behind: list[str] = []
    for grid, which in zip(grids, WHICH, strict=True):
        for column in grid.columns:
            mine = grid.cell(ours, column)
            others = {name: grid.cell(name, column) for name in rivals if name in grid.rows}
            present = {name: cell.ours for name, cell in others.items() if cell.ours is not None}
            if mine.ours is None or not present:
                continue
            draws |= {mine.runs, *(others[name].runs for name in present)}
            rival = max(present, key=lambda name: present[name])
            gap = present[rival] - mine.ours
            if gap <= 0:
                ahead += 1
            else:
                place = f"{column} {which} k ({rival} +{gap:.3f})"
                (level if gap <= _CLOSE else behind).append(place)
    n_columns = ahead + len(level) + len(behind)
    if not n_columns:
        return []
    verdict = HOLDS if not behind else (IN_PART if ahead >= len(behind) else FAILS)
    evidence = f"{ours} is ahead of all of {', '.join(rivals)} in {ahead} of {n_columns} columns"
    evidence += f"; level (within {_CLOSE}) in {', '.join(level)}" if level else ""
    evidence += f"; not in {', '.join(behind)}." if behind else "."
    evidence += f" Draws of a cell: {min(draws)} to {max(draws)}."
    return [Finding(title, claim, "4.5, Table 9", evidence, verdict)]


def _ahead_of_rivals(_: Evidence, best: Grid, true: Grid) -> list[Finding]:
    grids = (best, true)
    findings = _ahead(
        grids,
        "PTGP",
        _GRAPH_RIVALS,
        "PTGP leads the graph partitioning methods",
        "PTGP is better than the other five graph partitioning methods on all datasets.",
    )
    for link, name, claim in (
        (
            "AL",
            "average",
            "PTA with average link is the best pairwise method with average link everywhere.",
        ),
        (
            "CL",
            "complete",
            "PTA with complete link is the best with complete link on all datasets but IS.",
        ),
        ("SL", "single", "PTA with single link is far better than all others with single link."),
    ):
        rivals = [f"{rival}-{link}" for rival in _PAIR_RIVALS]
        title = f"PTA leads the methods with {name} link"
        findings += _ahead(grids, f"PTA-{link}", rivals, title, claim)
    return findings


def _base_clusterings(evidence: Evidence, best: Grid, _: Grid) -> list[Finding]:
    gains = {}
    for name in best.columns:
        base = evidence.cell("nmi_mean", "base", name).ours
        ours = [best.cell(method, name).ours for method in ("PTA-AL", "PTGP")]
        present = [value for value in ours if value is not None]
        if base is not None and present:
            gains[name] = min(present) - base
    if not gains:
        return []
    text = ", ".join(f"{name} +{gain:.3f}" for name, gain in gains.items())
    return [
        Finding(
            "The consensus is better than its base clusterings",
            "PTA and PTGP are more accurate than the base clusterings they combine.",
            "4.4, Figure 8",
            f"Mean NMI at the best k less that of the base clusterings, the worse of the two"
            f" methods: {text}. The gain on FC is small.",
            HOLDS if min(gains.values()) > 0 else IN_PART,
        )
    ]


def _true_k_of_kdd(_: Evidence, __: Grid, true: Grid) -> list[Finding]:
    rows = {
        name: true.cell(name, BESIDE)
        for name in ("EAC-AL", "WEAC-AL", "PTA-AL", "PTGP")
        if name in true.rows and true.cell(name, BESIDE).ours is not None
    }
    if not {"EAC-AL", "PTA-AL", "PTGP"} <= rows.keys():
        return []
    text = ", ".join(f"{n} {c.ours:.3f} (paper {c.paper:.3f})" for n, c in rows.items())
    gaps = [(rows[n].ours or 0) - (rows["EAC-AL"].ours or 0) for n in ("PTA-AL", "PTGP")]
    verdict = HOLDS if min(gaps) > _CLOSE else (FAILS if max(gaps) < -_CLOSE else UNDECIDED)
    return [
        Finding(
            "PTA-AL and PTGP are better than EAC at the true k of KDD99-10P",
            "At the true k of KDD99-10P, PTA-AL and PTGP are better than EAC with average link.",
            "4.5, Table 9",
            f"{text}. The public pool has 18 of the 23 classes of the paper's Table 4, so that its"
            " true k is another.",
            verdict,
        )
    ]
