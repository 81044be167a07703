"""A document's title from what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from ingestion.extraction.assemble import one_line
from ingestion.patterns import load_patterns
from rag_engine.text.bullets import BULLETS
from rag_engine.types.document import Block, BlockKind

_PATTERNS = load_patterns("titles")
_WORD = re.compile(r"(?<!\S)[^\W\d_]{3,}")
_NAME = re.compile(r"[^\W\d_]{3,30}(?:_[^\W_]{2,30}){1,8}")
_LONGEST = 250
_LONGEST_HEADING = 120
_OPENING = 8_000
# From here on a printed line is a title for certain, and a declared one that is not printed was left over.
STRONG = 2.6
LONGEST_TITLE = 450
_LONGEST_LINE = 300
_FRONT = 80
_SIZELESS_FRONT = 25
_PROSE = 200
_LONGEST_ALONE = 100
_SENTENCE_WORDS = 6
_ADDRESS = re.compile(r"\w@\w|https?://|\bwww\.")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
# The items of a menu in Markdown.
_LINKS = ("* [", "+ [", "- [")
_ITEM = re.compile(rf"[{BULLETS}]\s")


def looks_like_title(text: str) -> bool:
    """Return True for words a person would put above a text.

    False for file names, document numbers and programs.

    >>> looks_like_title("National Flood Plan"), looks_like_title("flood_plan_v3.docx")
    (True, False)
    """
    enough_words = len(_WORD.findall(text)) >= 2
    return (
        enough_words
        and len(text) <= _LONGEST
        and not _PATTERNS["program"].match(text)
        and not _PATTERNS["file_name"].search(text)
        and not is_part_or_sentence(text)
    )


def choose_title(declared: str, text: str, blocks: Sequence[Block], path: Path) -> str:
    """Return the declared title if it is printed, else the printed one, the declared one, the file name.

    A workbook has no print: its sheets' names and columns are no titles.
    """
    declared = one_line(declared)
    usable = looks_like_title(declared)
    if usable and is_printed(declared, text):
        return whole_line(declared, text, blocks)
    printed = [] if is_workbook(blocks) else printed_titles(text, blocks)
    if printed and (not usable or printed[0].strength >= STRONG):
        return printed[0].text
    if usable:
        return declared
    return first_line(text, blocks) or stem_words(path) or path.name


def stem_words(path: Path) -> str:
    """Return the words that a file's name is made of, without its ending."""
    return " ".join(re.sub(r"[_\-.]+", " ", path.stem).split())


def is_printed(title: str, text: str) -> bool:
    """Return whether a title is in the opening of a text, under any capitals and line ends."""
    return _letters(title) in _letters(text[:_OPENING])


def is_workbook(blocks: Sequence[Block]) -> bool:
    """Return whether there is nothing but tables below the names of their sheets."""
    kinds = [block.kind for block in blocks]
    return "table" in kinds and kinds[0] == "heading" and not {"text", "note"} & set(kinds)


def first_line(text: str, blocks: Sequence[Block]) -> str:
    """Return the first line of the first page that could head a text; "" if there is none."""
    if is_workbook(blocks):
        first = next(block for block in blocks if block.kind == "table")
        line = one_line(text[first.start : first.end].partition("\n")[0][:LONGEST_TITLE])
        alone = not first.rows or sum(map(bool, first.rows[0])) == 1
        return line if alone and looks_like_title(line) and len(line) <= 120 else ""
    lines = [
        (block, one_line(text[block.start : min(block.end, block.start + LONGEST_TITLE)]))
        for block in blocks[:200]
        if block.page == blocks[0].page
    ]
    headings = [line for block, line in lines if block.kind == "heading"]
    for line in headings or [line for _, line in lines[:20]]:
        whole = line[:1].isalnum() and not line[:1].islower() and not line.endswith((".", ";", ":", ","))
        if whole and len(line) <= _LONGEST_HEADING and looks_like_title(line) and not is_furniture(line):
            return line
    # The name of a table or a variable is all that some technical files are called.
    return lines[0][1] if lines and _NAME.fullmatch(lines[0][1]) else ""


def whole_line(title: str, text: str, blocks: Sequence[Block]) -> str:
    """Return the printed line that begins with the title and continues a little, else the title."""
    for block in blocks[:20]:
        line = one_line(text[block.start : min(block.end, block.start + LONGEST_TITLE)])
        longer = len(title) < len(line) <= min(_LONGEST_HEADING, 3 * len(title)) and not line.endswith((".", ";", ":"))
        if longer and block.kind in ("heading", "text") and _letters(line).startswith(_letters(title)):
            return line
    return title


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@dataclass(frozen=True, slots=True)
class PrintedTitle:
    """A title as it is printed, its lines joined, with the page where it begins; `strength` ranks it."""

    text: str
    page: int
    strength: float


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line on the title's page; `number` is that of its block, and its size is 0 if it is not known."""

    text: str
    kind: BlockKind
    size: float
    page: int
    number: int


def printed_titles(text: str, blocks: Sequence[Block]) -> list[PrintedTitle]:
    """Return possible titles on the first page that has text, the likeliest first.

    There are none if the page begins with running text.
    """
    front = _front(text, blocks)
    found = _by_size(front, _body_size(blocks)) if any(piece.size for piece in front) else _by_order(front)
    whole = (title for title in found if not is_part_or_sentence(title.text))
    return sorted(whole, key=lambda title: -title.strength)


def is_part_or_sentence(line: str) -> bool:
    """Return whether a title is a chapter's, a sentence or its end, a memo's head or markup."""
    if _PATTERNS["no_title"].search(line) or ")" in line.partition("(")[0]:
        return True
    if _PATTERNS["work"].search(line) or _PATTERNS["document"].match(line):
        return False
    sentence = line.endswith(".") and len(_LONG_WORD.findall(line)) >= _SENTENCE_WORDS and line[:1].isupper()
    small = sum(word[0].islower() for word in _LONG_WORD.findall(line))
    return (sentence and 2 * small > len(_LONG_WORD.findall(line))) or bool(_PATTERNS["chapter"].match(line))


def is_furniture(line: str) -> bool:
    """Return whether a line names a body, a reference or a day, and not a document."""
    body = len(line) < 110 and _PATTERNS["letterhead"].match(line)
    return bool(
        (body and not _PATTERNS["work"].search(line) and not _PATTERNS["law_at_end"].search(line))
        or _PATTERNS["reference"].match(line)
        or _PATTERNS["month"].fullmatch(line)
        or (len(line) < 80 and _PATTERNS["dated"].match(line))
        or _PATTERNS["contents"].fullmatch(line.strip(" .:"))
        or _PATTERNS["no_title"].search(line)
        or line.startswith(_LINKS)
        or "](#" in line
        or _ADDRESS.search(line)
        or not _LONG_WORD.search(line)
    )


def _front(text: str, blocks: Sequence[Block]) -> list[_Piece]:
    """Return the blocks of the title's page, up to the table of contents or the first section."""
    pieces: list[_Piece] = []
    for number, block in enumerate(blocks[:2_000]):
        line = one_line(text[block.start : min(block.end, block.start + 2 * LONGEST_TITLE)])
        if block.page != blocks[0].page or len(pieces) >= _FRONT:
            break
        begun = _PATTERNS["contents"].fullmatch(line.strip(" .:")) or _PATTERNS["first_section"].fullmatch(line)
        if begun and pieces:
            # A letterhead in a margin is read after the contents and is none the better for it.
            break
        # The contents of a page are often a list of links.
        if not line.startswith(_LINKS) and not _ITEM.match(line):
            unmarked = line.lstrip("#").lstrip() if line.startswith("#") else line
            pieces.append(_Piece(unmarked, block.kind, block.font_size or 0.0, block.page, number))
    return pieces


def _body_size(blocks: Sequence[Block]) -> float:
    """Return the size in which most of the text is set, by characters; 0 if there are only headings."""
    weight: dict[float, int] = {}
    for block in blocks[:1_000]:
        if block.font_size and block.kind != "heading":
            weight[block.font_size] = weight.get(block.font_size, 0) + block.end - block.start
    return max(weight, key=lambda size: weight[size], default=0.0)


def _by_size(front: Sequence[_Piece], body: float) -> list[PrintedTitle]:
    """Return groups of lines of one size, rated by size, words and place."""
    groups: list[list[_Piece]] = []
    for piece in front:
        above = groups[-1][-1] if groups and groups[-1] else None
        hanging = above is not None and bool(_PATTERNS["hanging"].search(above.text)) and piece.kind == "heading"
        if not _may_be_title(piece, body, hanging):
            groups.append([])
        elif above is not None and _belongs(above, piece, body):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    largest = max((group[0].size for group in groups if group), default=0.0)
    titles = []
    for at, group in enumerate(groups):
        if group and not _is_addition(group):
            joined = _joined(group)
            strength = _rated(joined, group, largest, body)
            if strength > 0:
                # A report's title goes on below it: Addendum, Part two.
                more = map(_joined, takewhile(_is_addition, groups[at + 1 :]))
                titles.append(_printed(group, ". ".join([joined.rstrip(". "), *more]), strength))
    return titles


def _is_addition(group: Sequence[_Piece]) -> bool:
    return bool(group and _PATTERNS["addition"].match(group[0].text))


def _may_be_title(piece: _Piece, body: float, hanging: bool) -> bool:
    """Return whether a line stands out and names no body; after an incomplete line it may name one."""
    prominent = piece.kind == "heading" or piece.size >= 1.1 * body > 0
    continues = _PATTERNS["addition"].match(piece.text) or (piece.text.isupper() and len(piece.text) < 120)
    return (
        piece.kind in ("heading", "text")
        and len(piece.text) <= _LONGEST_LINE
        and bool(prominent or continues or (_PATTERNS["document"].match(piece.text) and len(piece.text) < 160))
        and (hanging or not is_furniture(piece.text))
    )


def _belongs(above: _Piece, piece: _Piece, body: float) -> bool:
    """Return whether a line continues the title above it."""
    if (
        abs(piece.size - above.size) > 0.6
        or piece.number != above.number + 1
        or _PATTERNS["addition"].match(piece.text)
    ):
        return False
    if piece.text[:1].islower() or _PATTERNS["hanging"].search(above.text):
        return True
    return (piece.size >= 1.15 * body or (above.text.isupper() and piece.text.isupper())) and not above.text.endswith(
        "."
    )


def _joined(group: Sequence[_Piece]) -> str:
    return " ".join(piece.text for piece in group)


def _rated(joined: str, group: Sequence[_Piece], largest: float, body: float) -> float:
    words = len(_LONG_WORD.findall(joined))
    size = group[0].size
    strength = 2.0 * size / largest if largest else 0.0
    strength += 0.8 if size >= 1.15 * body else 0.0
    strength += 0.6 if group[0].kind == "heading" else 0.0
    strength += 1.5 if _PATTERNS["document"].match(joined) or _PATTERNS["law_at_end"].search(joined) else 0.0
    strength -= 0.03 * group[0].number
    if words < 2:
        # One short word is a logo or a number unless nothing on the page is larger.
        strength -= 0.5 if len(joined) >= 10 or size == largest > 1.3 * body else 1.5
    strength -= 1.0 if joined.endswith((".", ";")) and len(joined) > 120 else 0.0
    return strength if words else 0.0


def _printed(group: Sequence[_Piece], joined: str, strength: float) -> PrintedTitle:
    return PrintedTitle(joined[:LONGEST_TITLE], group[0].page, strength)


def _by_order(front: Sequence[_Piece]) -> list[PrintedTitle]:
    """Return, without sizes, the headings, or else the lines alone above the first paragraph."""
    opening = list(takewhile(lambda piece: not _is_prose(piece), front[:_SIZELESS_FRONT]))
    headings = [piece for piece in opening if piece.kind == "heading" and not is_furniture(piece.text)]
    ranked = [(piece, 3.0 - 0.1 * rank) for rank, piece in enumerate(headings)]
    titles = [_printed([piece], piece.text, sure) for piece, sure in ranked if len(_LONG_WORD.findall(piece.text)) > 1]
    if titles:
        return titles
    group: list[_Piece] = []
    for piece in opening:
        closed = piece.kind != "text" or is_furniture(piece.text)
        if group and piece.text[:1].islower() and _PATTERNS["document"].match(group[0].text):
            if len(_joined([*group, piece])) > LONGEST_TITLE:
                break
            group.append(piece)
        elif closed or piece.text.endswith((".", ";", ":")) or len(piece.text) > _LONGEST_ALONE:
            if group:
                break
        elif len(_joined([*group, piece])) <= _PROSE:
            group.append(piece)
        elif group:
            break
        else:
            group = [piece]
    joined = _joined(group)
    if len(_LONG_WORD.findall(joined)) < 2:
        return []
    return [_printed(group, joined, 2.0 + (1.0 if _PATTERNS["document"].match(joined) else 0.0))]


def _is_prose(piece: _Piece) -> bool:
    return len(piece.text) > _PROSE and piece.kind == "text" and not _PATTERNS["document"].match(piece.text)
