"""Prose of a sample document: TOML front matter, headings, paragraphs, lists, tables and an index.

The markup is a small part of Markdown, so that the sources stay readable; one source makes one file of any format.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LICENCE = "CC0-1.0"
NOTES = "Sample written for the Sextant project by its authors; the authority is invented and the text is not official."
SOURCE = "https://sample.example/documents/"

# The sentence that every document carries, in its own language.
MARKS = {
    "de": "MUSTER - für das Projekt Sextant verfasst, kein amtlicher Text",
    "en": "SAMPLE - written for the Sextant project, not an official text",
    "es": "MUESTRA - escrita para el proyecto Sextant, no es un texto oficial",
    "fr": "EXEMPLE - rédigé pour le projet Sextant, ce n'est pas un texte officiel",
    "it": "ESEMPIO - scritto per il progetto Sextant, non è un testo ufficiale",
    "pt": "AMOSTRA - escrita para o projeto Sextant, não é um texto oficial",
    "tr": "ÖRNEK - Sextant projesi için yazılmıştır, resmî bir metin değildir",
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the highest inside a document."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, with **bold** marks and line breaks left in."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """An unnumbered list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first row is its heading."""

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class IndexLines:
    """A back-of-book index before its pages are known: `term: 3.2, 4.1` names sections, two spaces indent."""

    lines: tuple[str, ...]


Piece = Heading | Paragraph | Bullets | Table | IndexLines


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """One document to be rendered.

    `layout` is the renderer's name, `columns` counts text columns on a page.
    """

    stem: str
    layout: str
    columns: int
    short_title: str
    contents_title: str
    metadata: dict[str, Any]
    pieces: tuple[Piece, ...]
    body: str

    @property
    def title(self) -> str:
        """The document's title."""
        return str(self.metadata["title"])

    @property
    def authority(self) -> str:
        """The office that the document says it comes from."""
        return str(self.metadata["authority"])

    @property
    def date(self) -> str:
        """The ISO date of publication."""
        return str(self.metadata["date"])

    @property
    def language(self) -> str:
        """The ISO 639-1 code of the text."""
        return str(self.metadata["language"])

    @property
    def mark(self) -> str:
        """The sentence that says the document is a sample."""
        return MARKS[self.language]


def read(path: Path) -> SampleDocument:
    """The document whose prose lies at `path`."""
    _, front, body = path.read_text(encoding="utf-8").split("+++\n", 2)
    fields = tomllib.loads(front)
    metadata = fields["metadata"]
    metadata["year"] = int(metadata["date"][:4])
    metadata["target"] = " ".join(metadata["target"].split())
    metadata["description"] = " ".join(metadata["description"].split())
    metadata |= {"licence": LICENCE, "source_url": SOURCE + path.stem, "notes": NOTES}
    return SampleDocument(
        stem=path.stem,
        layout=fields["layout"],
        columns=fields.get("columns", 1),
        short_title=fields["short_title"],
        contents_title=fields.get("contents_title", ""),
        metadata=metadata,
        pieces=tuple(parse(body)),
        body=body.strip(),
    )


def parse(body: str) -> Iterator[Piece]:
    """The pieces of a body in order; blank lines part them."""
    for chunk in body.strip().split("\n\n"):
        lines = chunk.strip("\n").splitlines()
        if lines[0] == ":::index":
            yield IndexLines(tuple(lines[1:]))
        elif lines[0].startswith("#"):
            marks, _, text = lines[0].partition(" ")
            yield Heading(len(marks), text)
            if rest := "\n".join(lines[1:]):
                yield from parse(rest)
        elif lines[0].startswith("|"):
            yield Table(tuple(tuple(cell.strip() for cell in line.strip("| ").split("|")) for line in lines))
        elif lines[0].startswith("- "):
            yield Bullets(tuple(line.removeprefix("- ") for line in lines))
        else:
            yield Paragraph("\n".join(lines))


def plain(text: str) -> str:
    """The text without its bold marks."""
    return text.replace("**", "")


def slides(pieces: tuple[Piece, ...]) -> list[tuple[str, tuple[Piece, ...]]]:
    """The pieces grouped under their headings of level 1, for formats made of slides or sheets."""
    starts = [i for i, piece in enumerate(pieces) if isinstance(piece, Heading) and piece.level == 1]
    ends = [*starts[1:], len(pieces)]
    titles = [piece.text for piece in pieces if isinstance(piece, Heading) and piece.level == 1]
    return [(title, pieces[start + 1 : end]) for title, start, end in zip(titles, starts, ends, strict=True)]
