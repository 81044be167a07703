"""Removal of an erased document from the notebooks that quote it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rag_engine.notebook.notebook import without_document
from rag_engine.notebook.store import change_notebooks


def forget_in_notebooks(workspace: Path, document_id: str) -> None:
    """Remove what the notebooks quote of a document, and the entries that have nothing else but their note."""
    change_notebooks(workspace, document_id, partial(without_document, document_id=document_id))
