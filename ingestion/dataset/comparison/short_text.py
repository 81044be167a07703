"""The few words of an answer that a cell of a table shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_engine.answering.replies import CHECKED_MARK
from rag_engine.takeaway.exported_text import AnswerLine, AnswerRun, answer_lines
from rag_engine.text.neutralise import one_line
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.answer import ShownQuotation

MOST_WORDS = 40
# From the first of several blanks alone: tried from each of them, many would take the square of their time.
_MARK = re.compile(rf"(?<!\s)\s*{CHECKED_MARK.pattern}")
# Words before those that answer, where a sentence is too long to be shown whole.
_WORDS_BEFORE = 8
_QUOTED = re.compile(r"[“„«]\s?(.*?)\s?[“”»][^“”„«»]*$")
# Fewer words than this say too little alone, as the opening of a list does.
_FEWEST_WORDS = 10


def best_quotation(quoted: Sequence[ShownQuotation], answering: Sequence[int] = ()) -> tuple[int, str, int]:
    """Return the best quotation: its number from 0, words and the place of those that answer.

    It is the first of the `answering` ones, else of all, that does more than open a list. Without quotations it is
    (0, "", 0).
    """
    found = [_quotation(one.text) for one in quoted]
    order = answering or range(len(found))
    number = next((number for number in order if not found[number][0].endswith(":")), next(iter(order), 0))
    return (number, *found[number]) if found else (0, "", 0)


def _quotation(text: str) -> tuple[str, int]:
    """Return a quotation on one line, without its quotation marks, and where its bold words begin."""
    said, answering = "", 0
    for run in (run for line in answer_lines(text) for run in (*_cells(line), AnswerRun(" "))):
        if run.n is None:
            answering = answering or (len(said) if run.bold else 0)
            said += run.text
    # The language of a foreign quotation is behind it.
    marks = _QUOTED.match(said)
    return (marks[1], max(answering - marks.start(1), 0)) if marks else (said.strip(), answering)


def _cells(line: AnswerLine) -> Iterator[AnswerRun]:
    """Yield the runs of a line, or of the cells of a table, "name: value; name: value"."""
    yield from line.runs
    for row in line.cells[1:]:
        for name, cell in zip(line.cells[0], row, strict=True):
            yield from [*name, *([AnswerRun(": ")] if name else []), *cell, AnswerRun("; ")] if cell else ()


def without_marks(text: str) -> str:
    """Return an answer on one line, without its marks and its bold.

    >>> without_marks("**The mayor** orders the evacuation [Source 2].")
    'The mayor orders the evacuation.'
    """
    return one_line(_MARK.sub("", text).replace("**", ""), limit=None).strip()


def shortened(text: str, language: str, answering: int = 0, most: int = MOST_WORDS) -> str:
    """Return whole sentences of a text, at most `most` words, from the sentence at `answering`.

    A longer sentence is cut near that place, and so is the text after a very short sentence or the opening of a list.
    An ellipsis marks each cut.

    >>> shortened("One two. Three four. Five six.", "en", most=4)
    'One two. Three four. …'
    """
    spans = sentence_spans(text, language)
    if not spans:
        return ""
    first = max((n for n, (start, _) in enumerate(spans) if start <= answering), default=0)
    start, end = spans[first]
    if len(text[start:end].split()) > most:
        return _cut(text, start, answering, most)
    for _, further in spans[first + 1 :]:
        if len(text[start:further].split()) > most:
            break
        end = further
    opens = text[start:end].endswith(":") or len(text[start:end].split()) < _FEWEST_WORDS
    if opens and end < len(text.rstrip()):
        return _cut(text, start, answering, most)
    return f"{'… ' if first else ''}{text[start:end]}{' …' if end < len(text.rstrip()) else ''}"


def _cut(text: str, start: int, answering: int, most: int) -> str:
    """Return words of a long sentence, from its start if that keeps the place `answering`.

    Otherwise they begin a few words before it.
    """
    words, before = text[start:].split(), len(text[start:answering].split())
    skipped = max(before - _WORDS_BEFORE, 0) if before > most * 3 // 4 else 0
    opened = "… " if start or skipped else ""
    closed = " …" if len(words) > skipped + most else ""
    return f"{opened}{' '.join(words[skipped : skipped + most])}{closed}"
