"""The sections of a text in reading order: which headings open one, what each belongs to, and where it ends."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile

from rag_engine.chunking.sections.headings import Mark, marks_of, places_of
from rag_engine.chunking.sections.labels import number_key
from rag_engine.chunking.sections.reader import Reader, Section
from rag_engine.chunking.sections.rules import Rules, lower, rules_of
from rag_engine.types import Block


def _continues(before: Section, one: Section) -> bool:
    """Return whether the same section is printed again, in another wording."""
    return bool(one.section) and (before.section, before.act) == (one.section, one.act)


# Fewer headings with a number and no noun are a list and not the plan of a document.
_FEWEST_NUMBERED = 3
# So many headings without text between them are a table of contents, if they come again later.
_CONTENTS = 3
_LISTED = ("unit", "level", "annex", "decision", "numbered")
_WORD = re.compile(r"\w{3,}")
_TITLE_SEEN_WITHIN = 20_000


def find_outline(text: str, language: str, *, title: str = "", blocks: Sequence[Block] = ()) -> tuple[Section, ...]:
    """Return the sections, which cover the text without gaps; one section without a name where no heading was found.

    `language` is an ISO 639-1 code. `blocks` tell headings and tables from text; without them paragraphs are read.
    """
    rules = rules_of(language)
    places = places_of(text, blocks)
    if not places:
        return ()
    title = " ".join(title.split())
    marks = _chosen(marks_of(text, places, rules), rules)
    act = title if _is_named(text, title) else ""
    reader = Reader(text, places, marks, rules, title, act)
    first = places[0].start
    if not reader.sections or reader.sections[0].start > first:
        reader.sections.insert(0, Section(first, first, "", act, (title,) if title else ()))
    if not any(section.section for section in reader.sections):
        reader.sections = [replace(section, act="") for section in reader.sections]
    return tuple(_closed(reader, len(text)))


def _closed(reader: Reader, end: int) -> Iterator[Section]:
    """Yield the sections without those that go on, each with its end and the headings inside it."""
    sections, inner = reader.sections, sorted(reader.inner)
    kept = [one for place, one in enumerate(sections) if not place or not _continues(sections[place - 1], one)]
    starts = [start for start, _ in inner]
    for one, beyond in zip(kept, [*(one.start for one in kept[1:]), end], strict=True):
        inside = inner[bisect_right(starts, one.start) : bisect_left(starts, beyond)]
        yield replace(one, end=beyond, inner=tuple(inside))


def _is_named(text: str, title: str) -> bool:
    """Return whether the text confirms the title: most of its words are near the beginning."""
    words = set(_WORD.findall(lower(title)))
    seen = set(_WORD.findall(lower(text[:_TITLE_SEEN_WITHIN])))
    return bool(words) and len(words & seen) >= 0.7 * len(words)


def _chosen(marks: list[Mark], rules: Rules) -> list[Mark]:
    """Return the marks that stand for what they seem: no tables of contents, no citations, one kind of unit."""
    marks = _without_contents(marks)
    units = Counter(mark.kind_of_noun for mark in marks if mark.kind == "unit")
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
        cited = [_cited(mark) for mark in run if mark.kind in _LISTED]
        # A list of annexes is short.
        annexes = all(mark.kind == "annex" for mark in run)
        contents = len(cited) >= (_CONTENTS - 1 if annexes else _CONTENTS)
        if contents:
            later = {_cited(mark) for mark in islice(marks, after, None) if mark.kind in _LISTED}
            contents = 2 * sum(one in later for one in cited) > len(cited)
        kept.extend([] if contents else run)
        run.clear()

    for index, mark in enumerate(marks):
        text_between = bool(run) and (mark.place - run[-1].place > 1 or run[-1].runs_on)
        restarts = mark.kind in _LISTED and _cited(mark) in map(_cited, run)
        if text_between or restarts or mark.kind == "recital":
            close(index)
        run.append(mark)
    close(len(marks))
    return kept


def _cited(mark: Mark) -> tuple[str, int, str]:
    return (mark.kind_of_noun, *number_key(mark.number))


def _in_sequence(marks: list[Mark]) -> list[Mark]:
    """Return the marks without units that only cite one, judged by their numbers and by how the others are printed.

    Where units are set as headings, a line of text is none. Elsewhere its number must not go back, unless to the
    start or to the same number, and an unsure one must come next.
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
    """Return the kinds of units that are set as headings, nearly all of them, up to the next annex or decision."""
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
    """Return numbered headings as units, where there are enough of them in ascending order."""
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
