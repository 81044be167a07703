"""BM25 as in the published baselines of the BEIR data sets, to check data and metrics.

They come from Anserini over Lucene ("flat": title and text as one field), k1 = 0.9, b = 0.4, English analysis with the
Porter stemmer. Our own keyword leg is another one. If a figure of this ranking differs from the published one, the
corpus, the judgements or the metric differs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import Stemmer

from rag_engine.evaluation.datasets import CorpusDocument
from rag_engine.evaluation.metric import DEPTH, RankDocuments

_K1, _B = 0.9, 0.4
# Lucene keeps the length of a text in one byte: exact up to here, beyond it four binary digits of the rest.
_EXACT_LENGTH, _LENGTH_BITS = 24, 4

# The stop words of Lucene's English analyser.
_STOP_WORDS = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
        "will", "with",
    }
)  # fmt: skip
# Words by the Unicode rules (UAX 29) for English: full stops and similar signs join letters to letters, and digits to
# digits.
_WORD = re.compile(r"\w+(?:(?:(?<=[^\W\d_])[.:·'’](?=[^\W\d_])|(?<=\d)[.,;'’](?=\d))\w+)*")
_POSSESSIVE = re.compile(r"['’][sS]$")


def lucene_terms(text: str) -> list[str]:
    """Return the terms of an English text in reading order.

    Possessives cut, lower case, no stop words, Porter stems.

    >>> lucene_terms("The city's floods")
    ['citi', 'flood']
    """
    words = (_POSSESSIVE.sub("", word).lower() for word in _WORD.findall(text))
    stemmer = Stemmer.Stemmer("porter")
    return [str(stemmer.stemWord(word)) for word in words if word.strip("_") and word not in _STOP_WORDS]


def lucene_length(length: int) -> int:
    """Return the number of terms of a text as Lucene remembers it."""
    rest = length - _EXACT_LENGTH
    lost = max(0, rest.bit_length() - _LENGTH_BITS) if rest > 0 else 0
    return _EXACT_LENGTH + (rest >> lost << lost) if rest > 0 else length


def published_bm25(documents: Sequence[CorpusDocument]) -> RankDocuments:
    """Return the function that ranks documents with a score above 0 for a question, best first.

    A term of a document adds idf * f / (f + k1 * (1 - b + b * length / mean length)), once for each time it is in the
    question. f is its count in the document. idf = ln(1 + (N - n + 0.5) / (n + 0.5)) for n of N documents that have it
    (Kamphuis et al. 2020, Lucene's variant). Documents without a term do not count in N.
    """
    counted = [Counter(lucene_terms(f"{document.title} {document.text}")) for document in documents]
    total = sum(1 for terms in counted if terms)
    mean = sum(terms.total() for terms in counted) / max(1, total)
    postings: dict[str, tuple[list[int], list[float]]] = {}
    for row, terms in enumerate(counted):
        saturation = _K1 * (1 - _B + _B * lucene_length(terms.total()) / mean) if terms else 0.0
        for term, count in terms.items():
            rows, weights = postings.setdefault(term, ([], []))
            rows.append(row)
            weights.append(count / (count + saturation))

    def ranked(question: str) -> list[tuple[str, float]]:
        scores = np.zeros(len(documents))
        for term, times in Counter(lucene_terms(question)).items():
            rows, weights = postings.get(term, ([], []))
            idf = math.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += times * idf * np.array(weights)
        # Equal scores keep the order of the corpus.
        best = [int(row) for row in np.argsort(-scores, kind="stable")[:DEPTH] if scores[row] > 0]
        return [(documents[row].id, float(scores[row])) for row in best]

    return ranked
