"""The table data/pages.toml: words and thresholds by which pages and links are classified."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rag_engine.config import DATA
from rag_engine.planning.instructions import load_phrasing
from rag_engine.text.folding import fold

_TABLE = DATA / "pages.toml"
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Longer texts are no links, longer words no words; both bound the work on hostile pages.
_LONGEST_TEXT, _LONGEST_WORD = 600, 60


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words and phrases to find among plain words; "strateg*" and "*gesetz" match their compounds."""

    words: frozenset[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]
    phrases: Mapping[str, tuple[tuple[str, ...], ...]]

    def covered(self, words: Sequence[str]) -> frozenset[int]:
        """Return the positions of the words that belong to an entry."""
        found: set[int] = set()
        for position, word in enumerate(words):
            if self._has(word):
                found.add(position)
            for phrase in self.phrases.get(word, ()):
                if tuple(words[position : position + len(phrase)]) == phrase:
                    found.update(range(position, position + len(phrase)))
        return frozenset(found)

    def first(self, words: Sequence[str]) -> str:
        """Return the first word that belongs to an entry, or ""."""
        covered = self.covered(words)
        return words[min(covered)] if covered else ""

    def _has(self, word: str) -> bool:
        # An ending alone is the plain word, which the table lists by itself where it is meant.
        return (
            word in self.words
            or word.startswith(self.beginnings)
            or (word.endswith(self.endings) and word not in self.endings)
        )


@dataclass(frozen=True, slots=True)
class PageThresholds:
    """Thresholds of page kinds, links and titles; data/pages.toml says what each is for."""

    directory_links: int
    directory_link_share: float
    teaser_text: int
    whole_text: int
    least_text: int
    document_text: int
    similar_title: float
    same_word: float


@dataclass(frozen=True, slots=True)
class PageWords:
    """All of data/pages.toml, every language in one; `languages` maps a language's names to its code.

    `confidence` is by kind of verdict, `ranking` the part of a property in a link's score.
    """

    policy: Lexicon
    genre: Lexicon
    document: Lexicon
    more: Lexicon
    excluded: Lexicon
    noise: Lexicon
    needs_scripts: Lexicon
    script_roots: frozenset[str]
    languages: Mapping[str, str]
    function_words: frozenset[str]
    thresholds: PageThresholds
    confidence: Mapping[str, float]
    ranking: Mapping[str, float]


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text or file name for comparison: lower case, no accents, camel case parted."""
    parted = _HUMP.sub(" ", text[:_LONGEST_TEXT])
    return tuple(word[:_LONGEST_WORD] for word in _WORD.findall(fold(parted)))


@cache
def load_page_words() -> PageWords:
    """Return the table of words, read once."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    needs_scripts, languages = table.pop("needs_scripts"), table.pop("languages")
    thresholds, confidence, ranking = (table.pop(name) for name in ("thresholds", "confidence", "ranking"))

    def all_of(kind: str) -> Lexicon:
        return _lexicon(entry for language in table.values() for entry in language[kind])

    return PageWords(
        policy=all_of("policy"),
        genre=all_of("genre"),
        document=all_of("document"),
        more=all_of("more"),
        excluded=all_of("excluded"),
        noise=all_of("noise"),
        needs_scripts=_lexicon(needs_scripts["phrases"]),
        script_roots=frozenset(needs_scripts["roots"]),
        languages={word: code for code, names in languages.items() for word in names.split()},
        function_words=frozenset(word for words in load_phrasing().stop_words.values() for word in words),
        thresholds=PageThresholds(**thresholds),
        confidence=confidence,
        ranking=ranking,
    )


def _lexicon(entries: Iterable[str]) -> Lexicon:
    words: set[str] = set()
    beginnings: list[str] = []
    endings: list[str] = []
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for entry in dict.fromkeys(entries):
        if entry.endswith("*"):
            beginnings.append(fold(entry[:-1]))
        elif entry.startswith("*"):
            endings.append(fold(entry[1:]))
        elif len(parts := words_of(entry)) > 1:
            phrases.setdefault(parts[0], []).append(parts)
        else:
            words.update(parts)
    return Lexicon(
        frozenset(words), tuple(beginnings), tuple(endings), {first: tuple(some) for first, some in phrases.items()}
    )
