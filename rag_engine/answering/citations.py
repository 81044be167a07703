"""Citations of an answer: each [Source N] tied to the sentence that bears it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rag_engine.answering.replies import CHECKED_MARK, listed_spans
from rag_engine.chunking.indexed_text import cited
from rag_engine.chunking.section.chunks import clause_at, clauses_of
from rag_engine.chunking.section.headings import places_of
from rag_engine.chunking.section.rules import rules_of
from rag_engine.protocols import Embedder
from rag_engine.text.sentences import Span, sentence_spans, stripped
from rag_engine.types.answer import Citation
from rag_engine.types.passage import Hit, Source

PageOf = Callable[[int, int], int]

_WORD = re.compile(r"\w+")
_SENTENCES = 48  # encoded at most for one answer: checking must not take longer than reading
_STEM = 6  # letters compared of a word: enough to pass over most endings in every language, without a stemmer


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence at characters [start, end) of an answer, with the sources it names.

    Its text is without marks. A sentence that names no source has the sources of its paragraph, if any.
    """

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence of an answer and a source it names."""

    text: str
    source: Source


def cite(
    text: str, language: str, sources: Sequence[Source], *, embedder: Embedder, page_of: PageOf
) -> tuple[Citation, ...]:
    """Return the sentence that supports a claim best, for each claim and source it names.

    No quote comes twice. `text` is checked text, and the order is that of its marks. A list of references at the end
    counts only for sources named nowhere else. Support is the mean of shared words and of the cosine. The cosine is
    scaled over the source's own sentences, since the cosines of two encoders do not mean the same.
    """
    claims = list(_claims(text, language, {source.n: source for source in sources}))
    quoted = _quotes(claims, embedder)
    found: dict[tuple[int, int], Citation] = {}
    for claim, sentence in zip(claims, quoted, strict=True):
        if sentence and (claim.source.n, sentence[0]) not in found:
            found[claim.source.n, sentence[0]] = citation_at(claim.source, *sentence, page_of)
    return tuple(found.values())


def answer_sentences(text: str, language: str) -> list[AnswerSentence]:
    """Return the sentences of a checked text, without a list of references at its end."""
    blanked = _blanked(text)
    listed = listed_spans(text)
    spans = [span for span in _lines(blanked, language) if not _is_listed(span[0], listed)]
    marks = [
        (match.start(), int(match.group(1)))
        for match in CHECKED_MARK.finditer(text)
        if not _is_listed(match.start(), listed)
    ]
    named: dict[Span, list[int]] = {}
    for position, number in marks:
        if span := _sentence_at(blanked, spans, position):
            named.setdefault(span, []).append(number)
    found = []
    for span in spans:
        start = text.rfind("\n\n", 0, span[0])
        stop = text.find("\n\n", span[1])
        beside = [number for position, number in marks if start < position and (stop < 0 or position < stop)]
        numbers = tuple(dict.fromkeys(named.get(span) or beside))
        found.append(AnswerSentence(*span, " ".join(blanked[span[0] : span[1]].split()), numbers))
    return found


def words(text: str) -> set[str]:
    """Return the stems and numbers by which two sentences are compared.

    Words of one or two letters are left out, unless they are numbers.
    """
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if len(word) > 2 or word.isdigit()}


def shared_words(one: set[str], other: set[str]) -> float:
    """Return the cosine of two sets of words, 0 to 1.

    >>> shared_words({"sea", "rise"}, {"sea", "wall"})
    0.5
    """
    return len(one & other) / float(len(one) * len(other)) ** 0.5 if one and other else 0.0


def _claims(text: str, language: str, sources: dict[int, Source]) -> Iterator[_Claim]:
    """Each sentence of the answer with each source it names, in the order of the marks."""
    blanked = _blanked(text)
    spans = _lines(blanked, language)
    listed = listed_spans(text)
    named: set[int] = set()
    for match in CHECKED_MARK.finditer(text):
        number = int(match.group(1))
        if number not in sources or (number in named and _is_listed(match.start(), listed)):
            continue
        if span := _sentence_at(blanked, spans, match.start()):
            named.add(number)
            yield _Claim(blanked[span[0] : span[1]], sources[number])


def _blanked(text: str) -> str:
    """Return a checked text with blanks in place of its marks."""
    return CHECKED_MARK.sub(lambda match: " " * len(match.group(0)), text)


def _spans(text: str, language: str) -> list[Span]:
    return [span for start, end in sentence_spans(text, language) if (span := _trim(text, start, end))]


def _lines(text: str, language: str) -> list[Span]:
    """Return the sentences of an answer, which end at line breaks too.

    Models write lists without full stops.
    """
    found = []
    for start, end in _spans(text, language):
        edges = [start, *(start + match.end() for match in re.finditer("\n", text[start:end])), end]
        found += [span for first, last in pairwise(edges) if (span := _trim(text, first, last))]
    return found


def _trim(text: str, start: int, end: int) -> Span | None:
    """Return the span without blanks around it, or None if no comparable word is left."""
    span = stripped(text, start, end)
    return span if _WORD.search(text, *span) else None


def _is_listed(position: int, listed: Sequence[Span]) -> bool:
    return any(start <= position < end for start, end in listed)


def _sentence_at(text: str, spans: Sequence[Span], position: int) -> Span | None:
    """Return the sentence that a mark belongs to.

    It is the one before the mark, or the one that the mark opens at the head of a line.
    """
    line = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    opens = not _WORD.search(text, line, position)
    after = next((span for span in spans if span[1] > position), None)
    if opens and after and (stop < 0 or after[0] < stop):
        return after
    return next((span for span in reversed(spans) if span[0] <= position), after)


def _quotes(claims: Sequence[_Claim], embedder: Embedder) -> list[Span | None]:
    """Return for each claim the place of the sentence that supports it best, None without one."""
    cited = {claim.source.n: claim.source for claim in claims}
    choice: dict[int, list[Span]] = {}
    for number, source in cited.items():
        of_source = [claim.text for claim in claims if claim.source.n == number]
        choice[number] = likely_sentences(source, of_source, max(2, _SENTENCES // len(cited)))
    lexical = [
        np.array([shared_words(words(claim.text), words(claim.source.text[a:b])) for a, b in choice[claim.source.n]])
        for claim in claims
    ]
    # A claim in the very words of a sentence needs no encoder; an extractive answer consists of such claims.
    open_claims = [index for index, shares in enumerate(lexical) if len(shares) > 1 and shares.max() < 0.999]
    for index, cosine in zip(open_claims, _cosines([claims[i] for i in open_claims], choice, embedder), strict=True):
        spread = float(np.ptp(cosine))
        lexical[index] = lexical[index] + (cosine - cosine.min()) / (spread or 1.0)
    return [
        choice[claim.source.n][int(scores.argmax())] if len(scores) else None
        for claim, scores in zip(claims, lexical, strict=True)
    ]


def likely_sentences(source: Source, claims: Sequence[str], limit: int) -> list[Span]:
    """Return at most `limit` sentences of a source that share most words with any claim.

    They come in reading order. Without shared words, as across languages, the sentences that were searched for are
    taken first.
    """
    sentences = _spans(source.text, source.document.metadata.language)
    wanted = [words(claim) for claim in claims]

    def promise(sentence: Span) -> tuple[float, bool]:
        best = max(shared_words(words(source.text[slice(*sentence)]), claim) for claim in wanted)
        return best, any(_holds(hit, source, sentence) for hit in source.hits[:1])

    return sorted(sorted(sentences, key=promise, reverse=True)[:limit])


def _cosines(
    claims: Sequence[_Claim], choice: dict[int, list[Span]], embedder: Embedder
) -> Iterator[np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Return for each claim the cosines of its source's sentences, from one batch of each kind."""
    if not claims:
        return
    sources = {claim.source.n: claim.source for claim in claims}
    numbers = list(sources)
    passages = embedder.encode_passages([sources[n].text[a:b] for n in numbers for a, b in choice[n]])
    edges = np.cumsum([0, *(len(choice[number]) for number in numbers)])
    for claim, vector in zip(claims, embedder.encode_queries([claim.text for claim in claims]), strict=True):
        place = numbers.index(claim.source.n)
        yield passages[edges[place] : edges[place + 1]] @ vector


def _holds(hit: Hit, source: Source, sentence: Span) -> bool:
    return hit.start <= source.start + sentence[0] and source.start + sentence[1] <= hit.end


def clause_of(source: Source, offset: int) -> str:
    """Return the subdivision of its section that an offset of a source's text is in, "" if there is none."""
    if not source.section:
        return ""
    starts = [place.start for place in places_of(source.text, ())]
    forms = rules_of(source.document.metadata.language).clause_forms
    # A part of a long section may begin in the middle of one.
    around = (hit.clause for hit in source.hits if hit.start <= source.start + offset < hit.end)
    return clause_at(clauses_of(source.text, starts, (), forms), offset) or next(around, "")


def citation_at(source: Source, first: int, beyond: int, page_of: PageOf) -> Citation:
    """Return the citation of characters [first, beyond) of a source's text."""
    holding = next((hit for hit in source.hits if _holds(hit, source, (first, beyond))), None)
    start, metadata = source.start + first, source.document.metadata
    page = page_of(source.document.key, start)
    return Citation(
        n=source.n,
        child_id=(holding or source.hits[0]).child_id,
        document_id=source.document.document_id,
        file=source.document.file,
        title=source.document.shown_title,
        page=page,
        quote=source.text[first:beyond],
        start=start,
        end=source.start + beyond,
        authority=metadata.authority,
        year=metadata.year,
        licence=metadata.licence,
        section=holding.headings[-1] if holding and holding.headings else "",
        page_label=source.document.page_label(page),
        pinpoint=cited(source.section, clause_of(source, first)),
    )
