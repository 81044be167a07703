"""Removal of an erased document from the conversations that had found it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.conversations.store import Conversation, change_conversations

_REDACTED = "This answer quoted a document that was deleted, and was deleted with it."


def forget_in_conversations(workspace: Path, document_id: str, *, redact: bool) -> int:
    """Leave no passage of the document in any conversation, and return the number of those that had one.

    What an answer quotes of it stays, unless it is to `redact` them: then answers that cite it go as well.
    """
    forget = partial(_without, document_id=document_id, redact=redact)
    return change_conversations(workspace, document_id, forget)


def without_document(reply: Reply, document_id: str, *, redact: bool) -> Reply:
    """Return a reply without the passages of a document, and where it is to `redact` without what it quotes of it."""
    quotes = (*reply.citations, *(record.citation for record in reply.records))
    cited = {one.n for one in quotes if one.document_id == document_id}
    kept: list[ShownSource] = []
    for source in reply.sources:
        linked = tuple(one for one in source.linked if one.document_id != document_id)
        if source.document_id != document_id:
            kept.append(replace(source, linked=linked))
        elif source.n in cited and not redact:
            mine = sorted({(one.start, one.end, one.quote) for one in quotes if one.n == source.n})
            span = (mine[0][0], mine[-1][1])
            text = " … ".join(quote for _, _, quote in mine)
            kept.append(replace(source, text=text, start=span[0], end=span[1], passage=span, linked=linked))
    sources = tuple(kept)
    if not (cited and redact):
        return replace(reply, sources=sources)
    return replace(
        reply,
        text=_REDACTED,
        citations=(),
        sources=sources,
        support=(),
        withheld="",
        entities=(),
        records=(),
        quotations="",
    )


def _without(conversation: Conversation, document_id: str, *, redact: bool) -> Conversation:
    forget: Callable[[Reply], Reply] = partial(without_document, document_id=document_id, redact=redact)
    turns = (replace(turn, reply=forget(turn.reply)) if turn.reply else turn for turn in conversation.turns)
    return replace(conversation, turns=tuple(turns))
