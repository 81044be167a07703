"""The sentences of a text that may speak of its licence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.licence.table import load_licences, tidy_text
from rag_engine.text.folding import fold_in_place

_LONGEST = 1000
_WINDOW = 500
_MOST = 60_000
_LONGEST_SPAN = 6_000
_SENTENCE = re.compile(
    r"\n+|\s(?:```|#{1,6}(?=\s))|(?<=[.!?;。])(?<!\W[^\W\d_]\.)[\"'”»)\]]*\s+|\s*[|•·♦]\s*|\s+-{2,}\s+|\s{2,}"
)


def pieces_of(text: str) -> Iterator[str]:
    """Return the text, or of a long one the windows around its licence words, up to a bound."""
    if len(text) <= 2 * _WINDOW:
        yield tidy_text(text)
        return
    # Notices stand at the beginning and the end; what is too much is left out in the middle.
    read = 0
    for low, high in _from_both_ends(_spans(text)):
        if read > _MOST:
            return
        cut = text[low:high]
        # A window begins with a whole sentence where there is one: half a sentence may lack its "not".
        begins = re.search(r"[.!?\n]\s", cut[:_WINDOW]) if low else None
        cut = cut[begins.end() :] if begins else cut
        read += len(cut)
        yield tidy_text(cut)


def sentences_of(piece: str) -> Iterator[str]:
    """Return the sentences of a piece; a very long one in overlapping cuts."""
    for sentence in _SENTENCE.split(piece):
        stripped = sentence.strip() if sentence else ""
        # Overlapping cuts, so that no statement is halved without being read whole once.
        for start in range(0, max(1, len(stripped) - 200), _LONGEST - 300):
            if cut := stripped[start : start + _LONGEST]:
                yield cut


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the surroundings of licence words, those that touch joined, none longer than a bound."""
    spans: list[tuple[int, int]] = []
    for match in load_licences().phrases["keys"].finditer(fold_in_place(text)):
        low, high = max(0, match.start() - _WINDOW), min(len(text), match.end() + _WINDOW)
        if spans and low <= spans[-1][1] and high - spans[-1][0] <= _LONGEST_SPAN:
            spans[-1] = spans[-1][0], high
        else:
            spans.append((low, high))
    return spans


def _from_both_ends(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Return the first, the last, the second, the last but one ..."""
    for step in range((len(spans) + 1) // 2):
        yield spans[step]
        if len(spans) - 1 - step > step:
            yield spans[-1 - step]
