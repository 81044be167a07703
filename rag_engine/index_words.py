"""Terms of an index and words of a text in the one form in which they meet: by stem, without accents and case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_engine.analysis import analyse
from rag_engine.sentences import Span

# A word may be broken at a line's end, or hold soft hyphens.
_WORD = re.compile(r"[^\W_]+(?:(?:\u00ad|-\n)[^\W\d_]+)*")
_BREAK = re.compile("\u00ad|-\n")
_SYMBOL = re.compile(r"[^\w\s,;.:()'’\"“”«»/&-]")
_LETTER = re.compile(r"[^\W\d_]")
# Words of a phrase that stand apart belong together only where the phrase says enough.
_WIDEST = 12


@dataclass(frozen=True, slots=True)
class Word:
    """A word that says something, with its key and its place in the text."""

    key: str
    start: int
    end: int


def words_of(text: str, language: str, start: int = 0, end: int | None = None) -> list[Word]:
    """The words of text[start:end] that are no stop words, in order, with offsets in the whole text."""
    matches = list(_WORD.finditer(text, start, len(text) if end is None else end))
    written = [_BREAK.sub("", match[0]) for match in matches]
    shouted = [len(word) > 1 and word.isupper() for word in written]
    found = []
    for at, (match, word) in enumerate(zip(matches, written, strict=True)):
        # A word in capitals is an acronym and no stop word, but not where its neighbours are in capitals too.
        if shouted[at] and any(shouted[max(0, at - 1) : at] + shouted[at + 1 : at + 2]):
            word = word.lower()
        key = word_key(word, language)
        if key:
            found.append(Word(key, match.start(), match.end()))
    return found


@lru_cache(maxsize=100_000)
def word_key(word: str, language: str) -> str:
    """What the forms of a word have in common: its stem; empty for a stop word."""
    terms = analyse(word, language)
    return terms[0] if terms else ""


def phrases_of(term: str, subterm: str) -> list[str]:
    """The forms in which a text may name an entry, the most telling first.

    "climate, change of" is also "change of climate", and a sub-entry is sought with its head, then alone, then the
    head alone.
    """
    forms = []
    if subterm:
        forms += [f"{subterm} {term}", f"{term} {subterm}", *turned(subterm)]
    forms += turned(term)
    return list(dict.fromkeys(forms))


def turned(term: str) -> list[str]:
    """A term as it reads, before that the form in which its words were turned for the alphabet."""
    head, comma, rest = term.partition(", ")
    if not comma or not head.strip() or not rest.strip():
        return [term]
    return [f"{rest} {head}", term]


def is_symbolic(term: str) -> bool:
    """Whether a term is a sign or a command, which is sought letter by letter: "§", "\\label", "%"."""
    return bool(_SYMBOL.search(term)) or not _LETTER.search(term)


def says_enough(keys: Sequence[str]) -> bool:
    """Whether a phrase of these words can be looked for in a question: more than one letter and more than a number."""
    return any(len(key) > 1 and _LETTER.search(key) for key in keys)


def find_literal(text: str, term: str, start: int, end: int) -> Span | None:
    """The first place where text[start:end] has the very characters of a term; no word goes on behind it."""
    sought = term.strip()
    place = text.find(sought, start, end) if sought else -1
    while place >= 0:
        beyond = place + len(sought)
        if not (sought[-1].isalnum() and text[beyond : beyond + 1].isalnum()):
            return place, beyond
        place = text.find(sought, beyond, end)
    return None


def find_phrase(words: Sequence[Word], sought: Sequence[str]) -> Span | None:
    """The first place where the words follow each other; stop words between them do not count."""
    length = len(sought)
    for at in range(len(words) - length + 1):
        if words[at].key == sought[0] and all(words[at + i].key == sought[i] for i in range(1, length)):
            return words[at].start, words[at + length - 1].end
    return None


def find_together(words: Sequence[Word], sought: Sequence[str]) -> Span | None:
    """The first stretch of a sentence, at most a dozen words long, that holds all the words in any order."""
    wanted = set(sought)
    last: dict[str, int] = {}
    for at, word in enumerate(words):
        if word.key in wanted:
            last[word.key] = at
            first = min(last.values())
            if len(last) == len(wanted) and at - first < _WIDEST:
                return words[first].start, word.end
    return None
