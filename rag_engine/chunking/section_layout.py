"""Marks laid out as sections: each heading with what stands above it, and where its text begins and ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from rag_engine.chunking.section_headings import LONGEST_HEADING, Mark, Place, is_marginal_title, is_title_line
from rag_engine.chunking.section_labels import number_key
from rag_engine.chunking.section_rules import Rules

_LETTERED = re.compile(r"[A-ZÇĞİÖŞÜ][).]\s")
# Below the levels with a noun come headings without a number, then A), I., 1., and the unit's own.
_LOOSE_RANK, _LETTER_RANK, _NUMERAL_RANK, _NUMBER_RANK = 50, 60, 61, 62
_ABOVE = ("level", "loose", "numeral", "numbered")
_CITED = ("unit", "decision")
_FEWEST_NUMERALS = 3


@dataclass(frozen=True, slots=True)
class Section:
    """Characters [start, end) of the text that are cited together; `section` is empty where nothing is cited.

    `numbered` tells a unit with a number from a preamble, annex or title page. `inner` are the starts of headings
    inside it, with those headings; `label_start` is where its own label begins, after the headings above it.
    """

    start: int
    end: int
    section: str = ""
    act: str = ""
    headings: tuple[str, ...] = ()
    numbered: bool = False
    inner: tuple[tuple[int, str], ...] = ()
    label_start: int = 0


@dataclass(frozen=True, slots=True)
class _Opening:
    """Where a section begins, and what it is."""

    start: int
    section: str
    act: str
    headings: tuple[str, ...]
    numbered: bool
    label_start: int


@dataclass(slots=True)
class _State:
    """Where the reading of the marks stands.

    `above` are the headings of the act, `stack` the levels below them with their ranks; `instrument` is an annexed
    text with units of its own.
    """

    act: str
    above: tuple[str, ...]
    stack: list[tuple[int, str]]
    section: str = ""
    annexed: bool = False
    instrument: bool = False
    bare_annex: bool = False
    units: int = 0
    decision: bool = False
    recital: int = -1
    closed: bool = False


def laid_out(
    text: str, places: Sequence[Place], marks: Sequence[Mark], rules: Rules, title: str, act: str
) -> list[Section]:
    """The sections in reading order; they cover the text without gaps.

    `title` is the document's, the outermost heading; `act` the name its units belong to.
    """
    openings, inner = _openings(text, places, marks, rules, title, act)
    if not openings or openings[0].start > places[0].start:
        openings.insert(0, _Opening(places[0].start, "", act, (title,) if title else (), False, places[0].start))
    openings = [one for place, one in enumerate(openings) if not place or not _continues(openings[place - 1], one)]
    ends = [one.start for one in openings[1:]] + [len(text)]
    return [
        Section(
            one.start,
            end,
            one.section,
            one.act,
            one.headings,
            one.numbered,
            tuple(heading for heading in inner if one.start < heading[0] < end),
            one.label_start,
        )
        for one, end in zip(openings, ends, strict=True)
    ]


def _continues(before: _Opening, one: _Opening) -> bool:
    """Whether the same section is printed again, in another wording."""
    return bool(one.section) and (before.section, before.act) == (one.section, one.act)


def _openings(
    text: str, places: Sequence[Place], marks: Sequence[Mark], rules: Rules, title: str, act: str
) -> tuple[list[_Opening], list[tuple[int, str]]]:
    """Where sections begin, and the headings that open none."""
    sizes = [mark.font_size for mark in marks if mark.kind in _CITED and mark.font_size]
    size = median(sizes) if sizes else None
    ranks = {
        mark.font_size: rules.level_ranks.get(mark.kind_of_noun, 0) for mark in reversed(marks) if mark.kind == "level"
    }
    base = (title,) if title else ()
    state = _State(act, base, [])
    openings: list[_Opening] = []
    inner: list[tuple[int, str]] = []
    numerals = _numeral_units(places, marks)
    run: list[Mark] = []
    titles: set[int] = set()

    def open_section(start: int, section: str, own: Sequence[str], *, numbered: bool = False, label: int = 0) -> None:
        headings = (*state.above, *(heading for _, heading in state.stack), *own)
        state.section = section
        openings.append(_Opening(start, section, state.act, headings, numbered, label or start))

    def take_run(first_place: int) -> int | None:
        """Start of the headings right above a place, which then belong to it; the others stay inside the text."""
        waiting = list(run)
        above: list[Mark] = []
        run.clear()
        expected = first_place
        while waiting and all(
            _goes_with_heading(text, places[between], waiting[-1]) for between in range(waiting[-1].place + 1, expected)
        ):
            expected = waiting[-1].place
            above.insert(0, waiting.pop())
        leave(waiting)
        if not above:
            return None
        _stack(state.stack, above, rules, size, ranks)
        return above[0].start

    def leave(waiting: Sequence[Mark]) -> None:
        """Headings that no unit follows: a greater one or a level opens a section, others stay inside theirs."""
        for mark in waiting:
            greater = size is not None and mark.kind == "loose" and (mark.font_size or 0) > size + 0.5
            own_title = mark.kind == "loose" and mark.title.lower() in title.lower()
            opens = (greater or mark.kind == "level") and not own_title
            if state.units and not state.closed and not state.decision and opens:
                _stack(state.stack, [mark], rules, size, ranks)
                heading = state.stack.pop()[1]
                open_section(mark.start, mark.label or heading, (heading,))
            else:
                inner.append((mark.start, _heading(mark)))

    for index, mark in enumerate(marks):
        unit = mark.kind in _CITED or id(mark) in numerals
        if mark.place in titles and mark.kind == "loose":
            continue
        if mark.kind in _ABOVE and not unit:
            run.append(mark)
            continue
        if mark.kind == "recital" and not (state.recital >= 0 and int(mark.number) == state.recital + 1):
            continue
        if mark.kind == "preamble" and (
            state.units or state.decision or state.recital >= 0 or (not mark.printed and state.section == mark.label)
        ):
            continue
        if mark.kind == "closing" and (not state.units or state.closed or _goes_on(marks[index + 1 :])):
            continue
        if mark.kind in ("recitals", "enacting") and state.units:
            continue
        if mark.kind == "notes" and not state.units:
            continue
        start = mark.start
        own = [_heading(mark)]
        if mark.kind in ("annex", "decision"):
            leave(run)
            run.clear()
            state.stack.clear()
        elif mark.kind == "notes":
            leave(run)
            run.clear()
        elif unit or mark.kind == "preamble":
            above = take_run(mark.place)
            start = start if above is None else above
        title_line = _title_below(text, places, marks, index)
        if title_line and mark.kind in ("unit", "annex", "decision"):
            own = [f"{own[0]} {title_line}"]
            titles.add(mark.place + 1)
        if unit and mark.start > places[mark.place].start:
            start = _with_marginal_title(text, places[mark.place], start, rules)
        if id(mark) in numerals:
            place = f"{state.stack[-1][1]}, {mark.number}" if state.stack else mark.number
            open_section(start, place, own, numbered=True, label=mark.start)
            state.units += 1
        elif mark.kind == "unit":
            state.closed, state.recital = False, -1
            open_section(start, mark.label, own, numbered=True, label=mark.start)
            state.units += 1
            state.stack[:] = [level for level in state.stack if level[0] != _LOOSE_RANK]
        elif mark.kind == "decision":
            state = _State(act, base, [], decision=True, units=1)
            open_section(start, mark.label, own, numbered=True, label=mark.start)
        elif mark.kind == "annex":
            state = _annexed(state, mark, own[0], title_line, marks[index + 1 :], act, base)
            open_section(start, mark.label, () if state.instrument else own)
        elif mark.kind == "recital":
            state.recital = int(mark.number)
            recital = f"{rules.recital_label} {mark.number}"
            open_section(start, recital, (recital,), numbered=True)
        elif mark.kind == "recitals":
            state.recital = 0
        elif mark.kind == "enacting":
            state.recital = -1
            open_section(start, rules.preamble_label, (rules.preamble_label,))
        elif mark.kind == "preamble":
            open_section(start, mark.label, (mark.label,))
        elif mark.kind == "closing":
            state.closed = True
            state.stack.clear()
            open_section(start, "", ())
        elif mark.kind == "notes":
            state.stack.clear()
            open_section(start, mark.label or own[0], own)
    leave(run)
    return openings, inner


def _annexed(
    state: _State,
    mark: Mark,
    heading: str,
    title_line: str,
    following: Sequence[Mark],
    act: str,
    base: tuple[str, ...],
) -> _State:
    """The state inside an annex; one with units of its own is an act of its own, named by its title.

    A numbered annex after the units of an instrument that a bare "Annex" brought belongs to that instrument.
    """
    if state.instrument and state.bare_annex and mark.number:
        return _State(state.act, state.above, [], units=1, annexed=True, instrument=True, bare_annex=True)
    ahead: list[Mark] = []
    for one in following:
        if one.kind in ("annex", "decision"):
            break
        ahead.append(one)
    instrument = any(one.kind == "unit" for one in ahead)
    decision = state.above[len(base) :] if state.decision else ()
    if instrument:
        return _State(
            title_line or heading, (*base, *decision, heading), [], instrument=True, bare_annex=not mark.number
        )
    return _State(act, (*base, *decision), [], units=1, annexed=True, decision=state.decision)


def _stack(
    stack: list[tuple[int, str]],
    run: Sequence[Mark],
    rules: Rules,
    size: float | None,
    ranks: Mapping[float | None, int],
) -> None:
    """Nothing; puts the headings of a run on the stack, each in place of those of its rank and below."""
    place = 0
    while place < len(run):
        mark = run[place]
        place += 1
        rank, heading = _rank(mark, rules, size, ranks), _heading(mark)
        # "II." and "CAPÍTULO I" have their title on the next line.
        while place < len(run) and _is_continued(mark, run[place], size):
            heading = f"{heading} {run[place].title}"
            mark, place = replace(run[place], kind=mark.kind), place + 1
        while stack and stack[-1][0] >= rank:
            stack.pop()
        stack.append((rank, heading))


def _is_continued(mark: Mark, below: Mark, size: float | None) -> bool:
    """Whether the heading below is the title of a bare level, or goes on with a heading of the same large size."""
    if below.kind != "loose" or below.place != mark.place + 1 or _LETTERED.match(below.title):
        return False
    bare = mark.kind in ("level", "numeral") and not mark.title
    large = size is not None and (mark.font_size or 0) > size + 0.5 and mark.font_size == below.font_size
    return bare or (large and mark.kind == "level")


def _rank(mark: Mark, rules: Rules, size: float | None, ranks: Mapping[float | None, int]) -> int:
    if mark.kind == "level":
        return rules.level_ranks.get(mark.kind_of_noun, 0)
    if mark.kind == "numeral":
        return _NUMERAL_RANK
    if mark.kind == "numbered":
        return _NUMBER_RANK
    if _LETTERED.match(mark.title):
        return _LETTER_RANK
    greater = size is not None and (mark.font_size or 0) > size + 0.5
    return ranks.get(mark.font_size, 0) if greater else _LOOSE_RANK


def _heading(mark: Mark) -> str:
    """The heading as it is printed, label and title."""
    return " ".join(part for part in (mark.label, mark.title) if part)


def _title_below(text: str, places: Sequence[Place], marks: Sequence[Mark], index: int) -> str:
    """The title on the line below a bare label; empty where there is none."""
    mark = marks[index]
    following = mark.place + 1
    if mark.title or mark.runs_on or following >= len(places):
        return ""
    taken = next((one for one in islice(marks, index + 1, None) if one.place >= following), None)
    if taken and taken.place == following and taken.kind != "loose":
        return ""
    place = places[following]
    return " ".join(text[place.start : place.end].split()) if is_title_line(text, place) else ""


def _goes_with_heading(text: str, place: Place, mark: Mark) -> bool:
    """Whether the line after a heading is a note on it in brackets, or its title."""
    line = text[place.start : place.end]
    bracketed = line.startswith("(") and line.endswith(")") and len(line) < LONGEST_HEADING and not line[1:2].isdigit()
    titles = (not mark.title or line.isupper()) and is_title_line(text, place)
    return mark.kind == "level" and (bracketed or titles)


def _with_marginal_title(text: str, place: Place, start: int, rules: Rules) -> int:
    """The start of a unit inside a line, or that of the line where all before it is the unit's own title."""
    return place.start if rules.dashed and is_marginal_title(text[place.start : start].strip()) else start


def _goes_on(following: Sequence[Mark]) -> bool:
    """Whether the act has units after what looks like its end."""
    for mark in following:
        if mark.kind in ("annex", "decision", "notes"):
            return False
        if mark.kind == "unit":
            return True
    return False


def _numeral_units(places: Sequence[Place], marks: Sequence[Mark]) -> set[int]:
    """The ids of bare numerals that number provisions: text below each, and in order from the first.

    Numerals over a heading ("II. | Der Bund und die Länder") are levels.
    """
    at = {mark.place: mark for mark in marks}
    runs: list[list[Mark]] = [[]]
    for mark in marks:
        if mark.kind in _CITED:
            runs.append([])
        below = at.get(mark.place + 1)
        text_below = mark.place + 1 < len(places) and (below is None or below.kind == "recital")
        if mark.kind == "numeral" and not mark.title and text_below:
            number, before = number_key(mark.number)[0], number_key(runs[-1][-1].number)[0] if runs[-1] else 0
            if before < number <= before + 2:
                runs[-1].append(mark)
    return {id(mark) for run in runs if len(run) >= _FEWEST_NUMERALS for mark in run}
