"""Plain text and Markdown."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from ingestion.extraction.assemble import Draft, DraftBlock, paragraph
from ingestion.extraction.layout.hyphenation import join_lines, vocabulary_of
from ingestion.extraction.runs import Look, Run
from ingestion.extraction.table_text import table
from ingestion.types.outcome import Refusal

_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"(=+|-+)\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ROW = re.compile(r"\s*\|.*\|\s*$")
# As GitHub's Markdown has it.
_STRUCK = re.compile(r"(?<![~\\])~~(?=\S)([^~]+?)(?<=\S)~~(?!~)")
_RULE = re.compile(r"[\s|:-]+$")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte order mark.

    Refusal "not_utf8" for any other encoding.
    """
    raw = path.read_bytes()
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal(
            "not_utf8",
            "{file} is not {encoding}: byte {byte} at offset {start}.",
            help="Save it as UTF-8.",
            file=path.name,
            encoding="UTF-16" if wide else "UTF-8",
            byte=f"0x{raw[error.start]:02x}",
            start=error.start,
        ) from error


def extract_text(path: Path) -> Draft:
    """Return the blocks of a plain text."""
    return Draft(list(text_blocks(read_text(path))))


def extract_markdown(path: Path) -> Draft:
    """Return the blocks of a Markdown text."""
    return Draft(list(markdown_blocks(read_text(path))))


def text_blocks(text: str) -> Iterator[DraftBlock]:
    """Yield the paragraphs of a text, parted by blank lines; a list item begins a line."""
    return _paragraphs(text, vocabulary_of(text.splitlines()))


def _paragraphs(text: str, vocabulary: frozenset[str]) -> Iterator[DraftBlock]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if lines and (not line.strip() or _ITEM.match(line)):
            yield DraftBlock(1, "text", join_lines([(kept.strip(), None) for kept in lines], vocabulary))
            lines = []
        if line.strip():
            lines.append(line)


def markdown_blocks(text: str) -> Iterator[DraftBlock]:
    r"""Yield the headings, tables and paragraphs of Markdown.

    Inline marks stay, since an analyst quotes the text as it is written; what they strike does not.

    >>> [(block.kind, [line.text for line in block.lines]) for block in markdown_blocks("Scope\n=====\nMayors warn.")]
    [('heading', ['Scope']), ('text', ['Mayors warn.'])]
    """
    vocabulary = vocabulary_of(text.splitlines())
    pending: list[str] = []
    rows: list[str] = []
    fenced = False
    out: list[Run] = []
    for written in [*text.splitlines(), ""]:
        line = written if fenced else _STRUCK.sub("", written)
        out += [] if fenced else [Run(found[1], Look.STRUCK) for found in _STRUCK.finditer(written)]
        if rows and not _ROW.match(line):
            ruled = next((at for at, row in enumerate(rows) if _RULE.match(row)), None)
            yield table((row.strip().strip("|").split("|") for row in rows if not _RULE.match(row)), headers=ruled)
            rows = []
        heading = None if fenced else _HEADING.match(line)
        underlined = len(pending) == 1 and not fenced and _UNDERLINE.match(line) is not None
        if _FENCE.match(line):
            fenced = not fenced
        elif underlined:
            yield paragraph(pending.pop(), kind="heading")
        elif heading or (not fenced and _ROW.match(line)):
            yield from _paragraphs("\n".join(pending), vocabulary)
            pending = []
            if heading:
                yield paragraph(heading[1], kind="heading")
            else:
                rows.append(line)
        elif line.strip():
            pending.append(line)
        else:
            yield from _paragraphs("\n".join(pending), vocabulary)
            pending = []
    if out:
        yield DraftBlock(1, "text", (), left_out=tuple(out))
