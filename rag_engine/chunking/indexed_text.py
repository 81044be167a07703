"""Texts that the two indexes read of a child: its own text and its place.

A child in the middle of Article 9 does not say so, yet people ask for "Article 9 of the Paris Agreement". Every word
before a child makes its other words count for less. So words that the child has already are not repeated, and long
titles are cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from rag_engine.text.bullets import BULLETS, DASHES
from rag_engine.text.url_masking import masked
from rag_engine.types.document import Metadata

# Characters: of a title, an act, a heading or opening words; of a child's beginning where it would say its own section.
_LONGEST = 120
_BEGINNING = 200

# A paragraph's number as it is printed before it, alone or with a letter: 3, 9(e).
_BARE_NUMBER = re.compile(r"^\d+(?=\(|$)")

# A line that begins an item: a bullet, a dash, a number or one or two letters with a dot or bracket behind.
_ITEM = re.compile(rf"\s*(?:[{BULLETS}{DASHES}]\s|\(?(?:\d{{1,3}}|[a-zA-Z]{{1,2}}|[ivxIVX]{{1,5}})(?:[.)]|\.\))\s)")
_OPENING = re.compile(r"[:：]\s*$")
_SENTENCE = re.compile(r"(?:.*[.;!?]\s)?(.*)", re.DOTALL)
# How far back the opening words are looked for, and how short they may be to say something.
_FARTHEST = 4000
_SHORTEST = 12


class Sectioned(Protocol):
    """A parent, or a child as the catalog stores it, with its position in a document."""

    @property
    def text(self) -> str:
        """The text of the parent."""

    @property
    def act(self) -> str:
        """The act that the section belongs to, or ""."""

    @property
    def section(self) -> str:
        """The label of the section, or ""."""

    @property
    def headings(self) -> Sequence[str]:
        """The headings above it, the outermost first."""


class Placed(Protocol):
    """A child, as it was cut or as the catalog stores it."""

    @property
    def start(self) -> int:
        """Where it begins in its parent's text."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def clause(self) -> str:
        """The subdivision of the section that it begins in, or ""."""


def context_header(metadata: Metadata) -> str:
    """Return one line of metadata for the encoder.

    It reads title | authority | hazard | geography | type | language, without the unknown parts.
    """
    geography = " - ".join(filter(None, (metadata.geographical_level, ", ".join(metadata.countries))))
    fields = (
        metadata.title,
        metadata.authority,
        ", ".join(metadata.hazards),
        geography,
        metadata.document_type,
        metadata.language,
    )
    return " | ".join(filter(None, (" ".join(field.split()) for field in fields)))


def under_header(header: str, text: str) -> str:
    """Return the text with its addresses masked, below the header and a blank line.

    Without a header it is the masked text alone.
    """
    return f"{header}\n\n{masked(text)}" if header else masked(text)


def encoder_text(header: str, parent: Sectioned, child: Placed) -> str:
    """Return the encoder's text for a child: the document's header, the child's place, its text.

    The place is act | headings | section and clause | opening words of its enumeration. Parts that the header or the
    beginning of the child has are left out; of the headings the innermost two stay.
    """
    label = _new([cited(parent.section, child.clause)], child.text[:_BEGINNING])
    titles = unnumbered(parent.section, parent.headings)[-2:]
    around = _new((parent.act, *titles), header, child.text[:_BEGINNING], *label)
    opening = _new([opening_of(parent.text, child.start)], child.text)
    return under_header("\n".join(filter(None, (header, " | ".join([*around, *label, *opening])))), child.text)


def keyword_text(title: str, parent: Sectioned, child: Placed) -> str:
    """Return the keyword index's text for a child: a line of its place, then its text.

    The line has section and clause, act (else the document's title), innermost heading and the opening words of its
    enumeration. Parts that the child's text has are left out.
    """
    opening = opening_of(parent.text, child.start)
    titles = unnumbered(parent.section, parent.headings)[-1:]
    given = (cited(parent.section, child.clause), parent.act or title, *titles, opening)
    return "\n".join(filter(None, (" | ".join(_new(given, child.text)), child.text)))


def child_id(sha256: str, parent: int, child: int) -> str:
    """Return the id of a child.

    It has the first twelve digits of its document's hash, the index of its parent and its own index.

    >>> child_id("0123456789abcdef", 2, 0)
    '0123456789ab_p2_c0'
    """
    return f"{sha256[:12]}_p{parent}_c{child}"


def cited(section: str, clause: str) -> str:
    """Return a place as it is cited: "Article 9 (3)(e)", "§ 5 Abs. 2"; "" without a section.

    >>> cited("Article 9", "3(e)")
    'Article 9 (3)(e)'
    """
    if not section or not clause:
        return section
    return f"{section} " + _BARE_NUMBER.sub(r"(\g<0>)", clause)


def unnumbered(section: str, headings: Iterable[str]) -> list[str]:
    """Return headings without the section that numbers them: "Kosten" of "§ 29 Kosten".

    >>> unnumbered("§ 29", ["§ 29 Kosten"])
    ['Kosten']
    """
    number = re.compile(rf"{re.escape(section)}(?!\w)[\s.:–—-]*")
    titles = (number.sub("", heading, count=1) if number.match(heading) else heading for heading in headings)
    return [title for title in titles if title]


def _new(given: Iterable[str], *present: str) -> list[str]:
    """Return the given parts, shortened, that neither the texts nor an earlier part has."""
    texts = [_folded(text) for text in present]
    parts: list[str] = []
    for part in dict.fromkeys(_cut(" ".join(one.split())) for one in given):
        # As whole words: "Article 1" is not in "Article 12".
        folded = _folded(part)
        whole = rf"(?<!\w){re.escape(folded)}(?!\w)"
        if part and not any(folded in text and re.search(whole, text) for text in (*texts, *map(_folded, parts))):
            parts.append(part)
    return parts


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST + 1].rpartition(" ")[0] or text[:_LONGEST]


def opening_of(text: str, start: int) -> str:
    """Return the sentence that opens the enumeration around `start`, or "".

    Lines are walked back from the line of `start`, as long as they are items or go on in lower case. The walk ends at a
    line that ends in a colon.
    """
    begin = text.rfind("\n", 0, start) + 1
    if not _ITEM.match(text, begin):
        return ""
    lines = text[max(0, begin - _FARTHEST) : begin].splitlines()
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place].rstrip()
        if not line:
            continue
        if _ITEM.match(line):
            continue
        if _OPENING.search(line):
            found = _SENTENCE.match(line)
            said = " ".join((found[1] if found else line).split())
            return said if len(said) >= _SHORTEST else ""
        if not line.lstrip()[0].islower():
            return ""
    return ""
