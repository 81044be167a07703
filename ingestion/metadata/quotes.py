"""A document's text with its words and sentences, which are the evidence of values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.metadata.term_matching import Word, cut_words
from ingestion.types.description import FieldName, FieldValue
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.document import ExtractedText

_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Guess:
    """A value that a field may have, and how much speaks for it.

    `start` and `end` are where the text says it (-1: it does not); `why` says it in words.
    """

    value: str
    weight: float
    why: str = ""
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence, verbatim, with the page it is on (None for nowhere)."""

    text: str
    page: int | None


NOWHERE = QuotedSentence("", None)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentText:
    """A document's text, ready to be searched and quoted from."""

    extracted: ExtractedText
    language: str
    words: Sequence[Word]
    starts: tuple[int, ...]

    def at(self, start: int, end: int | None = None) -> QuotedSentence:
        """Return the sentence that holds [start, end); it is cut around them where it is very long."""
        text = self.extracted.text
        if not 0 <= start < len(text):
            return NOWHERE
        end = min(len(text), start + 1 if end is None else end)
        index = bisect_right(self.starts, start) - 1
        page: int | None = 1
        first, last = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
        whole = 0
        if index >= 0:
            block = self.extracted.blocks[index]
            page = block.page
            if block.start <= start < block.end:
                whole = block.start
                first, last = max(first, block.start), min(last, max(block.end, end))
                if block.kind == "table":
                    # A row says what it says on its own.
                    first = max(first, text.rfind("\n", 0, start) + 1)
                    stop = text.find("\n", end)
                    last = min(last, stop if stop >= 0 else last)
                    return QuotedSentence(text[first:last].strip(), page)
        if first > whole:
            # The window began inside a word or line; what is left of it is no sentence.
            gap = text.find("\n", first, start)
            gap = gap if gap >= 0 else text.find(" ", first, start)
            first = gap + 1 if gap >= 0 else first
        for one, other in sentence_spans(text[first:last], self.language):
            if first + one <= start < first + other:
                return QuotedSentence(text[first + one : max(first + other, end)][:_LONGEST].strip(), page)
        return QuotedSentence(text[start:end], page)

    def value(self, field: FieldName, guess: Guess) -> FieldValue:
        """Return a guess as the value of a field, with the sentence that says it or else why it was made."""
        quoted = self.at(guess.start, guess.end)
        return FieldValue(field, guess.value, "rule", quoted.text or guess.why, quoted.page, round(guess.weight, 2))


def document_text(extracted: ExtractedText, language: str) -> DocumentText:
    """Return the text of a document, cut into words."""
    return DocumentText(
        extracted, language, cut_words(extracted.text), tuple(block.start for block in extracted.blocks)
    )
