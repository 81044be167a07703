"""The grounded knowledge base as a file: JSON for programs, a workbook for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ingestion.dataset.export import write_file
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_workbook
from rag_engine.answering.json_contract import reference_json
from rag_engine.answering.reference_list import limits_of
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.grounding.build import PASSAGES
from rag_engine.grounding.knowledge import GroundedContext, GroundedEntry, GroundedSource, KnowledgeBase
from rag_engine.text.file_kinds import pages_text
from rag_engine.text.wording import ENGLISH, Wording

SUFFIXES = (".xlsx", ".json")


def knowledge_base(engine: Engine) -> list[GroundedEntry]:
    """Return the grounded entries of the collection's indexes, in their order."""
    return KnowledgeBase(engine.catalog).entries(engine.collection.snapshot().documents)


def knowledge_base_bytes(entries: Sequence[GroundedEntry], suffix: str, words: Wording = ENGLISH) -> bytes:
    """Return the entries in the format of the suffix; InputError for one without a format."""
    if suffix == ".json":
        return (json.dumps([_values(entry) for entry in entries], ensure_ascii=False, indent=1) + "\n").encode()
    if suffix == ".xlsx":
        # A row for each entry, with its text and its best passages side by side.
        message = words.message
        columns = (
            (message("Index"), 24), (message("Entry"), 30), (message("Pages"), 12), (message("Text"), 70),
            (message("References"), 60), (message("Status"), 16), (message("Written by"), 18), (message("Date"), 20),
            (message("Cached query"), 60),
        )  # fmt: skip
        passages = [(message("Passage {n}", n=n), 60) for n in range(1, PASSAGES + 1)]
        sheet = Sheet(message("Knowledge base"), (*columns, *passages))
        sheet.rows.extend([Cell(storable(text)) for text in _row(entry, words)] for entry in entries)
        return to_workbook([sheet])
    raise InputError(
        "{suffix!r} is no format of the knowledge base.",
        help="End the name in {suffixes}.",
        suffix=suffix,
        suffixes=", ".join(SUFFIXES),
    )


def write_knowledge_base(path: Path, entries: Sequence[GroundedEntry]) -> int:
    """Write the entries to a file in the format of its suffix, and return their number.

    InputError for a suffix without a format, a place that cannot be written, or no entries.
    """
    if not entries:
        raise InputError("No entry is grounded yet.", help="Run `sextant knowledge build` first.")
    write_file(path, knowledge_base_bytes(entries, path.suffix.lower()))
    return len(entries)


def _values(entry: GroundedEntry) -> dict[str, object]:
    """Return everything known of an entry, with the references of its text and the limits of its sources."""
    sources = [asdict(source) | {"limits": limits_of(source.licence)} for source in entry.sources]
    return asdict(entry) | {
        "sources": sources,
        "references": [reference_json(reference) for reference in entry.references],
    }


def _row(entry: GroundedEntry, words: Wording) -> list[str]:
    best = [source for source in entry.sources if source.cosine is not None]
    shown = [f"[Source {source.n}] {_place(source, words)}\n{source.text}" for source in best]
    return [
        entry.index,
        entry.name,
        entry.listed_pages(words),
        entry.text,
        "\n".join(f"{reference.marks} {reference.text} ({reference.file})" for reference in entry.references),
        words.value("status", entry.status.replace("_", " ")),
        words.message("quotations only") if entry.generator == "extractive" else entry.generator,
        entry.written,
        "\n".join(f"{_place(context, words)} [Source {context.n}]: {context.text}" for context in entry.contexts),
        *shown,
        *[""] * (PASSAGES - len(shown)),
    ]


def _place(passage: GroundedContext | GroundedSource, words: Wording) -> str:
    return ", ".join(filter(None, (passage.file, pages_text(passage.file, passage.named_page, words))))
