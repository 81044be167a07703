"""The building of the knowledge base, entry by entry; an interrupted one continues.

An entry is built again if its passages or its sentences have changed. It is also built again if it was quoted for want
of a language model and one answers now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rag_engine.answer_sentences import entry_question
from rag_engine.answering.circumstances import digest_of
from rag_engine.book_index.matching import explained
from rag_engine.calibration import languages_of
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.grounding.knowledge import (
    EntryPlace,
    GroundedContext,
    GroundedEntry,
    GroundedQuote,
    GroundedSource,
    Grounding,
    KnowledgeBase,
    ListedEntry,
    index_entries,
)
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.prompts import entry_wish
from rag_engine.protocols import Embedder, Generator, Vectors
from rag_engine.retrieval.exact_search import nearest
from rag_engine.retrieval.retrieve import hit_of, hit_source
from rag_engine.retrieval.scores import near_sentences
from rag_engine.storage.catalog import ChildRecord
from rag_engine.storage.snapshot import CollectionView
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import QUOTED, Answer
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.types.passage import Hit, IndexListing, NearSentence, Source

# Entries of another version are built again.
VERSION = 1
# A model that fails this often in a row is away.
_FAILURES = 3
# Quotations are shorter here than in an answer.
_QUOTES = 3

# Where it is, of how many entries, and the entry that comes next.
GroundingProgress = Callable[[int, int, str], None]
# The pages of a document that are its index.
IndexPages = Callable[[DocumentRecord], Collection[int]]

PASSAGES = 3
# More candidates are read, since passages on pages of the index are left out.
_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class GroundingSummary:
    """Outcome of a run over the entries of all indexes.

    `written` entries are new or built again, `kept` ones unchanged. The next run builds `failed` ones again. `removed`
    ones have left their index. `waiting` ones were not reached. `failure` is the last reason of a failure.
    """

    entries: int
    written: int
    kept: int
    failed: int
    removed: int
    waiting: int
    generator: str
    failure: Message = NO_MESSAGE

    def describe(self, wording: Wording = ENGLISH) -> str:
        """Return the figures in words: "12 entries: 10 written, 2 unchanged".

        >>> GroundingSummary(3, written=1, kept=0, failed=1, removed=0, waiting=1, generator="").describe()
        '3 entries: 1 written, 1 failed, 1 waiting'
        """
        message = wording.message
        counts = (
            (message("{count} written", count=wording.number(self.written)), self.written),
            (message("{count} unchanged", count=wording.number(self.kept)), self.kept),
            (message("{count} failed", count=wording.number(self.failed)), self.failed),
            (message("{count} waiting", count=wording.number(self.waiting)), self.waiting),
            (message("{count} removed", count=wording.number(self.removed)), self.removed),
        )
        told = ", ".join(words for words, count in counts if count)
        entries = wording.counted("{n} entry", "{n} entries", self.entries)
        return message("{entries}: {told}", entries=entries, told=told) if told else entries


def build_knowledge_base(
    engine: Engine,
    generator: Generator | None,
    index_pages: IndexPages,
    *,
    again: bool = False,
    progress: GroundingProgress = lambda *_: None,
    stopped: Callable[[], bool] = lambda: False,
) -> GroundingSummary:
    """Ground every entry that is new or changed, or all entries with `again`.

    Without a generator texts consist of quotations. When it is stopped, it ends before the next entry. BackendError if
    the model fails three times in a row; finished entries are kept.
    """
    view, knowledge = engine.collection.view(), KnowledgeBase(engine.catalog)
    entries, before = index_entries(engine.catalog, view.snapshot.documents), knowledge.groundings()
    gone = before.keys() - {entry.id for entry in entries}
    knowledge.remove(gone)
    builder = _Builder(engine, view, engine.retrievers().embedder(), generator, index_pages)
    written = failed = done = in_a_row = 0
    failure = NO_MESSAGE
    for entry in entries:
        if stopped():
            break
        progress(done, len(entries), entry.name)
        known = None if again else before.get(entry.id)
        try:
            grounding = builder.ground(entry, known)
        except BackendError as error:
            failed, in_a_row, failure = failed + 1, in_a_row + 1, error.message
            if in_a_row == _FAILURES:
                raise
        else:
            in_a_row = 0
            if grounding != known:
                knowledge.keep(grounding)
                written += known is None or grounding.entry != known.entry
        done += 1
    progress(done, len(entries), "")
    return GroundingSummary(
        entries=len(entries),
        written=written,
        kept=done - written - failed,
        failed=failed,
        removed=len(gone),
        waiting=len(entries) - done,
        generator=generator.name if generator else QUOTED,
        failure=failure,
    )


class _Builder:
    """Models and sources that entries are grounded with.

    Texts and index pages of a document are read once.
    """

    def __init__(
        self,
        engine: Engine,
        view: CollectionView,
        embedder: Embedder,
        generator: Generator | None,
        index_pages: IndexPages,
    ) -> None:
        self._engine, self._view, self._embedder, self._generator = engine, view, embedder, generator
        self._pages_of = index_pages
        self._index_pages: dict[int, Collection[int]] = {}
        self._texts: dict[int, str] = {}

    def ground(self, entry: ListedEntry, before: Grounding | None) -> Grounding:
        """Return the entry with its passages and its text, the text of before where the passages are the same.

        BackendError when the model fails.
        """
        places = [[one.document.document_id, one.page, one.start, one.end] for one in entry.places]
        basis = digest_of([VERSION, [self._embedder.name, *map(_state, entry.work), *places]])
        if before is not None and self._generator and before.entry.generator == QUOTED:
            # Quoted for want of a language model, which answers now.
            before = None
        if before is not None and before.basis == basis:
            return before
        contexts = [self._text(place.document)[place.start : place.end] for place in entry.places]
        for document in entry.work:
            if document.key not in self._index_pages:
                self._index_pages[document.key] = self._pages_of(document)
        queries = self._embedder.encode_queries(cached_queries(entry, contexts))
        evidence = entry_evidence(entry, contexts, queries, self._view, self._index_pages)
        fingerprint = digest_of(
            [VERSION, [[source.document.document_id, source.start, source.text] for source in evidence.sources]]
        )
        if before is not None and before.fingerprint == fingerprint:
            # The same passages; a document may be described in another way.
            documents = {source.document.document_id: source.document for source in evidence.sources}
            sources = tuple(_described(source, documents[source.document_id]) for source in before.entry.sources)
            return Grounding(replace(before.entry, sources=sources), basis, fingerprint)
        return Grounding(self._written(entry, contexts, evidence), basis, fingerprint)

    def _written(self, entry: ListedEntry, contexts: list[str], evidence: Evidence) -> GroundedEntry:
        *_, answer = self._engine.answer_from(evidence, self._generator)
        assert isinstance(answer, Answer), "an answer always ends with itself"
        # The passages as they were ranked, under the numbers that the answer gave them.
        sources = answer.evidence.sources
        status, text = answer.status, answer.text if answer.status == "answered" else ""
        if status == "error":
            if self._generator is not None:
                raise BackendError(answer.text)
            # Nothing can be quoted, as of a page of code; the warnings of the answer say so.
            status = "insufficient_evidence"
        quotes = tuple(
            GroundedQuote(citation.n, citation.page, " ".join(citation.quote.split()), citation.page_label)
            for citation in answer.citations
        )
        if self._generator is None:
            quotes = quotes[:_QUOTES]
            text = "\n".join(f"“{quote.quote}” [Source {quote.n}]" for quote in quotes)
        return GroundedEntry(
            id=entry.id,
            index=entry.index,
            term=entry.term,
            subterm=entry.subterm,
            language=entry.language,
            contexts=tuple(
                GroundedContext(
                    next(source.n for source in sources if holds(source, place)),
                    place.document.file,
                    place.page,
                    " ".join(context.split()),
                    place.document.page_label(place.page),
                )
                for place, context in zip(entry.places, contexts, strict=True)
            ),
            sources=tuple(map(_source, sources)),
            status=status,
            text=text,
            quotes=quotes,
            support=answer.support,
            generator=answer.generator,
            warnings=answer.warnings,
            written=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _text(self, document: DocumentRecord) -> str:
        if document.key not in self._texts:
            self._texts[document.key] = self._engine.catalog.text(document.key)
        return self._texts[document.key]


def _source(source: Source) -> GroundedSource:
    grounded = GroundedSource(
        n=source.n,
        document_id=source.document.document_id,
        file=source.document.file,
        title=source.document.shown_title,
        page=source.page,
        last_page=source.last_page,
        start=source.start,
        end=source.end,
        text=source.text,
        cosine=None if source.index_context else round(source.hits[0].cosine, 4),
        page_label=source.document.page_label(source.page),
    )
    return _described(grounded, source.document)


def _described(source: GroundedSource, document: DocumentRecord) -> GroundedSource:
    """Return a source with the catalog's description of its document."""
    known = document.metadata
    return replace(
        source, title=document.shown_title, authority=known.authority, year=known.year, licence=known.licence
    )


def _state(document: DocumentRecord) -> list[object]:
    """Return everything that decides a document's passages and its citation."""
    known = document.metadata
    cut = [document.document_id, document.strategy, document.parents, document.children]
    return [*cut, document.shown_title, known.authority, known.year, known.licence]


def cached_queries(entry: ListedEntry, contexts: Sequence[str]) -> list[str]:
    r"""Return the queries of an entry: its name with the sentences of each of its places.

    >>> cached_queries(ListedEntry("1", "plan.pdf", "dykes", "height of", (), ()), ["Dykes are\nraised."])
    ['dykes, height of: Dykes are raised.']
    """
    return [f"{entry.name}: {' '.join(text.split())}" for text in contexts]


def entry_evidence(
    entry: ListedEntry,
    contexts: Sequence[str],
    queries: Vectors,
    view: CollectionView,
    index_pages: Mapping[int, Collection[int]],
) -> Evidence:
    """Return the entry's best three passages as sources, then the other sentences that it leads to.

    Sentences inside one of the passages are left out. `contexts` are the sentences of the entry's places. `queries` are
    the unit vectors of its cached queries, one a place. `index_pages` has, for each document of its work, the pages of
    the index itself. The question asks what the documents say about the entry.
    """
    work = {document.key: document for document in entry.work}
    cosines: dict[int, float] = {}
    for keys, values in nearest(view.snapshot, view.vectors, queries, _CANDIDATES, set(work)):
        for key, cosine in zip(keys.tolist(), values.tolist(), strict=True):
            cosines[key] = max(cosine, cosines.get(key, -1.0))
    ranked = sorted(cosines, key=lambda key: (-cosines[key], key))
    records = view.catalog.children(ranked)
    left_out = {key: frozenset(index_pages.get(key, ())) for key in work}
    read = [records[key] for key in ranked if key in records]
    best = [child for child in read if not {child.page, child.last_page} <= left_out[child.document_key]][:PASSAGES]
    near = near_sentences(queries, entry.language, best, view)
    sources = [
        _passage(n, entry, record, work[record.document_key], cosines[record.key], near[record.key], view)
        for n, record in enumerate(best, start=1)
    ]
    nearest_of_all = max((one.nearness for several in near.values() for one in several), default=0.0)
    for place, text in zip(entry.places, contexts, strict=True):
        if not any(holds(source, place) for source in sources):
            sources.append(_context(len(sources) + 1, entry, place, text, nearest_of_all))
    question = entry_question(entry.name, entry.language)
    plan = QueryPlan(question, entry.language, (question,), output_instructions=entry_wish(entry.language))
    return Evidence(plan, tuple(source.hits[0] for source in sources), tuple(sources))


def _passage(
    n: int,
    entry: ListedEntry,
    record: ChildRecord,
    document: DocumentRecord,
    cosine: float,
    near: tuple[NearSentence, ...],
    view: CollectionView,
) -> Source:
    similarity = view.manifest.calibration.similarity(cosine, languages_of(entry.language, document.metadata.language))
    hit = hit_of(record, document, cosine=cosine, similarity=similarity)
    hit = replace(hit, dense_rank=n, fused=cosine)
    # The child itself, not its parent: an entry is about few sentences.
    return replace(hit_source(n, hit), sentences=near)


def _context(n: int, entry: ListedEntry, place: EntryPlace, text: str, nearness: float) -> Source:
    """Return the sentences to which an entry leads as a source; they are as near to it as any passage."""
    document = place.document
    hit = Hit(
        child_id=f"{document.document_id}_{place.start}",
        document=document,
        start=place.start,
        end=place.end,
        text=text,
        page=place.page,
        last_page=place.page,
        cosine=0.0,
        similarity=0.0,
        indexed_under=explained([IndexListing(entry.name, place.page, glossary=place.glossary)], document),
    )
    sentences = (NearSentence(place.start, place.end, nearness),)
    return replace(hit_source(n, hit), index_context=True, sentences=sentences)


def holds(source: Source, place: EntryPlace) -> bool:
    """Return whether a source holds the sentences to which an entry leads."""
    return source.document.key == place.document.key and source.start <= place.start and place.end <= source.end
