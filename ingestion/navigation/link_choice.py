"""Ranking of a page's links by how likely they lead to the expected document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from ingestion.web.link_vocabulary import load_page_words, words_of
from ingestion.web.links import DOCUMENT_SUFFIXES, FILE_SUFFIXES, PageLink, path_of, suffix_of

_MOST_WORDS = 40
_CODE = re.compile(r"(?<![^\W_])(EN|IT|ES|FR|DE|PT|TR|NO|NL)(?![^\W_])")
_CODES = frozenset({"en", "it", "es", "fr", "de", "pt", "tr", "no", "nl"})
_PARTS = re.compile(r"[/._-]")


@dataclass(frozen=True, slots=True)
class RankedLink:
    """A link with its likeness 0..1 to what is expected and the score that it is ranked by."""

    link: PageLink
    similarity: float
    score: float


def rank_links(links: Sequence[PageLink], expected: str, languages: Sequence[str] = ()) -> tuple[RankedLink, ...]:
    """Return the links from best to worst: like the expected title, a document, in the expected language.

    `languages` are ISO 639-1 codes in order of preference; a link that names none of them is put behind one that
    names no language at all. Equal links keep the order of the page.
    """
    ranked = [_ranked(link, expected, languages) for link in links]
    return tuple(sorted(ranked, key=lambda one: -one.score))


def link_similarity(link: PageLink, expected: str) -> float:
    """Return how like its text or its file name is to a title, 0..1."""
    return max(title_similarity(link.name, expected), title_similarity(link.file_name, expected))


def title_similarity(first: str, second: str) -> float:
    """Return the share 0..1 of the words of two titles that they have in common, longer words counting more.

    Words are one when rapidfuzz finds their letters alike, so that inflected forms meet. Function words, and those
    that only say how a file is offered ("download", "PDF"), do not count. Unlike a ratio of letters it is 0 for
    titles that have nothing to do with each other, so that a threshold of .25 means something.
    """
    ours, theirs = telling_words(first), telling_words(second)
    total = sum(map(len, ours)) + sum(map(len, theirs))
    if not ours or not theirs:
        return 0.0
    left, same_word = list(theirs), load_page_words().thresholds.same_word
    common = 0
    for word in ours:
        match = max(left, key=lambda other: fuzz.ratio(word, other), default="")
        # Years and numbers tell editions apart: 2016 is not 2019.
        if word == match or (fuzz.ratio(word, match) >= same_word and not (word + match).isdigit()):
            left.remove(match)
            common += len(word) + len(match)
    return common / total


def telling_words(text: str) -> tuple[str, ...]:
    """Return the distinct words that say what a title is about."""
    words = load_page_words()
    skipped = words.function_words | words.noise.words
    kept = dict.fromkeys(word for word in words_of(text) if len(word) > 1 and word not in skipped)
    return tuple(kept)[:_MOST_WORDS]


def link_language(link: PageLink) -> str:
    """Return the language that a link says its target is in: declared, named in its text, or a part of its address."""
    if link.language:
        return link.language
    names = load_page_words().languages
    for word in words_of(link.text):
        if word in names:
            return names[word]
    if found := _CODE.search(link.text):
        return found[1].lower()
    parts = _PARTS.split(path_of(link.url).lower())
    return next((part for part in reversed(parts) if part in _CODES), "")


def _ranked(link: PageLink, expected: str, languages: Sequence[str]) -> RankedLink:
    similarity = link_similarity(link, expected)
    score, gains = similarity, load_page_words().ranking
    suffix = suffix_of(link.url)
    if link.file:
        score += gains["document"]
        if suffix in DOCUMENT_SUFFIXES:
            score += gains["preferred_suffix"] * (1 - FILE_SUFFIXES.index(suffix) / len(FILE_SUFFIXES))
    language = link_language(link)
    if language and languages:
        place = languages.index(language) if language in languages else -1
        score += gains["language"] / (1 + place) if place >= 0 else gains["other_language"]
    return RankedLink(link, similarity, score)


def expected_languages(page_language: str, preferred: Sequence[str]) -> tuple[str, ...]:
    """Return the languages in which a document is wanted: the page's own, then the collection's preferred ones."""
    return tuple(dict.fromkeys(language for language in (page_language, *preferred) if language))
