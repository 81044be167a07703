"""Evidence for and against a sentence in the passage that it is said to rest on, read from the two texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_engine.answering.shared_words import SHORTEST_ALIKE, is_known
from rag_engine.answering.support.claim_words import clauses, denies, denies_throughout, limits, universals
from rag_engine.geography import GLOBAL, find_places, load_gazetteer
from rag_engine.text.analyzer import analyse, shared_terms
from rag_engine.text.folding import fold
from rag_engine.text.quantities import CalendarDate, calendar_dates, quantities

# The number of a paragraph or item: no number that its text states.
_ENUMERATOR = re.compile(r"^\W{0,3}\d{1,3}[.)]\s", re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"\w+")
# German writes every noun with a capital, so that one tells nothing of a name.
_NOUNS_IN_CAPITALS = frozenset({"de"})


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """The numbers, dates, places and folded words of texts, whatever their languages."""

    numbers: frozenset[float] = frozenset()
    dates: tuple[CalendarDate, ...] = ()
    places: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def __or__(self, other: StatedFacts) -> StatedFacts:
        """Return the facts of both."""
        dates = (*self.dates, *other.dates)
        return StatedFacts(self.numbers | other.numbers, dates, self.places | other.places, self.words | other.words)


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """Text that a sentence is held against: the part of its sources that is nearest, and the facts of all of them.

    `similarity` is the encoder's, calibrated, from 0 to 1; `read` how relevant a reader finds the part for the
    sentence, from -1 to 1, and 0 without a reader.
    """

    text: str
    language: str
    facts: StatedFacts
    similarity: float
    read: float = 0.0


@dataclass(frozen=True, slots=True)
class SupportEvidence:
    """Signs for and against a sentence.

    `numbers`, `dates`, `places` and `names` are those that the source does not have, of `named` names in all;
    `universals` the words that claim more than it. `denied`: the sentence denies and the passage does not; `affirmed`:
    the other way round; `turned`: the share of the common words that one of the two alone denies. `overlap` is the
    share of the sentence's words in the passage, from 0 to 1; `translated`: the two differ in language.
    """

    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    places: tuple[str, ...]
    names: tuple[str, ...]
    named: int
    universals: tuple[str, ...]
    denied: bool
    affirmed: bool
    turned: float
    overlap: float
    similarity: float
    read: float
    translated: bool


def facts_of(text: str, language: str) -> StatedFacts:
    """Return the numbers, dates, places and words of a text in a language (ISO 639-1)."""
    scope = find_places(text, load_gazetteer(), language, running=True)
    numbers = quantities(_ENUMERATOR.sub("", text), language)
    return StatedFacts(
        frozenset(value for one in numbers for value in one.values),
        tuple(calendar_dates(text, language)),
        frozenset((*scope.countries, *scope.regions)),
        frozenset(_WORD.findall(fold(text))),
    )


def evidence_for(sentence: str, language: str, passage: CitedPassage) -> SupportEvidence:
    """Return what speaks for and against a sentence in its passage."""
    sentence = _ENUMERATOR.sub("", sentence)
    facts, text = passage.facts, passage.text
    scope = find_places(sentence, load_gazetteer(), language, running=True)
    places = (*scope.countries, *(region for region in scope.regions if region != GLOBAL))
    names = list(dict.fromkeys(_names(sentence, language)))
    claimed, known = universals(sentence, language), universals(text, passage.language)
    denied, limited = denies(sentence, language), limits(sentence, language)
    return SupportEvidence(
        numbers=tuple(one.text for one in quantities(sentence, language) if facts.numbers.isdisjoint(one.values)),
        dates=tuple(
            date.text
            for date in calendar_dates(sentence, language)
            if not any(date.agrees(other) for other in facts.dates)
        ),
        places=tuple(place for place in places if place not in facts.places),
        names=tuple(name for name in names if not is_known(fold(name), facts.words)),
        named=len(names),
        universals=tuple(word for kind, word in claimed.items() if kind not in known),
        denied=denied and not limited and not denies(text, passage.language),
        affirmed=not denied and not limited and denies_throughout(text, passage.language),
        turned=_turned(sentence, language, text) if language == passage.language else 0.0,
        overlap=_overlap(sentence, language, text, passage.language),
        similarity=passage.similarity,
        read=passage.read,
        translated=language != passage.language,
    )


def _names(sentence: str, language: str) -> Iterator[str]:
    """Yield the names and abbreviations of a sentence; where capitals tell nothing, abbreviations alone."""
    for term in shared_terms(sentence):
        for part in _WORD.findall(term):
            if not part.isdigit() and (language not in _NOUNS_IN_CAPITALS or part.isupper()):
                yield part


def _turned(sentence: str, language: str, passage: str) -> float:
    """Return the share of the common words whose clauses are denied in one of the two alone."""
    polarities: dict[str, set[bool]] = {}
    for clause in clauses(passage, language):
        for stem in analyse(clause.text, language):
            polarities.setdefault(stem, set()).add(clause.denied)
    common = turned = 0
    for clause in clauses(sentence, language):
        for stem in set(analyse(clause.text, language)) & polarities.keys():
            common += 1
            turned += clause.denied not in polarities[stem]
    return turned / common if common else 0.0


def _overlap(sentence: str, language: str, passage: str, written: str) -> float:
    """Return the share of a sentence's words that a passage has; across languages those that look alike count."""
    if language == written:
        stems = set(analyse(sentence, language))
        return len(stems.intersection(analyse(passage, language))) / len(stems) if stems else 0.0
    terms = {word for word in map(fold, _LETTERS.findall(sentence)) if len(word) >= SHORTEST_ALIKE}
    known = frozenset(_LETTERS.findall(fold(passage)))
    return sum(is_known(term, known) for term in terms) / len(terms) if terms else 0.0
