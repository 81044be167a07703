"""Section-aware chunks: parents are the sections that are cited, children lie within one section.

Each section is a parent with its heading; the titles above it (act, part, chapter) are kept with the text. Text without
a number (preambles, schedules, annexes) has the heading that encloses it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from operator import attrgetter

from rag_engine.chunking.parents import filled
from rag_engine.chunking.section.headings import Mark, marks_of, places_of
from rag_engine.chunking.section.reader import Section, read_sections
from rag_engine.chunking.section.rules import Rules, lower, number_key, rules_of
from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkSizes
from rag_engine.text.languages import READ_LANGUAGES
from rag_engine.text.sentences import sentence_spans, stripped
from rag_engine.types.document import Block
from rag_engine.types.passage import Parent

_DECIMAL = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?")
_FEWEST_CONTENTS = 3
_WORD = re.compile(r"\S+")

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
_FORMS = {"bracketed": "paragraph", "number": "item", "letter": "letter"}
# Fewer headings with a number and no noun are a list and not the plan of a document.
_FEWEST_NUMBERED = 3
# Number of headings without text between them that are a table of contents, if they come again later.
_CONTENTS = 3
_LISTED = ("unit", "level", "annex", "decision", "numbered")
_TITLE_WORD = re.compile(r"\w{3,}")
_TITLE_SEEN_WITHIN = 20_000


def section_chunks(
    text: str, language: str, *, title: str, blocks: Sequence[Block], config: ChunkSizes
) -> list[Parent]:
    """Return parents in reading order, each a section or a part of a long one, with its children.

    - `parent.text == text[parent.start:parent.end]` and `child.text == parent.text[child.start:child.end]`.
    - Every character but white space is in a parent and, within it, in a child. Parents do not overlap.

    A section of more than `section_size` characters is parted at its inner headings, else between clauses, paragraphs
    or sentences. Text without a section is parted so at `config.parent_size`.

    `language` is an ISO 639-1 code, `title` the document's. Without `blocks` paragraphs are read by blank lines.
    """
    starts = [place.start for place in places_of(text, blocks)]
    parents: list[Parent] = []
    for section in _led(find_outline(text, language, title=title, blocks=blocks), blocks):
        lines = starts[bisect_left(starts, section.start) : bisect_left(starts, section.end)]
        parents.extend(_parents_of(text, language, section, lines, config))
    return [replace(parent, index=index) for index, parent in enumerate(parents)]


def _led(sections: Iterable[Section], blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections, each with the headings before it that have no text: "3 Tasks" before "3.1".

    Many such headings in a row that do not lead to the next section are a list of contents, which stays by itself. An
    article that is only a heading is never joined to the next: it was repealed.
    """
    held: list[Section] = []
    for section in sections:
        if _is_heading(section, blocks):
            held.append(section)
            continue
        place = len(held)
        while place and section.section.startswith(f"{held[place - 1].section}."):
            place -= 1
        if place >= _FEWEST_CONTENTS:
            yield replace(held[0], end=held[place - 1].end, section="", numbered=False, headings=(), inner=())
            held = held[place:]
        yield replace(section, start=held[0].start) if held else section
        held = []
    yield from held


def _is_heading(section: Section, blocks: Sequence[Block]) -> bool:
    """Return whether a numbered chapter has nothing but its heading.

    An article of a law is no numbered chapter.
    """
    if not _DECIMAL.fullmatch(section.section):
        return False
    first = bisect_left(blocks, section.start, key=attrgetter("start"))
    inside = blocks[first : bisect_left(blocks, section.end, key=attrgetter("start"))]
    return bool(inside) and all(block.kind == "heading" for block in inside)


def section_coverage(text: str, language: str, *, title: str = "", blocks: Sequence[Block] = ()) -> tuple[int, float]:
    """Return the number of numbered sections, and their share 0..1 of the characters."""
    numbered = [section for section in find_outline(text, language, title=title, blocks=blocks) if section.numbered]
    covered = sum(section.end - section.start for section in numbered)
    return len(numbered), covered / len(text) if text else 0.0


def _parents_of(text: str, language: str, section: Section, lines: Sequence[int], config: ChunkSizes) -> list[Parent]:
    """Return the section as one parent, or as several with the same name."""
    body = text[section.start : section.end]
    inner = [(start - section.start, heading) for start, heading in section.inner]
    below = [line - section.start for line in lines if line >= section.label_start]
    forms = rules_of(language).clause_forms
    clauses = clauses_of(body, below, [start for start, _ in inner], forms) if section.section else []
    longest = config.section_size if section.section else config.parent_size
    spans = [(0, len(body))]
    if len(body) > longest:
        levels = [
            [start for start, _ in inner],
            [clause.start for clause in clauses if clause.rank == 1],
            [line - section.start for line in lines],
            [start for start, _ in sentence_spans(body, language)],
            [word.start() for word in _WORD.finditer(body)],
            range(longest, len(body), longest),
        ]
        spans = list(filled((0, len(body)), levels, longest))
    parents = []
    for start, end in spans:
        first, beyond = stripped(body, start, end)
        if first == beyond:
            continue
        piece = body[first:beyond]
        heading = next((heading for at, heading in reversed(inner) if at <= first), "") if len(spans) > 1 else ""
        headings = (*section.headings, heading) if heading else section.headings
        children = cut_children(piece, sentence_spans(piece, language), config)
        parents.append(
            Parent(
                index=0,
                start=section.start + first,
                end=section.start + beyond,
                text=piece,
                children=tuple(replace(child, clause=clause_at(clauses, first + child.start)) for child in children),
                act=section.act,
                section=section.section,
                headings=headings,
                depth=max(0, len(headings) - 1),
            )
        )
    return parents


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that begins at `start`.

    It is cited as `label` after the section ("(2)", "§ 1º, II"). Rank 1 is outermost.
    """

    start: int
    rank: int
    label: str


def clauses_of(text: str, starts: Sequence[int], headings: Sequence[int], forms: Mapping[str, str]) -> list[Clause]:
    """Return the clauses of a section's text in reading order.

    `starts` are the offsets of its lines from its label on. A heading inside the section, whose offsets are `headings`,
    belongs to the clause that follows it. `forms` have the words with which a language cites a kind of clause ("Abs.
    {}"); a kind without words is cited as it is printed.
    """
    found: list[Clause] = []
    stack: list[tuple[int, str]] = []
    above = deque(headings)
    for start, kind, label in _markers(text, starts):
        rank = _RANKS[kind]
        while stack and stack[-1][0] >= rank:
            stack.pop()
        form = forms.get(_FORMS.get(kind, ""))
        stack.append((rank, form.format(label.strip("()")) if form else label))
        first = start
        while above and above[0] <= start:
            heading = above.popleft()
            first = min(first, heading if not found or heading > found[-1].start else start)
        found.append(Clause(first, len(stack), _joined([part for _, part in stack], bool(forms))))
    return found


def clause_at(clauses: Sequence[Clause], offset: int) -> str:
    """Return the label of the last clause that begins at or before the offset; empty before the first.

    >>> clause_at([Clause(0, 1, "(1)"), Clause(40, 1, "(2)")], 50)
    '(2)'
    """
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


def _joined(parts: list[str], worded: bool) -> str:
    """Return (2)(a), 2(a), "§ 1º, II", "Abs. 1 Nr. 2"."""
    joined = parts[0]
    for part in parts[1:]:
        joined += part if part.startswith("(") else f" {part}" if worded else f", {part}"
    return joined


def find_outline(text: str, language: str, *, title: str = "", blocks: Sequence[Block] = ()) -> tuple[Section, ...]:
    """Return the sections, which cover the text without gaps.

    A text without a heading is one section without a name. `language` is an ISO 639-1 code. `blocks` tell headings and
    tables from text; without them paragraphs are read.
    """
    rules = rules_of(language)
    places = places_of(text, blocks)
    if not places:
        return ()
    title = " ".join(title.split())
    marks = _chosen(marks_of(text, places, rules), rules)
    if language not in READ_LANGUAGES and not any(mark.kind in ("unit", "decision") for mark in marks):
        # A text may be headed in English, or be in a language like the one that it is taken for.
        rules = rules_of("en")
        marks = _chosen(marks_of(text, places, rules), rules)
    # The text confirms the title where most of its words are near the beginning.
    words = set(_TITLE_WORD.findall(lower(title)))
    seen = words.intersection(_TITLE_WORD.findall(lower(text[:_TITLE_SEEN_WITHIN])))
    act = title if words and len(seen) >= 0.7 * len(words) else ""
    sections, inner = read_sections(text, places, marks, rules, title, act)
    first = places[0].start
    if not sections or sections[0].start > first:
        sections.insert(0, Section(first, first, "", act, (title,) if title else ()))
    if not any(section.section for section in sections):
        sections = [replace(section, act="") for section in sections]
    return tuple(_closed(sections, sorted(inner), len(text)))


def _closed(sections: Sequence[Section], inner: Sequence[tuple[int, str]], end: int) -> Iterator[Section]:
    """Yield the sections, each with its end and the headings inside it.

    A section that only continues the one before is left out.
    """
    # The same section, printed again in another wording, goes on.
    before = [None, *((section.section, section.act) for section in sections)]
    kept = [
        section
        for section, last in zip(sections, before, strict=False)
        if not section.section or last != (section.section, section.act)
    ]
    starts = [start for start, _ in inner]
    for section, beyond in zip(kept, [*(section.start for section in kept[1:]), end], strict=True):
        inside = inner[bisect_right(starts, section.start) : bisect_left(starts, beyond)]
        yield replace(section, end=beyond, inner=tuple(inside))


def _chosen(marks: list[Mark], rules: Rules) -> list[Mark]:
    """Return the marks that are headings: no tables of contents, no citations, one kind of unit."""
    marks = _without_contents(marks)
    units = Counter(mark.kind_of_noun for mark in marks if mark.kind == "unit")
    if not units.keys() <= rules.within:
        marks = [mark for mark in marks if mark.kind != "unit" or mark.kind_of_noun not in rules.within]
    for kind in list(units):
        others = sum(count for other, count in units.items() if other not in rules.level_ranks)
        if kind in rules.level_ranks and others > units[kind]:
            marks = [
                replace(mark, kind="level") if mark.kind == "unit" and mark.kind_of_noun == kind else mark
                for mark in marks
            ]
    marks = _in_sequence(marks)
    if any(mark.kind in ("unit", "decision") for mark in marks):
        return marks
    levels = Counter(mark.kind_of_noun for mark in marks if mark.kind == "level")
    finest = max(
        (kind for kind, count in levels.items() if count >= _FEWEST_NUMBERED),
        key=lambda kind: rules.level_ranks.get(kind, -1),
        default=None,
    )
    if finest is not None:
        return [
            replace(mark, kind="unit") if mark.kind == "level" and mark.kind_of_noun == finest else mark
            for mark in marks
        ]
    return _numbered_units(marks)


def _without_contents(marks: list[Mark]) -> list[Mark]:
    """Return the marks without runs of headings that have no text between them and come again later."""
    kept: list[Mark] = []
    run: list[Mark] = []

    def close(after: int) -> None:
        cited = [_citation(mark) for mark in run if mark.kind in _LISTED]
        # A list of annexes is short.
        annexes = all(mark.kind == "annex" for mark in run)
        contents = len(cited) >= (_CONTENTS - 1 if annexes else _CONTENTS)
        if contents:
            later = {_citation(mark) for mark in islice(marks, after, None) if mark.kind in _LISTED}
            contents = 2 * sum(one in later for one in cited) > len(cited)
            # Chapters are numbered anew in each part; an article that does not come again is the article.
            units = [_citation(mark) for mark in run if mark.kind == "unit"]
            contents = contents and 2 * sum(one in later for one in units) >= len(units)
        kept.extend([] if contents else run)
        run.clear()

    for index, mark in enumerate(marks):
        text_between = bool(run) and (mark.place - run[-1].place > 1 or run[-1].runs_on)
        restarts = mark.kind in _LISTED and _citation(mark) in map(_citation, run)
        if text_between or restarts or mark.kind == "recital":
            close(index)
        run.append(mark)
    close(len(marks))
    return kept


def _citation(mark: Mark) -> tuple[str, int, str]:
    return (mark.kind_of_noun, *number_key(mark.number))


def _in_sequence(marks: list[Mark]) -> list[Mark]:
    """Return the marks without units that only cite one.

    If units are set as headings, a line of text is no unit. Else its number must not go back, unless to the start or to
    the same number, and an unsure one must come next.
    """
    kept: list[Mark] = []
    last: dict[str, tuple[int, str]] = {}
    headed: frozenset[str] = _set_as_headings(marks)
    for place, mark in enumerate(marks):
        if mark.kind in ("annex", "decision"):
            last, headed = {}, _set_as_headings(marks[place + 1 :])
        if mark.kind == "unit" and mark.number:
            key, before = number_key(mark.number), last.get(mark.kind_of_noun)
            back = before is not None and key < before and key[0] not in (1, before[0])
            leaps = mark.unsure and (before is None or not _follows(before, key))
            if not mark.printed and (back or leaps or mark.kind_of_noun in headed):
                continue
            last[mark.kind_of_noun] = key
        kept.append(mark)
    return kept


def _set_as_headings(marks: Sequence[Mark]) -> frozenset[str]:
    """Return the kinds of units that are nearly all headings, up to the next annex or decision."""
    before = takewhile(lambda mark: mark.kind not in ("annex", "decision"), marks)
    units = [mark for mark in before if mark.kind == "unit"]
    found = Counter(mark.kind_of_noun for mark in units)
    printed = Counter(mark.kind_of_noun for mark in units if mark.printed)
    return frozenset(kind for kind in found if printed[kind] >= max(_FEWEST_NUMBERED, 0.9 * found[kind]))


def _follows(before: tuple[int, str], key: tuple[int, str]) -> bool:
    """Return whether the number comes next: 6 or 5a after 5, 55b after 55a."""
    same = key[0] == before[0] and (ord(key[1][:1] or "`") - ord(before[1][:1] or "`")) in (0, 1)
    return same or (key[0] == before[0] + 1 and key[1] in ("", "a"))


def _numbered_units(marks: list[Mark]) -> list[Mark]:
    """Return numbered headings as units, if enough of them are in ascending order."""
    ascending: list[Mark] = []
    for mark in takewhile(lambda mark: mark.kind != "annex", marks):
        if mark.kind == "numbered":
            key = tuple(map(int, mark.number.split(".")))
            before = tuple(map(int, ascending[-1].number.split("."))) if ascending else (0,)
            if key > before and key[0] - before[0] <= 2:
                ascending.append(mark)
    if len(ascending) < _FEWEST_NUMBERED:
        return marks
    chosen = {id(mark) for mark in ascending}
    return [replace(mark, kind="unit") if id(mark) in chosen else mark for mark in marks]
