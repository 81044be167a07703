"""Questions with known passages, several ways of chunking and searching, side by side."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rag_engine.config import Config
from rag_engine.evaluation.cached_reader import cached
from rag_engine.evaluation.configurations import Configuration, by_chunking
from rag_engine.evaluation.gold import GoldQuestion, alternatives
from rag_engine.evaluation.metric import Measured
from rag_engine.evaluation.passage_metrics import METRICS, Passage, PassageScore, Words, score_passages, word_starts
from rag_engine.evaluation.rankers import searching
from rag_engine.evaluation.temporary_collection import MeasuringProgress, indexed
from rag_engine.evaluation.vector_cache import CachedEmbedder
from rag_engine.messages import Message
from rag_engine.protocols import Embedder
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.types.document import Document
from rag_engine.types.evidence import Evidence


@dataclass(frozen=True, slots=True)
class PassageFigures:
    """Results of a configuration and the sizes of its chunks, in characters, as means."""

    measured: Measured
    parents: int
    children: int
    parent_size: float
    child_size: float
    index_seconds: float
    encode_seconds: float
    warnings: tuple[Message, ...]


def run_passages(
    questions: Sequence[GoldQuestion],
    documents: Sequence[Document],
    configurations: Sequence[Configuration],
    config: Config,
    embedder: Embedder,
    *,
    cache: Path,
    progress: MeasuringProgress = lambda *_: None,
) -> tuple[PassageFigures, ...]:
    """Return the configurations' figures in their order, a value for each question and metric.

    The sources that would be read are compared with the quoted passages. A document is known by its file's name.
    InputError names a quote that is not on its page.
    """
    texts = {document.file: document.extracted for document in documents}
    ideal = [alternatives(question, texts) for question in questions]
    words = {name: word_starts(extracted.text) for name, extracted in texts.items()}
    encoder = CachedEmbedder(embedder, cache)
    found: dict[str, PassageFigures] = {}
    named = [(document.file, document) for document in documents]
    for chunking, together in by_chunking(configurations, config).items():
        with indexed(named, replace(config, chunking=chunking), encoder, progress) as collection:
            children = [c for key in collection.names for c in collection.engine.catalog.document_children(key)]
            parents = {child.parent.key: child.parent.end - child.parent.start for child in children}
            retrievers = cached(collection.engine.retrievers())
            for configuration in together:
                warned: Counter[str] = Counter()
                # With a floor a configuration that finds less would be the more precise one.
                search = searching(retrieve, collection, configuration, warned, retrievers, similarity_floor=0.0)
                measured = _measured(configuration.name, questions, ideal, words, search, progress)
                found[configuration.name] = PassageFigures(
                    measured=measured,
                    parents=len(parents),
                    children=len(children),
                    parent_size=float(np.mean(list(parents.values()))),
                    child_size=float(np.mean([child.end - child.start for child in children])),
                    index_seconds=collection.index_seconds,
                    encode_seconds=collection.encode_seconds,
                    warnings=tuple(
                        Message("{warning} ({count} searches)", warning=warning, count=count)
                        for warning, count in warned.items()
                    ),
                )
    return tuple(found[configuration.name] for configuration in configurations)


def subsets(questions: Sequence[GoldQuestion]) -> Mapping[str, list[bool]]:
    """Return the groups of questions that a table has rows for.

    They are all questions, those whose answer is in another language, and each kind.
    """
    groups = {"all": [True] * len(questions), "cross-lingual": [question.cross_lingual for question in questions]}
    for kind in sorted({question.kind for question in questions if question.kind}):
        groups[kind] = [question.kind == kind for question in questions]
    return {name: chosen for name, chosen in groups.items() if any(chosen)}


def _measured(
    name: str,
    questions: Sequence[GoldQuestion],
    ideal: Sequence[Sequence[Sequence[Passage]]],
    words: Words,
    search: Callable[[str], Evidence],
    progress: MeasuringProgress,
) -> Measured:
    scores: list[PassageScore] = []
    milliseconds: list[float] = []
    search(questions[0].question)
    for place, (question, answers) in enumerate(zip(questions, ideal, strict=True)):
        progress(place, len(questions), name)
        started = time.perf_counter()
        sources = search(question.question).sources
        milliseconds.append(1000.0 * (time.perf_counter() - started))
        read = [Passage(source.document.file, source.start, source.end) for source in sources]
        scores.append(score_passages(read, answers, words))
    metrics = dict(zip(METRICS, np.array(scores, np.float64).T, strict=True))
    return Measured(name, metrics, np.array(milliseconds))
