"""Read: the statements of the passages that bear on a sub-question, without a language model.

A statement is a sentence of a passage. It supports a sub-question by their similarity and a weight for the shared
words, as a sentence supports a question in answering.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine import prompts
from rag_engine.answering.citations import shared_words, words
from rag_engine.chunking.indexed_text import context_header, under_header
from rag_engine.chunking.section.rules import normal_label
from rag_engine.controller.memory import Proposition, SubQuestion
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer
from rag_engine.messages import Message
from rag_engine.protocols import Embedder, Generator
from rag_engine.retrieval.place_fit import is_elsewhere, said
from rag_engine.text.analyzer import analyse
from rag_engine.text.sentences import Span, sentence_spans, stripped
from rag_engine.types.passage import Place, Source

# What the share of a sub-question's words in a statement weighs against similarity, and the share taken for granted
# where the two are in different languages; both as in answering/abstention.py.
_WORDS = 0.3
_FOREIGN = 0.3
# Sentences that are encoded for a sub-question in one reading, and of one source: encoding takes most of the time.
_MOST_SENTENCES = 12
_OF_ONE = 2
_SHORTEST = 20

# A cosine, the language of the question and that of the passage to a similarity from 0 to 1.
Similarity = Callable[[float, str, str], float]

# Passages in one request, and characters of one: a small model's window holds them and its reply.
_PASSAGES = 6
_PASSAGE_CHARACTERS = 1_500
_SHORTEST_QUOTE = 15
# What a sentence is worth that is copied from the passage: as much as any that the rules find.
_CERTAIN = 2.0


@dataclass(frozen=True, slots=True)
class StatementReading:
    """Result of reading: statements, and warnings about how they were found."""

    propositions: tuple[Proposition, ...]
    warnings: tuple[Message, ...] = ()


# Sub-questions by their numbers, and the sources to read for them.
Read = Callable[[Sequence[tuple[int, SubQuestion]], Sequence[Source]], StatementReading]


class SentenceReader:
    """Finds statements with the encoder and shared words; each sentence is encoded once."""

    def __init__(self, embedder: Embedder, similarity: Similarity, gazetteer: Gazetteer) -> None:
        self._embedder, self._similarity, self._gazetteer = embedder, similarity, gazetteer
        self._vectors: dict[tuple[Place, Span], NDArray[np.float32]] = {}

    def __call__(self, asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> StatementReading:
        """Return for each sub-question the best statement of each of the likeliest sources that may answer it."""
        chosen = [
            (number, question, source, spans)
            for number, question in asked
            for source, spans in _limited(question, self._eligible(question, sources))
        ]
        self._encode([(source, spans) for _, _, source, spans in chosen])
        texts = [question.text for _, question in asked]
        queries = dict(zip(texts, self._embedder.encode_queries(texts), strict=True)) if chosen else {}
        found = (
            self._best(number, question, source, spans, queries[question.text])
            for number, question, source, spans in chosen
        )
        return StatementReading(tuple(found))

    def _eligible(self, question: SubQuestion, sources: Sequence[Source]) -> list[Source]:
        """Return the sources that are about the section, the year and the country that the sub-question names."""
        if question.sections:
            labelled = [source for source in sources if normal_label(source.section) in question.sections]
            named = [source for source in labelled if any(hit.named for hit in source.hits)]
            sources = named or labelled
        if question.years:
            sources = [source for source in sources if any(year in said(source) for year in question.years)]
        if question.scope.countries:
            sources = [source for source in sources if not is_elsewhere(source, question.scope, self._gazetteer)]
        return list(sources)

    def _encode(self, chosen: Sequence[tuple[Source, Sequence[Span]]]) -> None:
        """Encode the sentences that were not encoded before, each under its document's header."""
        new = {
            (source.place, span): under_header(context_header(source.document.metadata), source.text[slice(*span)])
            for source, spans in chosen
            for span in spans
            if (source.place, span) not in self._vectors
        }
        if new:
            self._vectors |= dict(zip(new, self._embedder.encode_passages(list(new.values())), strict=True))

    def _best(
        self, number: int, question: SubQuestion, source: Source, spans: Sequence[Span], query: NDArray[np.float32]
    ) -> Proposition:
        """Return the statement of the source that supports the sub-question best."""
        written = source.document.metadata.language
        place = source.place

        def support(span: Span) -> float:
            cosine = float(self._vectors[place, span] @ query)
            return self._similarity(cosine, question.language, written) + _WORDS * _share(question, source, span)

        scores = [support(span) for span in spans]
        start, end = spans[int(np.argmax(scores))]
        return Proposition(
            about=number,
            text=" ".join(source.text[start:end].split()),
            language=written,
            place=place,
            document_id=source.document.document_id,
            start=source.start + start,
            end=source.start + end,
            support=max(scores),
        )


def _limited(question: SubQuestion, sources: Sequence[Source]) -> list[tuple[Source, list[Span]]]:
    """Return the best sources with sentences to encode, as many as may be encoded for one sub-question."""
    chosen = [(source, spans) for source in sources if (spans := _promising(question, source))]
    wanted = words(question.text)

    def promise(pair: tuple[Source, list[Span]]) -> float:
        return max(shared_words(wanted, words(pair[0].text[slice(*span)])) for span in pair[1])

    # Of equal promise, as where the languages differ, the order of the search decides.
    return sorted(chosen, key=promise, reverse=True)[: _MOST_SENTENCES // _OF_ONE]


def _promising(question: SubQuestion, source: Source) -> list[Span]:
    """Return the sentences that share most words with the sub-question.

    Among equal sentences, a sentence of a better hit comes first.
    """
    wanted = words(question.text)

    def promise(span: Span) -> tuple[float, int]:
        start, end = source.start + span[0], source.start + span[1]
        ranks = (-rank for rank, hit in enumerate(source.hits) if hit.start <= start and end <= hit.end)
        return shared_words(wanted, words(source.text[slice(*span)])), next(ranks, -len(source.hits))

    spans = (stripped(source.text, *span) for span in sentence_spans(source.text, source.document.metadata.language))
    long_enough = [span for span in spans if span[1] - span[0] >= _SHORTEST]
    return sorted(long_enough, key=promise, reverse=True)[:_OF_ONE]


def _share(question: SubQuestion, source: Source, span: Span) -> float:
    """Return the share of the sub-question's terms in a sentence and the names of its place.

    The names are title, act and headings.
    """
    terms = set(analyse(question.text, question.language))
    metadata = source.document.metadata
    named = " ".join((metadata.title, source.act, source.section, *source.headings, source.text[slice(*span)]))
    share = len(terms.intersection(analyse(named, question.language))) / len(terms) if terms else 0.0
    return share if metadata.language == question.language and terms else max(share, _FOREIGN)


class ModelReader:
    """Asks a language model for statements.

    If the model fails, the rules read instead and a warning says so.
    """

    def __init__(self, generator: Generator, rules: Read, *, seconds: float) -> None:
        self._generator, self._rules, self._seconds = generator, rules, seconds

    def __call__(self, asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> StatementReading:
        """Return the statements that the model copies for the sub-questions from the sources, a few at a time."""
        if not asked:
            return StatementReading(())
        found: list[Proposition] = []
        for first in range(0, len(sources), _PASSAGES):
            batch = sources[first : first + _PASSAGES]
            try:
                found += self._read(asked, batch)
            except BackendError as error:
                reading = self._rules(asked, sources[first:])
                warning = Message(
                    "Passages were compared with the parts of the question by rules: {error}", error=error
                )
                return StatementReading((*found, *reading.propositions), (*reading.warnings, warning))
        return StatementReading(tuple(dict.fromkeys(found)))

    def _read(self, asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> list[Proposition]:
        """Return the propositions of one reply; BackendError if it is not a list of them."""
        passages = [_excerpt(source) for source in sources]
        message = prompts.proposition_message([(number + 1, question.text) for number, question in asked], passages)
        reply = self._generator.complete_json(
            prompts.PROPOSITION_RULES, message, prompts.PROPOSITION_SCHEMA, seconds=self._seconds
        )
        listed = reply.get("propositions")
        if not isinstance(listed, list):
            raise BackendError("the model's reply has no list of propositions.")
        return [
            proposition for item in listed for proposition in _checked(item, {number for number, _ in asked}, sources)
        ]


def _excerpt(source: Source) -> str:
    """Return the part of a source around its best hit that fits into a request."""
    start = max(0, min(source.hits[0].start - source.start, len(source.text) - _PASSAGE_CHARACTERS))
    return source.text[start : start + _PASSAGE_CHARACTERS]


def _checked(item: object, numbers: set[int], sources: Sequence[Source]) -> Iterator[Proposition]:
    """Yield the proposition of a model's reply if its passage contains its quote.

    Its question and passage must be among the ones that the model was given.
    """
    if not isinstance(item, dict):
        return
    question, passage, quote = item.get("question"), item.get("passage"), item.get("quote")
    if type(question) is not int or type(passage) is not int or not isinstance(quote, str):
        return
    words = quote.split()
    if question - 1 not in numbers or not 1 <= passage <= len(sources) or len(" ".join(words)) < _SHORTEST_QUOTE:
        return
    source = sources[passage - 1]
    found = re.search(r"\s+".join(map(re.escape, words)), source.text, re.IGNORECASE)
    if found is not None:
        yield Proposition(
            about=question - 1,
            text=" ".join(found.group().split()),
            language=source.document.metadata.language,
            place=source.place,
            document_id=source.document.document_id,
            start=source.start + found.start(),
            end=source.start + found.end(),
            support=_CERTAIN,
        )
