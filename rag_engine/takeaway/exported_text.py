"""An answer, a conversation or a notebook as text for every format of export."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from rag_engine.answering.reference_list import references_of
from rag_engine.answering.replies import CHECKED_MARK
from rag_engine.answering.support import support_summary, unsupported_sentences
from rag_engine.conversations.describe_hit import is_ranking_note
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation, Turn
from rag_engine.notebook.notebook import Notebook, NotebookEntry
from rag_engine.text.file_kinds import pages_text
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import AttributeContent, Citation

# Control characters and halves of surrogate pairs, which XML forbids; and signs that turn the direction of writing.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
# Blanks at which a line may end.
_BLANKS = re.compile(r"[^\S\u00a0\u202f]+")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# How `Models.language_model` begins to say why none was asked, with an address and a command of that machine.
_NOT_ASKED = "No language model was asked: "
# Characters of a title at most: the properties of a .docx hold no more.
LONGEST_TITLE = 255

_BOLD = re.compile(r"(?<!\\)\*\*(?=\S)(.+?)(?<=[^\s\\])\*\*")
# "\*" in a quotation is a star of the document.
_ESCAPED = re.compile(r"\\([*|])")
_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(?: --- \|)+")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*")
_BULLET = re.compile(r"(\s*)[-*•]\s+(.+)")
_NUMBERED = re.compile(r"(\s*)(\d{1,3})[.)]\s+(.+)")
_DEEPEST = 2

# How the lines of a text without formats begin.
_SIGNS = {"text": "", "bullet": "- ", "numbered": "{}. ", "heading": ""}
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class ExportedSection:
    """A question with its answer, or with quotations from one.

    `details` make one line below the heading. `text` and the cells of `table` (its header first) cite the `citations`
    as [Source n]. `quotes` are quoted as they are. `notes` are warnings for the reader, a line each. `remark` was
    written by a person.
    """

    heading: str
    details: tuple[str, ...] = ()
    text: str = ""
    citations: tuple[Citation, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    quotes: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ExportedText:
    """A title and the sections below it; a section without a heading is all there is below the title."""

    title: str
    sections: tuple[ExportedSection, ...]

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every place that is cited or quoted, in order."""
        return tuple(citation for section in self.sections for citation in (*section.citations, *section.quotes))


def export_answer(turn: Turn, words: Wording = ENGLISH) -> ExportedText:
    """Return one answer under its question."""
    return ExportedText(turn.question, (_turn_section(turn, words, heading=""),))


def export_conversation(conversation: Conversation, words: Wording = ENGLISH) -> ExportedText:
    """Return a conversation: each question as a heading, and its answer."""
    sections = tuple(_turn_section(turn, words, heading=turn.question) for turn in conversation.turns)
    return ExportedText(conversation.title_within(LONGEST_TITLE), sections)


def export_notebook(
    notebook: Notebook, entries: Iterable[NotebookEntry], present: Container[str], words: Wording = ENGLISH
) -> ExportedText:
    """Return entries of a notebook.

    `present` are the ids of the documents that are still in the collection.
    """
    return ExportedText(notebook.name, tuple(_entry_section(entry, present, words) for entry in entries))


def visible_text(text: str) -> str:
    r"""Return the text without invisible or forbidden characters; lines end in a line feed.

    >>> visible_text("one\r\ntwo")
    'one\ntwo'
    """
    return _UNSEEN.sub("", _BREAK.sub("\n", text))


def in_one_line(text: str) -> str:
    r"""Return the visible text in one line.

    A blank at which no line may end, as before a French colon, stays one.

    >>> in_one_line("sea  level\nrise")
    'sea level rise'
    """
    return _BLANKS.sub(" ", visible_text(text)).strip()


def footnote_texts(section: ExportedSection, words: Wording) -> dict[int, str]:
    """Return the reference and file of each cited number, and the quotes that the section lacks."""
    cited = (*section.citations, *section.quotes)
    texts: dict[int, str] = {}
    for n in dict.fromkeys(citation.n for citation in cited):
        [reference] = references_of(citation for citation in cited if citation.n == n)
        quotes = [f"“{' '.join(citation.quote.split())}”" for citation in section.citations if citation.n == n]
        texts[n] = visible_text(" ".join((f"{reference.describe(words)} ({reference.file}).", *quotes)))
    return texts


def attribute_text(value: AttributeContent, words: Wording = ENGLISH) -> str:
    """Return the content of an attribute of a form, for display."""
    if isinstance(value, bool):
        return words.message("yes") if value else words.message("no")
    if isinstance(value, tuple):
        return "; ".join(value)
    return "–" if value is None else str(value)


def missing_documents(citations: Iterable[Citation], present: Container[str]) -> tuple[str, ...]:
    """Return the titles of the documents that are cited and no longer in the collection."""
    return tuple(dict.fromkeys(citation.title for citation in citations if citation.document_id not in present))


def reply_notes(reply: Reply, words: Wording = ENGLISH) -> Iterator[str]:
    """Yield the notes for a reader of an answer: warnings, support, unsupported sentences.

    Warnings about ranking alone are left out, and so is the reason why no language model was asked.
    """
    for warning in reply.warnings:
        if not (warning == reply.text or is_ranking_note(warning) or warning.startswith(_NOT_ASKED)):
            yield words.kept(warning)
    if summary := support_summary(reply.support, reply.judge, words):
        yield summary
    yield from unsupported_sentences(reply.text, reply.support, words)


def _turn_section(turn: Turn, words: Wording, *, heading: str) -> ExportedSection:
    rewritten = words.message("Asked as: {question}", question=turn.rewritten) if turn.rewritten else ""
    asked = (words.moment(turn.asked), rewritten)
    if turn.reply is None:
        return ExportedSection(heading, tuple(filter(None, asked)), notes=(words.message("Not answered."),))
    return _reply_section(heading, asked, turn.reply, words)


def _reply_section(heading: str, details: tuple[str, ...], reply: Reply, words: Wording) -> ExportedSection:
    stated = (
        (entity.name, attribute_text(entity.value, words)) for entity in reply.entities if entity.value is not None
    )
    text = words.kept(reply.text) if reply.status == "error" else reply.text
    return ExportedSection(
        heading,
        details=tuple(filter(None, (*details, _answerer(reply, words)))),
        text="\n".join(filter(None, (text, reply.quotations, *(f"- **{name}**: {value}" for name, value in stated)))),
        citations=reply.citations,
        table=tuple(_record_rows(reply, words)),
        notes=tuple(reply_notes(reply, words)),
    )


def _answerer(reply: Reply, words: Wording) -> str:
    # Of an answer that was cancelled the words are known, not who wrote them.
    if reply.status != "answered" or not reply.generator:
        return ""
    if reply.generator == "extractive":
        return words.message("Quotations only")
    return words.message("Written by {model}", model=reply.generator)


def _record_rows(reply: Reply, words: Wording) -> Iterator[tuple[str, ...]]:
    if reply.records:
        yield (*(attribute.name for attribute in reply.records[0].attributes), words.message("Source"))
    for record in reply.records:
        cells = (attribute_text(attribute.value, words) for attribute in record.attributes)
        place = pages_text(record.citation.file, record.citation.named_page, words)
        yield (*cells, f"[Source {record.citation.n}] {place}".rstrip())


def _entry_section(entry: NotebookEntry, present: Container[str], words: Wording) -> ExportedSection:
    tags = words.message("Tags: {tags}", tags=", ".join(entry.tags)) if entry.tags else ""
    details = (words.moment(entry.asked), tags)
    gone = tuple(
        words.message("No longer in the collection: {title}", title=title)
        for title in missing_documents(entry.citations, present)
    )
    if entry.answer is None:
        kept = tuple(filter(None, details))
        return ExportedSection(entry.question, kept, quotes=entry.quotes, notes=gone, remark=entry.note)
    section = _reply_section(entry.question, details, entry.answer, words)
    return replace(section, notes=(*section.notes, *gone), remark=entry.note)


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """Words of a line, or the mark of the source `n` as its words."""

    text: str
    bold: bool = False
    n: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of an answer, or a table.

    `depth` counts from 0 to 2 how far a list is indented, `number` is the number of its item. `cells` are those of a
    table, the names of its columns first.
    """

    kind: Literal["text", "bullet", "numbered", "heading", "table"]
    runs: tuple[AnswerRun, ...]
    depth: int = 0
    number: str = ""
    cells: tuple[tuple[tuple[AnswerRun, ...], ...], ...] = ()


def answer_lines(text: str) -> Iterator[AnswerLine]:
    r"""Yield the lines of an answer's text; an empty one has no runs.

    >>> [line.kind for line in answer_lines("Walls:\n- of stone\n- of sand")]
    ['text', 'bullet', 'bullet']
    """
    for in_table, group in groupby(text.splitlines(), lambda line: line.startswith("| ") and line.endswith(" |")):
        lines = list(group)
        if in_table and len(lines) > 1 and _RULE.fullmatch(lines[1]):
            rows = (_CELL.split(line)[1:-1] for line in (lines[0], *lines[2:]))
            yield AnswerLine("table", (), cells=tuple(tuple(answer_runs(cell.strip()) for cell in row) for row in rows))
        else:
            yield from map(_answer_line, lines)


def _answer_line(line: str) -> AnswerLine:
    if match := _BULLET.fullmatch(line):
        return AnswerLine("bullet", answer_runs(match[2]), _depth(match[1]))
    if match := _NUMBERED.fullmatch(line):
        return AnswerLine("numbered", answer_runs(match[3]), _depth(match[1]), match[2])
    if match := _HEADING.fullmatch(line.strip()):
        return AnswerLine("heading", tuple(_marked(match[1].replace("**", ""), bold=False)))
    return AnswerLine("text", answer_runs(line) if line.strip() else ())


def _depth(blanks: str) -> int:
    return min(len(blanks.expandtabs(4)) // 2, _DEEPEST)


def answer_runs(text: str) -> tuple[AnswerRun, ...]:
    """Return the runs of a text in one line."""
    # Every second piece of a split is the pattern's group.
    return tuple(run for i, piece in enumerate(_BOLD.split(text)) for run in _marked(piece, bold=i % 2 == 1))


def _marked(text: str, *, bold: bool) -> Iterator[AnswerRun]:
    for i, piece in enumerate(CHECKED_MARK.split(text)):
        if i % 2:
            yield AnswerRun(f"[Source {piece}]", bold, int(piece))
        elif piece:
            yield AnswerRun(_ESCAPED.sub(r"\1", piece), bold)


def plain_section(section: ExportedSection, words: Wording = ENGLISH) -> str:
    """Return the answer of a section, its sources numbered as in "[1]", and below it their references.

    A table has a tab between two cells, as spreadsheets read it.
    """
    cited = {citation.n for citation in section.citations}
    cells = (
        (*(" ".join(cell.split()) for cell in row[:-1]), _words(answer_runs(row[-1]), cited)) for row in section.table
    )
    lines = [
        "\n".join("\t".join(_words(cell, cited) for cell in row) for row in line.cells)
        if line.cells
        else f"{_INDENT * line.depth}{_SIGNS[line.kind].format(line.number)}{_words(line.runs, cited)}"
        for line in answer_lines(section.text)
    ]
    blocks = ("\n".join(lines), "\n".join(map("\t".join, cells)), plain_references(section.citations, words))
    return visible_text("\n\n".join(filter(None, blocks)))


def plain_references(citations: Iterable[Citation], words: Wording = ENGLISH) -> str:
    """Return the references, one a line: "[1][3] Parliament, Flood Act, 2016, pages 3, 5"."""
    references = references_of(citations)
    return visible_text(
        "\n".join(
            f"{''.join(f'[{n}]' for n in reference.numbers)} {reference.describe(words)}" for reference in references
        )
    )


def plain_quotes(citations: Iterable[Citation], words: Wording = ENGLISH) -> str:
    """Return each quote on a line with its reference: “six years” (Parliament, Flood Act, 2016, page 3)."""
    quotes = (
        (" ".join(citation.quote.split()), references_of([citation])[0].describe(words)) for citation in citations
    )
    return visible_text("\n".join(f"“{quote}” ({reference})" for quote, reference in quotes))


def _words(runs: Iterable[AnswerRun], cited: set[int]) -> str:
    return "".join(f"[{run.n}]" if run.n in cited else run.text for run in runs)
