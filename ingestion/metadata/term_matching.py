"""Terms of a vocabulary found in a text, with their places.

A text is cut into words once. Each different word is looked up once in tables of exact words, beginnings and inner
parts. Then the positions are walked. Ten thousand terms cost no more than ten: what counts is the text's length.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_engine.text.folding import fold

_WORD = re.compile(r"[^\W_]+")
_DECOMPOSED_WORD = re.compile(r"[^\W_][^\W_\u0300-\u036f]*+(?:[\u0300-\u036f]++[^\W_]*+)*+")
_PARTS = 20


class Word(NamedTuple):
    """A word of a text in folded form, and its place; a tuple, as a book has hundreds of thousands."""

    folded: str
    written: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A term that is at [start, end) of a text, and the label that it speaks for."""

    label: str
    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The frequency and spread of the terms of a label in a text of `words` words.

    `places` counts the parts with a mention, of twenty equal parts of the text.
    """

    label: str
    mentions: tuple[Mention, ...]
    places: int
    words: int

    @property
    def count(self) -> int:
        """The number of mentions."""
        return len(self.mentions)

    @property
    def per_thousand(self) -> float:
        """Mentions in a thousand words."""
        return 1000 * len(self.mentions) / max(self.words, 1)


@dataclass(frozen=True, slots=True)
class _Term:
    label: str
    written: str
    words: tuple[str, ...]
    capitals: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class TermTable:
    """Terms ready for search.

    `starting` holds the terms by their first word, as the vocabulary writes it. `beginnings` are the words that end in
    a star, without it. `inner` finds the words between two stars.
    """

    starting: Mapping[str, tuple[_Term, ...]]
    exact: frozenset[str]
    beginnings: frozenset[str]
    lengths: tuple[int, ...]
    inner: re.Pattern[str] | None


def cut_words(text: str) -> list[Word]:
    """Return the words of a text in order.

    >>> [word.folded for word in cut_words("Crème brûlée")]
    ['creme', 'brulee']
    """
    # Accents may be characters of their own; putting them together first would move every offset.
    pattern = _WORD if unicodedata.is_normalized("NFC", text) else _DECOMPOSED_WORD
    folded: dict[str, str] = {}
    words = []
    for match in pattern.finditer(text):
        written = match.group()
        known = folded.get(written)
        if known is None:
            known = folded[written] = fold(written)
        words.append(Word(known, written, match.start(), match.end()))
    return words


def build_table(terms: Iterable[tuple[str, str]]) -> TermTable:
    """Return the search table for (label, term) pairs; a term may have stars at the ends of its words.

    A term of one word in capitals alone ("WHO") matches only in capitals.
    """
    starting: dict[str, list[_Term]] = {}
    exact: set[str] = set()
    beginnings: set[str] = set()
    inner: set[str] = set()
    for label, written in terms:
        raw = re.findall(r"\*?[^\W_]+\*?", written)
        words = tuple(("*" if one[0] == "*" else "") + fold(one.strip("*")) + ("*" if one[-1] == "*" else "")
                      for one in raw)  # fmt: skip
        if not words:
            continue
        capitals = frozenset(one for one in raw if one.isupper() and len(raw) == 1)
        starting.setdefault(words[0], []).append(_Term(label, written, words, capitals))
        for word in words:
            bare = word.strip("*")
            if word.startswith("*"):
                inner.add(bare)
            elif word.endswith("*"):
                beginnings.add(bare)
            else:
                exact.add(bare)
    return TermTable(
        {key: tuple(sorted(found, key=lambda term: -len(term.words))) for key, found in starting.items()},
        frozenset(exact),
        frozenset(beginnings),
        tuple(sorted({len(beginning) for beginning in beginnings})),
        re.compile("|".join(map(re.escape, sorted(inner, key=len, reverse=True)))) if inner else None,
    )


def find_terms(words: Sequence[Word], table: TermTable) -> list[Mention]:
    """Return every mention of a term, in the order of the text.

    Of two mentions of one label, the longer hides the shorter inside it.

    >>> from ingestion.metadata.taxonomy import term_table
    >>> [mention.label for mention in find_terms(cut_words("Deprem ve sel riski"), term_table("tr", "hazards"))]
    ['Earthquake', 'Flood']
    """
    forms = {folded: _forms(folded, table) for folded in {word.folded for word in words}}
    mentions: list[Mention] = []
    covered: dict[str, int] = {}
    for position, word in enumerate(words):
        for form in forms[word.folded]:
            for term in table.starting.get(form, ()):
                last = position + len(term.words) - 1
                if last >= len(words) or covered.get(term.label, -1) >= position:
                    continue
                if term.capitals and word.written not in term.capitals:
                    continue
                if all(
                    term.words[offset] in forms[words[position + offset].folded] for offset in range(1, len(term.words))
                ):
                    mentions.append(Mention(term.label, term.written, word.start, words[last].end))
                    covered[term.label] = last
    return mentions


def count_usage(mentions: Iterable[Mention], words: int, length: int) -> dict[str, Usage]:
    """Return the usage of each mentioned label in a text of `words` words and `length` characters."""
    grouped: dict[str, list[Mention]] = {}
    for mention in mentions:
        grouped.setdefault(mention.label, []).append(mention)
    part = max(length / _PARTS, 1.0)
    return {
        label: Usage(label, tuple(found), len(Counter(int(one.start / part) for one in found)), words)
        for label, found in grouped.items()
    }


def _forms(folded: str, table: TermTable) -> tuple[str, ...]:
    """Return the ways in which the vocabulary writes what matches this word."""
    forms = [folded] if folded in table.exact else []
    for length in table.lengths:
        if length > len(folded):
            break
        if folded[:length] in table.beginnings:
            forms.append(folded[:length] + "*")
    if table.inner is not None and len(folded) > 4 and (found := table.inner.search(folded)):
        # The vocabulary may write it with one star or two.
        forms += [f"*{found.group()}*"]
        if folded.endswith(found.group()):
            forms.append(f"*{found.group()}")
    return tuple(forms)
