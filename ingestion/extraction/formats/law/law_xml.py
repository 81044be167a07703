"""Law as XML, read by the roles that a scheme gives its elements (schemes.py)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from html.entities import html5
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, paragraph
from ingestion.extraction.formats.law.force import Force
from ingestion.extraction.formats.law.marks import character, counted, quotation_marks
from ingestion.extraction.formats.law.normattiva import write_out
from ingestion.extraction.formats.law.page import Around, LawPage, line_of, with_runs
from ingestion.extraction.formats.law.schemes import Scheme, local_name, noun_of, scheme_of, unknown_law, words_of
from ingestion.extraction.formats.law.tables import law_table, rows_of
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import Element, safe_parser
from ingestion.extraction.formulas import formula
from ingestion.extraction.runs import AT_END, Look, Run, note_mark, standing
from rag_engine.messages import Message

_WORD = re.compile(r"§|[^\W\d_]{3}")
_PARAGRAPHS = ("paragraph", "subsection", "subparagraph", "clause", "subclause", "point", "indent", "alinea")
_NUMBERED = re.compile(r"[^\W\d_]{3,20}\.?\s\(?(?:\d{1,3}|[IVXLC]{1,6}|\w['’΄]?)[\w.)]{0,3}")
# (iii), 2-ter., 3 quater: letters, but no words.
_MARKER = re.compile(
    r"[(\[]?\d{0,3}[\s.-]{0,2}(?:[ivxlc]{1,7}|bis|ter|(?:qua|quin)[a-z]{3,7}|(?:sex|sept|oct|nov|dec)[a-z]{2,4})[)\].]{0,2}",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"\d|\b[IVXLC]+\b|\b[A-Z]\b")
_LOOKS = {"struck": Look.STRUCK, "raised": Look.RAISED, "lowered": Look.LOWERED}
# What editors say has no mark of its own.
_MARK_OF_REMARK = note_mark("*")
# The heading of other wordings, how each is called, and when it was in force.
_FORMER = {
    "en": ("Notes", "Former wording", "in force from {} to {}"),
    "de": ("Anmerkungen", "Frühere Fassung", "in Kraft vom {} bis {}"),
    "es": ("Notas", "Redacción anterior", "vigente del {} al {}"),
    "fr": ("Notes", "Ancienne rédaction", "en vigueur du {} au {}"),
    "it": ("Note", "Testo precedente", "in vigore dal {} al {}"),
    "pt": ("Notas", "Redação anterior", "em vigor de {} a {}"),
}
# The first and the last day of a wording.
_Span = tuple[str, str]
_MARKED_BY = ("href", "Ref", "idref", "ID", "NOTE.REF")
_NAMED_BY = ("eId", "id", "ID", "NOTE.ID", "GUID")


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
    reader = _LawReader(scheme, root, today or date.today())
    try:
        blocks = reader.read_all()
    except RecursionError as error:
        raise damaged(path, "its elements nest too deep") from error
    return Draft(blocks, reader.title, warnings=tuple(reader.warnings()))


class _LawReader:
    """The state of reading a document from its first element to its last."""

    def __init__(self, scheme: Scheme, root: Element, today: date) -> None:
        self._scheme, self._root = scheme, root
        self._force = Force(scheme, root, today)
        self._language = scheme.language(root)
        self.title = scheme.title(root)
        self._page = LawPage()
        # The title of a group, to be that of the first unit inside.
        self._ahead: list[Run] = []
        self._notes = _named_notes(element for element in root.iter(etree.Element) if scheme.role(element) == "kept")
        # The notes of each element that they say they are of.
        self._based: dict[str, list[str]] = {}
        for name, note in self._notes.items():
            self._based.setdefault(note.get("placementBase", "").lstrip("#"), []).append(name)
        # The marks of the notes that are read, by their names.
        self._marks: dict[str, str] = {}
        self._count = 0
        self._kinds: Counter[str] = Counter()
        self._entities: set[str] = set()
        self._former: list[tuple[_Span | None, list[Run]]] = []

    def read_all(self) -> list[DraftBlock]:
        """Return the blocks of the document, with its title first where that is only in its metadata."""
        if self.title and not self._scheme.table.get("printed"):
            self._page.blocks.append(paragraph(self.title, kind="heading"))
        self._read(self._root, Around())
        self._page.finish()
        for name in self._notes:
            self._place(name)
        return [*self._page.blocks, *self._page.notes, *self._former_wordings()]

    def _former_wordings(self) -> Iterator[DraftBlock]:
        """Yield the wordings that stand no longer, as notes below a heading."""
        heading, called, dated = _FORMER.get(self._language, _FORMER["en"])
        if self._former:
            yield paragraph(heading, kind="heading")
        for number, (span, runs) in enumerate(self._former, 1):
            told = f"{called}, {dated.format(*span)}" if span else called
            yield paragraph([Run(f"[{number}] {told}: «"), *runs, Run("»")], kind="note")

    def _keep_former(self, wording: Element, around: Around, span: _Span | None, head: Sequence[Run] = ()) -> None:
        """Keep a wording for the notes, without the remarks of its editors, below the runs of its `head`."""
        outer, self._page = self._page, LawPage()
        # Its words are struck where they stood.
        around = around._replace(look=around.look & ~Look.STRUCK)
        words = self._flat(wording, around, self._heads(wording) if head else ())
        named = [run._replace(look=run.look & ~Look.STRUCK) for run in head]
        self._former.append((span, [*named, *words]))
        self._page = outer

    def warnings(self) -> Iterator[Message]:
        """Yield what was not read."""
        if self._entities:
            names = ", ".join(sorted(self._entities)[:20])
            yield Message("Entities whose text was not read: {names}.", names=names)
        others = self._root.iterfind(".//{*}attachment/{*}documentRef")
        missing = [one.get("href", "").rpartition("/")[2] for one in others]
        if missing:
            yield Message("Attachments in separate files, not read: {names}.", names=", ".join(missing[:20]))

    def _read(self, element: Element, around: Around, *, mixed: bool = False) -> None:
        """Read an element by its role; the text behind it belongs to the element around it.

        It is among text if its parent is `mixed`.
        """
        if not isinstance(element.tag, str):
            self._entity(element, around)
            return
        role = self._scheme.role(element) or _usual_role(element, around, mixed=mixed)
        if role == "version" and self._force.is_former(element):
            self._keep_former(element, around, self._force.former_span(element))
            return
        if role not in ("unit", "titled") and self._force.is_out(element, role):
            around = around._replace(look=around.look | Look.STRUCK)
        around = around._replace(look=around.look | _LOOKS.get(role, Look.PLAIN))
        self._place(element.get("CommentaryRef", ""), apart=False)
        getattr(self, f"_read_{role}")(element, around)
        for name in self._based.get(element.get("eId") or "none", ()):
            self._place(name)

    def _children(self, element: Element, around: Around, passed: Sequence[Element] = ()) -> None:
        self._page.write(element.text, around)
        mixed = bool((element.text or "").strip() or any((child.tail or "").strip() for child in element))
        for child in element:
            if child not in passed:
                self._read(child, around, mixed=mixed)
            self._page.write(child.tail, around)

    def _apart(self, element: Element, around: Around, passed: Sequence[Element] = ()) -> list[DraftBlock]:
        """Return the blocks of an element that is read by itself."""
        outer, self._page = self._page, LawPage()
        self._children(element, around, passed)
        self._page.finish()
        self._page.finish_label(around.kind)
        inner, self._page = self._page, outer
        return [*inner.blocks, *inner.notes]

    def _flat(self, element: Element, around: Around, passed: Sequence[Element] = ()) -> list[Run]:
        """Return the words of an element as runs of one line; its notes follow the paragraph around it."""
        runs: list[Run] = []
        for block in self._apart(element, around._replace(kind="text", quoted=True, inside=True), passed):
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
        joined = len(standing(runs)) > 1 and standing(runs).rstrip().endswith("—")
        return runs if not runs or joined else [*runs, Run(" ")]

    # One method a role.

    def _read_left(self, _element: Element, _around: Around) -> None:
        """Leave out metadata, tables of contents and pictures."""

    def _read_inline(self, element: Element, around: Around) -> None:
        self._children(element, around)

    def _read_spaced(self, element: Element, around: Around) -> None:
        """Read one of several elements without text between them, such as a number and a name."""
        self._page.write(" ", around)
        self._children(element, around)
        self._page.write(" ", around)

    def _read_group(self, element: Element, around: Around) -> None:
        self._page.finish()
        self._children(element, around._replace(inside=False))
        self._page.finish()

    _read_struck = _read_raised = _read_lowered = _read_inline
    _read_version = _read_group

    def _read_block(self, element: Element, around: Around) -> None:
        self._page.finish()
        titled = around.kind == "text" and element.find(".//{*}docTitle") is not None
        self._children(element, around._replace(inside=True, kind="heading" if titled else around.kind))
        self._page.finish()
        if not self._page.label:
            self._page.add([])

    def _read_heading(self, element: Element, around: Around) -> None:
        self._page.finish()
        self._write_heading(self._flat(element, around), around)

    def _write_heading(self, runs: list[Run], around: Around) -> None:
        """Write a heading; in a quotation it is text, for it heads nothing here."""
        self._page.runs = runs
        self._page.kind = "heading" if around.kind == "text" and not around.quoted else around.kind
        self._page.finish()

    def _read_head(self, element: Element, around: Around) -> None:
        """Read a number or a title that heads no unit."""
        self._read_heading(element, around)

    def _read_titled(self, element: Element, around: Around) -> None:
        self._page.finish()
        if self._force.is_out(element, "titled") and self._force.is_replaced(element):
            around = around._replace(look=around.look | Look.STRUCK)
        title = element.find("{*}Title")
        self._ahead = [] if title is None else self._flat(title, around)
        self._children(element, around, [] if title is None else [title])
        self._page.finish()

    def _read_unit(self, element: Element, around: Around) -> None:
        self._page.finish()
        heads = self._heads(element)
        struck = around._replace(look=around.look | Look.STRUCK)
        stated = self._stated_by(element)
        out = any(self._force.is_out(one, "unit") for one in stated)
        former = self._former_span(stated, around) if out else None
        if out and any(map(self._force.is_replaced, stated)):
            around = struck
        runs = [run for head in heads for run in self._head_runs(head, around)]
        ahead, self._ahead = self._ahead, []
        noun = "" if around.quoted else self._noun(element, heads)
        runs = [*([Run(f"{noun} ", around.look)] if noun else []), *runs]
        state = self._force.state(element)
        if len(heads) > 1 and not _NUMERAL.search(words_of(heads[0])):
            # "ANNEX" without a number has its title below.
            self._write_heading(self._flat(heads[0], around), around)
            runs = [run for head in heads[1:] for run in self._head_runs(head, around)]
        if former:
            self._keep_former(element, around, former, [*runs, *ahead, *([Run(" ")] if ahead else [])])
            if around.look & Look.STRUCK:
                return
        self._write_heading([*runs, *ahead, Run(f" ({state})" if state else "")], around)
        if not former:
            self._children(element, (struck if out else around)._replace(inside=False), heads)
        self._page.finish()

    def _former_span(self, stated: Sequence[Element], around: Around) -> _Span | None:
        """Return when a unit was in force that stands no longer; None if unknown, and for a quoted one."""
        return None if around.quoted else next(filter(None, map(self._force.former_span, stated)), None)

    def _stated_by(self, unit: Element) -> list[Element]:
        """Return the elements that say whether a unit is in force: itself, and the group that it is titled by."""
        around = unit.getparent()
        return [unit] if around is None or self._scheme.role(around) != "titled" else [unit, around]

    def _noun(self, unit: Element, heads: Sequence[Element]) -> str:
        return noun_of(self._scheme, unit, words_of(heads[0]), self._language, self.title) if heads else ""

    def _read_item(self, element: Element, around: Around) -> None:
        self._page.finish()
        heads = self._heads(element)
        titled = len(heads) > 1 or any(_is_title(element, head) for head in heads)
        if titled and around == around._replace(kind="text", quoted=False) and not self._scheme.table.get("run_in"):
            self._read_unit(element, around)
            return
        self._page.label += self._item_label(element, heads, around)
        self._children(element, around._replace(inside=False), heads)
        self._page.finish()
        self._page.finish_label(around.kind)

    def _item_label(self, element: Element, heads: Sequence[Element], around: Around) -> list[Run]:
        brackets = self._scheme.table.get("brackets", {}).get(local_name(element), "{}")
        label: list[Run] = []
        for head in heads:
            runs = self._head_runs(head, around)
            if standing(runs)[:1].isalnum() and head is heads[0]:
                runs = [Run(brackets.format(standing(runs).strip()) + " ", runs[0].look)]
            label += runs
        number = "" if heads else counted(element)
        return [*label, Run(f"{number} ", around.look)] if number else label

    def _read_label(self, element: Element, around: Around) -> None:
        self._page.finish()
        self._page.label += [*self._flat(element, around), Run(" ")]

    def _read_break(self, _element: Element, around: Around) -> None:
        self._page.write(" ", around)

    def _read_parting(self, _element: Element, _around: Around) -> None:
        self._page.finish()

    def _read_formula(self, element: Element, around: Around) -> None:
        self._page.write(f" {formula(element)} ", around)

    def _entity(self, element: Element, around: Around) -> None:
        """Read a named character; other entities are not resolved."""
        if isinstance(element, etree._Entity):  # noqa: SLF001 - the only name lxml has for its type
            text = html5.get(f"{element.name};", "")
            self._page.write(text, around)
            self._entities.update([] if text else [element.name])

    def _read_quoted(self, element: Element, around: Around) -> None:
        first, last = quotation_marks(element, self._scheme)
        words = words_of(element)
        if first and not words.startswith(first):
            if around.inside:
                self._page.write(first, around)
            else:
                self._page.finish()
                self._page.label.append(Run(first, around.look))
        self._children(element, around._replace(quoted=True))
        if last and not words.endswith(last):
            self._page.go_on(last, around.kind)

    def _read_begin(self, element: Element, around: Around) -> None:
        self._page.write(character(element, "“"), around)

    def _read_end(self, element: Element, around: Around) -> None:
        self._page.write(character(element, "”"), around)

    def _read_append(self, element: Element, around: Around) -> None:
        self._page.finish()
        self._page.go_on(words_of(element), around.kind)

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
        self._place(_name_of(element))

    def _place(self, name: str, mark: str = "", *, apart: bool = True) -> None:
        """Write a note that is kept elsewhere, once: behind the paragraph, or `apart` from any."""
        note = self._notes.get(name)
        if note is None or name in self._marks:
            return
        self._marks[name] = mark = mark or self._mark_of(note)
        if apart:
            self._page.finish()
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
            self._kinds[kind] += 1
            return f"{kind}{self._kinds[kind]}"
        if not stated:
            self._count += 1
        return stated.strip("()[]. ") or str(self._count)

    def _note_blocks(self, element: Element, mark: str) -> list[DraftBlock]:
        """Return a note as one paragraph that begins with its mark, and the tables in it."""
        passed = [child for child in element if local_name(child) in ("num", "Number")]
        blocks = self._apart(element, Around(kind="note"), passed)
        words = " ".join(line_of(one) for one in blocks if one.grid is None).strip()
        # Normattiva writes "null" where there is no note.
        if words in ("", "null"):
            return []
        note = paragraph([_MARK_OF_REMARK if mark == "#" else note_mark(mark), Run(" "), Run(words)], kind="note")
        out = tuple(run._replace(after=AT_END) for block in blocks for run in block.left_out)
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
            blocks[0] = with_runs(blocks[0], title)
        blocks = [with_runs(one, before) for one in blocks]
        if inside:
            self._page.notes += blocks
            return
        self._page.finish()
        self._page.blocks += blocks

    def _read_table(self, element: Element, around: Around) -> None:
        """Read a table, and what is in it above and below its rows."""
        self._page.finish()
        rows = rows_of(element, self._scheme)
        among = {one for row in rows for one in (row, *row.iterancestors())}
        written = False
        for child in element:
            if child not in among:
                self._read(child, around)
            elif not written:
                written = True
                self._page.finish()
                block = law_table(rows, self._scheme, lambda cell: self._flat(cell, around))
                self._page.add([block])
        self._page.finish()


def _is_title(item: Element, head: Element) -> bool:
    """Return whether the only head of an item is a title, and not the number of a paragraph with its noun."""
    words = words_of(head)
    numbered = local_name(item) in _PARAGRAPHS and local_name(head) == "num" and _NUMBERED.fullmatch(words)
    return bool(_WORD.search(words)) and not numbered and not _MARKER.fullmatch(words)


def _usual_role(element: Element, around: Around, *, mixed: bool) -> str:
    """Return the role of an element that the scheme does not tell, by what it is among."""
    if local_name(element) == "math":
        return "formula"
    return "inline" if mixed else "spaced" if around.inside else "group"


def _named_notes(notes: Iterable[Element]) -> dict[str, Element]:
    """Return the notes by their names, those without a name or with that of another by their number."""
    named: dict[str, Element] = {}
    for number, note in enumerate(notes):
        name = _name_of(note)
        named[name if name and name not in named else f"note {number}"] = note
    return named


def _name_of(element: Element) -> str:
    return next((element.get(name, "") for name in _NAMED_BY if element.get(name)), "")
