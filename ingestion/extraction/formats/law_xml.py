"""Law as XML, read by the roles that a scheme gives its elements (law_schemes.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from html.entities import html5
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.law_force import Force
from ingestion.extraction.formats.law_normattiva import write_out
from ingestion.extraction.formats.law_schemes import Scheme, local_name, noun_of, scheme_of, unknown_law, words_of
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import Element, safe_parser, whole_number
from ingestion.extraction.formulas import formula
from ingestion.extraction.layout.numerals import letters, roman
from ingestion.extraction.runs import Look, Run, left_out, note_mark, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from rag_engine.messages import Message
from rag_engine.types.document import BlockKind

_WORD = re.compile(r"§|[^\W\d_]{3}")
# What goes on behind a list or a quotation that is in the middle of a sentence.
_STOPS = re.compile(r"\s{0,99}[.,;:)\]”’»]{1,8}\s{0,99}")
# White space that only lays out the source: a line of its own before a stop or after a bracket.
_LAID_OUT = re.compile(r"(?<=[(\[])\s*\n\s*$|^\s*\n\s*(?=[)\].,;:])")
_LOOKS = {"struck": Look.STRUCK, "raised": Look.RAISED, "lowered": Look.LOWERED}
# What editors say has no mark of its own.
_MARK_OF_REMARK = note_mark("*")
_QUOTES = {"double": "“”", "single": "‘’", "none": ""}
_MARKED_BY = ("href", "Ref", "idref", "ID", "NOTE.REF")
_NAMED_BY = ("eId", "id", "ID", "NOTE.ID", "GUID")
_COUNTED: dict[str, Callable[[int], str]] = {
    "alpha": letters,
    "a": letters,
    "alphaupper": lambda number: letters(number).upper(),
    "A": lambda number: letters(number).upper(),
    "roman": roman,
    "i": roman,
    "romanupper": lambda number: roman(number).upper(),
    "I": lambda number: roman(number).upper(),
}
_DECORATIONS = {"parens": "({})", "parenRight": "{})", "brackets": "[{}]", "none": "{}"}


class Around(NamedTuple):
    """What holds for the words of an element: their look, their kind, in a quotation, in a paragraph."""

    look: Look = Look.PLAIN
    kind: BlockKind = "text"
    quoted: bool = False
    inside: bool = False


@dataclass(slots=True)
class _Page:
    """Blocks that are read, and the paragraph that is being read: its label, its runs, the notes of its marks."""

    blocks: list[DraftBlock] = field(default_factory=list)
    label: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    kind: BlockKind = "text"
    notes: list[DraftBlock] = field(default_factory=list)


def extract_law(path: Path, today: date | None = None) -> Draft:
    """Return the blocks of a law as it is in force today, and its title.

    Its articles and chapters are headings, and what editors remark are notes. Wording that is not in force is left out
    and counted. Refusal for other XML.
    """
    scheme = scheme_of(path)
    if scheme is None:
        raise unknown_law(path)
    try:
        root = etree.parse(str(path), safe_parser()).getroot()
    except etree.XMLSyntaxError as error:
        raise damaged(path, f"it is not valid XML ({error.msg})") from error
    write_out(root)
    reader = _Reader(scheme, root, today or date.today())
    return Draft(reader.read_all(), reader.title, warnings=tuple(reader.warnings()))


class _Reader:
    """The state of reading a document from its first element to its last."""

    def __init__(self, scheme: Scheme, root: Element, today: date) -> None:
        self._scheme, self._root = scheme, root
        self._force = Force(scheme, root, today)
        self._language = scheme.language(root)
        self.title = scheme.title(root)
        self._page = _Page()
        # The title of a group, to be that of the first unit inside.
        self._ahead: list[Run] = []
        kept = [element for element in root.iter(etree.Element) if scheme.role(element) == "kept"]
        self._notes = {_name_of(element) or str(number): element for number, element in enumerate(kept)}
        self._based = [(element.get("placementBase", "").lstrip("#"), name) for name, element in self._notes.items()]
        # The marks of the notes that are read, by their names.
        self._marks: dict[str, str] = {}
        self._count = 0
        self._entities: set[str] = set()

    def read_all(self) -> list[DraftBlock]:
        """Return the blocks of the document, with its title first where that is only in its metadata."""
        if self.title and not self._scheme.table.get("printed"):
            self._page.blocks.append(paragraph(self.title, kind="heading"))
        self._read(self._root, Around())
        self._finish()
        for name in self._notes:
            self._place(name)
        return [*self._page.blocks, *self._page.notes]

    def warnings(self) -> Iterator[Message]:
        """Yield what was not read."""
        if self._entities:
            names = ", ".join(sorted(self._entities)[:20])
            yield Message("Entities whose text was not read: {names}.", names=names)
        others = self._root.iterfind(".//{*}attachment/{*}documentRef")
        missing = [one.get("href", "").rpartition("/")[2] for one in others]
        if missing:
            yield Message("Attachments that are files of their own, not read: {names}.", names=", ".join(missing[:20]))

    def _read(self, element: Element, around: Around) -> None:
        """Read an element by its role; the text behind it belongs to the element around it."""
        if not isinstance(element.tag, str):
            self._entity(element, around)
            return
        role = self._scheme.role(element) or self._usual_role(element, around)
        if role != "unit" and self._force.is_out(element, role):
            around = around._replace(look=around.look | Look.STRUCK)
        around = around._replace(look=around.look | _LOOKS.get(role, Look.PLAIN))
        self._place(element.get("CommentaryRef", ""), apart=False)
        getattr(self, f"_read_{role}")(element, around)
        name = element.get("eId")
        for _, note in (one for one in self._based if name and one[0] == name):
            self._place(note)

    def _usual_role(self, element: Element, around: Around) -> str:
        """Return the role of an element that the scheme does not tell, by what it is among."""
        if local_name(element) == "math":
            return "formula"
        parent = element.getparent()
        mixed = parent is not None and ((parent.text or "").strip() or any((one.tail or "").strip() for one in parent))
        if around.inside:
            return "inline" if mixed else "spaced"
        return "inline" if mixed else "group"

    def _children(self, element: Element, around: Around, passed: Sequence[Element] = ()) -> None:
        self._text(element.text, around)
        for child in element:
            if child not in passed:
                self._read(child, around)
            self._text(child.tail, around)

    def _text(self, text: str | None, around: Around) -> None:
        page = self._page
        if not text or (not page.runs and not text.strip()):
            return
        if not page.runs:
            if _STOPS.fullmatch(text) and not page.label and self._go_on(text):
                return
            page.kind = around.kind
        page.runs.append(Run(_LAID_OUT.sub("", text), around.look))

    def _go_on(self, text: str) -> bool:
        """Write a stop or a closing mark behind the last words, and return whether there are any."""
        page = self._page
        if page.runs:
            page.runs.append(Run(text))
            return True
        last = page.blocks[-1] if page.blocks else None
        if last is None or last.grid is not None or last.kind == "heading" or not last.lines[-1].text.strip():
            return False
        line = replace(last.lines[-1], text=f"{last.lines[-1].text.rstrip()}{text.strip()}")
        page.blocks[-1] = replace(last, lines=(*last.lines[:-1], line))
        return True

    def _finish(self) -> None:
        """End the paragraph that is being read."""
        page = self._page
        runs, page.runs = page.runs, []
        if any(run.text.strip() for run in runs):
            runs, page.label = [*page.label, *runs], []
            page.blocks.append(paragraph(runs, kind=page.kind))
            page.blocks += page.notes
            page.notes = []

    def _finish_label(self, kind: BlockKind) -> None:
        """Write a label that has no words behind it as a paragraph."""
        label, self._page.label = self._page.label, []
        if any(run.text.strip() for run in label):
            self._page.blocks.append(paragraph(label, kind=kind))

    def _apart(self, element: Element, around: Around, passed: Sequence[Element] = ()) -> list[DraftBlock]:
        """Return the blocks of an element that is read by itself."""
        outer, self._page = self._page, _Page()
        self._children(element, around, passed)
        self._finish()
        self._finish_label(around.kind)
        inner, self._page = self._page, outer
        return [*inner.blocks, *inner.notes]

    def _flat(self, element: Element, around: Around) -> list[Run]:
        """Return the words of an element as runs of one line; its notes follow the paragraph around it."""
        runs: list[Run] = []
        for block in self._apart(element, around._replace(kind="text", quoted=True, inside=True)):
            if block.kind == "note":
                self._page.notes.append(block)
            else:
                runs += [Run(" "), *(Run(line.text) for line in block.lines), *block.left_out]
        return runs[1:]

    def _heads(self, element: Element) -> list[Element]:
        """Return the numbers and titles of a unit, in their order."""
        paths = self._scheme.table.get("heads", {}).get(local_name(element))
        if paths is not None:
            return [found for path in paths if (found := element.find(path)) is not None]
        return [child for child in element if self._scheme.role(child) == "head"]

    def _head_runs(self, head: Element, around: Around) -> list[Run]:
        """Return the words of a head with the space behind them; a dash needs none."""
        runs = self._flat(head, around)
        return runs if not runs or runs[-1].text.rstrip().endswith("—") else [*runs, Run(" ")]

    # One method a role.

    def _read_left(self, _element: Element, _around: Around) -> None:
        """Leave out metadata, tables of contents and pictures."""

    def _read_inline(self, element: Element, around: Around) -> None:
        self._children(element, around)

    def _read_spaced(self, element: Element, around: Around) -> None:
        """Read one of several elements without text between them, such as a number and a name."""
        self._text(" ", around)
        self._children(element, around)
        self._text(" ", around)

    def _read_group(self, element: Element, around: Around) -> None:
        self._finish()
        self._children(element, around._replace(inside=False))
        self._finish()

    _read_struck = _read_raised = _read_lowered = _read_inline
    _read_version = _read_group

    def _read_block(self, element: Element, around: Around) -> None:
        self._finish()
        titled = around.kind == "text" and element.find(".//{*}docTitle") is not None
        self._children(element, around._replace(inside=True, kind="heading" if titled else around.kind))
        self._finish()
        if not self._page.label:
            self._page.blocks += self._page.notes
            self._page.notes = []

    def _read_heading(self, element: Element, around: Around) -> None:
        self._finish()
        self._write_heading(self._flat(element, around), around)

    def _write_heading(self, runs: list[Run], around: Around) -> None:
        """Write a heading; in a quotation it is text, for it heads nothing here."""
        self._page.runs = runs
        self._page.kind = "heading" if around.kind == "text" and not around.quoted else around.kind
        self._finish()

    def _read_head(self, element: Element, around: Around) -> None:
        """Read a number or a title that heads no unit."""
        self._read_heading(element, around)

    def _read_titled(self, element: Element, around: Around) -> None:
        self._finish()
        title = element.find("{*}Title")
        self._ahead = [] if title is None else self._flat(title, around)
        self._children(element, around, [] if title is None else [title])
        self._finish()

    def _read_unit(self, element: Element, around: Around) -> None:
        self._finish()
        heads = self._heads(element)
        struck = around._replace(look=around.look | Look.STRUCK)
        out = self._force.is_out(element, "unit")
        if out and self._force.is_replaced(element):
            around = struck
        runs = [run for head in heads for run in self._head_runs(head, around)]
        ahead, self._ahead = self._ahead, []
        if noun := noun_of(self._scheme, element, words_of(heads[0]) if heads else "", self._language, self.title):
            runs = [Run(f"{noun} ", around.look), *runs]
        state = self._force.state(element)
        self._write_heading([*runs, *ahead, Run(f" ({state})" if state else "")], around)
        self._children(element, (struck if out else around)._replace(inside=False), heads)
        self._finish()

    def _read_item(self, element: Element, around: Around) -> None:
        self._finish()
        heads = self._heads(element)
        titled = len(heads) > 1 or any(_WORD.search(words_of(head)) for head in heads)
        if titled and around == around._replace(kind="text", quoted=False) and not self._scheme.table.get("run_in"):
            self._read_unit(element, around)
            return
        self._page.label += self._item_label(element, heads, around)
        self._children(element, around._replace(inside=False), heads)
        self._finish()
        self._finish_label(around.kind)

    def _item_label(self, element: Element, heads: Sequence[Element], around: Around) -> list[Run]:
        brackets = self._scheme.table.get("brackets", {}).get(local_name(element), "{}")
        label: list[Run] = []
        for head in heads:
            runs = self._flat(head, around)
            if standing(runs)[:1].isalnum() and head is heads[0]:
                runs = [Run(brackets.partition("{")[0]), *runs, Run(brackets.partition("}")[2])]
            label += [*runs, Run(" ")] if runs else []
        counted = "" if heads else _counted(element)
        return [*label, Run(f"{counted} ", around.look)] if counted else label

    def _read_label(self, element: Element, around: Around) -> None:
        self._finish()
        self._page.label += [*self._flat(element, around), Run(" ")]

    def _read_break(self, _element: Element, around: Around) -> None:
        self._text(" ", around)

    def _read_parting(self, _element: Element, _around: Around) -> None:
        self._finish()

    def _read_formula(self, element: Element, around: Around) -> None:
        self._text(f" {formula(element)} ", around)

    def _entity(self, element: Element, around: Around) -> None:
        """Read a named character; other entities are not resolved, whatever they stand for."""
        if isinstance(element, etree._Entity):  # noqa: SLF001 - the only name lxml has for its type
            text = html5.get(f"{element.name};", "")
            self._text(text, around)
            self._entities.update([] if text else [element.name])

    def _read_quoted(self, element: Element, around: Around) -> None:
        first, last = self._quotation_marks(element)
        words = words_of(element)
        if first and not words.startswith(first):
            if around.inside:
                self._text(first, around)
            else:
                self._finish()
                self._page.label.append(Run(first, around.look))
        self._children(element, around._replace(quoted=True))
        if last and not words.endswith(last):
            self._go_on(last)

    def _quotation_marks(self, element: Element) -> tuple[str, str]:
        usual = self._scheme.table.get("quotes", {}).get(local_name(element), "none")
        marks = _QUOTES.get(element.get("Format", usual), _QUOTES.get(usual, ""))
        return element.get("startQuote", marks[:1]), element.get("endQuote", marks[1:])

    def _read_begin(self, element: Element, around: Around) -> None:
        self._text(_character(element, "“"), around)

    def _read_end(self, element: Element, around: Around) -> None:
        self._text(_character(element, "”"), around)

    def _read_append(self, element: Element, _around: Around) -> None:
        self._finish()
        self._go_on(words_of(element))

    # Notes and remarks.

    def _read_note(self, element: Element, around: Around) -> None:
        """Write the mark of a note into its sentence; the note follows the paragraph."""
        reference = element.get("NOTE.REF", "")
        mark = self._marks.get(reference) or self._mark_of(element)
        notes = self._note_blocks(element, mark)
        if not notes and reference not in self._marks:
            return
        self._marks[_name_of(element)] = mark
        if self._page.runs and not around.look & Look.STRUCK:
            self._page.runs.append(note_mark(mark))
        self._page.notes += notes

    def _read_noted(self, element: Element, _around: Around) -> None:
        self._page.notes += self._note_blocks(element, self._mark_of(element))

    def _read_mark(self, element: Element, _around: Around) -> None:
        """Write the mark of a note that stands elsewhere; the note follows the paragraph."""
        name = next((element.get(one, "").lstrip("#") for one in _MARKED_BY if element.get(one)), "")
        shown = element.get("marker", "") or words_of(element)
        if name in self._notes:
            shown = shown or self._marks.get(name) or self._mark_of(self._notes[name])
        if not shown:
            return
        self._page.runs.append(note_mark(shown.strip("()[]")))
        self._place(name, shown.strip("()[]"), apart=False)

    def _read_silent(self, element: Element, _around: Around) -> None:
        self._place(element.get("Ref", ""), apart=False)

    def _read_kept(self, element: Element, _around: Around) -> None:
        self._place(next(name for name, note in self._notes.items() if note is element))

    def _place(self, name: str, mark: str = "", *, apart: bool = True) -> None:
        """Write a note that is kept elsewhere, once: behind the paragraph, or `apart` from any."""
        note = self._notes.get(name)
        if note is None or name in self._marks:
            return
        self._marks[name] = mark = mark or self._mark_of(note)
        if apart:
            self._finish()
        blocks = self._note_blocks(note, mark)
        if apart:
            self._page.blocks += blocks
        else:
            self._page.notes += blocks

    def _mark_of(self, note: Element) -> str:
        """Return the mark that a note states, else its number among the notes."""
        number = next((one for one in note if local_name(one) in ("num", "Number")), None)
        stated = note.get("marker") or note.get("FnZ") or ("" if number is None else words_of(number))
        if kind := note.get("Type"):
            # The comments of editors count by their kind: F1, C1.
            self._count += 1
            return f"{kind}{sum(1 for mark in self._marks.values() if mark.startswith(kind)) + 1}"
        if not stated:
            self._count += 1
        return stated.strip("()[]. ") or str(self._count)

    def _note_blocks(self, element: Element, mark: str) -> list[DraftBlock]:
        """Return a note as one paragraph that begins with its mark, and the tables in it."""
        passed = [child for child in element if local_name(child) in ("num", "Number")]
        blocks = self._apart(element, Around(kind="note"), passed)
        words = " ".join(_line_of(one) for one in blocks if one.grid is None).strip()
        # Normattiva writes "null" where there is no note.
        if words in ("", "null"):
            return []
        note = paragraph([_MARK_OF_REMARK if mark == "#" else note_mark(mark), Run(" "), Run(words)], kind="note")
        out = tuple(run for block in blocks for run in block.left_out)
        return [replace(note, left_out=out), *(block for block in blocks if block.grid is not None)]

    def _read_remark(self, element: Element, around: Around) -> None:
        """Read what editors say as notes, which follow the paragraph if they are in the middle of one."""
        inside = around.inside and bool(self._page.runs)
        heads = self._heads(element)
        title = [run for head in heads for run in (*self._flat(head, around), Run(" "))]
        mark = note_mark(element.get("marker", "")) if element.get("marker") else _MARK_OF_REMARK
        # The remark around it gives the mark.
        before = [] if around.kind == "note" else [mark, Run(" ")]
        blocks = self._apart(element, Around(around.look, "note"), heads)
        if title and not blocks:
            blocks = [paragraph([*before, *title], kind="note")]
        elif title and blocks[0].kind == "note":
            blocks[0] = _with_runs(blocks[0], title)
        blocks = [_with_runs(one, before) for one in blocks]
        if inside:
            self._page.notes += blocks
            return
        self._finish()
        self._page.blocks += blocks

    # Tables.

    def _read_table(self, element: Element, around: Around) -> None:
        """Read a table, and what stands in it above and below its rows."""
        self._finish()
        rows = [row for row in element.iter(etree.Element) if self._scheme.role(row) == "row"]
        rows = [row for row in rows if next(_tables_around(row, self._scheme), None) is element]
        written = False
        for child in element:
            if not any(one is child or child in one.iterancestors() for one in rows):
                self._read(child, around)
            elif not written:
                written = True
                self._finish()
                self._write_table(rows, around)
        self._finish()

    def _write_table(self, rows: Sequence[Element], around: Around) -> None:
        headers = sum(1 for _ in takewhile(_names_columns, rows))
        cells = [[self._cell(cell, around) for cell in row if self._scheme.role(cell) == "cell"] for row in rows]
        self._page.blocks.append(table_block(table_of(cells, headers or None)))
        self._page.blocks += self._page.notes
        self._page.notes = []

    def _cell(self, cell: Element, around: Around) -> GridCell:
        runs = self._flat(cell, around)
        columns = whole_number(cell.get("colspan") or cell.get("COLSPAN"), 1)
        rows = whole_number(cell.get("rowspan") or cell.get("ROWSPAN"), whole_number(cell.get("morerows"), 0) + 1)
        if cell.get("namest") and cell.get("nameend"):
            columns = _columns_between(cell)
        bold = local_name(cell) == "th"
        return GridCell(one_line(standing(runs)), max(1, columns), max(1, rows), bold=bold, left_out=left_out(runs))


def _tables_around(row: Element, scheme: Scheme) -> Iterator[Element]:
    return (one for one in row.iterancestors() if scheme.role(one) == "table")


def _names_columns(row: Element) -> bool:
    """Return whether a row is in the head of its table or has only head cells."""
    parent = row.getparent()
    cells = [cell for cell in row if isinstance(cell.tag, str)]
    all_heads = bool(cells) and all(local_name(cell) == "th" for cell in cells)
    in_head = parent is not None and local_name(parent) == "thead"
    return all_heads or in_head or row.get("TYPE") == "HEADER"


def _columns_between(cell: Element) -> int:
    """Return over how many columns a cell goes whose first and last column have names."""
    group = next((one for one in cell.iterancestors() if local_name(one) == "tgroup"), None)
    names = [] if group is None else [one.get("colname") for one in group if local_name(one) == "colspec"]
    first, last = cell.get("namest"), cell.get("nameend")
    return names.index(last) - names.index(first) + 1 if first in names and last in names else 1


def _name_of(element: Element) -> str:
    return next((element.get(name, "") for name in _NAMED_BY if element.get(name)), "")


def _with_runs(block: DraftBlock, before: Sequence[Run]) -> DraftBlock:
    """Return a paragraph of a remark with a mark or a title before it; a table, and one without words, as it is."""
    words = _line_of(block)
    if not words.strip() or block.kind != "note" or words.startswith(tuple(run.text for run in before[:1])):
        return block
    return replace(block, lines=paragraph([*before, Run(words)]).lines)


def _line_of(block: DraftBlock) -> str:
    return " ".join(one_line(line.text) for line in block.lines)


def _character(element: Element, usual: str) -> str:
    """Return the quotation mark that an element gives by its code."""
    code = element.get("CODE", "")
    return chr(int(code, 16)) if re.fullmatch(r"[0-9A-Fa-f]{4}", code) else usual


def _counted(element: Element) -> str:
    """Return the number or bullet of an item of a list that counts itself; empty for others."""
    around = element.getparent()
    if around is None or local_name(around) not in ("ol", "ul", "OrderedList", "UnorderedList"):
        return ""
    kind = around.get("Type") or around.get("type") or "arabic"
    if local_name(around) in ("ul", "UnorderedList"):
        return "" if around.get("Decoration") == "none" else "•"
    start = whole_number(around.get("Start") or around.get("start"), 1)
    place = start + sum(1 for one in element.itersiblings(element.tag, preceding=True))
    written = element.get("NumberOverride") or _COUNTED.get(kind, str)(place)
    return _DECORATIONS.get(around.get("Decoration", ""), "{}.").format(written)
