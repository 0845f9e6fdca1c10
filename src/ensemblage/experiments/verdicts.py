"""The page of claims: the paper's claims, the evidence here, and the verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape

HOLDS, IN_PART, FAILS, UNDECIDED = "holds", "holds in part", "does not hold", "undecided"

_ABOUT = (
    "Each claim of the paper's experiments, in our words, beside what the records of these pages"
    " say about it. Verdicts are computed from the records by fixed rules: a claim about all"
    " datasets holds if it is true in every column, holds in part if it is true in most, and does"
    " not hold otherwise."
)


@dataclass(frozen=True)
class Finding:
    """A claim in short and in full, its section in the paper, the evidence, and the verdict."""

    title: str
    claim: str
    section: str
    evidence: str
    verdict: str


def _summary(found: list[Finding]) -> str:
    counts = Counter(finding.verdict for finding in found)
    return f"{len(found)} claims: " + ", ".join(f"{word} {n}" for word, n in counts.items()) + "."


def claims_in_markdown(found: list[Finding]) -> str:
    """Return the page of claims."""
    parts = ["# Claims of the paper", _ABOUT, _summary(found)]
    for number, finding in enumerate(found, start=1):
        parts += [
            f"## {number}. {finding.title}: {finding.verdict}",
            f"*{finding.claim}* (section {finding.section})",
            finding.evidence,
        ]
    return "\n\n".join(parts)


def claims_in_html(found: list[Finding]) -> str:
    """Return the claims as a table; empty if there are none."""
    if not found:
        return ""
    rows = "".join(
        f"<tr><td>{escape(finding.claim)}</td><td>{escape(finding.section)}</td>"
        f"<td>{escape(finding.evidence)}</td><td>{escape(finding.verdict)}</td></tr>"
        for finding in found
    )
    return (
        f'<h2 id="claims">Verdicts</h2><p>{escape(_ABOUT)} {escape(_summary(found))}</p>'
        '<div class="wide"><table class="claims"><thead><tr><th>claim</th><th>section</th>'
        f"<th>evidence</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
