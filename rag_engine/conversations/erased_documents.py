"""Erased documents: an answer or other work that was begun before does not repeat their words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.messages import Message
from rag_engine.storage.records import bodies, reading, write_record, writing

REDACTED = Message("This answer quoted a document that was deleted, and was deleted with it.")


@dataclass(frozen=True, slots=True)
class ErasedDocument:
    """An erased document by id, file and moment; with `redact`, its quotations go too."""

    document_id: str
    redact: bool
    when: str
    file: str = ""


_CODEC, _KIND = TypeAdapter(ErasedDocument), "erased"


def note_erased(workspace: Path, document_id: str, file: str, *, redact: bool) -> None:
    """Note that a document was erased, before conversations and notebooks are cleaned of it.

    By then the document is gone from the collection, so no question finds it.
    """
    erased = ErasedDocument(document_id, redact, datetime.now(UTC).isoformat(timespec="microseconds"), file)
    with writing(workspace) as connection:
        write_record(connection, _KIND, f"{document_id} {redact} {file}", _CODEC.dump_json(erased).decode())


def erased_since(workspace: Path, moment: str) -> list[ErasedDocument]:
    """Return the documents that were erased at a moment (ISO, UTC) or later."""
    with reading(workspace) as connection:
        erased = map(_CODEC.validate_json, bodies(connection, _KIND).values())
        return [document for document in erased if document.when >= moment]


def without_erased(workspace: Path, reply: Reply, asked: str) -> Reply:
    """Return the reply to a question of that moment without the documents that were erased since."""
    for document in erased_since(workspace, asked):
        reply = without_document(reply, document.document_id, redact=document.redact)
    return reply


def without_document(reply: Reply, document_id: str, *, redact: bool) -> Reply:
    """Return a reply without a document's passages and title, and to `redact` without its quotes."""
    # Warnings name documents, as one whose passages fitted into no model.
    names = {f"“{one.title}”" for one in reply.sources if one.document_id == document_id}
    reply = replace(
        reply, warnings=tuple(warning for warning in reply.warnings if not any(name in warning for name in names))
    )
    quotes = (*reply.citations, *(record.citation for record in reply.records))
    cited = {citation.n for citation in quotes if citation.document_id == document_id}
    found = any(source.document_id == document_id for source in reply.sources)
    kept: list[ShownSource] = []
    for source in reply.sources:
        linked = tuple(link for link in source.linked if link.document_id != document_id)
        if source.document_id != document_id:
            kept.append(replace(source, linked=linked))
        elif source.n in cited and not redact:
            mine = sorted(
                {(citation.start, citation.end, citation.quote) for citation in quotes if citation.n == source.n}
            )
            span = (mine[0][0], mine[-1][1])
            text = " … ".join(quote for _, _, quote in mine)
            kept.append(replace(source, text=text, start=span[0], end=span[1], passage=span, linked=linked))
    sources = tuple(kept)
    if not (cited and redact):
        # What a model wrote without a mark may be of any source that it was given.
        if found and redact:
            reply = replace(reply, withheld="", steps=())
        return replace(reply, sources=sources)
    return replace(
        reply,
        text=REDACTED,
        citations=(),
        sources=sources,
        support=(),
        withheld="",
        steps=(),
        entities=(),
        records=(),
        quotations="",
        quoted=(),
    )
