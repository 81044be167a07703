"""Drop capitals: the large first letter of a paragraph, which stands beside several of its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingestion.extraction.layout.text_rows import PrintedLine

# One letter, with the quotation mark that may open the paragraph.
_CAPITAL = re.compile(r"[\"'“”„«‘]?\s?([A-ZÀ-ÖØ-ÞŒŠŽİĞŞĄĆĘŁŃŚŹŻ])$")
_LONGEST = 3
_WORD = re.compile(r"[^\W\d_]+")
# Letters that are words.
_WORDS = "AEIOYÀÈÉÓ"
# How much larger than the text beside it the letter is, and how far from it, in sizes of the text.
_LARGER, _NEAR = 1.7, 1.5


def with_drop_capitals(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the lines of a page, each drop capital put before the first of the lines that it stands beside."""
    capitals = [line for line in lines if len(line.text) <= _LONGEST and _CAPITAL.match(line.text)]
    if not capitals:
        return list(lines)
    joined: dict[int, PrintedLine] = {}
    for capital in capitals:
        beside = [place for place, line in enumerate(lines) if _is_beside(line, capital)]
        if beside:
            first = min(beside, key=lambda place: lines[place].box.y0)
            joined[first] = capital
    left = {id(capital) for capital in joined.values()}
    words = Counter(word.casefold() for line in lines for word in _WORD.findall(line.text)) if joined else Counter()
    return [
        replace(line, text=_begun(joined[place].text, line.text, words)) if place in joined else line
        for place, line in enumerate(lines)
        if id(line) not in left
    ]


def is_raised(letter: str, size: float, beside: float) -> bool:
    """Return whether a letter on the line of a text is the large first one of its first word, which a gap parts."""
    return size >= _LARGER * beside and _CAPITAL.match(letter.strip()) is not None and letter.strip()[-1] not in _WORDS


def _is_beside(line: PrintedLine, capital: PrintedLine) -> bool:
    middle = (line.box.y0 + line.box.y1) / 2
    return (
        line is not capital
        and capital.size >= _LARGER * line.size
        and capital.box.y0 < middle < capital.box.y1
        and -0.5 * line.size < line.box.x0 - capital.box.x1 < _NEAR * line.size
        and len(line.text) > 1
    )


def _begun(capital: str, text: str, words: Counter[str]) -> str:
    """Return a line with its first letter; a space parts the two where the letter is a word ("A river")."""
    found = _WORD.match(text)
    # Elsewhere on the page the rest is a word of its own, and the two together are none.
    apart = found is None or (
        capital[-1] in _WORDS and words[found[0]] > 1 and f"{capital[-1]}{found[0]}".casefold() not in words
    )
    return f"{capital} {text}" if apart else f"{capital}{text}"
