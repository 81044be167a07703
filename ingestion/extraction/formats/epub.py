"""EPUB, read chapter by chapter in the order of its spine: each is a page, unless its print has pages."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ingestion.extraction.assemble import Draft, DraftBlock
from ingestion.extraction.formats.epub_pages import PageBreaks, listed_pages
from ingestion.extraction.formats.pictures.package_pictures import chapter_pictures
from ingestion.extraction.formats.zip_container import Element, Package, open_package
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.messages import Message

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
# Fonts are often obfuscated so that they cannot be copied out; that hides no text.
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
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
        blocks: list[DraftBlock] = []
        warnings: list[Message] = []
        for number, chapter in enumerate(chapters, 1):
            if chapter in package.names:
                content = package.read(chapter)
                blocks += [replace(block, page=number) for block in breaks.blocks(content, chapter)]
                blocks += chapter_pictures(package, chapter, content, number)
            else:
                warnings.append(
                    Message("Chapter {number} ({name}) is listed but not in the file.", number=number, name=chapter)
                )
    blocks, labels = breaks.paged(blocks, limits.max_pages)
    title, pages = root.findtext(f"{OPF}metadata/{_TITLE}") or "", len(labels) or max(1, len(chapters))
    return Draft(blocks, title, pages, tuple(warnings), page_labels=labels)


def package_name(package: Package) -> str:
    """Return the name of the part that lists all others."""
    root = package.xml("META-INF/container.xml").find(f"{_CONTAINER}rootfiles/{_CONTAINER}rootfile")
    return "" if root is None else root.get("full-path", "")


def _lists(package: Package, root: Element, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a package that may list the pages of its print."""
    for item in root.iterfind(f"{OPF}manifest/{OPF}item"):
        part = _part(name, item)
        listing = "nav" in item.get("properties", "").split() or item.get("media-type") == _NCX
        if listing and part in package.names:
            yield part, package.read(part)


def _part(name: str, item: Element) -> str:
    """Return the name of the part of an item in the package with this name."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(urlsplit(item.get("href", "")).path)))


def _spine(package: Element, name: str) -> list[str]:
    """Return the names of the chapters in reading order, without the table of contents.

    It repeats headings.
    """
    items = {item.get("id", ""): item for item in package.iterfind(f"{OPF}manifest/{OPF}item")}
    chapters: list[str] = []
    for reference in package.iterfind(f"{OPF}spine/{OPF}itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type") not in _CHAPTERS or "nav" in item.get("properties", "").split():
            continue
        chapters.append(_part(name, item))
    return chapters
