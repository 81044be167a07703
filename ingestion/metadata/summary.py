"""A description of 100 to 130 words and a target of 40 to 50, made of a document's own whole sentences.

The sentences are those that say most of what the others say and are early; of all sets that fit the number of
words the one with the greatest sum is taken, so that no sentence has to be cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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
_PURPOSE = re.compile(
    r"\b(?:aims?|purpose|objectives?|intended|applies|apply to|scope|audience|addressed|designed to|target(?:s|ed)?|"
    r"obiettiv\w+|finalit\w+|si applica|destinat\w+|rivolt\w+|objetivo\w*|finalidad\w*|se aplica|dirigid\w+|"
    r"objectifs?|vise|s'adresse|s’adresse|destin[ée]\w*|s'applique|s’applique|ziele?|zweck\w*|richtet sich|gilt für|"
    r"dient|aufgabe\w*|objetivos?|aplica-se|destina-se|amac\w*|amaç\w*|kapsam\w*|uygulanır|formål\w*|gjelder|doel\w*|bedoeld|"
    r"van toepassing|cel\w*|syfte\w*|scop\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Summary:
    """Whole sentences of a document in its order, and where the first of them is; empty text where none fit."""

    text: str
    start: int = -1
    end: int = -1

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class _Candidate:
    start: int
    end: int
    text: str
    words: int
    weight: float
    purpose: float


def summarise(extracted: ExtractedText, language: str) -> tuple[Summary, Summary]:
    """Return the description and the target of a document."""
    candidates = _candidates(extracted, language)
    description = _best_set(candidates, DESCRIPTION_WORDS, [one.weight for one in candidates])
    used = {(one.start, one.end) for one in description}
    target = _best_set(
        candidates,
        TARGET_WORDS,
        [one.weight + one.purpose - (0.6 if (one.start, one.end) in used else 0.0) for one in candidates],
    )
    return _summary(description), _summary(target)


def _summary(chosen: Sequence[_Candidate]) -> Summary:
    if not chosen:
        return Summary("")
    return Summary(" ".join(one.text for one in chosen), chosen[0].start, chosen[0].end)


def _candidates(extracted: ExtractedText, language: str) -> list[_Candidate]:
    """Return sentences of prose that may be in a summary, weighed by how central and how early they are."""
    stop = load_phrasing().stop_words.get(language, frozenset())
    found: list[tuple[int, int, str, set[str]]] = []
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
                found.append((block.start + start, block.start + end, sentence, content))
    most = max(frequency.values(), default=1)
    candidates = []
    for rank, (start, end, sentence, content) in enumerate(found):
        central = sum(frequency[word] for word in content) / (most * (len(content) + 3))
        early = 1.0 / (1.0 + rank / 6)
        purpose = 0.8 if _PURPOSE.search(sentence) else 0.0
        candidates.append(_Candidate(start, end, sentence, len(sentence.split()), 0.2 + 1.5 * central + early, purpose))
    best = sorted(candidates, key=lambda one: -(one.weight + one.purpose))[:_CANDIDATES]
    return sorted(best, key=lambda one: one.start)


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
