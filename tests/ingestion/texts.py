"""Documents for tests, made of plain text."""

from __future__ import annotations

from rag_engine.types.document import Block, ExtractedText, Line


def extracted_from(text: str, *, media_type: str = "text/plain", title: str = "") -> ExtractedText:
    """Return a document whose paragraphs are parted by blank lines; those that begin with # are headings."""
    blocks, lines, position = [], [], 0
    for paragraph in text.split("\n\n"):
        end = position + len(paragraph)
        blocks.append(Block(position, end, 1, "heading" if paragraph.startswith("#") else "text"))
        start = position
        for line in paragraph.split("\n"):
            lines.append(Line(start, start + len(line), 1, None))
            start += len(line) + 1
        position = end + 2
    return ExtractedText(text, 1, tuple(lines), tuple(blocks), media_type, title=title)
