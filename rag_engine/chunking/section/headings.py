"""The lines of a text that head something: units, levels, annexes, decisions, preambles.

Each line is classified by itself here. reader.py decides what depends on the lines around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_engine.chunking.section.numbers import ROMAN
from rag_engine.chunking.section.rules import Rules, lower, normal_label
from rag_engine.types.document import Block, BlockKind

MarkKind = Literal[
    "unit", "level", "annex", "decision", "preamble", "recitals", "recital", "enacting", "numeral", "numbered",
    "closing", "notes", "loose",
]  # fmt: skip

LONGEST_HEADING = 300
_SHORT_LINE = 140
_TITLE_LINE = 160

_PARAGRAPH = re.compile(r"\S(?:.|\n(?![^\S\n]*\n))*")
_LINE = re.compile(r"[^\n]+")
_LEADER = re.compile(r"(?:\.\s?){4,}|…\s*\d+\s*$|\|\s*\d{1,4}\s*$|\]\(")
_SEPARATOR = re.compile(r"\s*(?:[.:º°ª]|[-–—]+(?=\s|\(|[^\W\d]))+[\s-]*|(?<=[º°ª])\s+")
_MARKS = re.compile(r"(?:\s*(?:\[\d+\]|\(\d+\)|\*|[¹²³⁰-⁹]))*\s*[.:–—-]*\s*")
_FIRST_WORD = re.compile(r"[\s\"'«“„‘(\[]*([^\W\d_]+|§)")
_NUMERAL = re.compile(rf"(?P<number>{ROMAN}(?:\s?[a-z](?=\.))?)\s*(?P<stop>[.)–—-]?)\s*(?P<rest>.*)")
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2})*)(?:\.\s*|\s+)(?P<rest>[^\W\d_].*|\d*[^\W\d_].*)")
_RECITAL = re.compile(r"\((?P<number>\d{1,3})\)\s*\|?\s")
_STOP_BEFORE_NUMBER = re.compile(r"^([^\W\d]+\.)(?=\d)")
_DASH = re.compile(r"\s*[–—-]")
_SENTENCE_END = re.compile(r"[.;!?]")
_LETTERED = re.compile(r"(?![IVX]\))[A-ZÇĞİÖŞÜ]\)")
_LONGEST_MARGINAL_TITLE = 120
_ENDS = (".", ";", ",", ":", "。", "；", "،", "؛")


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A line of the text: characters [start, end).

    `first` is true for the first line of its block.
    """

    start: int
    end: int
    first: bool
    kind: BlockKind | None
    font_size: float | None


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that heads something.

    `place` is its index. `start` is its first character, or that of a unit inside the line. `label` is the cited part
    ("§ 5"), `kind_of_noun` its noun's kind, `number` the number printed after it, `title` the rest of the heading.
    `printed` is true if it is set as a heading, `runs_on` if text follows on the same line. An `unsure` one counts only
    if its number comes next.
    """

    kind: MarkKind
    place: int
    start: int
    label: str = ""
    kind_of_noun: str = ""
    number: str = ""
    title: str = ""
    printed: bool = False
    runs_on: bool = False
    font_size: float | None = None
    unsure: bool = False


def places_of(text: str, blocks: Sequence[Block]) -> list[HeadingLine]:
    """Return the lines of the blocks, or of the paragraphs where there are no blocks, in reading order."""
    spans = (
        [(block.start, block.end, block.kind, block.font_size) for block in blocks]
        if blocks
        else [(found.start(), found.end(), None, None) for found in _PARAGRAPH.finditer(text)]
    )
    places = []
    for start, end, kind, font_size in spans:
        first = True
        for line in _LINE.finditer(text, start, end):
            stripped = line.group().strip()
            if stripped:
                begin = line.start() + line.group().index(stripped[0])
                places.append(HeadingLine(begin, begin + len(stripped), first, kind, font_size))
                first = False
    return places


def marks_of(text: str, places: Sequence[HeadingLine], rules: Rules) -> list[Mark]:
    """Return every line that may be a heading, in reading order; some will turn out to be text."""
    marks: list[Mark] = []
    for index, place in enumerate(places):
        line = text[place.start : place.end]
        fresh = index == 0 or _ends_paragraph(text, places, index)
        mark = _mark(line, index, place, rules, fresh=fresh)
        if mark:
            marks.append(mark)
        if rules.inside and place.kind not in ("table", "note"):
            within = list(_inside(line, index, place, rules, len(mark.label) if mark else 1))
            if mark and mark.kind == "loose" and within:
                marks.pop()
            marks.extend(within)
    return marks


def is_title_line(text: str, place: HeadingLine) -> bool:
    """Return whether the line may be the title below a bare label: short, no sentence, no list item."""
    line = text[place.start : place.end]
    return (
        place.first
        and place.kind not in ("table", "note")
        and len(line) <= _TITLE_LINE
        and not line.endswith(_ENDS)
        and (line[:1].isupper() or _without_case(line[:1]) or (line[:1].isdigit() and place.kind == "heading"))
        and not _NUMBERED.fullmatch(line)
    )


def _mark(line: str, index: int, place: HeadingLine, rules: Rules, *, fresh: bool) -> Mark | None:
    """Return the mark of a line that heads something, None for text."""
    printed = place.kind == "heading"
    recital = _RECITAL.match(line)
    if recital:
        return Mark("recital", index, place.start, recital["number"], "recital", recital["number"])
    if place.kind in ("table", "note") or _LEADER.search(line):
        return None
    for kind, pattern in (
        ("decision", rules.decision), ("annex", rules.annex), ("unit", rules.unit), ("level", rules.level),
    ):  # fmt: skip
        # A repealed section may be in brackets as a whole.
        found = pattern.match(line, 1 if printed and line.startswith("[§") else 0)
        if found and place.first and _heads(line, found, rules, printed=printed):
            return _labelled(kind, line, found, index, place, rules, unsure=not (fresh or printed))  # type: ignore[arg-type]
    return _other(line, index, place, rules, printed=printed)


def _other(line: str, index: int, place: HeadingLine, rules: Rules, *, printed: bool) -> Mark | None:
    """Return preambles, closings and headings without one of the nouns."""

    def mark(kind: MarkKind, label: str = "", number: str = "", title: str = "") -> Mark:
        return Mark(kind, index, place.start, label, "", number, title, printed, False, place.font_size)

    bare = lower(line.strip(" .:*_#")) if len(line) < _TITLE_LINE else ""
    if bare in rules.preamble_headings:
        return mark("preamble", line.strip(" .:*_#"))
    if bare in rules.notes and place.first:
        return mark("notes", line.strip(" .:*_#"))
    if rules.tables and rules.tables.search(line) and place.first:
        return mark("notes", line)
    for kind, pattern in (
        ("recitals", rules.recitals_begin), ("enacting", rules.recitals_end), ("closing", rules.closing),
        ("preamble", rules.preamble),
    ):  # fmt: skip
        if pattern and place.first and pattern.match(line):
            return mark(kind, rules.preamble_label if kind == "preamble" else "")  # type: ignore[arg-type]
    if not place.first or len(line) > LONGEST_HEADING:
        return None
    return _numbered(line, bare, rules, mark, printed=printed)


def _numbered(line: str, bare: str, rules: Rules, mark: Callable[..., Mark], *, printed: bool) -> Mark | None:
    """Return a heading that is known by its numeral, its number or its print alone."""
    numeral = _NUMERAL.fullmatch(line)
    if (
        numeral
        and printed
        and not _LETTERED.match(line)
        and numeral["number"]
        and (numeral["stop"] or not numeral["rest"])
    ):
        return mark("numeral", numeral["number"], numeral["number"], numeral["rest"])
    numbered = _NUMBERED.fullmatch(line)
    if (
        numbered
        and len(line) <= _SHORT_LINE
        and not line.endswith(_ENDS)
        and (printed or numbered["number"].count(".") == 1)
    ):
        return mark("numbered", numbered["number"], numbered["number"], numbered["rest"])
    if bare in rules.asides:
        return None
    if printed and not line.startswith("(") and not line.endswith((";", ",")) and any(map(str.isalpha, line)):
        return mark("loose", "", "", line)
    return None


def _labelled(
    kind: MarkKind, line: str, found: re.Match[str], index: int, place: HeadingLine, rules: Rules, *, unsure: bool
) -> Mark:
    groups = found.groupdict()
    turned = groups.get("turned") or ""
    noun = groups["noun"] or groups.get("noun_") or turned
    number = groups.get("number") or groups.get("ordinal") or ""
    number = normal_label(found.group()).rpartition(" ")[2] if turned else number
    separator = _SEPARATOR.match(line, found.end())
    rest = line[separator.end() if separator else found.end() :]
    title = rest.strip(" .:–—-*_")
    long = len(title) > _TITLE_LINE or (place.kind != "heading" and (rest.endswith(_ENDS) or found.start() > 0))
    return Mark(
        kind,
        index,
        place.start + found.start(),
        _STOP_BEFORE_NUMBER.sub(r"\1 ", " ".join(found.group().split()).rstrip(" :–—-")),
        rules.kinds.get(lower(" ".join(noun.split())), ""),
        number,
        "" if long or title.startswith("(") else title,
        place.kind == "heading",
        bool(title) and (long or line.rstrip().endswith(".")),
        place.font_size,
        unsure,
    )


def _heads(line: str, label: re.Match[str], rules: Rules, *, printed: bool) -> bool:
    """Return whether a line that begins with a label is a heading, not a sentence that cites it."""
    end, turned = label.end(), bool(label.groupdict().get("turned"))
    rest = line[end:]
    bare = _MARKS.fullmatch(rest)
    if bare:
        return True
    if rest[:1] in (",", ";", ")", "/", "’", "'"):
        return False
    if rest[:1] == "(" and not (turned or rest.startswith(("(we", "(re", "(Re"))):
        return False
    # Such as "Art 74a und 75 (weggefallen)".
    joined = re.match(rf"\s+(?:{'|'.join((*rules.joins, *rules.to))})\s+\d+\w?\s*(?=\(|$)", rest)
    if joined:
        return printed
    word = _FIRST_WORD.match(rest)
    if word and lower(word[1]) in map(lower, rules.parts):
        return False
    separator = _SEPARATOR.match(line, end)
    following = line[separator.end() :] if separator else rest.strip()
    begins = following[:1]
    if not begins or not (
        begins.isupper() or begins in "([\"“„«‘'’…（「『§" or (begins.isdigit() and separator) or _without_case(begins)
    ):
        return False
    if _without_case(begins) and not (separator or rest[:1].isspace()):
        return False
    short = len(line) <= _SHORT_LINE and not line.endswith(_ENDS)
    if separator:
        return printed or short or ":" not in separator.group()
    if rules.dashed and not printed:
        return False
    # The words of a section may go on behind its number: 5 § Den som ...
    return printed or short or turned


def _without_case(letter: str) -> bool:
    """Return whether a letter is of a script without capitals, which show where a sentence begins."""
    return letter.isalpha() and letter.lower() == letter.upper()


def _inside(line: str, index: int, place: HeadingLine, rules: Rules, begin: int) -> Iterator[Mark]:
    """Yield units that begin within the line, after the end of another or after their own marginal title."""
    assert rules.inside
    for found in rules.unit.finditer(line, begin):
        separator = _SEPARATOR.match(line, found.end())
        if not rules.inside.match(line, found.start()) or not separator:
            continue
        following = line[separator.end() :].lstrip('(“"')[:1]
        if not following.isupper() and not (rules.dashed and following.isdigit()):
            continue
        if rules.dashed and not _DASH.match(line, found.end()):
            continue
        titled = rules.dashed and is_marginal_title(line[: found.start()])
        yield _labelled("unit", line, found, index, place, rules, unsure=not titled)


def is_marginal_title(before: str) -> bool:
    """Return whether the words before a unit on its line can be its title.

    They are short, and no end of a sentence.
    """
    return len(before) <= _LONGEST_MARGINAL_TITLE and before[:1].isupper() and not _SENTENCE_END.search(before)


def _ends_paragraph(text: str, places: Sequence[HeadingLine], index: int) -> bool:
    """Return whether the line begins a paragraph.

    It is its block's first line, after a line that ends a paragraph.
    """
    place, before = places[index], places[index - 1]
    last = text[before.end - 1]
    ended = last in ".;:!?)]”\"»’'…|" or before.kind in ("heading", "table", "note") or before.end - before.start < 60
    return place.first and ended
