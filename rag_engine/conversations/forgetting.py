"""Removal of an erased document from the conversations that had found it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from rag_engine.conversations.erased_documents import note_erased, without_document
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import CONVERSATIONS, Conversation
from rag_engine.storage.records import writing


def forget_in_conversations(workspace: Path, document_id: str, file: str, *, redact: bool) -> None:
    """Remove the passages of a document of a file from every conversation.

    Quotations in answers stay. With `redact`, answers that cite the document are removed too. The same holds for
    answers that are still being written, here or in another process, and for records that are restored later.
    """
    with writing(workspace):
        note_erased(workspace, document_id, file, redact=redact)
        change = partial(_without, document_id=document_id, redact=redact)
        CONVERSATIONS.change_all(workspace, document_id, change)


def _without(conversation: Conversation, document_id: str, *, redact: bool) -> Conversation:
    forget: Callable[[Reply], Reply] = partial(without_document, document_id=document_id, redact=redact)
    turns = (replace(turn, reply=forget(turn.reply)) if turn.reply else turn for turn in conversation.turns)
    return replace(conversation, turns=tuple(turns))
