"""Removal of an erased document from the notebooks that quote it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from rag_engine.conversations.forgetting import without_document
from rag_engine.notebook.notebook import Notebook, NotebookEntry
from rag_engine.notebook.store import change_notebooks


def forget_in_notebooks(workspace: Path, document_id: str) -> None:
    """Remove what the notebooks quote of a document, and the entries that have nothing else but their note."""
    change_notebooks(workspace, document_id, partial(_without, document_id=document_id))


def _without(notebook: Notebook, document_id: str) -> Notebook:
    entries = (_forgotten(entry, document_id) for entry in notebook.entries)
    return replace(notebook, entries=tuple(one for one in entries if one.answer or one.quotes or one.note))


def _forgotten(entry: NotebookEntry, document_id: str) -> NotebookEntry:
    quotes = tuple(one for one in entry.quotes if one.document_id != document_id)
    answer = without_document(entry.answer, document_id, redact=True) if entry.answer else None
    return replace(entry, quotes=quotes, answer=answer)
