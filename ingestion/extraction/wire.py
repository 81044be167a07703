"""Readings of files as packets: JSON between the sandbox and its child, and in the text cache."""

from __future__ import annotations

import dataclasses
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from math import isnan, nan
from typing import Any

from ingestion.file_reading import FileProperties, FileReading, PlacedLine, PrintedPages
from rag_engine.confinement.pool import LARGEST_ANSWER
from rag_engine.messages import Message, dump_json, load_json
from rag_engine.types.document import Block, Box, ExtractedText, Line, StruckText

_AS_THEY_ARE = ("text", "pages", "media_type", "title", "ocr_pages", "unread_pages", "warnings", "page_labels")
_NO_BOX = (nan, nan, nan, nan)

Packet = dict[str, Any]


def reading_to_json(reading: FileReading) -> Packet:
    """Return a packet that `reading_from_json` turns back into an equal reading."""
    return {"extracted": to_json(reading.extracted), **clues_to_json(reading)}


def reading_from_json(fields: Packet) -> FileReading:
    """Return the reading of a packet; KeyError, TypeError or ValueError for anything else."""
    lines, values = fields["index_lines"], fields["properties"]
    return FileReading(
        from_json(fields["extracted"]),
        FileProperties(**_tupled(values, [field.name for field in dataclasses.fields(FileProperties)])),
        None if lines is None else lines_from_json(lines),
        Message(fields["index_error"]),
    )


def clues_to_json(reading: FileReading) -> Packet:
    """Return everything of a reading but its text as a packet."""
    lines = reading.index_lines
    return {
        "properties": dataclasses.asdict(reading.properties),
        "index_lines": None if lines is None else lines_to_json(lines),
        "index_error": reading.index_error,
    }


def lines_to_json(pages: PrintedPages) -> Packet:
    """Return a packet that `lines_from_json` turns back into equal lines."""
    lines = [(line.text, line.page, *_edges(line.box), line.size, line.bold) for line in pages.lines]
    return {"labels": pages.labels, "margins": pages.margins, "lines": lines, "height": pages.height}


def lines_from_json(fields: Packet) -> PrintedPages:
    """Return the lines of a packet; KeyError, TypeError or ValueError for anything else."""
    lines = tuple(
        PlacedLine(text, page, Box(x0, y0, x1, y1), size, bold)
        for text, page, x0, y0, x1, y1, size, bold in fields["lines"]
    )
    margins = tuple((int(page), str(text)) for page, text in fields["margins"])
    return PrintedPages(tuple(map(str, fields["labels"])), margins, lines, float(fields["height"]))


def to_json(extracted: ExtractedText) -> Packet:
    """Return a packet that `from_json` turns back into an equal text.

    A text has as many lines as everything else has parts. They are packed, a column each: writing and reading their
    numbers as text would take longer than the rest of a packet.
    """
    lines = extracted.lines
    return {
        **{name: getattr(extracted, name) for name in _AS_THEY_ARE},
        "starts": _packed("i", [line.start for line in lines]),
        "ends": _packed("i", [line.end for line in lines]),
        "line_pages": _packed("i", [line.page for line in lines]),
        "edges": _packed("d", [edge for line in lines for edge in _edges(line.box)]),
        "struck": [dataclasses.astuple(one) for one in extracted.struck],
        "blocks": [
            (block.start, block.end, block.page, block.kind, block.font_size, block.rows) for block in extracted.blocks
        ],
    }


def from_json(fields: Packet) -> ExtractedText:
    """Return the text that `to_json` was given; KeyError, TypeError or ValueError for anything else."""
    edges = _unpacked("d", fields["edges"])
    boxes = [
        None if isnan(x0) else Box(x0, y0, x1, y1)
        for x0, y0, x1, y1 in zip(edges[::4], edges[1::4], edges[2::4], edges[3::4], strict=True)
    ]
    numbers = (_unpacked("i", fields[name]) for name in ("starts", "ends", "line_pages"))
    return ExtractedText(
        lines=tuple([Line(*line) for line in zip(*numbers, boxes, strict=True)]),
        blocks=tuple(
            Block(start, end, page, kind, size, tuple(map(tuple, rows)))
            for start, end, page, kind, size, rows in fields["blocks"]
        ),
        struck=tuple(StruckText(*one) for one in fields["struck"]),
        **_tupled(fields, _AS_THEY_ARE),
    )


def _tupled(fields: Packet, names: Iterable[str]) -> Packet:
    """Return the fields of these names, with the tuples that JSON made lists of."""
    return {name: tuple(fields[name]) if isinstance(fields[name], list) else fields[name] for name in names}


def _edges(box: Box | None) -> tuple[float, float, float, float]:
    return (box.x0, box.y0, box.x1, box.y1) if box else _NO_BOX


def _packed(kind: str, numbers: Sequence[float]) -> str:
    return b64encode(array(kind, numbers).tobytes()).decode("ascii")


def _unpacked(kind: str, packed: str) -> array[Any]:
    numbers: array[Any] = array(kind)
    numbers.frombytes(b64decode(packed))
    return numbers


def encode(packet: Packet) -> bytes:
    """Return the bytes of a packet; ValueError if it is longer than LARGEST_ANSWER."""
    body = dump_json(packet).encode("ascii")
    if len(body) > LARGEST_ANSWER:
        raise ValueError(f"packet of {len(body):,} bytes; the limit is {LARGEST_ANSWER:,}")
    return body


def decode(body: bytes) -> Packet:
    """Return the packet of these bytes; ValueError if they are none of ours."""
    packet = load_json(body.decode())
    if not isinstance(packet, dict):
        raise ValueError("packet is not an object")
    return packet
