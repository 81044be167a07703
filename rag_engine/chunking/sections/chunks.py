"""Section-aware chunks: parents are the sections that are cited, children lie within one of them.

Each section is a parent with its heading; what is above it (act, part, chapter) is kept beside the text. Text
without a number (preambles, schedules, annexes) has the heading that encloses it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from rag_engine.chunking.parents import filled
from rag_engine.chunking.sections.clauses import clause_at, clauses_of
from rag_engine.chunking.sections.headings import places_of
from rag_engine.chunking.sections.outline import find_outline
from rag_engine.chunking.sections.reader import Section
from rag_engine.chunking.sections.rules import rules_of
from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkSizes
from rag_engine.text.sentences import sentence_spans, stripped
from rag_engine.types import Block, Parent

_DECIMAL = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?")
_FEWEST_CONTENTS = 3
_WORD = re.compile(r"\S+")


def section_chunks(
    text: str, language: str, *, title: str, blocks: Sequence[Block], config: ChunkSizes
) -> list[Parent]:
    """Return parents in reading order, each a section or a part of a long one, with its children.

    `parent.text == text[parent.start:parent.end]` and `child.text == parent.text[child.start:child.end]`; every
    character but white space is in a parent and, within it, in a child; parents do not overlap. A section of more
    than `section_size` characters is parted at its inner headings, else between clauses, paragraphs or sentences;
    text that is no section is parted so at `config.parent_size`.

    `language` is an ISO 639-1 code, `title` the document's. Without `blocks` paragraphs are read by blank lines.
    """
    starts = [place.start for place in places_of(text, blocks)]
    parents: list[Parent] = []
    for section in _led(find_outline(text, language, title=title, blocks=blocks), blocks):
        lines = starts[bisect_left(starts, section.start) : bisect_left(starts, section.end)]
        parents.extend(_parents_of(text, language, section, lines, config))
    return [replace(parent, index=index) for index, parent in enumerate(parents)]


def _led(sections: Iterable[Section], blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections, each with the headings before it that have nothing below them: "3 Tasks" leads to "3.1".

    Many such headings in a row that do not lead to the next section are a list of contents, which stays by itself. An
    article of which a heading is left says that it was repealed.
    """
    held: list[Section] = []
    for section in sections:
        if _is_heading(section, blocks):
            held.append(section)
            continue
        place = len(held)
        while place and section.section.startswith(f"{held[place - 1].section}."):
            place -= 1
        if place >= _FEWEST_CONTENTS:
            yield replace(held[0], end=held[place - 1].end, section="", numbered=False, headings=(), inner=())
            held = held[place:]
        yield replace(section, start=held[0].start) if held else section
        held = []
    yield from held


def _is_heading(section: Section, blocks: Sequence[Block]) -> bool:
    """Return whether a numbered chapter, which is no article of a law, has nothing but its heading."""
    if not _DECIMAL.fullmatch(section.section):
        return False
    first = bisect_left(blocks, section.start, key=attrgetter("start"))
    inside = blocks[first : bisect_left(blocks, section.end, key=attrgetter("start"))]
    return bool(inside) and all(block.kind == "heading" for block in inside)


def section_coverage(text: str, language: str, *, title: str = "", blocks: Sequence[Block] = ()) -> tuple[int, float]:
    """Return the number of sections with a number, and the share 0..1 of the characters that lie in one."""
    numbered = [section for section in find_outline(text, language, title=title, blocks=blocks) if section.numbered]
    covered = sum(section.end - section.start for section in numbered)
    return len(numbered), covered / len(text) if text else 0.0


def _parents_of(text: str, language: str, section: Section, lines: Sequence[int], config: ChunkSizes) -> list[Parent]:
    """Return the section as one parent, or as several with the same name."""
    body = text[section.start : section.end]
    inner = [(start - section.start, heading) for start, heading in section.inner]
    below = [line - section.start for line in lines if line >= section.label_start]
    forms = rules_of(language).clause_forms
    clauses = clauses_of(body, below, [start for start, _ in inner], forms) if section.section else []
    longest = config.section_size if section.section else config.parent_size
    spans = [(0, len(body))]
    if len(body) > longest:
        levels = [
            [start for start, _ in inner],
            [clause.start for clause in clauses if clause.rank == 1],
            [line - section.start for line in lines],
            [start for start, _ in sentence_spans(body, language)],
            [word.start() for word in _WORD.finditer(body)],
            range(longest, len(body), longest),
        ]
        spans = list(filled((0, len(body)), levels, longest))
    parents = []
    for start, end in spans:
        first, beyond = stripped(body, start, end)
        if first == beyond:
            continue
        piece = body[first:beyond]
        heading = next((heading for at, heading in reversed(inner) if at <= first), "") if len(spans) > 1 else ""
        headings = (*section.headings, heading) if heading else section.headings
        children = cut_children(piece, sentence_spans(piece, language), config)
        parents.append(
            Parent(
                index=0,
                start=section.start + first,
                end=section.start + beyond,
                text=piece,
                children=tuple(replace(child, clause=clause_at(clauses, first + child.start)) for child in children),
                act=section.act,
                section=section.section,
                headings=headings,
                depth=max(0, len(headings) - 1),
            )
        )
    return parents
