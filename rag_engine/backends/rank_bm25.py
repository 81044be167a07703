"""The paper's keyword leg, for comparing configurations: Okapi BM25 over lower-cased words, in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from rank_bm25 import BM25Okapi

from rag_engine.protocols import ChildrenOf, Keys
from rag_engine.text.words.key_words import WantedWord, WantedWords
from rag_engine.text.words.search_words import holds


def split_at_spaces(text: str, language: str) -> list[str]:
    """Return the lower-cased words between spaces, with punctuation, in any language (Buriasco 2026).

    >>> split_at_spaces("Sea walls, 2025", "en")
    ['sea', 'walls,', '2025']
    """
    del language
    return text.lower().split()


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The model of one commit with the keys and documents of its rows."""

    model: BM25Okapi
    keys: Keys
    documents: Keys


class PaperSparseIndex:
    """A SparseIndex in memory, which each `commit` computes from all children.

    A search scores every child. `tokenise` takes a text and its language. The default is the paper's; our own analysis
    makes this index the oracle of the one on disk.
    """

    def __init__(self, tokenise: Callable[[str, str], list[str]] = split_at_spaces) -> None:
        self._tokenise = tokenise
        self._rows: dict[int, tuple[int, list[str]]] = {}
        self._ranking: _Ranking | None = None

    def add(self, rows: Iterable[tuple[int, int, str, str]]) -> None:
        """Add children as (key, document key, language, text); searches see them after `commit`."""
        for key, document, language, text in rows:
            self._rows[key] = document, self._tokenise(text, language)

    def delete_documents(self, documents: Collection[int]) -> None:
        """Delete the children of the documents, as of the next `commit`."""
        gone = set(documents)
        self._rows = {key: row for key, row in self._rows.items() if row[0] not in gone}

    def commit(self) -> None:
        """Compute the ranking from the present children."""
        # rank-bm25 divides by the number of tokens, so a collection without any has no ranking.
        if not any(tokens for _, tokens in self._rows.values()):
            self._ranking = None
            return
        self._ranking = _Ranking(
            BM25Okapi([tokens for _, tokens in self._rows.values()]),
            np.fromiter(self._rows, dtype=np.int64),
            np.array([document for document, _ in self._rows.values()], dtype=np.int64),
        )

    def compact(self, children_of: ChildrenOf, *, at_most: int | None = None) -> int | None:  # noqa: ARG002
        """Return 0: deleted text has left the memory with `commit`."""
        return 0

    def search(
        self, query: str, language: str, top_k: int, *, allowed: Collection[int] | None = None, exact: bool = False
    ) -> list[tuple[int, float]]:
        """Return child keys with their BM25 above 0, best first, of the allowed documents if given.

        The paper sends a phrase as one more bag of words, so `exact` changes nothing here.
        """
        del exact
        return self._scored(self._tokenise(query, language), top_k, allowed)

    def _scored(self, tokens: list[str], top_k: int, allowed: Collection[int] | None) -> list[tuple[int, float]]:
        if self._ranking is None or top_k < 1:
            return []
        scores = self._ranking.model.get_scores(tokens)
        eligible = scores > 0
        if allowed is not None:
            eligible &= np.isin(self._ranking.documents, list(allowed))
        rows = np.flatnonzero(eligible)
        best = rows[np.lexsort((self._ranking.keys[rows], -scores[rows]))][:top_k]
        return [(int(self._ranking.keys[row]), float(scores[row])) for row in best]

    def holding(self, wanted: WantedWords, *, allowed: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Return children that hold what is wanted in a language, as keys with their BM25, best first.

        Phrases are bags of words here as well.
        """
        terms = sorted({term for word in wanted.words for way in _ways(word) for term in way})
        found = self._scored(terms, len(self._rows), allowed)
        return [(key, score) for key, score in found if holds(wanted.tree, _held(self._rows[key][1]))]

    def ideal(self, query: str, language: str) -> float:  # noqa: ARG002
        """Return 0: the paper compares only found scores."""
        return 0.0

    def count(self) -> int:
        """Return the number of children seen by a search."""
        return len(self.keys())

    def keys(self) -> set[int]:
        """Return the keys of the children that a search sees."""
        return set() if self._ranking is None else {int(key) for key in self._ranking.keys}


def _ways(word: WantedWord) -> list[tuple[str, ...]]:
    return [*chain.from_iterable(word.stems.values()), *word.sequences]


def _held(tokens: Collection[str]) -> Callable[[WantedWord], bool]:
    there = set(tokens)
    return lambda word: any(there.issuperset(way) for way in _ways(word))
