"""Key words of a search: stems, phrases, and the places where a text has them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, product

from rag_engine.text.analyzer import has_long_words, is_shouted, located_words, lower, stems_of, surface
from rag_engine.text.excerpt import merged_spans
from rag_engine.text.sentences import Span
from rag_engine.text.stop_words import stopwords
from rag_engine.text.words.grouped_numbers import GROUPED, grouped_numbers, typed_number
from rag_engine.text.words.search_words import (
    Every,
    Node,
    SearchTerm,
    SearchWords,
    Some,
    Without,
    holds,
    leaves,
    read_search,
)
from rag_engine.text.words.spellings import spellings

# In a language of long words a stem this long also matches the words that begin with it.
_LEAST_OPENING = 4
# Stands for a star where words are read, which leave out signs.
_STAR = "ᚠ"
# The number of an article or a place in an order: 5, 5º, 5.º, 1er.
_ORDINAL = re.compile(r"(\d{1,3})(?:\.?[ºª°]|o|er|\.)?")
_PARAGRAPH = re.compile(r"^§\s*(\d{1,3})$")
_MEASURE = re.compile(r"(\d+)([^\W\d_]{1,3}\d?)")
_EDGES = re.compile(r"^[^\w§]+|[^\w%)*ºª°]+$")
_IN_PHRASE = re.compile(rf"{GROUPED.pattern}|\S+")
# Ways to write a phrase of several numbers.
_MOST_WAYS = 16

FoldedWords = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedWord:
    """A word, a phrase, a number or the beginning of a word, and all that it may be in a text.

    `stems` has for each language the stems of its spellings, of which all of one are there. `sequences` are folded
    words one after the other, of any language; a star in them stands for any letters. `values` are those of a number
    whose digits may be grouped. In the languages of `passed` it is a stop word, which every text has.
    """

    text: str
    stems: Mapping[str, tuple[FoldedWords, ...]] = field(default_factory=dict)
    sequences: tuple[FoldedWords, ...] = ()
    values: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class WantedWords:
    """FoldedWords that a passage must have and must not have, with the search that was read for them."""

    tree: Every[WantedWord] = field(default_factory=lambda: Every(()))
    search: SearchWords = field(default_factory=lambda: read_search(""))

    def __bool__(self) -> bool:
        return any(True for _ in leaves(self.tree))

    @property
    def words(self) -> tuple[WantedWord, ...]:
        """The words that are wanted, without those that must not be there."""
        return tuple(leaves(self.tree))

    @property
    def passed(self) -> frozenset[str]:
        """The languages in which every word is a stop word, so that nothing of them is found."""
        return frozenset.intersection(*(word.passed for word in self.words)) if self else frozenset()


def wanted_words(text: str, language: str, languages: Collection[str]) -> WantedWords:
    """Return the key words of a query, for passages of several languages.

    `language` is the query's, "" where it is not known; its stop words are left out.
    """
    search, shouted = read_search(text), is_shouted(text)

    def resolved(node: Node[SearchTerm], *, left_out: bool) -> Node[WantedWord] | None:
        if isinstance(node, Without):
            part = resolved(node.part, left_out=True)
            return part and Without(part)
        if isinstance(node, Every | Some):
            some = (resolved(part, left_out=left_out) for part in node.parts)
            parts = tuple(part for part in some if part is not None)
            if len(parts) < 2:
                return parts[0] if parts else None
            return Some(parts) if isinstance(node, Some) else Every(parts)
        typed = lower(node.text, language) if shouted else node.text
        words = tuple(_words(typed, language, languages, left_out=left_out)) if not node.phrase else _phrase(typed)
        return Every(words) if len(words) > 1 else next(iter(words), None)

    parts = (resolved(part, left_out=False) for part in search.tree.parts)
    return WantedWords(Every(tuple(filter(None, parts))), search)


def stands_for_longer(stem: str, language: str) -> bool:
    """Return whether the stem also matches longer words: Hochwasser for Hochwasserschutz."""
    return has_long_words(language) and len(stem) >= _LEAST_OPENING and stem.isalpha()


def find_key_words(text: str, language: str, wanted: WantedWords) -> tuple[Span, ...]:
    """Return the places [start, end) of the wanted words and phrases in a text.

    They are in order and do not overlap.
    """
    reading = _Reading(text, language)
    return tuple(merged_spans([place for word in wanted.words for place in reading.places(word)]))


def holds_words(text: str, language: str, wanted: WantedWords) -> bool:
    """Return whether a text has all that is wanted, and nothing that must not be there."""
    return holds(wanted.tree, _Reading(text, language).has)


def leaves_out(text: str, language: str, wanted: WantedWords) -> bool:
    """Return whether a text has something that must not be there."""
    reading, parts = _Reading(text, language), wanted.tree.parts
    return not all(holds(part, reading.has) for part in parts if isinstance(part, Without))


def words_held(text: str, language: str, words: Sequence[WantedWord]) -> list[bool]:
    """Return for each of the words whether a text has it."""
    reading = _Reading(text, language)
    return [reading.has(word) for word in words]


def _phrase(text: str) -> tuple[WantedWord, ...]:
    pieces = (match[0] for match in _IN_PHRASE.finditer(text))
    ways = [[*_number(piece)[1], *_ordinal(piece)] or [_sequence(piece)] for piece in pieces]
    sequences = (tuple(word for part in way for word in part) for way in islice(product(*ways), _MOST_WAYS))
    written = tuple(filter(None, sequences))
    return (WantedWord(text, sequences=written, phrase=True),) if written else ()


def _words(text: str, language: str, languages: Collection[str], *, left_out: bool) -> Iterator[WantedWord]:
    """Yield the words of what is typed between spaces, without the query's stop words."""
    bare = _EDGES.sub("", text)
    values, sequences = _number(bare)
    if "*" in text:
        yield WantedWord(text, sequences=(_sequence(text),))
        return
    if sequences:
        yield WantedWord(bare, sequences=sequences, values=values)
        return
    if ordinal := _ordinal(bare):
        word = _word(ordinal[0][0], languages)
        yield replace(word, text=bare, sequences=ordinal)
        return
    # As they are found: in a word of two scripts each script is a word.
    for _, _, piece in located_words(text):
        if not language or stems_of(piece, language):
            yield _word(piece, languages)
        elif left_out:
            yield WantedWord(piece, sequences=(tuple(surface(piece)),))


def _word(piece: str, languages: Collection[str]) -> WantedWord:
    # A paragraph is also written as an ordinal: § 5º.
    ordinals = [f"§{number}o" for number in _PARAGRAPH.findall(piece)]
    stems = {
        one: tuple(
            dict.fromkeys(filter(None, (stems_of(spelled, one) for spelled in (*spellings(piece, one), *ordinals))))
        )
        for one in languages
    }
    written = tuple(surface(piece))
    sequences = [written] if len(written) > 1 and re.search(r"[^\W\d_]", piece) else []
    if len(written) == 1 and piece.isalnum() and not any(written[0] in stopwords(one) for one in languages):
        sequences.append(written)
    if measure := _MEASURE.fullmatch(piece):
        sequences.append(tuple(surface(f"{measure[1]} {measure[2]}")))
    passed = frozenset(one for one, some in stems.items() if not some)
    return WantedWord(piece, {one: some for one, some in stems.items() if some}, tuple(sequences), passed=passed)


def _number(word: str) -> tuple[frozenset[str], tuple[FoldedWords, ...]]:
    return typed_number(_EDGES.sub("", word))


def _ordinal(word: str) -> tuple[FoldedWords, ...]:
    """Return how a small number is written as it is and as an ordinal: Art. 5, Art. 5º and Article 1er."""
    match = _ORDINAL.fullmatch(_EDGES.sub("", word))
    if not match:
        return ()
    [number] = surface(match[1])
    return ((number,), (f"{number}o",), *([("1er",)] if number == "1" else []))


def _sequence(text: str) -> FoldedWords:
    """Return the folded words of a text in sequence, with their stars."""
    return tuple(word.replace(_STAR, "*") for word in surface(text.replace("*", _STAR)))


def star_pattern(word: str) -> str:
    """Return the regular expression of a folded word in which a star stands for any letters."""
    return re.escape(word).replace(r"\*", ".*")


def _fits(pattern: str, word: str) -> bool:
    return pattern == word or ("*" in pattern and _compiled(pattern).fullmatch(word) is not None)


@lru_cache(maxsize=100)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(star_pattern(pattern))


class _Reading:
    """The words of a text, in which wanted words are looked up."""

    def __init__(self, text: str, language: str) -> None:
        self._language = language
        words = list(located_words(text))
        self._stems = [(start, end, stems_of(word, language)) for start, end, word in words]
        self._all = frozenset(stem for _, _, stems in self._stems for stem in stems)
        self._sequence = [(start, end, piece) for start, end, word in words for piece in surface(word)]
        self._numbers = list(grouped_numbers(text, language))

    def has(self, word: WantedWord) -> bool:
        """Return whether the text has a wanted word."""
        if self._language in word.passed or next(self._in_sequence(word), None):
            return True
        groups = word.stems.get(self._language, ())
        return any(all(self._is_there(stem) for stem in group) for group in groups)

    def places(self, word: WantedWord) -> Iterator[Span]:
        """Yield the places of a wanted word."""
        wanted = {stem for group in word.stems.get(self._language, ()) for stem in group}
        opening = tuple(stem for stem in wanted if stands_for_longer(stem, self._language))
        for start, end, stems in self._stems:
            if any(stem in wanted or (opening and stem.startswith(opening)) for stem in stems):
                yield start, end
        yield from self._in_sequence(word)

    def _is_there(self, stem: str) -> bool:
        longer = stands_for_longer(stem, self._language)
        return stem in self._all or (longer and any(one.startswith(stem) for one in self._all))

    def _in_sequence(self, word: WantedWord) -> Iterator[Span]:
        """Yield the places of a word's sequences; a number is no part of one with grouped digits."""
        for number in self._numbers if word.values else ():
            if number.values & word.values:
                yield number.start, number.end
        for sequence in word.sequences:
            for first in range(len(self._sequence) - len(sequence) + 1) if sequence else ():
                some = self._sequence[first : first + len(sequence)]
                if all(_fits(pattern, piece) for pattern, (_, _, piece) in zip(sequence, some, strict=True)):
                    start, end = some[0][0], some[-1][1]
                    if not word.values or not any(one.start < end and one.end > start for one in self._numbers):
                        yield start, end
