"""Documents that were erased, so that what was begun before, such as an answer, brings none of their words back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.reply import Reply, ShownSource

REDACTED = "This answer quoted a document that was deleted, and was deleted with it."


@dataclass(frozen=True, slots=True)
class ErasedDocument:
    """A document that was erased, by its id, file and moment; `redact` where what quotes it was to go as well."""

    document_id: str
    redact: bool
    when: str
    file: str = ""


_CODEC = TypeAdapter(tuple[ErasedDocument, ...])


def note_erased(workspace: Path, document_id: str, file: str, *, redact: bool) -> None:
    """Note that a document was erased, after which no question finds it and before it is removed from what is kept."""
    erased = ErasedDocument(document_id, redact, datetime.now(UTC).isoformat(timespec="microseconds"), file)
    others = (one for one in _all(workspace) if replace(one, when=erased.when) != erased)
    write_atomic(_path(workspace), _CODEC.dump_json((*others, erased)))


def erased_since(workspace: Path, moment: str) -> list[ErasedDocument]:
    """Return the documents that were erased at a moment (ISO, UTC) or later."""
    return [one for one in _all(workspace) if one.when >= moment]


def without_erased(workspace: Path, reply: Reply, asked: str) -> Reply:
    """Return the reply to a question of that moment without the documents that were erased since."""
    for one in erased_since(workspace, asked):
        reply = without_document(reply, one.document_id, redact=one.redact)
    return reply


def without_document(reply: Reply, document_id: str, *, redact: bool) -> Reply:
    """Return a reply without the passages of a document, and where it is to `redact` without what it quotes of it."""
    quotes = (*reply.citations, *(record.citation for record in reply.records))
    cited = {one.n for one in quotes if one.document_id == document_id}
    found = any(source.document_id == document_id for source in reply.sources)
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
        # What a model wrote without a mark may be of any source that it was given.
        withheld = "" if found and redact else reply.withheld
        return replace(reply, sources=sources, withheld=withheld)
    return replace(
        reply,
        text=REDACTED,
        citations=(),
        sources=sources,
        support=(),
        withheld="",
        entities=(),
        records=(),
        quotations="",
    )


def _all(workspace: Path) -> tuple[ErasedDocument, ...]:
    try:
        return _CODEC.validate_json(_path(workspace).read_bytes())
    except FileNotFoundError:
        return ()


def _path(workspace: Path) -> Path:
    return workspace / "erased.json"
