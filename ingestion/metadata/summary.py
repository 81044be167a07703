"""A description of 100 to 130 words and a target of 40 to 50, made of a document's own whole sentences.

The sentences are those that say most of what the others say and are early; of all sets that fit the number of
words the one with the greatest sum is taken, so that no sentence has to be cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.metadata.quotes import Guess
from ingestion.patterns import load_patterns
from rag_engine.planning.instructions import load_phrasing
from rag_engine.text.folding import fold
from rag_engine.text.sentences import sentence_spans
from rag_engine.types import ExtractedText

DESCRIPTION_WORDS = (100, 130)
TARGET_WORDS = (40, 50)
# Where no set of sentences fits: shorter or a little longer is better than half a sentence.
_LOOSE = {DESCRIPTION_WORDS: (60, 150), TARGET_WORDS: (20, 65)}

_CHARACTERS = 40_000
_CANDIDATES = 60
_CONTENT = re.compile(r"[^\W\d_]{3,}")
_SENTENCE_WORDS = (7, 60)
# Dotted leaders, table cells, links: a list of contents, not prose.
_LEADERS = re.compile(r"\.{4,}|…{2,}|(?:\. ){4,}|\||\]\(|https?:")
_PURPOSE = load_patterns("summary")["purpose"]


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: tuple[int, int]
    text: str
    words: int
    weight: float
    purpose: float


def summarise(extracted: ExtractedText, language: str) -> tuple[Guess, Guess]:
    """Return the description and the target of a document; empty where no sentences fit."""
    candidates = _candidates(extracted, language)
    description = _best_set(candidates, DESCRIPTION_WORDS, [one.weight for one in candidates])
    weights = [one.weight + one.purpose - (0.6 if one in description else 0.0) for one in candidates]
    target = _best_set(candidates, TARGET_WORDS, weights)
    return _summary(description), _summary(target)


def _summary(chosen: Sequence[_Candidate]) -> Guess:
    return Guess(" ".join(one.text for one in chosen), 0.5, "", *chosen[0].place) if chosen else Guess("", 0.0)


def _candidates(extracted: ExtractedText, language: str) -> list[_Candidate]:
    """Return sentences of prose that may be in a summary, weighed by how central and how early they are."""
    stop = load_phrasing().stop_words.get(language, frozenset())
    found: list[tuple[tuple[int, int], str, set[str]]] = []
    seen: set[str] = set()
    frequency: Counter[str] = Counter()
    for block in extracted.blocks:
        if block.start > _CHARACTERS:
            break
        if block.kind != "text":
            continue
        text = extracted.text[block.start : block.end]
        for start, end in sentence_spans(text, language):
            sentence = " ".join(text[start:end].split())
            content = set(map(fold, _CONTENT.findall(sentence))) - stop
            frequency.update(content)
            count = len(sentence.split())
            if (
                _SENTENCE_WORDS[0] <= count <= _SENTENCE_WORDS[1]
                and sentence.endswith((".", "!", "?", "”", '"', "»", ")"))
                and (sentence[0].isupper() or sentence[0].isdigit() or sentence[0] in "«“„\"'(§")
                and sum(character.isalpha() for character in sentence) > 0.7 * len(sentence.replace(" ", ""))
                and not _LEADERS.search(sentence)
                and sentence not in seen
            ):
                seen.add(sentence)
                found.append(((block.start + start, block.start + end), sentence, content))
    most = max(frequency.values(), default=1)
    candidates = []
    for rank, (place, sentence, content) in enumerate(found):
        central = sum(frequency[word] for word in content) / (most * (len(content) + 3))
        early = 1.0 / (1.0 + rank / 6)
        purpose = 0.8 if _PURPOSE.search(sentence) else 0.0
        candidates.append(_Candidate(place, sentence, len(sentence.split()), 0.2 + 1.5 * central + early, purpose))
    best = sorted(candidates, key=lambda one: -(one.weight + one.purpose))[:_CANDIDATES]
    return sorted(best, key=lambda one: one.place)


def _best_set(candidates: Sequence[_Candidate], wanted: tuple[int, int], weights: Sequence[float]) -> list[_Candidate]:
    """Return the sentences whose words together lie within the bounds and whose weights sum to the most."""
    for least, most in (wanted, _LOOSE[wanted]):
        # table[w] is the best sum of weights with exactly w words, and the set that has it.
        table: list[tuple[float, tuple[int, ...]] | None] = [None] * (most + 1)
        table[0] = (0.0, ())
        for index, one in enumerate(candidates):
            if weights[index] <= 0:
                continue
            for total in range(most, one.words - 1, -1):
                before = table[total - one.words]
                if before is None:
                    continue
                # A sum of words counts too, or many short sentences would always win.
                value = before[0] + weights[index] * one.words
                known = table[total]
                if known is None or known[0] < value:
                    table[total] = (value, (*before[1], index))
        fitting = [entry for entry in table[least:] if entry is not None]
        if fitting:
            chosen = max(fitting, key=lambda entry: entry[0])
            return [candidates[index] for index in chosen[1]]
    return []
