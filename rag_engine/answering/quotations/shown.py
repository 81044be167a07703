"""Quotations as they are shown: passages line by line, rows of tables as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_engine.answering.citations import words
from rag_engine.text.neutralise import one_line
from rag_engine.text.sentences import Span, stripped
from rag_engine.types.answer import Fit
from rag_engine.types.passage import Source

_OMITTED = " […] "
_CELLS = " | "
_JOINT = " – "
# "**" in a document is no mark of ours.
_STARS = re.compile(r"\*(?=\*)|(?<=\*)\*")
_BOLD = "**"


@dataclass(frozen=True, slots=True)
class Quotation:
    """Characters [start, end) of a source's text, as they are quoted.

    `answer` is the part of them that a reader takes for the answer, None if it was not asked or found none. `lead` are
    the opening words of an item of a long list, `rows` the rows of a table, `asked` the words of the question. `chance`
    is that it answers, None if no reader read it.
    """

    source: Source
    start: int
    end: int
    answer: Span | None = None
    lead: Span | None = None
    rows: tuple[Span, ...] = ()
    asked: frozenset[str] = frozenset()
    fit: Fit = "related"
    chance: float | None = None

    @property
    def text(self) -> str:
        """The quotation on one line."""
        return one_line(self.source.text[self.start : self.end], limit=None).strip()

    @property
    def markdown(self) -> str:
        """The quotation as it is shown."""
        if self.rows:
            return table_markdown(self.source.text, self.rows, self.answer, self.asked)
        return passage_markdown(self.source.text, (self.start, self.end), self.answer, self.lead)


def passage_markdown(text: str, span: Span, answer: Span | None, lead: Span | None = None) -> str:
    """Return the characters of a span, the words that answer in bold.

    A `lead`, the opening words of an item, comes first. Each paragraph is a line.
    """
    said = _lines(text, span, answer)
    if lead:
        said = [f"{' '.join(_lines(text, lead, None))}{_OMITTED}{said[0]}", *said[1:]]
    return "\n".join(said)


def table_markdown(text: str, rows: Sequence[Span], answer: Span | None, asked: frozenset[str] = frozenset()) -> str:
    """Return rows of a table under the names of their columns, the cell that answers in bold.

    A row says "name: value; name: value", with the names of the line above its table. Of one row the cells are bold
    whose columns' names say most of the words that are `asked` for, else the answer.
    """
    names = _names_above(text, rows[0][0])
    plain = [list(_parts(" ".join(_lines(text, row, None)), names)) for row in rows]
    marked = _asked_columns([name for name, _ in plain[0]], asked) if len(rows) == 1 else frozenset()
    parted = plain if marked else [list(_parts(" ".join(_lines(text, row, answer)), names)) for row in rows]
    columns = list(dict.fromkeys(name for parts in parted for name, _ in parts))
    head = [[_whole(name.strip()) for name in columns]]
    body = [[_whole(dict(parts).get(name, "")) for name in columns] for parts in parted]
    if marked:
        cells = zip(columns, body[0], strict=True)
        body[0] = [f"{_BOLD}{cell}{_BOLD}" if name in marked and cell else cell for name, cell in cells]
    lines = [f"| {_CELLS.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (*head, *body)]
    return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])


def _asked_columns(columns: Sequence[str], asked: frozenset[str]) -> frozenset[str]:
    """Return the columns whose names say most of what is asked for; none if all say as much."""
    said = {name: len(words(name) & asked) for name in columns if name.strip()}
    best = max(said.values(), default=0)
    found = frozenset(name for name, many in said.items() if many == best)
    return found if best and len(found) < len(said) else frozenset()


def _whole(cell: str) -> str:
    """Return a cell without the end of an answer that goes on in another."""
    return cell if cell.count(_BOLD) != 1 else cell.replace(_BOLD, "")


def _lines(text: str, span: Span, answer: Span | None) -> list[str]:
    """Return the paragraphs of a span, each in one line, with the answer in bold if it is within one."""
    found = []
    for match in re.finditer(r"[^\n]+(?:\n(?!\n)[^\n]+)*", text[slice(*span)]):
        start, end = span[0] + match.start(), span[0] + match.end()
        said = text[start:end]
        if answer and start <= answer[0] and answer[1] <= end:
            first, beyond = _bare(text, *answer)
            parts = text[start:first], text[first:beyond], text[beyond:end]
            said = _BOLD.join(map(_escaped, parts))
        else:
            said = _escaped(said)
        if line := one_line(said, limit=None).strip():
            found.append(line)
    return found


def _bare(text: str, start: int, end: int) -> Span:
    """Return a span without the punctuation at its ends; a bracket stays beside its pair."""
    start, end = stripped(text, start, end)
    while start < end - 1 and (text[end - 1] in ".,;:" or (text[end - 1] in ")]" and text[start:end].count("(") < 1)):
        end -= 1
    while start < end - 1 and text[start] in "([" and not any(sign in ")]" for sign in text[start:end]):
        start += 1
    return start, end


def _escaped(text: str) -> str:
    return _STARS.sub(r"\\*", text)


def _names_above(text: str, start: int) -> frozenset[str]:
    """Return the cells of the lines above the rows of a table."""
    names: set[str] = set()
    for line in filter(None, reversed(text[:start].splitlines())):
        if _CELLS in line and ": " not in line:
            names.update(" ".join(cell.split()) for cell in line.split(_CELLS))
        elif names:
            break
    return frozenset(names)


def _parts(row: str, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the cells of a row with the names of their columns; one without a name has blanks."""
    if _CELLS in row:
        yield from ((" " * place, cell) for place, cell in enumerate(row.split(_CELLS), 1))
        return
    parts: list[list[str]] = []
    for part in row.split("; "):
        name, mark, value = part.partition(": ")
        if mark or not parts:
            parts.append([name, value] if mark else ["", name])
        else:
            # A semicolon in a cell.
            parts[-1][1] += f"; {part}"
    label, parts[0][0] = _without_label(parts[0][0], [name for name, _ in parts[1:]], names)
    yield from [(" ", label)] if label else ()
    yield from ((name, value) for name, value in parts)


def _without_label(first: str, others: Sequence[str], names: frozenset[str]) -> tuple[str, str]:
    """Return the label of a row, which has no name, and the name of its first column: "Mercury – to air"."""
    pieces = first.split(_JOINT)
    splits = [(_JOINT.join(pieces[:at]), _JOINT.join(pieces[at:])) for at in range(len(pieces))]
    group = others[0].rpartition(_JOINT)[0] if others else ""
    of_group = (split for split in splits if group and split[1].rpartition(_JOINT)[0] == group)
    named = (split for split in splits if split[1] in names)
    return next(of_group, None) or next(named, None) or splits[min(1, len(splits) - 1)]
