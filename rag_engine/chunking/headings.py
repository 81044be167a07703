"""The titles of a document and the path of titles to each, by type size and numbering."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import attrgetter

from rag_engine.text.bullets import BULLETS, DASHES
from rag_engine.types.document import Block, Line

# A line in type smaller than the body is a caption or a cell of a table, however bold.
_SMALLEST = 0.95
_LONGEST_TITLE = 250
_LONGEST_CAPITALS = 120
_LONGEST_NUMBERED = 100
_PROSE = 60
_COVER = 500

# "1.", "2.3.1", "I.2.1", "A.", "IV -", "(a)", "§ 5", and one word with a number: "Chapter 1", "Annex II", "Art. 9".
_LABEL = re.compile(
    r"""(?P<decimal>(?:\d{1,2}|[IVXLC]{1,5})(?:[.-]\d{1,2})+)[.)]?(?=\s|$)
      | (?P<single>\d{1,2})(?:[.)](?=\s|$)|(?=\s+[^\W\d_]{2}))
      | (?P<letter>[A-Za-z])\s?[.)–-]+(?=\s)
      | (?P<roman>[IVXLC]{1,6})\s?[.)–-]+(?=\s)
      | \((?P<bracket>[a-z]{1,4}|\d{1,2})\)(?=\s)
      | (?P<word>[^\W\d_]{3,}\.?|§+)\s*(?:\d{1,4}|[IVXLC]{1,6})\b""",
    re.VERBOSE,
)
_LEADER = re.compile(r"\.{4}|…{2}|(?:\.\s){4}")
# A line above or below a table or a figure is no title of the text after it.
_CAPTION = re.compile(r"(?:tab|fig|abb|graf|graph|gráf|tablo|şekil|quadro|cuadro|box)\w*\.?\s+[A-Z]{0,3}[-.]?\d", re.I)
_BULLET = re.compile(rf"[{BULLETS}{DASHES}]\s")
_WORD = re.compile(r"[^\W\d_]{3}")
_NOT_LETTERS = re.compile(r"[\W_]+")
_ROMAN_LETTERS = frozenset("IVX")
_FIRST = frozenset(("0", "1", "A", "a", "I"))


@dataclass(frozen=True, slots=True)
class Title:
    """A title: characters [start, end), and the titles it is under with itself as the last."""

    start: int
    end: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _HeadingLevel:
    """One title of a path, to be compared with the next.

    `size` is its type size in points, `style` that of its numbering.
    """

    words: str
    size: float
    style: str
    numbers: tuple[str, ...]


def shared_headings(*paths: Sequence[str]) -> tuple[str, ...]:
    """Return the headings with which all paths begin."""
    levels = zip(*paths, strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))


def titles(text: str, blocks: Sequence[Block], lines: Sequence[Line], document_title: str) -> list[Title]:
    """Return the titles among the blocks, in reading order.

    A title is a heading set no smaller than the body of the text, or a short line with a number and capitals. It is
    under the last title in larger type. In the same type it is under the one whose numbering it refines: "2.1" under
    "2", "1." under "A.". Parts of the document's own title are on no path.
    """
    body = body_size(blocks)
    marked = any(block.kind == "heading" for block in blocks)
    name = _plain(document_title)
    stack: list[_HeadingLevel] = []
    numbered: dict[tuple[str, ...], list[_HeadingLevel]] = {}
    found: list[Title] = []
    path: tuple[str, ...]
    above = blocks[0] if blocks else None
    for block in blocks:
        words = " ".join(text[block.start : block.end].split())
        if above is None or not _is_title(words, block, lines, body, marked=marked):
            continue
        between, on_cover = text[above.end : block.start], above.page == blocks[0].page
        if on_cover and _plain(words) in name and block.page == above.page:
            # The lines above it, the sender or the series, lead to nothing.
            stack, path = [], ()
        else:
            if _LEADER.search(between):
                # The title of a list of contents has only the list below it.
                stack = stack[:-1]
            elif on_cover and block.page > above.page and len(between) < _COVER and stack and not stack[-1].numbers:
                stack = []
            level = _level(words, block, stack, body)
            if stack and not between.strip() and _names(level, stack[-1]):
                stack = [*stack[:-1], replace(stack[-1], words=f"{stack[-1].words} {words}")]
            else:
                stack = [*_above(level, stack, numbered), level]
            if stack[-1].numbers:
                numbered[stack[-1].numbers] = stack
            path = tuple(one.words for one in stack)
        found.append(Title(block.start, block.end, path))
        above = block
    return found


def body_size(blocks: Sequence[Block]) -> float:
    """Return the type size, in points, of most characters of running text; 0 if no size is known."""
    sizes: Counter[float] = Counter()
    for block in blocks:
        if block.kind == "text" and block.font_size:
            sizes[_rounded(block.font_size)] += block.end - block.start
    return max(sizes, key=sizes.__getitem__) if sizes else 0.0


def _rounded(size: float | None) -> float:
    return round(2 * (size or 0.0)) / 2


def _is_title(words: str, block: Block, lines: Sequence[Line], body: float, *, marked: bool) -> bool:
    label = _LABEL.match(words)
    if len(words) > _LONGEST_TITLE or not (label or _WORD.search(words)):
        return False
    if _LEADER.search(words) or _BULLET.match(words) or _CAPTION.match(words):
        return False
    if block.kind == "heading":
        prose = len(words) > _PROSE and words.endswith((".", ";")) and not label
        return not prose and (block.font_size is None or block.font_size >= _SMALLEST * body)
    if block.kind != "text" or not label or words.endswith((".", ";", ":", ",")):
        return False
    if words.isupper() and _WORD.search(words):
        # On more than two lines it is a text that somebody shouts.
        first, beyond = (bisect_left(lines, place, key=attrgetter("start")) for place in (block.start, block.end))
        return len(words) <= _LONGEST_CAPITALS and beyond - first <= 2
    # Where a format marks its headings, numbered lines are items of a list.
    outlined = label["decimal"] or label["roman"]
    rest = words[label.end() :].lstrip(" .)–-")
    return not marked and bool(outlined) and len(words) <= _LONGEST_NUMBERED and rest[:1].isupper()


def _level(words: str, block: Block, stack: Sequence[_HeadingLevel], body: float) -> _HeadingLevel:
    # Small capitals are set in a smaller type than the title they make.
    size = max(_rounded(block.font_size), body if block.font_size else 0.0)
    label = _LABEL.match(words)
    if not label:
        return _HeadingLevel(words, size, "plain", ())
    if label["decimal"] or label["single"]:
        return _HeadingLevel(words, size, "decimal", tuple(re.split(r"[.-]", label["decimal"] or label["single"])))
    if label["letter"]:
        letter = label["letter"]
        # "I." is the first of I, II, III unless it follows "H.".
        follows = any(level.style == "letter" and ord(level.numbers[0]) == ord(letter) - 1 for level in stack)
        if letter in _ROMAN_LETTERS and not follows:
            return _HeadingLevel(words, size, "roman", (letter,))
        return _HeadingLevel(words, size, "letter" if letter.isupper() else "small letter", (letter,))
    if label["word"]:
        return _HeadingLevel(words, size, f"word {label['word'].casefold()}", ())
    return _HeadingLevel(words, size, "roman" if label["roman"] else "bracket", tuple(filter(None, (label["roman"],))))


def _above(
    level: _HeadingLevel, stack: list[_HeadingLevel], numbered: dict[tuple[str, ...], list[_HeadingLevel]]
) -> list[_HeadingLevel]:
    """Return the titles that a new one is under, given the path of the one before it."""
    if level.style == "decimal" and level.numbers[:-1] in numbered:
        # Labels of a figure, in larger type, may be between a section and its subsection.
        return numbered[level.numbers[:-1]]
    if level.style.startswith("word"):
        # One annex may be printed larger than the other.
        for place, one in enumerate(stack):
            if one.style == level.style:
                return stack[:place]
    kept = [one for one in stack if one.size >= level.size]
    for place, one in enumerate(kept):
        same = one.style == level.style and len(one.numbers) == len(level.numbers)
        if same and one.size == level.size:
            return kept[:place]
    if level.numbers and level.numbers[-1] not in _FIRST:
        # "B." without "A." continues from further out, where the text before it did not look like a title.
        return [one for one in kept if one.size > level.size]
    # In the same type only a numbered title has others under it.
    return kept[:-1] if kept and kept[-1].size == level.size and kept[-1].style == "plain" else kept


def _names(level: _HeadingLevel, label: _HeadingLevel) -> bool:
    """Return whether the title is the name of the label on the line before: "Chapter IV", "Of the Senate"."""
    found = _LABEL.match(label.words)
    return level.style == "plain" and found is not None and not _plain(label.words[found.end() :])


def _plain(words: str) -> str:
    return _NOT_LETTERS.sub("", words).casefold()
