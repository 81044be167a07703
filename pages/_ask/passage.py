"""Excerpts of passages, and where a passage is cited in its document."""

from __future__ import annotations

from collections.abc import Sequence

from pages._shared.markdown import escape
from rag_engine.chunking.indexed_text import cited
from rag_engine.conversations.reply import ShownSource
from rag_engine.text.sentences import Span


def cited_place(source: ShownSource) -> str:
    """Return where a passage is found: "**Article 9 (3)** · Paris Agreement", empty where nothing is known.

    Below section, clause and act come the headings above the passage, from the outermost on. An act that is the
    document itself is named by its title already, and a heading is not repeated.
    """
    section = cited(source.section, source.clause)
    act = "" if _same(source.act, source.title) else source.act
    named = (source.title, source.act, source.section)
    headings = [escape(one) for one in source.headings if not any(_same(one, other) for other in named)]
    place = " · ".join(part for part in (f"**{escape(section)}**" if section else "", escape(act)) if part)
    return "  \n".join(line for line in (place, f":gray[{' › '.join(headings)}]" if headings else "") if line)


def index_entries(source: ShownSource) -> str:
    """Return the index entries of the passage, one a line: "Listed in the index under “loss and damage”"."""
    return "  \n".join(f":material/toc: {escape(one[:1].upper() + one[1:])}" for one in source.indexed_under)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def excerpt(text: str, quotes: Sequence[Span], around: int, length: int) -> list[tuple[str, bool]]:
    """Return pieces of about `length` characters of the text, each with whether it is quoted.

    They begin a little before the first quote, or at `around` where there is none; cuts fall between words and
    show as an ellipsis. A quote is never cut.
    """
    inside = _merged([(max(start, 0), min(end, len(text))) for start, end in quotes])
    first = inside[0][0] - length // 4 if inside else around
    start = _word_start(text, max(0, min(first, len(text) - length)))
    stop = max([start + length, *(end for begin, end in inside if begin < start + length)])
    end = _word_end(text, stop)
    shown = [(max(a, start), b) for a, b in inside if a < end and b > start]
    pieces: list[tuple[str, bool]] = [("… ", False)] if start else []
    position = start
    for a, b in shown:
        pieces += [(text[position:a], False), (text[a:b], True)]
        position = b
    pieces.append((text[position:end], False))
    if end < len(text):
        pieces.append((" …", False))
    return [piece for piece in pieces if piece[0]]


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _word_start(text: str, position: int) -> int:
    """Return the position itself at a word's start, else that of the word it cuts; far inside a word, itself."""
    blank = max(text.rfind(" ", max(0, position - 40), position), text.rfind("\n", max(0, position - 40), position))
    return blank + 1 if blank >= 0 else position


def _word_end(text: str, position: int) -> int:
    if position >= len(text):
        return len(text)
    ends = [blank for sign in " \n" if (blank := text.find(sign, position, position + 40)) >= 0]
    return min(ends, default=position)
