"""The [Source N] of an answer: found in whatever form, checked, and tied to the sentence that bears them out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rag_engine.prompts import REFERENCE_HEADINGS, SOURCE_WORDS
from rag_engine.protocols import Embedder
from rag_engine.text.sentences import Span, sentence_spans, stripped
from rag_engine.text.templates import kept_sentence
from rag_engine.types import Citation, Hit, Source

PageOf = Callable[[int, int], int]

_JOIN = r"\s*(?:,|;|&|\+|/|[-–—]|\b(?:and|to|e|et|und|bis|y|ve)\b)+\s*"
_NUMBER = rf"(?:{SOURCE_WORDS}\W{{0,2}})?\d{{1,3}}(?!\d)"
# Words after the numbers ("p. 12", a title) are dropped: pages and titles are known from the source, not the model.
_TAIL = r"(?:\s*[,;:.–—-]?\s[^\]】］)）\[\n]{0,120})?"
_MARK = re.compile(
    rf"[\[【［(（]\s{{0,5}}{SOURCE_WORDS}\W{{0,3}}({_NUMBER}(?:{_JOIN}{_NUMBER})*){_TAIL}[\]】］)）]", re.IGNORECASE
)
# What models write who were taught another habit: [1], [1, 3], [^2], 【1†source】; no link and no year.
_BARE = re.compile(
    rf"[\[【［]\s{{0,3}}\^?(\d{{1,3}}(?!\d)(?:{_JOIN}\d{{1,3}}(?!\d))*)(?:†[^\]】］\n]{{0,80}})?\s{{0,3}}[\]】］](?!\()"
)
# The end of a text that may be the beginning of a mark.
OPEN_MARK = re.compile(
    rf"[\[【［(（]\s{{0,5}}(?:\w{{0,12}}|(?:{SOURCE_WORDS}|\^?\d)[^\]】］)）\n]{{0,160}})$", re.IGNORECASE
)
_QUOTED = re.compile('“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|"[^"\n]*"')
_REFERENCE_LINE = re.compile(r"\s*(?:$|[-–—*•\[【(（\d])")
_RANGE = re.compile(r"(\d+)\s*[-–—]\s*(\d+)")
# A mark as a checked answer has it.
CHECKED_MARK = re.compile(r"\[Source (\d{1,3})\]")
_WORD = re.compile(r"\w+")
_WIDEST_RANGE = 20
_SENTENCES = 48  # encoded at most for one answer: checking must not take longer than reading
_STEM = 6  # letters compared of a word: enough to pass over most endings in every language, without a stemmer


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer's text in which every [Source N] exists, the numbers in it and those removed from it."""

    text: str
    cited: tuple[int, ...]
    removed: tuple[int, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence at characters [start, end) of an answer, its text without marks, and the sources it names.

    One that names none has those of its paragraph, and none where the paragraph names none either.
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


def check_marks(text: str, numbers: Collection[int]) -> CheckedText:
    """Return the text with every form of citation written as [Source N] and those outside `numbers` removed.

    A number alone in brackets is a citation outside of quotations, where there is such a source; beside full ones any
    other stays as it is.
    """
    pieces: list[str] = []
    cited: list[int] = []
    removed: list[int] = []
    position = 0
    for match in _marks(text, numbers):
        wanted = list(dict.fromkeys(_numbers(match.group(1))))
        kept = [number for number in wanted if number in numbers]
        before = text[position : match.start()]
        # A mark that goes takes the blank before it along: "rose [Source 9]." becomes "rose."
        pieces += [before if kept else before.rstrip(" \t"), *(f"[Source {number}]" for number in kept)]
        cited += kept
        removed += [number for number in wanted if number not in numbers]
        position = match.end()
    pieces.append(text[position:])
    distinct, gone = tuple(dict.fromkeys(cited)), tuple(dict.fromkeys(removed))
    return CheckedText("".join(pieces), distinct, gone, tuple(_warnings(gone)))


def _marks(text: str, numbers: Collection[int]) -> list[re.Match[str]]:
    """Return the citations in a text, in order."""
    full = list(_MARK.finditer(text))
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    bare = [match for match in _BARE.finditer(text) if not any(start < match.start() < end for start, end in quoted)]
    known = [match for match in bare if set(_numbers(match.group(1))) & set(numbers)]
    return sorted([*full, *(bare if known and not full else known)], key=lambda match: match.start())


def without_references(text: str) -> str:
    """Return the text without the list of references at its end: which those are is known from the catalog."""
    start = _references_start(text)
    listed, *lines = text[start:].splitlines(keepends=True) or [""]
    kept = next((at for at, line in enumerate(lines) if not _REFERENCE_LINE.match(line)), len(lines))
    return (text[:start] + "".join(lines[kept:])).strip() if listed else text


def cite(
    text: str, language: str, sources: Sequence[Source], *, embedder: Embedder, page_of: PageOf
) -> tuple[Citation, ...]:
    """For each claim and source it names, the sentence of the source that supports it best; no quote twice.

    `text` is checked text, and the order is that of its marks. A list of references at the end counts only for
    sources named nowhere else. Support is the mean of shared words and of cosine scaled over the source's own
    sentences, since the cosines of two encoders do not mean the same.
    """
    claims = list(_claims(text, language, {source.n: source for source in sources}))
    quoted = _quotes(claims, embedder)
    found: dict[tuple[int, int], Citation] = {}
    for claim, sentence in zip(claims, quoted, strict=True):
        if sentence and (claim.source.n, sentence[0]) not in found:
            found[claim.source.n, sentence[0]] = citation_at(claim.source, *sentence, page_of)
    return tuple(found.values())


def answer_sentences(text: str, language: str) -> list[AnswerSentence]:
    """Return the sentences of a checked text, without those of a list of references at its end."""
    blanked = _blanked(text)
    ends = _references_start(text)
    spans = [span for span in _lines(blanked, language) if span[0] < ends]
    marks = [(match.start(), int(match.group(1))) for match in CHECKED_MARK.finditer(text, 0, ends)]
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
    """Return what two sentences are compared by: words of three letters or more, cut to a stem, and all numbers."""
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if len(word) > 2 or word.isdigit()}


def shared_words(one: set[str], other: set[str]) -> float:
    """Cosine of two sets of words, 0 to 1."""
    return len(one & other) / float(len(one) * len(other)) ** 0.5 if one and other else 0.0


def _numbers(text: str) -> Iterator[int]:
    """Source numbers in "1, 2", "1 and 4", "2-4"."""
    for match in _RANGE.finditer(text):
        first, last = int(match.group(1)), int(match.group(2))
        if 0 < last - first <= _WIDEST_RANGE:
            text = text.replace(match.group(0), " ".join(str(number) for number in range(first, last + 1)))
    yield from (int(number) for number in re.findall(r"\d+", text))


def _warnings(removed: Sequence[int]) -> Iterator[str]:
    if removed:
        numbers = ", ".join(map(str, removed))
        yield kept_sentence(
            "The model cited sources that it was not given ({numbers}); the marks were removed from the text.",
            numbers=numbers,
        )


def _claims(text: str, language: str, sources: dict[int, Source]) -> Iterator[_Claim]:
    """Each sentence of the answer with each source it names, in the order of the marks."""
    blanked = _blanked(text)
    spans = _lines(blanked, language)
    references = _references_start(text)
    named: set[int] = set()
    for match in CHECKED_MARK.finditer(text):
        number = int(match.group(1))
        if number not in sources or (match.start() > references and number in named):
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
    """Return the sentences of an answer, in which a line break ends one: models write lists without full stops."""
    found = []
    for start, end in _spans(text, language):
        edges = [start, *(start + match.end() for match in re.finditer("\n", text[start:end])), end]
        found += [span for first, last in pairwise(edges) if (span := _trim(text, first, last))]
    return found


def _trim(text: str, start: int, end: int) -> Span | None:
    """Return the span without blanks around it; None where nothing is left that could be compared."""
    span = stripped(text, start, end)
    return span if _WORD.search(text, *span) else None


def _references_start(text: str) -> int:
    """Where the closing list of references begins; the end of the text if there is none."""
    position, found = 0, len(text)
    for line in text.splitlines(keepends=True):
        if line.strip("#*_:. \n").casefold() in REFERENCE_HEADINGS:
            found = position
        position += len(line)
    return found


def _sentence_at(text: str, spans: Sequence[Span], position: int) -> Span | None:
    """Return the sentence that a mark belongs to: the one before it, or the one it opens at the head of a line."""
    line = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    opens = not _WORD.search(text, line, position)
    after = next((span for span in spans if span[1] > position), None)
    if opens and after and (stop < 0 or after[0] < stop):
        return after
    return next((span for span in reversed(spans) if span[0] <= position), after)


def _quotes(claims: Sequence[_Claim], embedder: Embedder) -> list[Span | None]:
    """For each claim the sentence of its source that supports it best, by its place in the source; None without one."""
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
    """Return at most `limit` sentences of a source in reading order: those that share most words with any claim.

    Where none does (question and document in different languages) the sentences that were searched for come first.
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
    """For each claim the cosines of its source's sentences, from one batch of each kind."""
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
    """Whether a hit holds the sentence."""
    return hit.start <= source.start + sentence[0] and source.start + sentence[1] <= hit.end


def citation_at(source: Source, first: int, beyond: int, page_of: PageOf) -> Citation:
    """Return the citation of characters [first, beyond) of a source's text."""
    holding = (hit for hit in source.hits if _holds(hit, source, (first, beyond)))
    start = source.start + first
    return Citation(
        n=source.n,
        child_id=next(holding, source.hits[0]).child_id,
        document_id=source.document.document_id,
        file=source.document.file,
        title=source.document.shown_title,
        page=page_of(source.document.key, start),
        quote=source.text[first:beyond],
        start=start,
        end=source.start + beyond,
        authority=source.document.metadata.authority,
        year=source.document.metadata.year,
        licence=source.document.metadata.licence,
    )
