"""What a file is, told by its bytes and not by its name."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Literal

from ingestion.types import FileRefused

Format = Literal[
    "pdf", "docx", "pptx", "xlsx", "odt", "epub", "rtf", "doc", "ppt", "xls", "odp", "ods", "html", "markdown", "text"
]

MEDIA_TYPES: dict[Format, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
    "rtf": "application/rtf",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "xls": "application/vnd.ms-excel",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
}
# What LibreOffice turns into what.
CONVERTED: dict[Format, str] = {"doc": "docx", "ppt": "pptx", "xls": "xlsx", "odp": "pptx", "ods": "xlsx"}
READABLE = (
    "PDF, DOCX, PPTX, XLSX, ODT, EPUB, RTF, HTML, Markdown, plain text, and with LibreOffice DOC, PPT, XLS, ODP, ODS"
)

_SUFFIXES: dict[str, Format] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".dotx": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".ppsx": "pptx",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".odt": "odt",
    ".ott": "odt",
    ".epub": "epub",
    ".rtf": "rtf",
    ".doc": "doc",
    ".dot": "doc",
    ".ppt": "ppt",
    ".pps": "ppt",
    ".pot": "ppt",
    ".xls": "xls",
    ".xlt": "xls",
    ".odp": "odp",
    ".otp": "odp",
    ".ods": "ods",
    ".ots": "ods",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
}
_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"%!PS", "a PostScript file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a program"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<?xml")
_HEAD = 4096


def detect(path: Path) -> Format:
    """The format of a file by its content; FileRefused when it cannot be read or its suffix says otherwise."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    named = _SUFFIXES.get(path.suffix.lower())
    found = _by_content(path, head, named)
    # Word itself saves RTF under .doc when asked to write for older programs.
    if named is not None and named != found and (named, found) != ("doc", "rtf"):
        raise FileRefused(
            "mislabelled",
            f"{path.name} is named as {named.upper()} but its content is {found.upper()}.",
            help="Check that it is the file you meant, then give it the right suffix.",
        )
    return found


def _by_content(path: Path, head: bytes, named: Format | None) -> Format:
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_format(path)
    if head.startswith(_OLE):
        return _ole_format(path)
    if head.startswith(b"{\\rtf"):
        return "rtf"
    for magic, name in _FOREIGN:
        if head.startswith(magic):
            raise _unsupported(path, name)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return named if named in ("html", "markdown") else "text"
    if _is_binary(head):
        raise _unsupported(path, "binary data of no known kind")
    if named in ("markdown", "text"):
        return named
    start = head.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if start.startswith(_HTML_STARTS) or (start.startswith(b"<") and (b"<html" in start or named == "html")):
        return "html"
    return "text"


def _is_binary(head: bytes) -> bool:
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return b"\x00" in head or controls > 0.05 * len(head)


def _zip_format(path: Path) -> Format:
    from ingestion.backends.archive import open_archive, read_entry

    with open_archive(path) as archive:
        names = set(archive.namelist())
        if "mimetype" in names:
            declared = read_entry(archive, "mimetype", path, most=200).strip()
            kind = declared.decode("ascii", "replace").removesuffix("-template")
            for format_ in ("odt", "epub", "odp", "ods"):
                if kind == MEDIA_TYPES[format_]:
                    return format_
            raise _unsupported(path, f"an archive of type {declared[:80].decode('ascii', 'replace')}")
        types = read_entry(archive, "[Content_Types].xml", path) if "[Content_Types].xml" in names else b""
    for marker, found in _MAIN_PARTS:
        if marker in types:
            return found
    raise _unsupported(path, "a zip archive")


_MAIN_PARTS: tuple[tuple[bytes, Format], ...] = (
    (b"wordprocessingml.document.main+xml", "docx"),
    (b"wordprocessingml.template.main+xml", "docx"),
    (b"ms-word.document.macroEnabled.main+xml", "docx"),
    (b"presentationml.presentation.main+xml", "pptx"),
    (b"presentationml.slideshow.main+xml", "pptx"),
    (b"ms-powerpoint.presentation.macroEnabled.main+xml", "pptx"),
    (b"spreadsheetml.sheet.main+xml", "xlsx"),
    (b"ms-excel.sheet.macroEnabled.main+xml", "xlsx"),
)


def _ole_format(path: Path) -> Format:
    from ingestion.backends.compound import stream_names

    names = stream_names(path)
    for stream, found in _OLE_STREAMS:
        if stream in names:
            return found
    if "EncryptedPackage" in names or _holds(path, _ENCRYPTED_STREAM):
        raise FileRefused(
            "encrypted", f"{path.name} asks for a password.", help="Save a copy without a password and add that."
        )
    raise _unsupported(path, "a compound file that holds no Word, Excel or PowerPoint document")


_OLE_STREAMS: tuple[tuple[str, Format], ...] = (
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
)


def _holds(path: Path, wanted: bytes) -> bool:
    """Whether the bytes stand anywhere in the file: for containers whose directory is damaged."""
    with path.open("rb") as file:
        while piece := file.read(2**20):
            if wanted in piece:
                return True
            if len(piece) == 2**20:
                file.seek(-len(wanted), 1)
    return False


def _unsupported(path: Path, what: str) -> FileRefused:
    return FileRefused(
        "unsupported_type", f"{path.name} is {what}.", help=f"Convert it to one of {READABLE} and add that."
    )
