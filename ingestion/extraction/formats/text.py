"""Plain text and Markdown."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.subscript import sub_plugin
from mdit_py_plugins.superscript import superscript_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from ingestion.extraction.assemble import Draft, DraftBlock, DraftLine
from ingestion.extraction.formats.html import tree_blocks
from ingestion.extraction.layout.hyphenation import join_lines, vocabulary_of
from ingestion.text_encoding import encoding_name, guess_encoding, is_damaged_utf8
from ingestion.types.outcome import Refusal
from ingestion.web.html import parse
from rag_engine.messages import Message

# Of these signs a text has none.
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19]")
# What programs that publish Markdown read before its text.
_FRONT_MATTER = re.compile(
    r"---[ \t]{0,9}\r?\n((?:\w[\w-]{0,49}:.{0,2000}\n|[ \t#-].{0,2000}\n|\r?\n){1,200})(?:---|\.\.\.)\s*?\n"
)
_TITLE = re.compile(r"^title:\s*[\"']?(.{1,300}?)[\"']?\s*$", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")


def read_text(path: Path) -> tuple[str, tuple[Message, ...]]:
    """Return the text of a file, and a warning if its encoding was guessed.

    It is in UTF-8, in UTF-16 with a byte order mark, or in an encoding of European office programs. Refusal "not_utf8"
    for bytes that are none of these.
    """
    raw = path.read_bytes()
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if wide else "utf-8-sig"), ()
    except UnicodeDecodeError as error:
        encoding = "" if wide or _NO_TEXT.search(raw) or is_damaged_utf8(raw) else guess_encoding(raw)
        if encoding:
            guessed = Message(
                "It was read as {encoding}, which is a guess. Check its accented letters, or save it as UTF-8.",
                encoding=encoding_name(encoding),
            )
            return raw.decode(encoding, "replace"), (guessed,)
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
    text, warnings = read_text(path)
    return Draft(list(text_blocks(text)), warnings=warnings)


def extract_markdown(path: Path) -> Draft:
    """Return the blocks of a Markdown text."""
    text, warnings = read_text(path)
    matter = _FRONT_MATTER.match(text)
    if matter is None:
        return Draft(markdown_blocks(text), warnings=warnings)
    title = _TITLE.search(matter[1])
    before = DraftBlock(1, "note", tuple(DraftLine(line, joint="\n") for line in matter[1].splitlines()))
    return Draft([before, *markdown_blocks(text[matter.end() :])], title[1] if title else "", warnings=warnings)


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


def markdown_blocks(text: str) -> Sequence[DraftBlock]:
    r"""Return the headings, tables, lists, notes and paragraphs of Markdown, as a page of them shows.

    Marks that make bold or slanted, and the addresses of links and pictures, are no text of the page.

    >>> [(block.kind, [line.text for line in block.lines]) for block in markdown_blocks("Scope\n=====\nMayors *warn*.")]
    [('heading', ['Scope']), ('text', ['Mayors warn.'])]
    """
    # As GitHub and Pandoc have it; deeper lists than a page can show are read too.
    markdown = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])
    markdown = markdown.use(footnote_plugin, inline=False).use(sub_plugin).use(superscript_plugin).use(tasklists_plugin)
    tokens, vocabulary = markdown.parse(text), vocabulary_of(text.splitlines())
    for token in tokens:
        _join_lines(token.children or (), vocabulary)
    root = parse(f"<body>{markdown.renderer.render(tokens, markdown.options, {})}</body>")
    return [] if root is None else tree_blocks(root, of_site=False).blocks


def _join_lines(pieces: Sequence[Token], vocabulary: frozenset[str]) -> None:
    """Make the words whole that are cut at the end of a line."""
    for before, end, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if (before.type, end.type, after.type) == ("text", "softbreak", "text"):
            line = join_lines([(before.content, None), (after.content, None)], vocabulary)[0]
            before.content = line.text
            end.type, end.content = ("text", "") if line.joint == "" else (end.type, end.content)
