"""Choice of links: how likely each leads to the expected document, and whether it is on the subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from rapidfuzz import fuzz

from ingestion.prompts import LINK_RULES, LINK_SCHEMA, link_message
from ingestion.protocols import LanguageModel
from ingestion.web.link_vocabulary import load_page_words, words_of
from ingestion.web.links import DOCUMENT_SUFFIXES, FILE_SUFFIXES, PageLink, path_of, says_nothing, suffix_of
from rag_engine.errors import BackendError
from rag_engine.messages import NO_MESSAGE, Message, join_messages

_MOST_WORDS = 40
_CODE = re.compile(r"(?<![^\W_])(EN|IT|ES|FR|DE|PT|TR|NO|NL)(?![^\W_])")
_CODES = frozenset({"en", "it", "es", "fr", "de", "pt", "tr", "no", "nl"})
_PARTS = re.compile(r"[/._-]")


@dataclass(frozen=True, slots=True)
class RankedLink:
    """A link with its likeness 0..1 to the expected title, and the score of its rank."""

    link: PageLink
    similarity: float
    score: float


def rank_links(links: Sequence[PageLink], expected: str, languages: Sequence[str] = ()) -> tuple[RankedLink, ...]:
    """Return the links from best to worst: like the expected title, a document, in the expected language.

    `languages` are ISO 639-1 codes in order of preference. A link in another language comes after a link without a
    language. Equal links keep the order of the page.

    >>> links = [PageLink("https://e.org/a", "Contact"), PageLink("https://e.org/b.pdf", "Flood plan", file=True)]
    >>> [ranked.link.text for ranked in rank_links(links, "National flood plan")]
    ['Flood plan', 'Contact']
    """
    ranked = [_ranked(link, expected, languages) for link in links]
    return tuple(sorted(ranked, key=lambda one: -one.score))


def link_similarity(link: PageLink, expected: str) -> float:
    """Return how like its text or its file name is to a title, 0..1."""
    return max(title_similarity(link.name, expected), title_similarity(link.file_name, expected))


def title_similarity(first: str, second: str) -> float:
    """Return the share 0..1 of the words that two titles have in common, longer ones counting more.

    Words are one when rapidfuzz finds their letters alike, so that inflected forms meet. Function words do not count,
    nor words for the form of a file ("download", "PDF"). Unlike a ratio of letters it is 0 for unrelated titles, so
    that a threshold of .25 has a meaning.

    >>> title_similarity("Flood risk plans (PDF)", "Flood Risk Plan"), title_similarity("Plan 2016", "Plan 2019")
    (1.0, 0.5)
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
    """Return the distinct words that say what a title is about.

    >>> telling_words("The plan of the floods")
    ('plan', 'floods')
    """
    words = load_page_words()
    skipped = words.function_words | words.noise.words
    kept = dict.fromkeys(word for word in words_of(text) if len(word) > 1 and word not in skipped)
    return tuple(kept)[:_MOST_WORDS]


def link_language(link: PageLink) -> str:
    """Return the language that a link says its target is in.

    Declared, named in its text, or a part of its address.
    """
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
    """Return the languages in which a document is wanted.

    The page's own, then the collection's preferred ones.
    """
    return tuple(dict.fromkeys(language for language in (page_language, *preferred) if language))


def why_off_topic(
    link: PageLink, *, expected: str, page_name: str, language_model: LanguageModel | None, seconds: float
) -> Message:
    """Return why a link is not followed from a page in search of `expected`, "" if it is.

    Rules accept a link that is like the title or holds a policy word. They also accept a link that only says
    "download", since its page is the one that was asked for. They say no to menus. The model is asked about the rest;
    without one, or when it fails, the rest is off topic. `expected` may be "".
    """
    named = repr(link.name[:100]) if link.name else link.url[:200]
    if is_excluded(link):
        return Message("The link {link} leads to no document.", link=named)
    alike = max(link_similarity(link, expected), link_similarity(link, page_name))
    offering = says_nothing(link.text) and not link.context
    if alike >= load_page_words().thresholds.similar_title or policy_word(link) or offering:
        return NO_MESSAGE
    without = Message(
        "The link {link} is not like the expected title ({alike}) and holds no policy word.",
        link=named,
        alike=f"{alike:.2f}",
    )
    if language_model is None:
        return without
    try:
        question = link_message(expected, page_name, text=link.name, address=link.url)
        reply = language_model.complete_json(LINK_RULES, question, LINK_SCHEMA, seconds=seconds)
    except BackendError as error:
        failed = Message("{model} could not be asked: {error}", model=language_model.name, error=error)
        return join_messages([without, failed])
    reason = " ".join(str(reply.get("reason", "")).split())[:300]
    return NO_MESSAGE if reply.get("relevant") is True else Message("The link {link}: {why}", link=named, why=reason)


def is_excluded(link: PageLink) -> bool:
    """Return whether a link leads to no document: privacy, cookies, log in, share ...

    It is where such words make up half of its text, so "Privacy policy" is and "Federal data privacy act" is not.

    >>> is_excluded(PageLink("/privacy", "Privacy policy")), is_excluded(PageLink("/act", "Federal data privacy act"))
    (True, False)
    """
    excluded = load_page_words().excluded
    names = filter(None, (words_of(link.text), words_of(link.file_name)))
    return any(2 * len(excluded.covered(name)) >= len(name) for name in names)


def policy_word(link: PageLink, page_address: str = "") -> str:
    """Return the first policy word in a link's text, else in its address, else "".

    Only the path of the address counts, without the parts of the page's own path. On a site under /policies/ that word
    says nothing about a link.

    >>> policy_word(PageLink("https://example.org/d/17", "Regolamento comunale"))
    'regolamento'
    """
    policy = load_page_words().policy
    return policy.first(words_of(link.name)) or policy.first(words_of(_own_path(link.url, page_address)))


def names_document(link: PageLink, page_address: str = "") -> bool:
    """Return whether a link to a file names a policy, or a programme, report or standard."""
    genre = load_page_words().genre
    return bool(
        policy_word(link, page_address)
        or genre.first(words_of(link.name))
        or genre.first(words_of(_own_path(link.url, page_address)))
    )


def _own_path(url: str, page_address: str) -> str:
    try:
        path, page = unquote(urlsplit(url).path), unquote(urlsplit(page_address).path)
        if urlsplit(url).netloc != urlsplit(page_address).netloc:
            page = ""
    except ValueError:
        return ""
    if page and path.startswith(page.rstrip("/") + "/"):
        return path[len(page.rstrip("/")) + 1 :]
    folder = page.rpartition("/")[0] + "/"
    return path[len(folder) :] if page and path.startswith(folder) else path
