"""Erased documents, so that what was begun before, such as an answer, does not repeat their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.set_aside import set_aside

REDACTED = "This answer quoted a document that was deleted, and was deleted with it."


@dataclass(frozen=True, slots=True)
class ErasedDocument:
    """An erased document by id, file and moment; `redact` where what quotes it was to go as well."""

    document_id: str
    redact: bool
    when: str
    file: str = ""


_CODEC, _ONE = TypeAdapter(tuple[ErasedDocument, ...]), TypeAdapter(ErasedDocument)
# It holds ids and names of files, and no words of a document.
ERASED_LIST = "erased.json"
# One in what is left of a damaged list.
_WRITTEN = re.compile(rb"\{[^{}]*\}")


def note_erased(workspace: Path, document_id: str, file: str, *, redact: bool) -> None:
    """Note that a document was erased: once no question finds it, before what is kept forgets it.

    A list that is damaged is set aside and begun again with what can be read of it.
    """
    erased = ErasedDocument(document_id, redact, datetime.now(UTC).isoformat(timespec="microseconds"), file)
    others = (one for one in _all(workspace) if replace(one, when=erased.when) != erased)
    if is_list_damaged(workspace):
        set_aside(workspace, [_path(workspace)])
    write_atomic(_path(workspace), _CODEC.dump_json((*others, erased)))


def is_list_damaged(workspace: Path) -> bool:
    """Return whether the list of what was erased cannot be read whole."""
    return _read(workspace)[1]


def erased_since(workspace: Path, moment: str) -> list[ErasedDocument]:
    """Return the documents that were erased at a moment (ISO, UTC) or later."""
    return [one for one in _all(workspace) if one.when >= moment]


def without_erased(workspace: Path, reply: Reply, asked: str) -> Reply:
    """Return the reply to a question of that moment without the documents that were erased since."""
    for one in erased_since(workspace, asked):
        reply = without_document(reply, one.document_id, redact=one.redact)
    return reply


def without_document(reply: Reply, document_id: str, *, redact: bool) -> Reply:
    """Return a reply without a document's passages and title, and to `redact` without its quotes."""
    reply = replace(reply, warnings=_not_naming(reply, document_id))
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
    )


def _not_naming(reply: Reply, document_id: str) -> tuple[str, ...]:
    """Return the warnings that do not name a document, as one whose passages fitted into no model."""
    names = {f"“{one.title}”" for one in reply.sources if one.document_id == document_id}
    return tuple(one for one in reply.warnings if not any(name in one for name in names))


def _all(workspace: Path) -> tuple[ErasedDocument, ...]:
    return _read(workspace)[0]


def _read(workspace: Path) -> tuple[tuple[ErasedDocument, ...], bool]:
    """Return what the list has, and whether it is damaged: then it is what can still be read of it.

    Nothing that asks for it may fail: without the list nobody could write an answer, or erase anything.
    """
    try:
        content = _path(workspace).read_bytes()
    except FileNotFoundError:
        return (), False
    except IsADirectoryError:
        return (), True
    try:
        return _CODEC.validate_json(content), False
    except ValidationError:
        return tuple(_readable(content)), True


def _readable(content: bytes) -> Iterator[ErasedDocument]:
    for one in _WRITTEN.findall(content):
        with suppress(ValidationError):
            yield _ONE.validate_json(one)


def _path(workspace: Path) -> Path:
    return workspace / ERASED_LIST
