"""Answers without a language model: the best sentences of the sources, quoted."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from rag_engine.answering.citations import shared_words, words
from rag_engine.chunking.indexed_text import context_header, under_header
from rag_engine.errors import BackendError
from rag_engine.prompts import QUOTATIONS_ONLY, one_line
from rag_engine.protocols import Embedder
from rag_engine.text.sentences import sentence_spans
from rag_engine.types import Prompt, Source

_SENTENCES = 128  # encoded at most: the wait for an answer is this many
_SAME = 0.75  # words in common from which two sentences say the same
_TABLE = re.compile(r"\||\t|\.{4,}|(?:\s\d[\d.,%]*){4,}")
# A blank before a full stop is the rest of a table of contents' leader; French sets one before ! ; and :
# A question answers none.
_SENTENCE_END = re.compile(r"(?:(?<!\s)[.…]|[!;:。！])[\"'”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class Quoting:
    """How sentences are chosen, measured by benchmarks/quotations.py.

    At least `fewest` and at most `most` are quoted, of one source `of_one`, from the best `sources`. A score is
    (1 - `keywords`) x meaning + `keywords` x shared words, both 0..1, + `rank` / the source's number. A sentence more
    than `margin` below the best is only shown to reach the fewest; a second source is brought in within `second`. With
    `header` a sentence is read under its document's.
    """

    most: int = 6
    fewest: int = 3
    of_one: int = 3
    sources: int = 8
    keywords: float = 0.3
    rank: float = 0.1
    margin: float = 0.25
    second: float = 0.35
    header: bool = True


@dataclass(frozen=True, slots=True)
class Quotation:
    """A sentence of a source, ready to be shown on one line; `start` counts in the source's text."""

    source: Source
    start: int
    text: str


class ExtractiveAnswerer:
    """Quotations instead of an answer, found with the encoder alone."""

    name = "extractive"
    quotes_only = True
    context_window = sys.maxsize

    def __init__(self, embedder: Embedder, quoting: Quoting = Quoting()) -> None:
        self._embedder, self._quoting = embedder, quoting

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield a line that says what follows, then three to six quotations, each with its source."""
        chosen = self.choose(prompt.plan.question, prompt.sources)
        if not chosen:
            raise BackendError("The sources hold no sentence to quote.", help="Open them, or use a language model.")
        yield QUOTATIONS_ONLY.get(prompt.plan.language, QUOTATIONS_ONLY["en"]) + "\n"
        ordered = sorted(chosen, key=lambda quotation: (quotation.source.n, quotation.start))
        for _, group in groupby(ordered, key=lambda quotation: quotation.source.n):
            yield "\n"
            for quotation in group:
                yield f"- “{quotation.text}” [Source {quotation.source.n}]\n"

    def choose(self, question: str, sources: Sequence[Source]) -> list[Quotation]:
        """Return the sentences to quote, the best first; none where the sources hold no sentence.

        Where the question names sections, nothing else is quoted.
        """
        quoting = self._quoting
        named = [source for source in sources if any(hit.named for hit in source.hits)]
        if named:
            quoting = replace(quoting, of_one=quoting.most, margin=1.0)
        best = sorted(named or sources, key=lambda source: source.n)[: quoting.sources]
        candidates = _candidates(best)
        return _choose(candidates, self._scores(question, candidates), quoting) if candidates else []

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:  # noqa: ARG002
        """Never: without a language model there is nothing to complete."""
        raise BackendError("No language model is connected.", help="Start Ollama, or set SEXTANT_OPENAI_URL.")

    def _scores(self, question: str, candidates: Sequence[Quotation]) -> list[float]:
        """How well each sentence fits the question: meaning and words make 1 together, the source's rank adds to it.

        A sentence is read under the header of its document, as its passage was when it was indexed: who decided
        and where is often in the title alone.
        """
        query = self._embedder.encode_queries([question])[0]
        quoting = self._quoting
        headers = {c.source.n: context_header(c.source.document.metadata) if quoting.header else "" for c in candidates}
        read = [under_header(headers[candidate.source.n], candidate.text) for candidate in candidates]
        cosines = self._embedder.encode_passages(read) @ query
        # An encoder's cosines fill a narrow band of their own; only their order and distances mean something.
        meaning = (cosines - cosines.min()) / (float(np.ptp(cosines)) or 1.0)
        asked = words(question)
        titles = {c.source.n: words(c.source.document.metadata.title) & asked for c in candidates}
        shares = np.array([shared_words(asked, words(c.text) | titles[c.source.n]) for c in candidates])
        keywords = shares / (shares.max() or 1.0)
        found = np.array([quoting.rank / candidate.source.n for candidate in candidates])
        return [float(score) for score in (1 - quoting.keywords) * meaning + quoting.keywords * keywords + found]


def _candidates(sources: Sequence[Source]) -> list[Quotation]:
    """Whole sentences around what was found, the best sources first; other pieces only if there are no sentences."""
    every = [_quotations(source) for source in sources]
    whole = [[quotation for quotation in group if _is_sentence(quotation.text)] for group in every]
    groups = whole if any(whole) else every
    each = max(_SENTENCES // max(sum(1 for group in groups if group), 1), 1)
    return [quotation for group in groups for quotation in group[:each]]


def _quotations(source: Source) -> list[Quotation]:
    """Return a source's sentences, those inside its hits first, best hit first, then in reading order."""

    def distance(span: tuple[int, int]) -> tuple[int, int]:
        start, end = source.start + span[0], source.start + span[1]
        ranks = (rank for rank, hit in enumerate(source.hits) if hit.start <= start and end <= hit.end)
        return next(ranks, len(source.hits)), start

    spans = sorted(sentence_spans(source.text, source.document.metadata.language), key=distance)
    shown = ((start, one_line(source.text[start:end], limit=None).strip()) for start, end in spans)
    return [Quotation(source, start, text) for start, text in shown if text]


def _is_sentence(text: str) -> bool:
    """Whether a piece reads as a sentence: no heading, fragment, table row or line of a table of contents."""
    letters = sum(sign.isalpha() for sign in text)
    return (
        len(text) <= 700
        and (len(text.split()) >= 6 or len(text) >= 40)
        and not text[0].islower()
        and letters >= 0.6 * len(text.replace(" ", ""))
        and bool(_SENTENCE_END.search(text))
        and not _TABLE.search(text)
    )


def _choose(candidates: Sequence[Quotation], scores: Sequence[float], quoting: Quoting) -> list[Quotation]:
    """Return the sentences to show: best first, nothing twice, a few of one source, two sources if about as good."""
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda pair: -pair[0])
    best = ranked[0][0]
    chosen: list[Quotation] = []
    for score, quotation in ranked:
        if len(chosen) >= (quoting.most if score >= best - quoting.margin else quoting.fewest):
            break
        if _fits(quotation, chosen, quoting.of_one):
            chosen.append(quotation)
    if len({quotation.source.n for quotation in chosen}) == 1:
        others = (
            quotation
            for score, quotation in ranked
            if quotation.source.n != chosen[0].source.n
            and score >= best - quoting.second
            and _fits(quotation, chosen, quoting.of_one)
        )
        chosen += list(others)[:1]
    return chosen


def _fits(quotation: Quotation, chosen: Sequence[Quotation], of_one: int) -> bool:
    """Whether a sentence adds something, and its source is not quoted enough."""
    if sum(1 for other in chosen if other.source.n == quotation.source.n) >= of_one:
        return False
    mine = words(quotation.text)
    return all(shared_words(mine, words(other.text)) < _SAME for other in chosen)
