"""Answers of single documents as sheets of a workbook: for each schema one row a document, and one row a record."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.dataset.answer_store import AnsweredForm, DocumentAnswer, StatedRecord
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_workbook
from rag_engine.answering.reference_list import limits_text
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError
from rag_engine.text.file_kinds import page_number, pages_text
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types import AttributeContent

# A sheet's name holds 31 characters, none of these.
_MOST, _FORBIDDEN = 31, re.compile(r"[\[\]:*?/\\']")
_RECORDS = " records"


def of_present(forms: Iterable[AnsweredForm], present: Sequence[str]) -> list[AnsweredForm]:
    """Return the forms with the replies of these documents alone, in the order of the documents."""
    found = [
        replace(form, answers={id: form.answers[id] for id in dict.fromkeys(present) if id in form.answers})
        for form in forms
    ]
    return [form for form in found if form.answers]


def answer_sheets(forms: Sequence[AnsweredForm], taken: Collection[str] = (), words: Wording = ENGLISH) -> list[Sheet]:
    """Return two sheets for each schema, documents and records; `taken` are names that other sheets have.

    Questions that were asked with one schema share its sheets.
    """
    alike: dict[str, list[AnsweredForm]] = {}
    for form in forms:
        alike.setdefault(repr(form.schema), []).append(form)
    sheets: list[Sheet] = []
    for some in alike.values():
        schema = some[0].schema
        name = _free_name(schema.title or schema.list_name, [*taken, *(sheet.name for sheet in sheets)])
        sheets += [_documents(name, schema, some, words), _records(f"{name}{_RECORDS}", schema, some, words)]
    return sheets


def require_workbook_path(path: Path) -> None:
    """Raise InputError where no workbook can be written: before a model has worked for hours."""
    if path.suffix.lower() != ".xlsx":
        raise InputError("{file} does not name a workbook.", help="End it in .xlsx.", file=path.name)
    if not path.parent.is_dir():
        raise InputError(
            "{file} cannot be written: there is no folder {parent}.",
            help="Give another place.",
            file=path,
            parent=path.parent,
        )


def answers_workbook(forms: Sequence[AnsweredForm], words: Wording = ENGLISH) -> bytes:
    """Return the workbook of the forms; one empty sheet where no document has replied yet."""
    empty = Sheet(words.message("Answers"), ((words.message("Question"), 36),))
    return to_workbook(answer_sheets(forms, words=words) or [empty])


def write_answers(path: Path, forms: Sequence[AnsweredForm]) -> None:
    """Write the workbook of the forms; InputError where its folder or the file itself does not allow it."""
    write_workbook(path, answers_workbook(forms))


def write_workbook(path: Path, workbook: bytes) -> None:
    """Write the bytes of a workbook; InputError where its folder or the file itself does not allow it."""
    try:
        write_atomic(path, workbook, durable=True)
    except OSError as error:
        raise InputError(
            "{file} cannot be written: {error}.",
            help="Close it where it is open, or give another place.",
            file=path,
            error=error.strerror,
        ) from error


def _free_name(title: str, taken: Sequence[str]) -> str:
    """Return a name for the sheet of a schema that leaves room for the one of its records, and that no other has."""
    plain = " ".join(_FORBIDDEN.sub(" ", title).split()) or "Answers"
    names = {name.casefold() for name in taken}
    number = 1
    while True:
        suffix = "" if number == 1 else f" {number}"
        name = plain[: _MOST - len(_RECORDS) - len(suffix)].rstrip() + suffix
        if not names & {name.casefold(), f"{name}{_RECORDS}".casefold()}:
            return name
        number += 1


def _documents(name: str, schema: AnswerSchema, forms: Sequence[AnsweredForm], words: Wording) -> Sheet:
    """One row a document: what it answers beside the list, and each record on a line."""
    names = [one.name for one in schema.entities]
    columns = (
        *_headings(words), (words.message("Result"), 12), (words.message("Records"), 9),
        *((entity, 30) for entity in names), (schema.list_name, 80), (words.message("Warnings"), 60),
        (words.message("Model"), 22),
    )  # fmt: skip
    sheet = Sheet(name, columns)
    for question, one in _rows(forms):
        entities = {entity.name: entity.value for entity in one.entities}
        lines = [f"{number}. {_line(record, one.file, words)}" for number, record in enumerate(one.records, start=1)]
        values = (
            question, one.title, one.file, words.value("status", one.status), len(one.records),
            *(entities.get(entity) for entity in names),
            "\n".join(lines), "\n".join(map(words.kept, one.warnings)), one.generator,
        )  # fmt: skip
        sheet.rows.append([_cell(value) for value in values])
    return sheet


def _records(name: str, schema: AnswerSchema, forms: Sequence[AnsweredForm], words: Wording) -> Sheet:
    """One row a record, with its page, the sentence that states it, and what a reference and a reuse need."""
    names = [one.name for one in schema.attributes]
    columns = (
        *_headings(words), *((attribute, 36) for attribute in names), (words.message("Page"), 8),
        (words.message("Quote"), 80), (words.message("Authority"), 28), (words.message("Year"), 8),
        (words.message("Licence"), 20), (words.message("Licence limits"), 22), (words.message("Passage"), 26),
    )  # fmt: skip
    sheet = Sheet(name, columns)
    for question, one in _rows(forms):
        for record in one.records:
            held = {attribute.name: attribute.value for attribute in record.attributes}
            values = (
                question, one.title, one.file, *map(held.get, names), page_number(one.file, record.page), record.quote,
                record.authority, record.year, record.licence, limits_text(record.licence, words), record.child_id,
            )  # fmt: skip
            sheet.rows.append([_cell(value) for value in values])
    return sheet


def _headings(words: Wording) -> tuple[tuple[str, int], ...]:
    return (words.message("Question"), 36), (words.message("Document"), 44), (words.message("File"), 28)


def _rows(forms: Sequence[AnsweredForm]) -> Iterable[tuple[str, DocumentAnswer]]:
    return ((form.question, answer) for form in forms for answer in form.answers.values())


def _line(record: StatedRecord, file: str, words: Wording) -> str:
    values = "; ".join(filter(None, (_text(attribute.value) for attribute in record.attributes)))
    place = pages_text(file, [record.page], words)
    return f"{values} ({place})" if place else values


def _cell(value: AttributeContent) -> Cell:
    """Return a cell: numbers as numbers, everything else as the text that fits in one."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Cell(value)
    return Cell(storable(_text(value)))


def _text(value: AttributeContent) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(value)
    return "" if value is None else str(value)
