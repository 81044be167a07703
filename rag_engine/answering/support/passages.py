"""The part of its sources that each sentence of an answer is held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from rag_engine.answering.citations import AnswerSentence, answer_sentences, likely_sentences, shared_words, words
from rag_engine.answering.support.claim_words import states_nothing
from rag_engine.answering.support.features import CitedPassage, StatedFacts, facts_of
from rag_engine.calibration import Calibration, languages_of
from rag_engine.protocols import Embedder
from rag_engine.text.sentences import Span
from rag_engine.types import Source

_SENTENCES = 48  # of all sources together, encoded at most for one answer
_PART = 2  # sentences of a source that one of an answer may rest on

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class HeldSentence:
    """A sentence of an answer and what it is held against; None where it states nothing or there is no source."""

    sentence: AnswerSentence
    passage: CitedPassage | None


@dataclass(frozen=True, slots=True)
class _ReadSource:
    """A cited source: the sentences of it that were encoded, and the facts of all its text."""

    source: Source
    vectors: Mapping[Span, Vector]
    facts: StatedFacts


def hold_against(
    text: str, language: str, sources: Sequence[Source], *, embedder: Embedder, calibration: Calibration
) -> list[HeldSentence]:
    """Return each sentence of a checked answer with the part of its sources that comes nearest to it.

    Its sources are those that it names, else those that its paragraph names, else all.
    """
    sentences = answer_sentences(text, language)
    given = {source.n: source for source in sources}
    cited = {
        one: [n for n in one.numbers if n in given] or list(given)
        for one in sentences
        if not states_nothing(one.text, language)
    }
    if not cited or not given:
        return [HeldSentence(one, None) for one in sentences]
    asked = {n: [one.text for one, numbers in cited.items() if n in numbers] for n in given}
    read = _read_sources([given[n] for n in given if asked[n]], asked, embedder)
    queries = dict(zip(cited, embedder.encode_queries([one.text for one in cited]), strict=True))
    return [
        HeldSentence(
            one,
            _nearest(one.text, language, queries[one], [read[n] for n in cited[one]], calibration)
            if one in cited
            else None,
        )
        for one in sentences
    ]


def _read_sources(
    sources: Sequence[Source], asked: Mapping[int, Sequence[str]], embedder: Embedder
) -> dict[int, _ReadSource]:
    """Encode the likeliest sentences of each source in one batch."""
    limit = max(_PART, _SENTENCES // len(sources))
    places = [(source, span) for source in sources for span in likely_sentences(source, asked[source.n], limit)]
    texts = [source.text[slice(*span)] for source, span in places]
    encoded: Iterable[Vector] = embedder.encode_passages(texts) if texts else ()
    vectors: dict[int, dict[Span, Vector]] = {source.n: {} for source in sources}
    for (source, span), vector in zip(places, encoded, strict=True):
        vectors[source.n][span] = vector
    return {source.n: _ReadSource(source, vectors[source.n], _facts(source)) for source in sources}


def _nearest(
    sentence: str, language: str, query: Vector, sources: Sequence[_ReadSource], calibration: Calibration
) -> CitedPassage | None:
    """Return the two sentences of one source that come nearest to a sentence, with the facts of all its sources."""
    facts = reduce(or_, (one.facts for one in sources), StatedFacts())
    best: tuple[float, CitedPassage] | None = None
    wanted = words(sentence)
    for one in sources:
        written = one.source.document.metadata.language
        scale = languages_of(language, written)
        similar = {span: calibration.similarity(float(v @ query), scale) for span, v in one.vectors.items()}
        scores = {
            span: value + shared_words(words(one.source.text[slice(*span)]), wanted) for span, value in similar.items()
        }
        part = sorted(sorted(scores, key=lambda span: -scores[span])[:_PART])
        if part and (best is None or max(scores.values()) > best[0]):
            text = "\n".join(one.source.text[slice(*span)] for span in part)
            passage = CitedPassage(text, written, facts, max(similar[span] for span in part))
            best = max(scores.values()), passage
    return best[1] if best else None


def _facts(source: Source) -> StatedFacts:
    """Return the facts of a source and of what is known of its document."""
    metadata = source.document.metadata
    known = (metadata.title, metadata.authority, source.act, source.section, *source.headings)
    about = "\n".join((*known, str(metadata.year or ""), metadata.date))
    written = facts_of(f"{source.text}\n{about}", metadata.language)
    return written | StatedFacts(places=frozenset(metadata.countries))
