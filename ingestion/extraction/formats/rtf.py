"""RTF by striprtf, which knows the code pages.

Headings, tables and footnotes are marked for it beforehand.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from operator import or_
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph, unread_comments
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
    Look.NUMBER: ("\ue00d", "\ue00e"),
}
# Where a note stands, or a text box.
_NOTED = "\ue00c"
_UNSEEN = str.maketrans({_NOTED: "", _HEADING: "", _CELL: " ", _ROW_END: " ", _ROW_START: " "})
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
    "listtext": Look.NUMBER,
    "pntext": Look.NUMBER,
}
_CONTROL = re.compile(r"\\([a-z]{1,32})(-?\d{1,9})? ?|\\[^a-z]|[{}]")
_CODE_PAGE = re.compile(rb"\\ansicpg(\d{1,5})")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_NOTE = re.compile(r"\{\s*\\(?:\*\\)?footnote(?![a-z])")
_ASIDE = re.compile(r"\{\s*\\(?:\*\\)?(?:footnote|shpgrp|shp)(?![a-z])")
_BOX = re.compile(r"\{\s*\\shptxt(?![a-z])")
_EDGES = [re.compile(rf"\{{\s*\\{kind}[lrf]?(?![a-z])") for kind in ("header", "footer")]
_COMMENT = re.compile(r"\{\s*\\\*\\annotation(?![a-z])")
# What an embedded object shows.
_OBJECT, _RESULT = (re.compile(rf"\{{\s*\\{name}(?![a-z])") for name in ("object", "result"))
_FIELD, _ENTRY = re.compile(r"\{\s*\\field(?![a-z])"), re.compile(r"\{\s*\\\*\\ffl(?![a-z])")
_FORM_KIND, _FORM_STATE = re.compile(r"\\fftype([12])(?!\d)"), re.compile(r"\\ff(def)?res(\d{1,3})")
_TITLE = re.compile(r"\{\s*\\title(?![a-z])")
_FONTS = re.compile(r"\{\s*\\fonttbl(?![a-z])")
# How striprtf fails on what is damaged.
RTF_ERRORS = (LookupError, ValueError, TypeError, OverflowError)


@dataclass(frozen=True, slots=True)
class _Aside:
    """The text of a note or text box; the number of a note is "" where its mark is typed."""

    text: str
    number: str = ""
    is_box: bool = False


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

    def plain(group: str, start: re.Pattern[str]) -> str:
        return _plain(f"{prolog}{fonts}{_prepared(start.sub('{', group, count=1))}}}")

    text, asides = _without_asides(_with_results(source))
    read = (replace(one, text=plain(one.text, _BOX if one.is_box else _NOTE)) for one in asides)
    blocks = list(_blocks(_plain(_prepared(text)), read))
    edges = [[plain(group, start) for group in _groups(source, start)] for start in _EDGES]
    headers, footers = (list(_edge_blocks(texts)) for texts in edges)
    title = next((plain(group, _TITLE) for group in _groups(source, _TITLE)), "")
    comments = unread_comments(len(_COMMENT.findall(source)))
    return Draft([*headers, *blocks, *footers], title, warnings=comments)


def _edge_blocks(texts: Iterable[str]) -> Iterator[DraftBlock]:
    """Yield headers or footers, each text once."""
    seen: set[str] = set()
    for text in texts:
        made = paragraph(list(_runs(text.replace("\n", " "), set())), kind="note")
        words = one_line(made.lines[0].text)
        if words not in seen and any(map(str.isalpha, words)):
            seen.add(words)
            yield made


def _with_results(source: str) -> str:
    """Return the source with what embedded objects and fields of forms show in their places."""
    if "\\formfield" in source:
        source = _replaced(source, _FIELD, _filled_in)
    return _replaced(source, _OBJECT, lambda group: _RESULT.sub("{", next(_groups(group, _RESULT), "{}"), count=1))


def _replaced(source: str, start: re.Pattern[str], shown: Callable[[str], str]) -> str:
    """Return the source with another text for each group that begins as the pattern says."""
    parts, beyond = [], 0
    for group in _groups(source, start):
        at = source.index(group, beyond)
        parts += [source[beyond:at], shown(group)]
        beyond = at + len(group)
    return "".join([*parts, source[beyond:]])


def _filled_in(field: str) -> str:
    """Return what a field of a form shows, a ticked box or the chosen entry; another field as it is."""
    kind = _FORM_KIND.search(field)
    if kind is None or field.count("\\fldinst") > 1:
        return field
    stated = dict(_FORM_STATE.findall(field))
    # Of 25 is none that was filled in.
    state = int(stated.get("", "25")) if stated.get("", "25") != "25" else int(stated.get("def", "0"))
    if kind[1] == "1":
        return "{[x] }" if state else "{[ ] }"
    entries = [_ENTRY.sub("{", entry, count=1) for entry in _groups(field, _ENTRY)]
    return entries[state] if state < len(entries) else ""


def _without_asides(source: str) -> tuple[str, list[_Aside]]:
    """Return the source with a mark in the place of each note and text box, and these."""
    counts: Counter[bool] = Counter()
    asides: list[_Aside] = []
    parts, beyond = [], 0
    for note in _groups(source, _ASIDE):
        if _NOTE.match(note) is None:
            boxes = [_Aside(box, is_box=True) for box in _groups(note, _BOX)]
            start = source.index(note, beyond)
            parts += [source[beyond:start], "{}", _NOTED * len(boxes)]
            beyond = start + len(note)
            asides += boxes
            continue
        ending, number = "\\ftnalt" in note, ""
        if "\\chftn" in note:
            counts[ending] += 1
            number = roman(counts[ending]) if ending else str(counts[ending])
        start = source.index(note, beyond)
        begin, end = _PAIRS[Look.RAISED]
        shown = f"{begin}{number}{end}" if number.isdecimal() else standing([note_mark(number)]) if number else ""
        parts += [source[beyond:start], "{}", shown, _NOTED]
        beyond = start + len(note)
        asides.append(_Aside(note, number))
    return "".join([*parts, source[beyond:]]), asides


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
            on &= Look.NUMBER
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
    for piece in re.split("([\ue004-\ue00b\ue00d\ue00e])", text):
        if piece in _PAIR_MARKS:
            look, begins = _PAIR_MARKS[piece]
            (on.add if begins else on.discard)(look)
        else:
            yield Run(piece.translate(_UNSEEN), reduce(or_, on, Look.PLAIN))


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


def _blocks(plain: str, asides: Iterator[_Aside]) -> Iterator[DraftBlock]:
    """Paragraphs and tables of the text, each note and text box after the one with its mark."""
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
                cells[-1] += _runs(" " if piece == "\n" else piece, on)
        else:
            kind: BlockKind = "heading" if _HEADING in piece else "text"
            made = paragraph(list(_runs(piece, on)), kind=kind)
            if rows and one_line(made.lines[0].text):
                yield table_block(table_of(rows))
                yield from _aside_blocks(islice(asides, marked))
                rows, marked = [], 0
            yield made
            yield from _aside_blocks(islice(asides, piece.count(_NOTED)))
            continue
        marked += piece.count(_NOTED)
    if rows:
        yield table_block(table_of(rows))
    yield from _aside_blocks(asides)


def _aside_blocks(asides: Iterable[_Aside]) -> Iterator[DraftBlock]:
    for aside in asides:
        if aside.is_box:
            yield from _blocks(aside.text, iter(()))
            continue
        mark = [note_mark(aside.number), Run(" ")] if aside.number else []
        yield paragraph([*mark, *_runs(aside.text, set())], kind="note")
