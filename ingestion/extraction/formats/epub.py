"""EPUB, read chapter by chapter in the order of its spine: each is a page, unless its print has pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html

from ingestion.extraction.assemble import Draft, DraftBlock
from ingestion.extraction.formats.epub_pages import PageBreaks, listed_pages
from ingestion.extraction.formats.html import tree_blocks
from ingestion.extraction.formats.html_notes import NotesElsewhere
from ingestion.extraction.formats.pictures.package_pictures import chapter_pictures
from ingestion.extraction.formats.zip_container import Element, Package, open_package
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from ingestion.web.html import decode, parse
from ingestion.web.styles import inline_styles
from rag_engine.messages import Message

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
# Fonts are often obfuscated so that they cannot be copied out; that hides no text.
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
# What a chapter of notes calls them.
_NOTES = re.compile(rb"(?:epub:type|role)\s{0,9}=\s{0,9}[\"'][^\"'<>]{0,99}(?:footnote|endnote|rearnote)s?(?![a-z])")
_LONGEST_SHEET = 300_000
_NCX = "application/x-dtbncx+xml"
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def extract_epub(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an EPUB, its title, its number of chapters, and the unreadable ones."""
    with open_package(path, limits) as package:
        encryption = package.find("META-INF/encryption.xml")
        if encryption is not None:
            for method in encryption.iter("{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"):
                if method.get("Algorithm") not in _FONTS_ONLY:
                    raise Refusal(
                        "encrypted",
                        "{file} is protected by its seller (DRM).",
                        help="Add a copy without protection, if your licence allows one.",
                        file=path.name,
                    )
        name = package_name(package)
        root = package.xml(name)
        chapters = _spine(root, name)
        if len(chapters) > limits.max_pages:
            raise Refusal(
                "too_many_pages",
                "{file} has {chapters} chapters; the limit is {limit}.",
                help="Split it into volumes and add those.",
                file=path.name,
                chapters=len(chapters),
                limit=limits.max_pages,
            )
        breaks = PageBreaks(listed_pages(_lists(package, root, name)))
        blocks = _Chapters(package, breaks).blocks(chapters)
        warnings = tuple(
            Message("Chapter {number} ({name}) is listed but not in the file.", number=number, name=chapter)
            for number, chapter in enumerate(chapters, 1)
            if chapter not in package.names
        )
    blocks, labels = breaks.paged(blocks, limits.max_pages)
    title, pages = root.findtext(f"{OPF}metadata/{_TITLE}") or "", len(labels) or max(1, len(chapters))
    return Draft(blocks, title, pages, warnings, page_labels=labels)


class _Chapters:
    """The chapters of a package, with their linked style sheets and the notes that stand in other files."""

    def __init__(self, package: Package, breaks: PageBreaks) -> None:
        self._package, self._breaks = package, breaks
        self._sheets: dict[str, str] = {}
        self._noted: dict[str, html.HtmlElement | None] = {}
        self._notes = NotesElsewhere(self._noted_page)

    def blocks(self, chapters: Iterable[str]) -> list[DraftBlock]:
        """Return the blocks of chapters, each a page, with signs where printed pages begin."""
        there = [(number, name) for number, name in enumerate(chapters, 1) if name in self._package.names]
        roots = [(number, name, root) for number, name in there if (root := self._noted_page(name)) is not None]
        # Before notes are taken from one file into another.
        marked = [(number, name, root, self._breaks.mark(root, name)) for number, name, root in roots]
        # Chapters of notes come last, when their notes are taken from them.
        marked.sort(key=lambda one: _NOTES.search(self._package.read(one[1])) is not None)
        found = [block for chapter in marked for block in self._chapter(*chapter)]
        return sorted(found, key=lambda block: block.page)

    def _chapter(self, number: int, name: str, root: html.HtmlElement, breaks: range) -> list[DraftBlock]:
        self._notes.bring(root, lambda address: self._file(name, address))
        blocks = self._breaks.kept(tree_blocks(root, of_site=False).blocks, breaks)
        pictures = chapter_pictures(self._package, name, self._package.read(name), number)
        return [*(replace(block, page=number) for block in blocks), *pictures]

    def _page(self, name: str) -> html.HtmlElement | None:
        root = parse(self._package.read(name))
        if root is not None:
            linked = (one.get("href", "") for one in root.iter("link") if "stylesheet" in one.get("rel", ""))
            inline_styles(root, " ".join(self._sheet(self._file(name, address)) for address in linked))
        return root

    def _noted_page(self, name: str) -> html.HtmlElement | None:
        if name not in self._noted:
            self._noted[name] = self._page(name)
        return self._noted[name]

    def _sheet(self, name: str) -> str:
        if name not in self._sheets:
            self._sheets[name] = decode(self._package.read(name, most=_LONGEST_SHEET)) if name else ""
        return self._sheets[name]

    def _file(self, chapter: str, address: str) -> str:
        """Return the part that an address in a chapter leads to; "" for the chapter and for none."""
        name = _part(posixpath.dirname(chapter), address)
        return name if name in self._package.names and name != chapter else ""


def _part(folder: str, address: str) -> str:
    """Return the name of the part that an address leads to from a folder."""
    try:
        path = urlsplit(address).path
    except ValueError:
        # Brackets that hold no address.
        return ""
    return posixpath.normpath(posixpath.join(folder, unquote(path)))


def package_name(package: Package) -> str:
    """Return the name of the part that lists all others."""
    root = package.xml("META-INF/container.xml").find(f"{_CONTAINER}rootfiles/{_CONTAINER}rootfile")
    return "" if root is None else root.get("full-path", "")


def _lists(package: Package, root: Element, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a package that may list the pages of its print."""
    for item in root.iterfind(f"{OPF}manifest/{OPF}item"):
        part = _part(posixpath.dirname(name), item.get("href", ""))
        listing = "nav" in item.get("properties", "").split() or item.get("media-type") == _NCX
        if listing and part in package.names:
            yield part, package.read(part)


def _spine(package: Element, name: str) -> list[str]:
    """Return the names of the chapters in reading order, without the table of contents.

    It repeats headings.
    """
    folder = posixpath.dirname(name)
    items = {item.get("id", ""): item for item in package.iterfind(f"{OPF}manifest/{OPF}item")}
    chapters: list[str] = []
    for reference in package.iterfind(f"{OPF}spine/{OPF}itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type") not in _CHAPTERS or "nav" in item.get("properties", "").split():
            continue
        chapters.append(_part(folder, item.get("href", "")))
    return chapters
