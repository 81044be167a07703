"""The clauses of a section: where each begins, and how it is cited."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# (2) | § 2º, Parágrafo único | 2. | II - | a), (a)
_CLAUSE = re.compile(
    r"""(?P<bracketed>\(\d{1,3}[a-z]?\))(?=\s|$)
      | (?P<sign>§§?\s?\d{1,3}\s?[º°ª]?(?:-[A-Z])?|(?i:parágrafo\s+único))(?![\w/])
      | (?P<number>\d{1,3}[a-z]?)\.(?=\s)
      | (?P<numeral>[IVXLC]{1,6})\s*[-–—](?=\s)
      | (?P<letter>\(?[a-zç]{1,2}\))(?=\s|$)""",
    re.VERBOSE,
)
# The first clause may be on the line of the label: "MADDE 43- (1) ...".
_AFTER_LABEL = re.compile(r"[^\n]{0,40}?[-–—.]\s*(?=\(1\)\s)")
_RANKS = {"bracketed": 1, "sign": 1, "number": 2, "numeral": 3, "letter": 4}


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that begins at `start`, cited as `label` after the section ("(2)", "§ 1º, II"); rank 1 is outermost."""

    start: int
    rank: int
    label: str


def clauses_of(text: str, starts: Sequence[int], headings: Sequence[int], forms: Mapping[str, str]) -> list[Clause]:
    """Return the clauses of a section's text in reading order; `starts` are the offsets of its lines from its label on.

    A heading inside the section, whose offsets are `headings`, belongs to the clause that follows it. `forms` say how
    a language cites a kind of clause ("Abs. {}"); without one it is cited as it is printed.
    """
    found: list[Clause] = []
    stack: list[tuple[int, str]] = []
    above = deque(headings)
    for start, kind, label in _markers(text, starts):
        rank = _RANKS[kind]
        while stack and stack[-1][0] >= rank:
            stack.pop()
        stack.append((rank, _cited(kind, label, forms)))
        first = start
        while above and above[0] <= start:
            heading = above.popleft()
            first = min(first, heading if not found or heading > found[-1].start else start)
        found.append(Clause(first, len(stack), _joined([part for _, part in stack], bool(forms))))
    return found


def clause_at(clauses: Sequence[Clause], offset: int) -> str:
    """Return the label of the last clause that begins at or before the offset; empty before the first."""
    after = next((place for place, clause in enumerate(clauses) if clause.start > offset), len(clauses))
    return clauses[after - 1].label if after else ""


def _markers(text: str, starts: Sequence[int]) -> Iterator[tuple[int, str, str]]:
    for place, start in enumerate(starts):
        if place == 0:
            label = _AFTER_LABEL.match(text, start)
            found = _CLAUSE.match(text, label.end()) if label else None
        else:
            found = _CLAUSE.match(text, start)
        if found and found.lastgroup:
            yield found.start(), found.lastgroup, found[found.lastgroup]


def _cited(kind: str, label: str, forms: Mapping[str, str]) -> str:
    form = forms.get({"bracketed": "paragraph", "number": "item", "letter": "letter"}.get(kind, ""))
    return form.format(label.strip("()")) if form else label


def _joined(parts: list[str], worded: bool) -> str:
    """Return (2)(a), 2(a), "§ 1º, II", "Abs. 1 Nr. 2"."""
    joined = parts[0]
    for part in parts[1:]:
        joined += part if part.startswith("(") else f" {part}" if worded else f", {part}"
    return joined
