"""The marks of a text, read from first to last: the sections they open, and under which headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from rag_engine.chunking.section.headings import LONGEST_HEADING, HeadingLine, Mark, is_marginal_title, is_title_line
from rag_engine.chunking.section.rules import Rules, number_key
from rag_engine.text.raised import RAISED

_LETTERED = re.compile(r"[A-ZÇĞİÖŞÜ][).]\s")
# Below the levels with a noun come headings without a number, then A), I., 1.
LOOSE_RANK, _LETTER_RANK, _NUMERAL_RANK, _NUMBER_RANK = 50, 60, 61, 62

Stack = list[tuple[int, str]]
_ABOVE = ("level", "loose", "numeral", "numbered")
_CITED = ("unit", "decision")
_FEWEST_NUMERALS = 3


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks of headings without a noun: by their size against that of the units' own, `size`.

    `by_size` gives the rank of the levels of a size, which a greater heading of that size shares.
    """

    level_ranks: Mapping[str, int]
    size: float | None
    by_size: Mapping[float | None, int]

    def is_greater(self, mark: Mark) -> bool:
        """Return whether the heading is printed larger than the units' own."""
        return self.size is not None and (mark.font_size or 0) > self.size + 0.5

    def rank(self, mark: Mark) -> int:
        """Return the rank of a heading, 0 the outermost."""
        if mark.kind == "level":
            return self.level_ranks.get(mark.kind_of_noun, 0)
        if mark.kind == "numeral":
            return _NUMERAL_RANK
        if mark.kind == "numbered":
            return _NUMBER_RANK + mark.number.count(".")
        if _LETTERED.match(mark.title):
            return _LETTER_RANK
        return self.by_size.get(mark.font_size, 0) if self.is_greater(mark) else LOOSE_RANK


def ranking_of(marks: Sequence[Mark], rules: Rules) -> Ranking:
    """Return the ranking of a text's headings."""
    sizes = [mark.font_size for mark in marks if mark.kind in ("unit", "decision") and mark.font_size]
    by_size = {
        mark.font_size: rules.level_ranks.get(mark.kind_of_noun, 0) for mark in reversed(marks) if mark.kind == "level"
    }
    return Ranking(rules.level_ranks, median(sizes) if sizes else None, by_size)


def put_on(stack: Stack, run: Sequence[Mark], ranking: Ranking) -> None:
    """Put headings on the stack of those above, each in place of those of its rank and below."""
    place = 0
    while place < len(run):
        mark = run[place]
        place += 1
        rank, heading = ranking.rank(mark), heading_of(mark)
        # "II." and "CAPÍTULO I" have their title on the next line.
        while place < len(run) and _is_continued(mark, run[place], ranking):
            heading = f"{heading} {run[place].title}"
            mark, place = replace(run[place], kind=mark.kind), place + 1
        while stack and stack[-1][0] >= rank:
            stack.pop()
        stack.append((rank, heading))


def heading_of(mark: Mark) -> str:
    """Return the heading as it is printed, label and title."""
    return " ".join(part for part in (mark.label, mark.title) if part)


def title_below(text: str, places: Sequence[HeadingLine], marks: Sequence[Mark], index: int) -> str:
    """Return the title on the line below a bare label; empty without one."""
    mark = marks[index]
    following = mark.place + 1
    if mark.title or mark.runs_on or following >= len(places):
        return ""
    taken = next((one for one in islice(marks, index + 1, None) if one.place >= following), None)
    if taken and taken.place == following and taken.kind != "loose":
        return ""
    place = places[following]
    return " ".join(text[place.start : place.end].split()) if is_title_line(text, place) else ""


def goes_with_heading(text: str, place: HeadingLine, mark: Mark) -> bool:
    """Return whether the line after a heading is a note on it in brackets, or its title."""
    line = text[place.start : place.end]
    bracketed = line.startswith("(") and line.endswith(")") and len(line) < LONGEST_HEADING and not line[1:2].isdigit()
    titles = (not mark.title or line.isupper()) and is_title_line(text, place)
    return mark.kind == "level" and (bracketed or titles)


def _is_continued(mark: Mark, below: Mark, ranking: Ranking) -> bool:
    """Return whether the heading below continues this one.

    It is the title of a bare level, or the next line of a heading in the same large size.
    """
    if below.kind != "loose" or below.place != mark.place + 1 or _LETTERED.match(below.title):
        return False
    bare = mark.kind in ("level", "numeral") and not mark.title
    return bare or (mark.kind == "level" and ranking.is_greater(mark) and mark.font_size == below.font_size)


@dataclass(frozen=True, slots=True)
class Section:
    """Characters [start, end) of the text that are cited together.

    `section` is empty for text without a label. `numbered` tells a unit with a number from a preamble, annex or title
    page. `inner` are the starts of headings inside it, with those headings. `label_start` is the start of its own
    label, after the headings above it. The reader leaves `end` and `inner` open.
    """

    start: int
    label_start: int
    section: str = ""
    act: str = ""
    headings: tuple[str, ...] = ()
    numbered: bool = False
    end: int = 0
    inner: tuple[tuple[int, str], ...] = ()


@dataclass(slots=True)
class _Scope:
    """The act that is being read: its name, the headings above its units, and the progress.

    `decision` is the heading of the decision around the text. `instrument` is true in an annexed text with units,
    `bare` if an "Annex" without a number brought it. `recital` is the last one's number, -1 outside.
    """

    act: str
    above: tuple[str, ...]
    decision: tuple[str, ...] = ()
    instrument: bool = False
    bare: bool = False
    begun: bool = False
    closed: bool = False
    recital: int = -1
    section: str = ""


def read_sections(
    text: str, places: Sequence[HeadingLine], marks: Sequence[Mark], rules: Rules, title: str, act: str
) -> tuple[list[Section], list[tuple[int, str]]]:
    """Return the sections that the marks open, and the other headings with their starts.

    `title` is the document's, the outermost heading, and `act` the name that its units belong to.
    """
    reader = _Reader(text, places, marks, rules, title, act)
    numerals = _numeral_units(places, marks)
    # Headings that a unit may still follow; lines that are titles of the one above.
    run: list[Mark] = []
    titles: set[int] = set()
    for index, mark in enumerate(marks):
        if mark.kind == "loose" and mark.place in titles:
            continue
        if mark.kind in _ABOVE and mark.place not in numerals:
            run.append(mark)
        elif reader.counts(mark, index):
            if title_below(text, places, marks, index) and mark.kind in ("unit", "annex", "decision"):
                titles.add(mark.place + 1)
            reader.open(mark, index, run, numeral=mark.place in numerals)
    reader.leave(run)
    return list(_without_note_marks(reader.sections)), reader.inner


class _Reader:
    """The state of reading the marks: sections, headings that open none, and headings above."""

    def __init__(
        self, text: str, places: Sequence[HeadingLine], marks: Sequence[Mark], rules: Rules, title: str, act: str
    ) -> None:
        self.sections: list[Section] = []
        self.inner: list[tuple[int, str]] = []
        self._text, self._places, self._marks, self._rules = text, places, marks, rules
        self._title, self._act = title, act
        self._base = (title,) if title else ()
        self._scope = _Scope(act, self._base)
        self._stack: Stack = []
        self._ranking = ranking_of(marks, rules)

    def counts(self, mark: Mark, index: int) -> bool:
        """Return whether a mark of its kind may be at this place."""
        scope = self._scope
        match mark.kind:
            case "recital":
                return scope.recital >= 0 and int(mark.number) == scope.recital + 1
            case "preamble":
                again = not mark.printed and scope.section == mark.label
                return not (scope.begun or scope.recital >= 0 or again)
            case "recitals" | "enacting":
                return not scope.begun
            case "closing":
                return scope.begun and not scope.closed and not _goes_on(islice(self._marks, index + 1, None))
            case "notes":
                return scope.begun
            case _:
                return True

    def open(self, mark: Mark, index: int, run: list[Mark], *, numeral: bool) -> None:
        """Open the section that the mark heads."""
        below = title_below(self._text, self._places, self._marks, index)
        heading = heading_of(mark)
        titled = f"{heading} {below}" if below else heading
        if numeral:
            start = self._above(mark, run)
            enclosing = f"{self._stack[-1][1]}, " if self._stack else ""
            self._add(start, f"{enclosing}{mark.number}", heading, numbered=True, label_start=mark.start)
            self._scope.begun = True
            return
        match mark.kind:
            case "unit":
                self._unit(mark, titled, run)
            case "decision":
                self.leave(run)
                self._stack.clear()
                self._scope = _Scope(self._act, self._base, (titled,), begun=True)
                self._add(mark.start, mark.label, titled, numbered=True)
            case "annex":
                self.leave(run)
                self._stack.clear()
                self._annex(mark, index, titled, below)
            case "preamble":
                self._add(self._above(mark, run), mark.label, mark.label)
            case "recitals":
                self._scope.recital = 0
            case "recital":
                self._scope.recital = int(mark.number)
                label = f"{self._rules.recital_label} {mark.number}"
                self._add(mark.start, label, label, numbered=True)
            case "enacting":
                self._scope.recital = -1
                self._add(mark.start, self._rules.preamble_label, self._rules.preamble_label)
            case "closing" | "notes":
                self.leave(run)
                self._stack.clear()
                self._scope.closed |= mark.kind == "closing"
                self._add(mark.start, mark.label or mark.title, *([heading] if heading else []))

    def _unit(self, mark: Mark, heading: str, run: list[Mark]) -> None:
        """Open a unit with the headings right above it."""
        start = self._above(mark, run)
        place = self._places[mark.place]
        # The text before a unit inside a line may be its own title.
        before = self._text[place.start : start].strip()
        if start == mark.start > place.start and self._rules.dashed and is_marginal_title(before):
            start = place.start
        level: Stack = []
        if not mark.kind_of_noun:
            # A numbered heading is a unit and is above its own subheadings: 4 above 4.1.
            put_on(self._stack, [replace(mark, kind="numbered")], self._ranking)
            level = [self._stack.pop()]
        self._add(start, mark.label, heading, numbered=True, label_start=mark.start)
        self._stack.extend(level)
        self._scope.begun, self._scope.closed, self._scope.recital = True, False, -1
        # A heading without a number or a greater size was this unit's own.
        self._stack = [level for level in self._stack if level[0] != LOOSE_RANK]

    def _annex(self, mark: Mark, index: int, heading: str, title: str) -> None:
        """Open an annex.

        An annex with units is an act, named by its title. A numbered annex after an instrument that a bare "Annex"
        brought belongs to that instrument.
        """
        scope = self._scope
        if scope.instrument and scope.bare and mark.number:
            self._scope = _Scope(scope.act, scope.above, scope.decision, instrument=True, bare=True, begun=True)
            self._add(mark.start, mark.label, heading)
        elif _goes_on(islice(self._marks, index + 1, None), before_notes=False):
            above = (*self._base, *scope.decision, heading)
            self._scope = _Scope(title or heading, above, scope.decision, instrument=True, bare=not mark.number)
            self._add(mark.start, mark.label)
        else:
            self._scope = _Scope(self._act, (*self._base, *scope.decision), scope.decision, begun=True)
            self._add(mark.start, mark.label, heading)

    def _add(self, start: int, section: str, *own: str, numbered: bool = False, label_start: int | None = None) -> None:
        headings = (*self._scope.above, *(heading for _, heading in self._stack), *own)
        self._scope.section = section
        label = start if label_start is None else label_start
        self.sections.append(Section(start, label, section, self._scope.act, headings, numbered))

    def _above(self, mark: Mark, run: list[Mark]) -> int:
        """Return the start of the headings right above a mark, else the mark's own; empty the run.

        These headings belong to the mark.
        """
        above: list[Mark] = []
        expected = mark.place
        while run and all(
            goes_with_heading(self._text, self._places[between], run[-1])
            for between in range(run[-1].place + 1, expected)
        ):
            expected = run[-1].place
            above.insert(0, run.pop())
        self.leave(run)
        put_on(self._stack, above, self._ranking)
        return above[0].start if above else mark.start

    def leave(self, run: list[Mark]) -> None:
        """Close headings that no unit follows.

        A level or a greater heading opens a section; others stay in theirs.
        """
        scope = self._scope
        for mark in run:
            greater = mark.kind == "loose" and self._ranking.is_greater(mark)
            of_document = greater and mark.title.lower() in self._title.lower()
            if (
                (greater or mark.kind == "level")
                and scope.begun
                and not (of_document or scope.closed or scope.decision)
            ):
                put_on(self._stack, [mark], self._ranking)
                heading = self._stack.pop()[1]
                self._add(mark.start, mark.label or heading, heading)
            else:
                self.inner.append((mark.start, heading_of(mark)))
        run.clear()


def _without_note_marks(sections: Iterable[Section]) -> Iterator[Section]:
    """Yield the sections: Article 5¹ is an inserted article after an Article 5, and else one with a note."""
    read: set[tuple[str, str]] = set()
    for section in sections:
        plain = section.section.rstrip(RAISED)
        known = plain == section.section or (section.act, plain) in read
        read.add((section.act, plain))
        yield section if known else replace(section, section=plain)


def _goes_on(following: Iterable[Mark], *, before_notes: bool = True) -> bool:
    """Return whether units come before the next annex or decision, or the notes."""
    for mark in following:
        if mark.kind in ("annex", "decision") or (before_notes and mark.kind == "notes"):
            return False
        if mark.kind == "unit":
            return True
    return False


def _numeral_units(places: Sequence[HeadingLine], marks: Sequence[Mark]) -> set[int]:
    """Return the places of bare numerals that number provisions.

    They are in order from the first, and text follows them, no heading.
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
    return {mark.place for run in runs if len(run) >= _FEWEST_NUMERALS for mark in run}
