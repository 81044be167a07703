"""Glossaries and articles of definitions to records: a term, and what the document says that it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ingestion.book_index.vocabulary import DEFINES, is_glossary_title
from ingestion.types import PlacedLine
from rag_engine.book_index.anchors import IndexRecord
from rag_engine.types import Block, ExtractedText

_FEWEST_ENTRIES = 3
# Blocks without an entry after which the glossary is taken to have ended.
_PATIENCE = 4
_LONGEST_TERM = 80
_SHORTEST_DEFINITION = 8
# What is longer is a section and no explanation.
_LONGEST_TEXT = 800
_NUMBERING = r"(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[IVXL]{1,7}|[a-z]{1,2})\)?\s?[-–—.)]?\s+|[•▪‣*-]\s*)?"
_QUOTED = re.compile(
    rf"{_NUMBERING}[\"“„«'‘‹]\s?(?P<term>[^\"”“»'’›]{{2,80}}?)\s?[\"”“»'’›]\s*(?:\([^)]{{1,30}}\)\s*)?"
    r"(?:shall\s+mean|means?|is\s+defined\s+as|refers\s+to|significa|bezeichnet|bedeutet|désigne|:|–|—)\s*"
    r"(?P<definition>.+)",
    re.DOTALL | re.IGNORECASE,
)
_COLON = re.compile(
    rf"{_NUMBERING}(?P<term>[^\W\d_][^:.;|\n]{{1,79}}?)\s*(?::|\s[–—-])\s+(?P<definition>\S.+)", re.DOTALL
)
_CELLS = re.compile(rf"{_NUMBERING}(?P<term>[^|]{{2,80}}?)\s*\|\s*(?P<definition>[^|]{{3,}})(?:\|.*)?", re.DOTALL)
_LEADING_NUMBER = re.compile(r"\A\(?(?:\d{1,3}(?:\.\d{1,3})*|[IVXL]{1,7}\s?[-–—.)])\)?\.?\s+")


def glossary_records(extracted: ExtractedText) -> list[IndexRecord]:
    """Return the terms that the document's glossaries and definitions explain, with the page of each explanation.

    A glossary begins with its title, an article of definitions with the words that introduce one ("For the purposes
    of this ..."); it ends where several paragraphs are no entries. Fewer than three entries are no glossary.
    """
    records: list[IndexRecord] = []
    blocks = [(block, extracted.text[block.start : block.end]) for block in extracted.blocks if block.kind != "note"]
    beyond = 0
    for at, (block, text) in enumerate(blocks):
        titled = _is_title(block, text)
        introduced = len(text) < 600 and DEFINES.search(text) and text.rstrip().endswith((":", "—", "-"))
        if at < beyond or not (titled or introduced):
            continue
        found, end = _entries(blocks, at + 1, block if titled else None)
        if len(found) >= _FEWEST_ENTRIES:
            records += found
            beyond = end
    return records


def bold_terms(lines: Sequence[PlacedLine]) -> list[IndexRecord]:
    """Return the records of a glossary that sets its terms in bold before their explanations."""
    records: list[IndexRecord] = []
    term, meaning, page = "", "", 0

    def close() -> None:
        definition = _tidied(meaning)
        if term and len(definition) >= _SHORTEST_DEFINITION:
            records.append(IndexRecord(term, pages=(page,), definition=definition))

    for line in lines:
        bold, rest = line.text[: line.bold].strip(" :–—-."), line.text[line.bold :].strip(" :–—-")
        if line.bold > 1 and bold and not is_glossary_title(bold):
            if term and not meaning and line.bold == len(line.text):
                # A term of two lines.
                term = f"{term} {bold}"
                continue
            close()
            term, meaning, page = bold, rest, line.page
        elif term:
            meaning = f"{meaning} {line.text}"
    close()
    return [record for record in records if len(record.term) <= _LONGEST_TERM]


def _is_title(block: Block, text: str) -> bool:
    return is_glossary_title(_LEADING_NUMBER.sub("", text)) and (block.kind == "heading" or len(text) < 40)


def _entries(blocks: Sequence[tuple[Block, str]], first: int, title: Block | None) -> tuple[list[IndexRecord], int]:
    """Return the entries from a block on, and the number of the block behind the last of them.

    Under a title each term may be a heading of its own; a larger heading, or any where terms are none, ends it.
    """
    found: list[IndexRecord] = []
    end, missed, by_heading = first, 0, False
    at = first
    while at < len(blocks) and missed < _PATIENCE:
        block, text = blocks[at]
        size = 1
        entries = list(_in_table(block)) if block.kind == "table" else list(_in_text(block, text))
        if not entries and block.kind == "heading":
            larger = title is not None and (block.font_size or 0.0) > (title.font_size or 0.0)
            if title is None or (found and (larger or not by_heading)):
                break
            by_heading = True
            entries = list(_under_heading(text, block.page, blocks[at + 1 : at + 2]))
            size += len(entries)
        found += entries
        missed = 0 if entries else missed + 1
        at += size
        end = at if entries else end
    return found, end


def _under_heading(heading: str, page: int, following: Sequence[tuple[Block, str]]) -> Iterator[IndexRecord]:
    name = _LEADING_NUMBER.sub("", heading)
    for block, text in following:
        if block.kind == "text" and len(name) <= _LONGEST_TERM and _SHORTEST_DEFINITION <= len(text) <= _LONGEST_TEXT:
            yield _record(name, text, page)


def _in_table(block: Block) -> Iterator[IndexRecord]:
    # Cells are read as they stand in the columns, not under the names that the text repeats.
    rows = [_CELLS.fullmatch(" | ".join(row)) for row in block.rows]
    if 2 * sum(row is not None for row in rows) >= len(rows):
        yield from (_record(row["term"], row["definition"], block.page) for row in rows if row is not None)


def _in_text(block: Block, text: str) -> Iterator[IndexRecord]:
    whole = _QUOTED.fullmatch(text) or _COLON.fullmatch(text)
    if whole is not None and "\n" not in text:
        yield _record(whole["term"], whole["definition"], block.page)
        return
    for _, grouped in groupby(text.splitlines()):
        found = _QUOTED.fullmatch(line := next(grouped)) or _COLON.fullmatch(line)
        if found is not None:
            yield _record(found["term"], found["definition"], block.page)


def _record(term: str, definition: str, page: int) -> IndexRecord:
    return IndexRecord(" ".join(term.split()).strip(" .:;"), pages=(page,), definition=_tidied(definition))


def _tidied(text: str) -> str:
    return " ".join(text.split()).strip(" :;–—-")
