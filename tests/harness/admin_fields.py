"""Payloads in the fields that the Compare page and the tabs of the Admin page draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.acts.register import enter
from ingestion.acts.settings import change_setting
from ingestion.dataset.comparison.ask_cells import moment
from ingestion.dataset.comparison.comparison import Comparison, ComparisonCell, ComparisonColumn
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.records.people import welcome
from ingestion.records.source_record import EXCLUDED, Decision
from ingestion.types.outcome import Outcome
from ingestion.types.source import ListedSource
from rag_engine.conversations.store import new_id
from rag_engine.engine import Engine
from rag_engine.grounding.knowledge import (
    GroundedContext,
    GroundedEntry,
    GroundedSource,
    Grounding,
    KnowledgeBase,
    index_entries,
)
from rag_engine.messages import Message
from rag_engine.storage.index_entries import IndexedEntry, replace_index
from rag_engine.types.answer import Citation
from rag_engine.types.document import DocumentRecord
from tests.ingestion.source_records import VALUES, source_record

_WHEN = "2026-11-26T02:00:00"


def compared(engine: Engine, together: Sequence[str]) -> Iterator[str]:
    """Keep a comparison whose parts all hold payloads; yield the addresses of its views."""
    documents = engine.collection.documents()
    id, columns = new_id(), tuple(ComparisonColumn(one.document_id, one.metadata.title) for one in documents)
    cells = {
        (text, document.document_id): _cell(text, document) for text, document in zip(together, documents, strict=True)
    }
    named = Comparison(id, together[0][:80], "document", tuple(together), columns, {}, moment(), cells)
    ComparisonStore(engine.catalog).restore(named)
    yield "/compare"
    yield f"/compare?comparison={id}"
    yield f"/compare?comparison={id}&cell=1.1"


def administered(engine: Engine, together: Sequence[str]) -> Iterator[str]:
    """Fill what the tabs draw of runs, refused files, indexes, settings, people and the audit log."""
    context = open_context(engine, local_person(together[0][:80]))
    for number, text in enumerate(together):
        context.jobs.finish(context.jobs.queue("add", {"paths": [text]}, context.person), "failed", [], text)
        context.jobs.finish(context.jobs.queue("backup", {}, context.person), "failed", [], text)
        _reject(context, f"OUT{number:03}", text)
        _describe(context, f"DOC{number:03}", text)
        welcome(engine.config.workspace, f"issuer|{number}", f"p{number}@example.org", text)
        enter(context, "decide", text, text)
    change_setting(context, "ollama_model", together[0][:80], together[0][:80])
    _list(engine, together)
    yield from (
        f"/admin?tab={tab}" for tab in ("run", "quarantine", "metadata", "knowledge", "settings", "people", "backups")
    )


def _cell(text: str, document: DocumentRecord) -> ComparisonCell:
    citation = Citation(1, "", document.document_id, document.file, text, 1, text[:200], 0, min(200, len(text)))
    answer = f"{text} [Source 1]."
    return ComparisonCell(
        text,
        document.document_id,
        "answered",
        text,
        answer,
        (citation,),
        generator=text[:80],
        warnings=(Message(text),),
    )


def _reject(context: ActContext, code: str, text: str) -> None:
    context.store.add(
        [ListedSource(code, f"https://example.org/{code}", "", text, text, text, text, "", Message(text))]
    )
    context.store.record(code, "quality", Outcome("refused", "no_text", Message(text)), fingerprint="f", seconds=0.1)
    context.store.decide(Decision(code, "indexing", EXCLUDED, text[:80], text, _WHEN))


def _describe(context: ActContext, code: str, text: str) -> None:
    """Add a source that came through all phases, each value of whose description is a payload."""
    described = source_record(code, dict.fromkeys(VALUES, (text,)))
    context.store.add([described.source])
    for phase, outcome in described.outcomes.items():
        context.store.record(code, phase, outcome, fingerprint="f", seconds=0.1)


def _list(engine: Engine, together: Sequence[str]) -> None:
    """Have an index list terms that are payloads, and ground its entries."""
    documents = engine.collection.documents()
    name = together[0].replace("/", "")[:80]
    listed = {
        document.key: [IndexedEntry(text, text, name, 1, 0, 20)]
        for text, document in zip(together, documents, strict=True)
    }
    replace_index(engine.catalog, name, listed)
    knowledge = KnowledgeBase(engine.catalog)
    for entry in index_entries(engine.catalog, engine.collection.snapshot().documents):
        document = documents[together.index(entry.term)]
        source = GroundedSource(
            1, document.document_id, document.file, entry.term, 1, 1, 0, 20, entry.term, cosine=None
        )
        context = GroundedContext(1, document.file, 1, entry.term)
        text = f"{entry.term} [Source 1]."
        shown = GroundedEntry(
            entry.id, name, entry.term, entry.term, "en", (context,), (source,), "answered", text, (), (), "extractive",
            (Message(entry.term),), _WHEN,
        )  # fmt: skip
        knowledge.keep(Grounding(shown, "b", "f"))
