"""EPUB, read chapter by chapter in the order of its spine: each is a page."""

from __future__ import annotations

import posixpath
import zipfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ingestion.extraction.assemble import DraftBlock
from ingestion.extraction.formats.html import html_blocks
from ingestion.extraction.formats.zip_container import Element, check_archive, open_archive, read_entry, read_xml
from ingestion.types import ExtractionLimits, Refusal

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_ENCRYPTION = "META-INF/encryption.xml"
# Fonts are often obfuscated so that they cannot be copied out; that hides no text.
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def extract_epub(path: Path, limits: ExtractionLimits) -> tuple[list[DraftBlock], str, int, tuple[str, ...]]:
    """Return the blocks of an EPUB, its title, the number of its chapters, and which of them could not be read."""
    with open_archive(path) as archive:
        check_archive(archive, path, limits)
        names = set(archive.namelist())
        if _ENCRYPTION in names:
            _refuse_encrypted(read_xml(archive, _ENCRYPTION, path), path)
        package = _package_name(archive, path)
        root = read_xml(archive, package, path)
        blocks: list[DraftBlock] = []
        warnings: list[str] = []
        chapters = _spine(root, package)
        if len(chapters) > limits.max_pages:
            raise Refusal(
                "too_many_pages",
                f"{path.name} has {len(chapters)} chapters; the limit is {limits.max_pages}.",
                help="Split it into volumes and add those.",
            )
        for number, name in enumerate(chapters, 1):
            if name not in names:
                warnings.append(f"Chapter {number} ({name}) is listed but not in the file.")
                continue
            found, _ = html_blocks(read_entry(archive, name, path))
            blocks += [replace(block, page=number) for block in found]
        title = root.find(f"{_OPF}metadata/{_TITLE}")
    return blocks, "" if title is None else title.text or "", max(1, len(chapters)), tuple(warnings)


def _package_name(archive: zipfile.ZipFile, path: Path) -> str:
    root = read_xml(archive, "META-INF/container.xml", path).find(f"{_CONTAINER}rootfiles/{_CONTAINER}rootfile")
    return "" if root is None else root.get("full-path", "")


def _spine(package: Element, name: str) -> list[str]:
    """Return the names of the chapters in reading order, without the table of contents, which repeats headings."""
    folder = posixpath.dirname(name)
    items = {item.get("id", ""): item for item in package.iterfind(f"{_OPF}manifest/{_OPF}item")}
    chapters: list[str] = []
    for reference in package.iterfind(f"{_OPF}spine/{_OPF}itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type") not in _CHAPTERS or "nav" in item.get("properties", "").split():
            continue
        chapters.append(posixpath.normpath(posixpath.join(folder, unquote(urlsplit(item.get("href", "")).path))))
    return chapters


def _refuse_encrypted(encryption: Element, path: Path) -> None:
    for method in encryption.iter("{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"):
        if method.get("Algorithm") not in _FONTS_ONLY:
            raise Refusal(
                "encrypted",
                f"{path.name} is protected by its seller (DRM).",
                help="Add a copy without protection, if your licence allows one.",
            )
