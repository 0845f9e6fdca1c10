"""Phrases that manuals do not use, as patterns, with what to write instead.

`BANNED` holds a pattern and an advice for each. `passages` takes the prose out of a Markdown page:
code, tables of symbols and quoted output are not prose. Texts of other kinds, docstrings and
messages say, go to `offences` as they are.
"""

from __future__ import annotations

import re

#: Words after "is no" that make a comparison or a fixed expression: "is no longer", "no more than".
_COMPARED = (
    r"(?:longer|more|less|fewer|larger|smaller|higher|lower|farther|further|nearer|closer|later|"
    r"earlier|better|worse|faster|slower|greater|one)\b"
)

#: Pattern, advice. Patterns ignore case and match across one line.
BANNED: list[tuple[str, str]] = [
    (r"\b(?:is|are|was|were|be|been|being) told\b", "say who reports it: 'the message names ...'"),
    (r"\bcan(?:not)? be told\b", "'is undefined', 'cannot be determined'"),
    (r"\btold (?:apart|from|by)\b", "'distinguished', 'inferred from'"),
    (r"\bin words\b", "'with a clear error', 'as text'"),
    (
        rf"(?<!there )\b(?:is|are|was|were|be) no (?!{_COMPARED})(?=[a-z])",
        "'is not a', 'are not'",
    ),
    (r"\b(?:go|goes|going|gone|went) on\b(?! to\b)", "'continue', 'resume'"),
    (r"\ba wrong call\b", "'invalid usage'"),
    (r"\b(?:done|do|does|did|doing) without\b", "'omitted', 'not needed'"),
    (r"\bbeside (?:it|them) stand\b", "'plus'"),
    (r"\bin kind\b(?! of)", "'in the type that was passed'"),
    (r"\bas good as not\b", "'is ignored'"),
    (r"\bstrangers?\b", "'untrusted', 'unexpected'"),
    (r"\bknows? no\b", "'Unknown ...'"),
    (r"\bwithout a word\b", "'silently'"),
    (r"\b(?:says?|said|saying) nothing\b", "'carries no information', 'is missing'"),
    (r"\bkeeps? (?:its|their) word\b", "'is tested'"),
    (r"\bseen enough\b", "name the condition"),
    (r"\bmet a case\b", "'Unexpected error'"),
    (r"\bis kind\b|\bYou can look\b", "name the feature"),
    (r"\bin the dark\b", "'in dark mode'"),
    (r"\b(?:which|that) (?:is|are) none\b(?! of)", "name the thing"),
    (r"\b(?:who|whoever) (?:is|has|wants|needs)\b(?=[^?]*$)", "name the reader: 'users who'"),
    (r"\btells? of\b", "'describes', 'reports'"),
    (r"\b(?:is|are) to be had\b", "'is available'"),
    (r"\bfor nothing\b", "'at no cost', 'in vain'"),
    (r"\bof so many\b|\bfor so long\b|\bby so much\b", "name the quantity"),
    (r"\bdraws? a warning\b", "'raises a warning'"),
    (r"\b(?:has|have) (?:a|no) say\b", "'counts', 'does not count'"),
    (r"\bat (?:its|their) word\b", "'literally'"),
    (r"\bsays? so\b|\bsaid so\b", "name what says what: 'a warning reports it'"),
    (r"\bis (?:left|let) alone\b", "'is unchanged'"),
    (r"\bit pays\b", "'is faster'"),
    (r"\bcomes? out\b|\bcame out\b", "'the result is', 'is returned'"),
]

#: Starts of sentences and of titles without a noun that the reader can name. Only for prose.
HEADLESS: list[tuple[str, str]] = [
    (r"(?:^|[.!?] |^[-*>] |^\d+\. )What (?:[\w']+ )+?[^?]*$", "name the thing, not 'what ...'"),
    (r"(?:^|[.!?] |^[-*>] )(?:Who|Whoever) [^?]*$", "name the person: 'users who'"),
    (r"^#+ (?:What|Who|How) (?:is|was|came|comes|it|they|may) .*[^?]$", "a noun phrase as title"),
]

#: Further words that pages do without; code and docstrings may have a use for them.
PAGES: list[tuple[str, str]] = [
    (r"\bbeside\b", "'next to', 'compared with', 'and'"),
    (r"\banew\b|\bafresh\b", "'again'"),
    (r"\bnobody\b", "'no other member', 'no user'"),
    (r"\bdeserves? a look\b|\bto look at\b(?! more)", "'to check'"),
    (r"\bwhatever\b", "'any', 'regardless of'"),
    (r"\bat hand\b", "'available'"),
    (r"\b(?:is|are|was|were) refused\b|\brefuses?\b", "'raises an error', 'is rejected'"),
    (r"\bhow sure\b", "'confidence'"),
    (r"\bmended\b|\bmends\b", "'corrected', 'fixed'"),
    (r"\btold\b", "name the message or the parameter"),
    (r"\bin place of\b.{0,60}\bthere\b", "name both sides"),
]

LONGEST_LINE = 400

_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")


def offences(text: str, patterns: list[tuple[str, str]] = BANNED) -> list[str]:
    """Return a line for each banned phrase: its line number, the phrase, the advice."""
    return [
        f"line {number}: {match[0].strip()[:60]!r}: write {advice}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, advice in patterns
        for match in re.finditer(pattern, line, re.IGNORECASE)
    ]


def without_blocks(markdown: str) -> str:
    """Return a page without blocks of code, line by line."""
    return _FENCE.sub(lambda match: "\n" * match[0].count("\n"), markdown)


def prose(markdown: str) -> str:
    """Return a page without blocks of code, inline code and quotations, line by line."""
    return _QUOTED.sub("X", _CODE.sub("X", without_blocks(markdown)))


def sentences(line: str) -> int:
    """Return how many sentences a line holds; cells of tables may hold several, and so may items.

    An item may begin with its name in bold, as a sentence of its own.
    """
    if line.startswith(("|", ">", "![", "    ")):
        return 1
    line = re.sub(r"^[-*\d. ]*\*\*[^*]*\*\*", "", line)
    return 1 + len(re.findall(r"[a-z)\]X*%][.!?][)*]* (?=[A-Z`\[])", line))
