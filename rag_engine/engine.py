"""Engine: questions to cited answers over one collection; the only place that chooses backends."""

from __future__ import annotations

import threading
import time
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from dataclasses import replace
from pathlib import Path

from rag_engine.answering.bound_sources import as_likely, bound
from rag_engine.answering.chances import judge
from rag_engine.answering.circumstances import (
    Circumstances,
    digest_of,
    package_versions,
    shareable,
    shareable_settings,
)
from rag_engine.answering.generation import AnswerTools, answer
from rag_engine.answering.structured.answer import structured_answer
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.answering.support import LabelJudge, SupportModels
from rag_engine.answering_documents import answering_documents, left_documents, narrowed
from rag_engine.backends.identify_language import identify_language
from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.calibration import languages_of
from rag_engine.chunking.indexed_text import child_id
from rag_engine.config import (
    REPLY_TOKENS,
    Config,
    RetrievalConfig,
    RetrievalProfile,
    changed,
    label_judge_settings,
    read_config,
    recipe_chunking,
)
from rag_engine.controller.gather import ControllerTools, gather
from rag_engine.controller.gather_sides import gather_sides, parts_as_sides
from rag_engine.controller.named_sides import named_sides
from rag_engine.disk_backends import open_backends
from rag_engine.errors import BackendError, InputError, SextantError
from rag_engine.filters import Filter
from rag_engine.geography import load_gazetteer
from rag_engine.messages import Message
from rag_engine.models import Models, open_judge
from rag_engine.planning.follow_up import Exchange, FollowUp, rewrite
from rag_engine.planning.greeting import is_greeting
from rag_engine.planning.plan import plan_question
from rag_engine.planning.two_readings import is_follow_up
from rag_engine.protocols import (
    Embedder,
    Generator,
    IdentifiedModel,
    SparseIndex,
    StorageBackends,
)
from rag_engine.retrieval.absent_words import absent_word, asked_words
from rag_engine.retrieval.fuse_ranks import PROFILES
from rag_engine.retrieval.named_documents import name_documents
from rag_engine.retrieval.rerank_passages import read_passages
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.retrieval.search import Retrievers
from rag_engine.settings import settings_stamp
from rag_engine.storage.catalog import ChildRecord, open_catalog
from rag_engine.storage.collection import Collection
from rag_engine.storage.collection_writer import CollectionWriter
from rag_engine.storage.generations import Generations
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.manifest import check_encoder
from rag_engine.storage.rebuild import RebuildProgress
from rag_engine.storage.snapshot import CollectionView, Snapshot
from rag_engine.types.answer import QUOTED, Answer, StructuredAnswer
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import ControllerStep, Evidence, QueryPlan, Side
from rag_engine.types.language_model import Prompt
from rag_engine.viewer.drawings import Drawings
from rag_engine.viewer.translation import Translation, translate

# A language of fewer documents is no more likely to be asked in than any other.
_LEAST_SHARE = 0.05
# A model that could not plan a question in its time is not asked to for so long: each attempt costs half a minute.
_SLOW_PLANNER_SECONDS = 600.0


class Engine:
    """Answers questions over one workspace's collection. Safe from several threads."""

    def __init__(
        self, config: Config, *, embedder: Embedder | None = None, backends: StorageBackends | None = None
    ) -> None:
        """Open the workspace; `embedder` and `backends` replace the configured ones."""
        self.config = config
        self.catalog = open_catalog(config.workspace, config.catalog_url)
        backends = backends or open_backends(config, self.catalog.state("workspace"))
        self.collection = Collection(config.workspace, self.catalog, backends)
        self.writer = CollectionWriter(self.collection)
        self.generations = Generations(self.writer)
        self.models = Models(config, embedder)
        self.drawings = Drawings(self.collection)
        self._by_rules_until = float("-inf")
        self._spaces: tuple[Snapshot, SparseIndex] | None = None
        self._spaces_lock = threading.Lock()
        self._followed = self._settings_state()

    def follow_settings(self) -> bool:
        """Use changed settings from now on; return whether they have changed.

        Stores and runtime stay as they were opened. Another encoder counts once an index made by it answers.
        """
        state = self._settings_state()
        if state == self._followed:
            return False
        before, manifest = self.config, self.collection.manifest()
        config = replace(
            read_config(before.workspace),
            chroma_url=before.chroma_url,
            catalog_url=before.catalog_url,
            execution=before.execution,
        )
        if manifest is not None and manifest.name.partition("@")[0] != Path(config.encoder).name:
            config = replace(config, encoder=before.encoder)
        self.models.use(config)
        self.config, self._followed = config, state
        return True

    def _settings_state(self) -> tuple[object, int]:
        return settings_stamp(self.config.workspace), self.collection.generation()

    def plan(self, question: str) -> QueryPlan:
        """Take the question apart, by the language model when one answers, else by rules."""
        generator, warning = self.models.language_model()
        started = time.monotonic()
        if generator and started < self._by_rules_until:
            slow = Message("{model} took too long to plan an earlier one.", model=generator.name)
            warning = Message("The question was planned by rules: {error}", error=slow)
            generator = None
        plan = plan_question(
            question,
            identify=self.language_of,
            gazetteer=load_gazetteer(),
            generator=generator,
            config=self.config,
        )
        if generator and time.monotonic() - started >= self.config.generation.planner_seconds:
            self._by_rules_until = time.monotonic() + _SLOW_PLANNER_SECONDS
        return replace(plan, warnings=(*plan.warnings, warning)) if warning else plan

    def _planner(self) -> Generator | None:
        """Return the language model for short tasks before the answer, None while it is known to be too slow."""
        return self.models.language_model()[0] if time.monotonic() >= self._by_rules_until else None

    def language_of(self, question: str) -> str:
        """Return a question's ISO 639-1 code, preferring languages of the collection; "" when it is not known."""
        snapshot = self.collection.snapshot()
        held, documents = snapshot.facets.get("language", {}), max(len(snapshot.documents), 1)
        shares = {code: len(keys) / documents for code, keys in held.items()}
        return identify_language(question, {code: share for code, share in shares.items() if share >= _LEAST_SHARE})

    def search(self, question: str, wanted: Filter | None = None, retrieval: RetrievalConfig | None = None) -> Evidence:
        """Find the passages that bear on the question, in the documents that the filter allows."""
        started = time.perf_counter()
        # A filter that matches nothing is reported before a model is asked for a plan.
        snapshot = self.collection.snapshot()
        answering_documents(wanted or {}, snapshot.facets, snapshot.documents)
        plan = self.plan(question)
        planned = time.perf_counter() - started
        evidence = self.find(plan, wanted, retrieval)
        return replace(evidence, seconds={"plan": planned, **evidence.seconds})

    def find(self, plan: QueryPlan, wanted: Filter | None = None, retrieval: RetrievalConfig | None = None) -> Evidence:
        """Find the passages that a plan asks for, in the documents that the filter allows."""
        if is_greeting(plan.question):
            return Evidence(plan, (), (), plan.warnings, {}, ground="none")
        if not self.collection.snapshot().documents or self.collection.manifest() is None:
            empty = Message("The collection is empty: add documents first.")
            return Evidence(plan, (), (), (*plan.warnings, empty), {}, ground="none")
        view = self.collection.view()
        documents = view.snapshot.documents
        allowed = answering_documents(wanted or {}, view.snapshot.facets, documents)
        allowed = narrowed(plan.question, allowed, documents)
        settings = retrieval or self.config.retrieval
        evidence = self._bound(plan, allowed, view, settings, wanted)
        warnings = (*evidence.warnings, *_otherwise_cut(settings.profile, documents.values()))
        return replace(evidence, warnings=warnings)

    def _bound(
        self,
        plan: QueryPlan,
        allowed: frozenset[int] | None,
        view: CollectionView,
        settings: RetrievalConfig,
        wanted: Filter | None,
    ) -> Evidence:
        """Return what the documents that the question names hold; if that is not enough, what all hold."""

        def search(within: frozenset[int] | None = None) -> Evidence:
            found = retrieve(searched, allowed, view, self.retrievers(), settings, wanted, within)
            return replace(bound(self._judged(found), named), plan=plan)

        named, asked = name_documents(plan, view, allowed), asked_words(plan, view)
        searched = asked.plan(plan) if asked else plan
        # A published recipe searches as it was published.
        first = search(named.first) if named.first and not PROFILES[settings.profile].as_published else None
        # What may answer of a named act comes before all that others say about it.
        if first and (first.ground == "enough" or (named.acts and first.ground == "doubtful")):
            found = first
        else:
            every = search()
            found = first if first and as_likely(first, every) else every
        missing = absent_word(asked, view, every=found.ground == "enough") if asked else None
        return replace(found, absent=(*found.absent, missing)) if missing else found

    def _judged(self, evidence: Evidence) -> Evidence:
        """Return the evidence with the chance of each passage; the best are read, unless a search has read."""
        started = time.perf_counter()
        judged = judge(evidence if evidence.read else self._read(evidence))
        return replace(judged, seconds={**judged.seconds, "judge": time.perf_counter() - started})

    def _read(self, evidence: Evidence) -> Evidence:
        """Return the evidence with its best passages read; with a warning if the reader fails."""
        try:
            reader = self.models.reader()
            return evidence if reader is None else read_passages(evidence, reader)
        except (SextantError, RuntimeError) as error:
            warning = Message("The passages were not read closely: {error}", error=error)
            return replace(evidence, warnings=tuple(dict.fromkeys((*evidence.warnings, warning))))

    def ask(
        self,
        question: str,
        wanted: Filter | None = None,
        retrieval: RetrievalConfig | None = None,
        *,
        prompted: Callable[[Prompt], None] = lambda _: None,
    ) -> Iterator[ControllerStep | Evidence | str | Answer]:
        """Yield the evidence, then the answer's words as `answer_from` does, at last the whole checked answer.

        If a question has several parts and the first search leaves one uncovered, the steps of the controller come
        before the evidence. `prompted` gets the generator's prompt.
        """
        yield from self._answer(self.search(question, wanted, retrieval), wanted, retrieval, prompted=prompted)

    def _answer(
        self,
        found: Evidence,
        wanted: Filter | None,
        retrieval: RetrievalConfig | None,
        *,
        prompted: Callable[[Prompt], None] = lambda _: None,
    ) -> Iterator[ControllerStep | Evidence | str | Answer]:
        """Yield what `ask` yields for a question that was searched for."""
        evidence = yield from self.gather(found, wanted, retrieval)
        yield evidence
        generator, _ = self.models.language_model()
        yield from self.answer_from(evidence, generator, prompted=prompted)

    def answer_from(
        self, evidence: Evidence, generator: Generator | None, *, prompted: Callable[[Prompt], None] = lambda _: None
    ) -> Iterator[str | Evidence | Answer]:
        """Yield the words of an answer as they come, at last the checked answer; quotations without a model.

        If the words name the sources in another order than their numbers, the evidence is yielded again with new
        numbers.
        """
        embedder, manifest = self.embedder(), self.collection.manifest()
        evidence = evidence if evidence.read else self._read(evidence)
        tools = AnswerTools(
            embedder=embedder,
            page_of=self.catalog.page_at,
            config=self.config.generation,
            # One that could not read the passages is a warning already.
            reader=self.models.reader() if evidence.read else None,
            support=SupportModels(manifest.calibration, self.language_of, judge=self._judge()) if manifest else None,
            prompted=prompted,
        )
        yield from answer(evidence, generator, tools)

    def _judge(self) -> LabelJudge | None:
        """Return the model that labels the sentences of answers, or None if none is set."""
        generation = self.config.generation
        if not generation.judge_model:
            return None
        settings = label_judge_settings(generation)
        return LabelJudge(generation.judge_model, lambda: open_judge(self.config, settings))

    def ask_structured(
        self,
        question: str,
        schema: AnswerSchema,
        wanted: Filter | None = None,
        retrieval: RetrievalConfig | None = None,
    ) -> StructuredAnswer:
        """Answer in the shape of a JSON schema; BackendError without a language model."""
        self.models.require_language_model()
        return self.structure(self.search(question, wanted, retrieval), schema)

    def structure(self, evidence: Evidence, schema: AnswerSchema) -> StructuredAnswer:
        """Fill in the form of a JSON schema from the evidence; BackendError without a language model."""
        generation = self.config.generation
        return structured_answer(
            evidence,
            self.models.require_language_model(),
            schema,
            embedder=self.embedder(),
            page_of=self.catalog.page_at,
            child_of=self._child_of,
            # A form may have more tokens than a free answer.
            seconds=generation.answer_seconds * REPLY_TOKENS / generation.answer_tokens,
            wait=threading.Event().wait,
        )

    def gather(
        self, first: Evidence, wanted: Filter | None = None, retrieval: RetrievalConfig | None = None
    ) -> abc.Generator[ControllerStep, None, Evidence]:
        """Yield the steps of searching on for the parts of a question, and return the evidence of all of them.

        A question that names several documents, countries or years beside each other is searched in each of them.
        Without a language model every part of a question is searched by itself.
        """
        if self.config.controller.mode == "off" or not first.sources:
            return first
        view = self.collection.view()
        answering = left_documents(wanted or {}, view.snapshot.facets, view.snapshot.documents)
        documents = {key: view.snapshot.documents[key] for key in answering}
        sides = named_sides(first.plan.question, first.plan.language, view.acts, documents, load_gazetteer())
        if not sides and first.ground != "none" and not self.models.language_model()[0]:
            sides = parts_as_sides(first.plan, load_gazetteer())
        if sides:
            each = self._side_search(first.plan.language, answering, wanted, retrieval)
            return (yield from gather_sides(first, sides, each, load_gazetteer()))
        if first.ground == "none":
            return first
        search = self.part_search(first.plan.language, wanted, retrieval)
        gathered = yield from gather(first, search, self.controller_tools(), self.config.controller)
        if gathered.hits is first.hits:
            return gathered
        return bound(self._judged(self._read(gathered)), name_documents(first.plan, view, None))

    def _side_search(
        self, language: str, answering: frozenset[int], wanted: Filter | None, retrieval: RetrievalConfig | None
    ) -> Callable[[Side], Evidence]:
        """Return the search for a side of a question in its documents, whose best passages are read for it."""
        view, top_k = self.collection.view(), self.config.controller.top_k
        # To read each side's document from end to end would take seconds.
        settings: RetrievalConfig = changed(retrieval or self.config.retrieval, top_k=top_k, read_whole=False)

        def search(side: Side) -> Evidence:
            plan, among = self._planned(side.query, language), side.documents or answering
            return self._judged(retrieve(plan, among, view, self.retrievers(), settings, wanted))

        return search

    def _planned(self, query: str, language: str) -> QueryPlan:
        """Return the plan of a part of a question, which is in this language, by rules."""
        return plan_question(
            query, identify=lambda _: language, gazetteer=load_gazetteer(), generator=None, config=self.config
        )

    def part_search(
        self, language: str, wanted: Filter | None = None, retrieval: RetrievalConfig | None = None
    ) -> Callable[[str], Evidence]:
        """Return the search that the controller asks: from a query in this language to its few best passages."""
        view = self.collection.view()
        allowed = answering_documents(wanted or {}, view.snapshot.facets, view.snapshot.documents)
        # A reranker would read twenty passages for each part; the gathered ones are read once, together.
        settings: RetrievalConfig = changed(
            retrieval or self.config.retrieval, top_k=self.config.controller.top_k, rerank=False
        )

        def search(query: str) -> Evidence:
            plan = self._planned(query, language)
            return retrieve(plan, allowed, view, self.retrievers(), settings, wanted)

        return search

    def controller_tools(self) -> ControllerTools:
        """Return the models and tables that the controller reads with."""
        calibration = self.collection.view().manifest.calibration
        return ControllerTools(
            embedder=self.embedder(),
            similarity=lambda cosine, asked, written: calibration.similarity(cosine, languages_of(asked, written)),
            gazetteer=load_gazetteer(),
            generator=self._planner(),
            seconds=self.config.generation.planner_seconds,
        )

    def circumstances(self) -> Circumstances:
        """Return the circumstances of an answer: model, encoder, index, settings and versions."""
        generator, _ = self.models.language_model()
        judge: Generator | None = None
        if label_judge := self._judge():
            with suppress(BackendError):
                judge = label_judge.reach()
        manifest, snapshot = self.collection.manifest(), self.collection.snapshot()
        return Circumstances(
            model=shareable(generator.name, self.config) if generator else QUOTED,
            model_digest=_digest(generator),
            encoder=shareable(manifest.name, self.config) if manifest else "",
            generation=self.collection.generation(),
            collection=digest_of(sorted(document.sha256 for document in snapshot.documents.values())),
            settings=shareable_settings(self.config),
            versions=package_versions(),
            judge_digest=_digest(judge),
        )

    def ask_next(
        self,
        question: str,
        before: Sequence[Exchange],
        wanted: Filter | None = None,
        retrieval: RetrievalConfig | None = None,
    ) -> Iterator[FollowUp | ControllerStep | Evidence | str | Answer]:
        """Yield the rewritten question if it leans on the ones `before` it, then everything `ask` yields.

        If it is not sure to, both readings are searched for, and the one that answers better is asked.
        """
        follow_up = self.follow_up(question, before)
        if follow_up is None:
            yield from self.ask(question, wanted, retrieval)
            return
        found = self.search(follow_up.searched, wanted, retrieval)
        if not follow_up.sure:
            alone = self.search(question, wanted, retrieval)
            follow_up = replace(follow_up, asked=is_follow_up(alone, found, follow_up.before))
            found = found if follow_up.asked else alone
        yield follow_up
        yield from self._answer(found, wanted, retrieval)

    def follow_up(self, question: str, before: Sequence[Exchange]) -> FollowUp | None:
        """Return the full form of a question that leans on the ones `before` it, else None."""
        if not before:
            return None
        generator = self._planner()
        # A question of one word is rather in the language of the one before.
        language = identify_language(question, {self.language_of(before[-1].question): 1.0})
        return rewrite(question, before, language=language, generator=generator, config=self.config)

    def translate(self, passage: str, language: str, into: str) -> Translation:
        """Return a passage in another language (ISO 639-1); BackendError without a language model."""
        seconds = self.config.generation.answer_seconds
        return translate(passage, language, into, self.models.require_language_model(translating=True), seconds=seconds)

    def retrieval(self, **changes: object) -> RetrievalConfig:
        """Return the configured retrieval with some values changed."""
        settings: RetrievalConfig = changed(self.config.retrieval, **changes)
        return settings

    def retrievers(self) -> Retrievers:
        """Return the backends that a search asks."""
        collection = self.collection
        return Retrievers(
            embedder=self._indexing_embedder,
            dense=collection.dense,
            sparse=collection.sparse,
            spaces=self._words_between_spaces,
            reranker=self.models.reranker,
            reader=self.models.reader,
        )

    def _words_between_spaces(self) -> SparseIndex:
        """Return the paper's keyword index of the visible children, made when the collection changes."""
        snapshot = self.collection.snapshot()
        with self._spaces_lock:
            if self._spaces is None or self._spaces[0] is not snapshot:
                index = PaperSparseIndex()
                for record in snapshot.documents.values():
                    children = self.catalog.document_children(record.key)
                    index.add((child.key, record.key, record.metadata.language, child.text) for child in children)
                index.commit()
                self._spaces = snapshot, index
            return self._spaces[1]

    def embedder(self) -> Embedder:
        """Return the configured encoder, loaded once."""
        manifest = self.collection.manifest()
        return self.models.embedder(manifest.name if manifest else "")

    def load_in_background(self) -> None:
        """Begin to load everything for the first question and its page; errors come at its first use."""
        self.drawings.start()
        self.begin_loading_models()

    def begin_loading_models(self) -> None:
        """Begin to load the models of a question, two at a time; `close` waits for them."""
        self.models.begin_loading(self.embedder)

    def indexer(self) -> AbstractContextManager[Indexer]:
        """Give the workspace's writer, with the configured encoder and chunking."""
        return self.writer.open_indexer(self.embedder, self.config.chunking)

    def rebuild(
        self,
        *,
        encode: bool = False,
        progress: RebuildProgress = lambda *_: None,
        check: Callable[[Engine], bool] = lambda _: True,
    ) -> int:
        """Make new indexes and return the number of children; with `encode` from documents encoded again.

        `check` gets an engine that answers from the new indexes before they are put in place. If it returns False, the
        old ones stay and the new ones wait. A SextantError that it raises removes the new ones.
        """
        embedder = self.embedder() if encode else None
        return self.generations.rebuild(
            progress,
            embedder=embedder,
            chunking=self.config.chunking,
            check=lambda collection: check(self._over(collection)),
        )

    def _over(self, collection: Collection) -> Engine:
        """Return an engine with the same models that answers from another collection; it is not to be closed."""
        other = copy(self)
        other.collection, other.catalog = collection, collection.catalog
        return other

    def close(self) -> None:
        """Release every lock and connection."""
        self.models.close()
        self.collection.close()
        self.drawings.close()

    def _child_of(self, document: DocumentRecord, start: int, end: int) -> str:
        """Return the id of the child that holds most of a document's text [start, end)."""
        children = self.catalog.document_children(document.key)
        if not children:
            raise InputError(f"{document.file} was erased while it answered.", help="Ask again.")

        def held(child: ChildRecord) -> int:
            return min(end, child.parent.start + child.end) - max(start, child.parent.start + child.start)

        chosen = max(children, key=held)
        return child_id(document.sha256, chosen.parent.index, chosen.index)

    def _indexing_embedder(self) -> Embedder:
        """Return the encoder, if it is the one that made the index."""
        embedder = self.embedder()
        check_encoder(self.collection.manifest(), embedder, self.config.workspace)
        return embedder


def _digest(model: Generator | None) -> str:
    """Return the digest of a model's weights, "" where its server tells none."""
    return model.digest if isinstance(model, IdentifiedModel) else ""


def _otherwise_cut(name: RetrievalProfile, documents: Iterable[DocumentRecord]) -> Iterator[Message]:
    """Yield a warning where documents are not cut as a published recipe says."""
    strategy = recipe_chunking(name).strategy
    others = [document.strategy != strategy for document in documents] if PROFILES[name].as_published else []
    if any(others):
        yield Message(
            "{n} of {count} documents are not cut as the recipe {name!r} cuts them: set SEXTANT_RETRIEVAL={name} and "
            "run `sextant rebuild --encode` for that.",
            n=sum(others),
            count=len(others),
            name=name,
        )


def open_engine(config: Config) -> Engine:
    """Return the engine over a workspace; models and servers are only reached for when they are needed."""
    if not config.workspace.name:
        raise InputError("The workspace has no name.", help="Give a folder with --workspace.")
    return Engine(config)
