"""Types of files: the formats that can be added, and the format of a file by its bytes, not its name."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ingestion.extraction.formats.law.schemes import root_name, scheme_of, schemes, unknown_law
from ingestion.extraction.formats.legacy_office import stream_names
from ingestion.extraction.formats.refusals import locked
from ingestion.extraction.formats.zip_container import open_package
from ingestion.types.outcome import Refusal
from ingestion.web.links import suffix_of

Format = Literal[
    "pdf", "docx", "pptx", "xlsx", "odt", "fodt", "epub", "rtf", "doc", "ppt", "xls", "odp", "ods", "html", "xml",
    "markdown", "text", "csv", "eml", "mbox", "mhtml", "msg", "tiff", "jpeg", "png",
]  # fmt: skip
_OPEN_XML, _OPEN_DOCUMENT = "application/vnd.openxmlformats-officedocument", "application/vnd.oasis.opendocument"
_DOCX_PARTS = ("wordprocessingml.document", "wordprocessingml.template", "ms-word.document.macroEnabled")
_PPTX_PARTS = ("presentationml.presentation", "presentationml.slideshow", "ms-powerpoint.presentation.macroEnabled")
_XLSX_PARTS = ("spreadsheetml.sheet", "ms-excel.sheet.macroEnabled")
# What bytes begin with that the collection cannot read: a name, and the suffix and media type under which a
# download is stored all the same, so that extraction says what is to be done about it.
_FOREIGN = (
    (b"GIF8", "GIF", "gif", "image/gif"),
    (b"%!PS", "PostScript", "ps", "application/postscript"),
    (b"\x1f\x8b", "gzip", "gz", "application/gzip"),
    (b"7z\xbc\xaf", "7-Zip", "7z", "application/x-7z-compressed"),
    (b"Rar!", "RAR", "rar", "application/vnd.rar"),
    (b"MZ", "EXE", "", ""),
    (b"\x7fELF", "ELF", "", ""),
)
# Pictures, which are read as scans.
_SCANS: tuple[tuple[bytes, Format], ...] = (
    (b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"II*\x00", "tiff"), (b"MM\x00*", "tiff"),
)  # fmt: skip
_ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TYPES = "[Content_Types].xml"
_MAILS: tuple[Format, ...] = ("eml", "mbox", "mhtml")
# Suffixes under which programs save another format, or one of the same family: Word saves RTF under .doc when it is
# asked to write for older programs, wikis their web archives; a mail may be kept as text.
_KEPT_AS: dict[Format, tuple[Format, ...]] = {
    "doc": ("rtf", "mhtml"),
    # A page may be XML as well.
    "xml": ("html",),
    "text": _MAILS,
    "eml": _MAILS,
    "mbox": _MAILS,
    "mhtml": _MAILS,
}
# The line before each mail of a mailbox, with its day; headers that people see, and those of the transport.
_POSTMARK = re.compile(rb"From [^\r\n]{0,200}\d\d[^\r\n]{0,20}\r?\n[!-9;-~]{1,70}:")
_HEADER = re.compile(rb"^([!-9;-~]{1,70})\s?:", re.MULTILINE)
_SHOWN = frozenset({b"from", b"to", b"subject", b"date"})
_TRANSPORT = frozenset({
    b"message-id", b"received", b"return-path", b"delivered-to", b"mime-version", b"dkim-signature",
    b"x-mozilla-status", b"content-transfer-encoding",
})  # fmt: skip
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<?xml")
_HEAD = 4096
_LARGEST_JSON = 20_000_000
_SUFFIX_OF_FORMAT = {"markdown": "md", "text": "txt", "tiff": "tif", "jpeg": "jpg"}
# A password turns the newer formats into the older container.
_OLE_FORMATS: tuple[Format, ...] = ("doc", "xls", "ppt", "docx", "xlsx", "pptx", "msg")
_ROOTS = "|".join(re.escape(root) for scheme in schemes() for root in scheme.table["roots"])
_TEXT_TYPES = {"md": "text/markdown", "markdown": "text/markdown", "csv": "text/csv", "txt": "text/plain"}
# The root of a law whose file does not say that it is XML.
_BEFORE_ROOT = r"(?:<!--.{0,2000}?-->|<!DOCTYPE[^>\[]{0,500}>|\s){0,9}"
_LAW_START = re.compile(rf"{_BEFORE_ROOT}<(?:\w+:)?(?:{_ROOTS})[\s>]", re.DOTALL)
_HTML = ("text/html", "application/xhtml+xml")
_HTML_TAG = re.compile(rb"<(?:!doctype\s{1,9}html|html|head|body|title|div|p|table|h1)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileType:
    """Type of files that can be added; LibreOffice turns it into `converted` first where that is set.

    Any of `parts` tells it: the types of a package's parts, or the streams of the older container.
    """

    format: Format
    label: str
    media_type: str
    suffixes: tuple[str, ...]
    parts: tuple[str, ...] = ()
    converted: Format | None = None


FILE_TYPES = (
    FileType("pdf", "PDF", "application/pdf", ("pdf",)),
    FileType("docx", "DOCX", f"{_OPEN_XML}.wordprocessingml.document", ("docx", "docm", "dotx"), _DOCX_PARTS),
    FileType("pptx", "PPTX", f"{_OPEN_XML}.presentationml.presentation", ("pptx", "pptm", "ppsx"), _PPTX_PARTS),
    FileType("xlsx", "XLSX", f"{_OPEN_XML}.spreadsheetml.sheet", ("xlsx", "xlsm"), _XLSX_PARTS),
    FileType("odt", "ODT", f"{_OPEN_DOCUMENT}.text", ("odt", "ott")),
    FileType("fodt", "flat ODT", f"{_OPEN_DOCUMENT}.text-flat-xml", ("fodt",)),
    FileType("epub", "EPUB", "application/epub+zip", ("epub",)),
    FileType("rtf", "RTF", "application/rtf", ("rtf",)),
    FileType("html", "HTML", "text/html", ("html", "htm", "xhtml")),
    FileType("xml", "law as XML", "application/xml", ("xml", "akn")),
    FileType("markdown", "Markdown", "text/markdown", ("md", "markdown")),
    FileType("text", "plain text", "text/plain", ("txt",)),
    FileType("csv", "CSV", "text/csv", ("csv", "tsv", "tab")),
    FileType("eml", "e-mail", "message/rfc822", ("eml",)),
    FileType("mbox", "mailbox", "application/mbox", ("mbox",)),
    FileType("mhtml", "web archive", "multipart/related", ("mhtml", "mht")),
    FileType("msg", "MSG", "application/vnd.ms-outlook", ("msg", "oft"), ("__properties_version1.0",)),
    FileType("tiff", "TIFF", "image/tiff", ("tif", "tiff")),
    FileType("jpeg", "JPEG", "image/jpeg", ("jpg", "jpeg")),
    FileType("png", "PNG", "image/png", ("png",)),
    FileType("doc", "DOC", "application/msword", ("doc", "dot"), ("WordDocument",), "docx"),
    FileType("ppt", "PPT", "application/vnd.ms-powerpoint", ("ppt", "pps", "pot"), ("PowerPoint Document",), "pptx"),
    FileType("xls", "XLS", "application/vnd.ms-excel", ("xls", "xlt"), ("Workbook", "Book"), "xlsx"),
    FileType("odp", "ODP", f"{_OPEN_DOCUMENT}.presentation", ("odp", "otp"), (), "pptx"),
    FileType("ods", "ODS", f"{_OPEN_DOCUMENT}.spreadsheet", ("ods", "ots"), (), "xlsx"),
)
MEDIA_TYPES: dict[Format, str] = {one.format: one.media_type for one in FILE_TYPES}
CONVERTED: dict[Format, Format] = {one.format: one.converted for one in FILE_TYPES if one.converted}
_READABLE = ", ".join(one.label for one in FILE_TYPES if not one.converted)
_READABLE_WITH_OFFICE = ", ".join(one.label for one in FILE_TYPES if one.converted)
# What a dialog offers for uploading.
UPLOAD_SUFFIXES = tuple(suffix for one in FILE_TYPES for suffix in one.suffixes)

_SUFFIXES: dict[str, Format] = {f".{suffix}": one.format for one in FILE_TYPES for suffix in one.suffixes}


def detect(path: Path) -> Format:
    """Return the format of a file by its content.

    Refusal if it cannot be read or its suffix names another format.
    """
    named = _SUFFIXES.get(path.suffix.lower())
    found = _by_content(path, _head(path), named)
    if named not in (None, "csv", found) and found not in _KEPT_AS.get(named, ()):
        raise Refusal(
            "mislabelled",
            "{file} is named as {named} but its content is {found}.",
            help="Check that it is the file you meant, then give it the right suffix.",
            file=path.name,
            named=named.upper(),
            found=found.upper(),
        )
    return found


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _by_content(path: Path, head: bytes, named: Format | None) -> Format:
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((_ZIP, b"PK\x05\x06")):
        return _zip_format(path)
    if head.startswith(OLE):
        return _ole_format(path)
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if scan := next((kind for magic, kind in _SCANS if head.startswith(magic)), None):
        return scan
    foreign = next((kind for magic, kind, *_ in _FOREIGN if head.startswith(magic)), "")
    if foreign or _is_binary(head):
        raise _unsupported(path, foreign)
    if _is_xml(head, named):
        return _xml_format(path)
    return _text_format(head, named)


def _is_xml(head: bytes, named: Format | None) -> bool:
    """Return whether a file is read as XML; a text that is named as one is not."""
    if named in ("html", "markdown", "text"):
        return False
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    start = (
        head.decode("utf-16", "replace") if wide else head.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    ).lstrip()
    return start.startswith("<?xml") or (
        start.startswith("<") and (named == "xml" or _LAW_START.match(start) is not None)
    )


def _xml_format(path: Path) -> Format:
    if scheme_of(path) is not None:
        return "xml"
    root = root_name(path).lower()
    if root == "html":
        return "html"
    if root == "office:document" and MEDIA_TYPES["odt"].encode() in _head(path):
        return "fodt"
    raise unknown_law(path)


def _text_format(head: bytes, named: Format | None) -> Format:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return named if named in ("html", "markdown", "csv") else "text"
    if mail := _mail_format(head, named):
        return mail
    if named in ("markdown", "text"):
        return named
    start = head.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if start.startswith(_HTML_STARTS) or (start.startswith(b"<") and (b"<html" in start or named == "html")):
        return "html"
    return "csv" if named == "csv" else "text"


def _mail_format(head: bytes, named: Format | None) -> Format | None:
    """Return how mail is kept in a file that begins with the headers of one, None for other text."""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if _POSTMARK.match(start):
        return "mbox"
    if not _HEADER.match(start):
        return None
    headers = re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0].lower()
    names = frozenset(_HEADER.findall(headers))
    # A memo has some of the headers that people see, and its own file type by its suffix.
    by_name = named in _MAILS and names & (_SHOWN | _TRANSPORT)
    saved = b"multipart/related" in headers and b"mime-version" in names and not names & {b"to", b"received"}
    if not by_name and not saved and not (names & _SHOWN and names & _TRANSPORT):
        return None
    is_page = saved or named == "mhtml" or b"snapshot-content-location" in names
    return "mhtml" if is_page and named != "eml" else "eml"


def _is_binary(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return b"\x00" in head or controls > 0.05 * len(head)


def _zip_format(path: Path) -> Format:
    with open_package(path) as package:
        if "mimetype" in package.names:
            declared = package.read("mimetype", most=200).strip().decode("ascii", "replace")
            kind = declared.removesuffix("-template")
            for format_ in ("odt", "epub", "odp", "ods"):
                if kind == MEDIA_TYPES[format_]:
                    return format_
            raise _unsupported(path, declared[:80])
        types = package.read(_TYPES) if _TYPES in package.names else b""
    for one in FILE_TYPES:
        if not one.converted and any(f"{part}.main+xml".encode() in types for part in one.parts):
            return one.format
    raise _unsupported(path, "ZIP")


def _ole_format(path: Path) -> Format:
    names = stream_names(path)
    for kind in FILE_TYPES:
        if not names.isdisjoint(kind.parts):
            return kind.format
    if "EncryptedPackage" in names or is_locked(path):
        raise locked(path)
    raise _unsupported(path, "OLE")


def is_locked(path: Path) -> bool:
    """Return whether an old container holds a document with a password.

    This is found even if the directory of the container is damaged.
    """
    with path.open("rb") as file:
        while piece := file.read(2**20):
            if _ENCRYPTED_STREAM in piece:
                return True
            if len(piece) == 2**20:
                file.seek(-len(_ENCRYPTED_STREAM), 1)
    return False


def _unsupported(path: Path, kind: str = "") -> Refusal:
    return Refusal(
        "unsupported_type",
        "{file} is of the type {kind}, which cannot be read." if kind else "{file} holds binary data of no known type.",
        help="Convert it to one of {formats}, or where LibreOffice is installed {more}, and add that.",
        file=path.name,
        kind=kind,
        formats=_READABLE,
        more=_READABLE_WITH_OFFICE,
    )


_OLE_TYPES: dict[str, str] = {format_: MEDIA_TYPES[format_] for format_ in _OLE_FORMATS}


@dataclass(frozen=True, slots=True)
class ContentType:
    """A suffix and a media type; suffix "html" is a page, "json" and "xml" may be a catalogue."""

    suffix: str
    media_type: str


def content_type(path: Path, *, declared: str = "", address: str = "") -> ContentType:
    """Return the suffix and media type that the bytes of a file have.

    `declared` is the media type that the server gave, `address` where the file came from. `path` needs no suffix; its
    suffix is not believed.
    """
    head, promised = _head(path), suffix_of(address)
    if head.startswith(OLE):
        from_type = next((suffix for suffix, media_type in _OLE_TYPES.items() if media_type == declared), "doc")
        suffix = promised if promised in _OLE_TYPES else from_type
        return ContentType(suffix, _OLE_TYPES[suffix])
    if markup := _markup(head, declared, promised):
        return markup
    try:
        found = _by_content(path, head, None)
    except Refusal:
        return _other(head, declared, promised)
    if found == "text":
        return _text(path, head, declared, promised)
    return ContentType(_SUFFIX_OF_FORMAT.get(found, found), MEDIA_TYPES[found])


def _markup(head: bytes, declared: str, promised: str) -> ContentType | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) and declared in _HTML:
        return ContentType("html", "text/html")
    if start.startswith(b"<?xml") or (declared.endswith("xml") and start.startswith(b"<")):
        html = _HTML_TAG.search(start[:2048]) is not None and b"<html" in start[:2048].lower()
        return ContentType("html", "text/html") if html else ContentType("xml", "application/xml")
    # A piece of a page; Markdown and plain text may begin with a tag as well.
    if start.startswith(b"<") and (declared in _HTML or (promised not in _TEXT_TYPES and _HTML_TAG.search(start))):
        return ContentType("html", "text/html")
    if declared in _HTML and b"\x00" not in head and not start.startswith((b"{", b"[", b"%PDF", b"PK\x03\x04")):
        return ContentType("html", "text/html") if _HTML_TAG.search(head) else None
    return None


def _text(path: Path, head: bytes, declared: str, promised: str) -> ContentType:
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and _is_json(path):
        return ContentType("json", "application/json")
    from_type = next((suffix for suffix, media_type in _TEXT_TYPES.items() if media_type == declared), "txt")
    suffix = promised if promised in _TEXT_TYPES else from_type
    return ContentType("md" if suffix == "markdown" else suffix, _TEXT_TYPES[suffix])


def _is_json(path: Path) -> bool:
    # Above this it is no page or catalogue that would be read.
    if path.stat().st_size > _LARGEST_JSON:
        return True
    try:
        json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return True


def _other(head: bytes, declared: str, promised: str) -> ContentType:
    for magic, _, suffix, media_type in _FOREIGN:
        if suffix and head.startswith(magic):
            return ContentType(suffix, media_type)
    if head.startswith(_ZIP):
        archive = promised in ("epub", "ods", "odp") and ContentType(promised, declared or "application/zip")
        return archive or ContentType("zip", "application/zip")
    suffix = promised if re.fullmatch(r"[a-z0-9]{1,5}", promised) and promised not in ("html", "htm", "pdf") else "bin"
    return ContentType(suffix, declared or "application/octet-stream")
