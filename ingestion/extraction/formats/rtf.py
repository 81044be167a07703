"""RTF by striprtf, which knows the code pages.

Headings, tables and footnotes are marked for it beforehand.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import islice
from operator import or_
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.layout.numerals import roman
from ingestion.extraction.runs import Look, Run, left_out, note_mark, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from rag_engine.types.document import BlockKind

# Private characters for what striprtf would drop or run together. The empty group before each ends the run of
# characters that stand for programs without Unicode, or the mark would be skipped as one of them.
_HEADING, _CELL, _ROW_END, _ROW_START = "\ue000", "\ue001", "\ue002", "\ue003"
_MARKS = {"nestcell": _CELL, "cell": _CELL, "row": _ROW_END, "trowd": _ROW_START}
_MARKED = re.compile(r"(?<!\\)\\(?:(nestcell|cell|row|trowd)(?![a-z0-9])|outlinelevel[0-8](?![0-9])) ?")
# Begin and end of each look.
_PAIRS = {
    Look.STRUCK: ("\ue004", "\ue005"),
    Look.HIDDEN: ("\ue006", "\ue007"),
    Look.RAISED: ("\ue008", "\ue009"),
    Look.LOWERED: ("\ue00a", "\ue00b"),
}
# Where a note stands.
_NOTED = "\ue00c"
_PAIR_MARKS = {mark: (look, mark == pair[0]) for look, pair in _PAIRS.items() for mark in pair}
_SHIFTS = Look.RAISED | Look.LOWERED
_SWITCHES = {
    "strike": Look.STRUCK,
    "striked": Look.STRUCK,
    "v": Look.HIDDEN,
    "deleted": Look.STRUCK,
    "super": Look.RAISED,
    "up": Look.RAISED,
    "sub": Look.LOWERED,
    "dn": Look.LOWERED,
}
_CONTROL = re.compile(r"\\([a-z]{1,32})(-?\d{1,9})? ?|\\[^a-z]|[{}]")
_CODE_PAGE = re.compile(rb"\\ansicpg(\d{1,5})")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_NOTE = re.compile(r"\{\s*\\(?:\*\\)?footnote(?![a-z])")
_TITLE = re.compile(r"\{\s*\\title(?![a-z])")
_FONTS = re.compile(r"\{\s*\\fonttbl(?![a-z])")
# How striprtf fails on what is damaged.
RTF_ERRORS = (LookupError, ValueError, TypeError, OverflowError)


def extract_rtf(path: Path) -> Draft:
    """Return the blocks of an RTF document, each note after its paragraph, and its declared title."""
    try:
        return rtf_draft(path.read_bytes())
    except RTF_ERRORS as error:
        raise damaged(path, error) from error


def rtf_draft(raw: bytes) -> Draft:
    """Return the blocks and the title of RTF given as bytes; one of `RTF_ERRORS` if it is damaged."""
    # The source: seven-bit by the standard, else in the code page that it declares.
    found = _CODE_PAGE.search(raw[:4096])
    name = f"cp{int(found[1])}" if found else "cp1252"
    try:
        codecs.lookup(name)
    except LookupError:
        name = "cp1252"
    source = raw.decode(name, "replace")
    fonts = next(_groups(source, _FONTS), "")
    prolog = source[: source.find("{", 1)] if source.find("{", 1) > 0 else "{\\rtf1"
    text, groups = _without_notes(source)
    plain = (f"{prolog}{fonts}{_with_pairs(_NOTE.sub('{', note, count=1))}}}" for _, note in groups)
    notes = zip((number for number, _ in groups), map(_plain, plain), strict=True)
    blocks = list(_blocks(_plain(_prepared(text)), notes))
    title = next(
        (_plain(f"{prolog}{fonts}{_TITLE.sub('{', group, count=1)}}}") for group in _groups(source, _TITLE)), ""
    )
    return Draft(blocks, title)


def _without_notes(source: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the source with a mark in the place of each note, and the notes with their numbers.

    The number is "" where the mark is typed before the note.
    """
    counts: Counter[bool] = Counter()
    notes, parts, beyond = [], [], 0
    for note in _groups(source, _NOTE):
        ending, number = "\\ftnalt" in note, ""
        if "\\chftn" in note:
            counts[ending] += 1
            number = roman(counts[ending]) if ending else str(counts[ending])
        start = source.index(note, beyond)
        begin, end = _PAIRS[Look.RAISED]
        shown = f"{begin}{number}{end}" if number.isdecimal() else standing([note_mark(number)]) if number else ""
        parts += [source[beyond:start], "{}", shown, _NOTED]
        beyond = start + len(note)
        notes.append((number, note))
    return "".join([*parts, source[beyond:]]), notes


def _prepared(source: str) -> str:
    # striprtf looks for web addresses with a pattern that takes the square of a line's length; they are not on the
    # page anyway. Line ends mean nothing in RTF.
    source = source.replace("HYPERLINK", "LINK").replace("{\\field", "\n{\\field")
    return _MARKED.sub(lambda found: "{}" + (_MARKS[found[1]] if found[1] else _HEADING), _with_pairs(source))


def _with_pairs(source: str) -> str:
    """Return the source with marks around what does not look plain.

    The end of a group ends its own switches.
    """
    if not any(f"\\{switch}" in source for switch in _SWITCHES):
        return source
    parts: list[str] = []
    on = Look.PLAIN
    groups: list[Look] = []
    beyond = 0
    for found in _CONTROL.finditer(source):
        before, (word, number) = on, found.groups()
        if found[0] == "{":
            groups.append(on)
        elif found[0] == "}":
            on = groups.pop() if groups else on
        elif word == "plain":
            on = Look.PLAIN
        elif word == "nosupersub":
            on &= ~_SHIFTS
        elif word in _SWITCHES:
            on = on & ~_SWITCHES[word] if number == "0" else on | _SWITCHES[word]
        if on != before:
            marks = [_PAIRS[look][look not in on] for look in on ^ before]
            # Before a closing brace, so that the mark belongs to the group whose text it ends.
            at = found.start() if found[0] == "}" else found.end()
            parts += [source[beyond:at], "{}", *marks]
            beyond = at
    return "".join([*parts, source[beyond:]])


def _runs(text: str, on: set[Look]) -> Iterator[Run]:
    """Yield the runs of a text with marks; `on` has what is switched on, before it and then behind it."""
    for piece in re.split("([\ue004-\ue00b])", text):
        if piece in _PAIR_MARKS:
            look, begins = _PAIR_MARKS[piece]
            (on.add if begins else on.discard)(look)
        else:
            yield Run(piece.replace(_NOTED, ""), reduce(or_, on, Look.PLAIN))


def _plain(source: str) -> str:
    plain: str = rtf_to_text(source, errors="replace")
    # Characters beyond the first 65,536 come as two halves.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _groups(source: str, start: re.Pattern[str]) -> Iterator[str]:
    """Yield the groups that begin as the pattern says, braces and all.

    One that is never closed is left out.
    """
    beyond = 0
    while (found := start.search(source, beyond)) is not None:
        depth = 0
        for brace in _BRACE.finditer(source, found.start()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                yield source[found.start() : brace.end()]
                beyond = brace.end()
                break
        else:
            return


def _blocks(plain: str, notes: Iterator[tuple[str, str]]) -> Iterator[DraftBlock]:
    """Paragraphs and tables of the text with its marks, each note after the one with its mark."""
    marked = 0
    rows: list[list[GridCell]] = []
    cells: list[list[Run]] | None = None
    on: set[Look] = set()
    for piece in re.split(f"([\n{_CELL}{_ROW_END}{_ROW_START}])", plain):
        if piece == _ROW_START:
            cells = cells or []
        elif piece == _ROW_END:
            rows.append([GridCell(one_line(standing(cell)), left_out=left_out(cell)) for cell in cells or []])
            cells = None
        elif cells is not None:
            if piece == _CELL:
                cells.append([])
            else:
                cells = cells or [[]]
                cells[-1] += _runs(" " if piece == "\n" else piece.replace(_HEADING, ""), on)
        else:
            kind: BlockKind = "heading" if _HEADING in piece else "text"
            made = paragraph(list(_runs(piece.replace(_HEADING, "").replace(_CELL, " "), on)), kind=kind)
            if rows and one_line(made.lines[0].text):
                yield table_block(table_of(rows))
                yield from _note_blocks(islice(notes, marked))
                rows, marked = [], 0
            yield made
            yield from _note_blocks(islice(notes, piece.count(_NOTED)))
            continue
        marked += piece.count(_NOTED)
    if rows:
        yield table_block(table_of(rows))
    yield from _note_blocks(notes)


def _note_blocks(notes: Iterable[tuple[str, str]]) -> Iterator[DraftBlock]:
    for number, text in notes:
        mark = [note_mark(number), Run(" ")] if number else []
        yield paragraph([*mark, *_runs(text, set())], kind="note")
