"""What came from an address, told by its bytes; address and server are only believed where bytes say nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ingestion.extraction.media_type import MEDIA_TYPES, detect
from ingestion.links import suffix_of
from ingestion.types import FileRefused

_HEAD, _LARGEST_JSON = 4096, 20_000_000
_SUFFIX_OF_FORMAT = {"markdown": "md", "text": "txt"}
# What bytes begin with, for those that the collection cannot read: they are kept under their right suffix, and
# extraction says what is to be done about them.
_MAGIC = (
    (b"{\\rtf", "rtf", "application/rtf"),
    (b"\x89PNG", "png", "image/png"),
    (b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (b"GIF8", "gif", "image/gif"),
    (b"II*\x00", "tif", "image/tiff"),
    (b"MM\x00*", "tif", "image/tiff"),
    (b"%!PS", "ps", "application/postscript"),
    (b"\x1f\x8b", "gz", "application/gzip"),
    (b"7z\xbc\xaf", "7z", "application/x-7z-compressed"),
    (b"Rar!", "rar", "application/vnd.rar"),
    (b"PK\x03\x04", "zip", "application/zip"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_TYPES = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    # A password turns the newer formats into the older container.
    "docx": MEDIA_TYPES["docx"],
    "xlsx": MEDIA_TYPES["xlsx"],
    "pptx": MEDIA_TYPES["pptx"],
}
_TEXT_TYPES = {"md": "text/markdown", "markdown": "text/markdown", "csv": "text/csv", "txt": "text/plain"}
_HTML = ("text/html", "application/xhtml+xml")
_HTML_TAG = re.compile(rb"<(?:!doctype\s{1,9}html|html|head|body|title|div|p|table|h1)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ContentType:
    """A suffix and a media type; suffix "html" is a page, "json" and "xml" may be a catalogue."""

    suffix: str
    media_type: str


def content_type(path: Path, *, declared: str = "", address: str = "") -> ContentType:
    """What the file's bytes are. `declared` is the server's media type, `address` where it came from.

    `path` needs no suffix; a suffix that it has is not believed.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    promised = suffix_of(address)
    if head.startswith(_OLE):
        suffix = promised if promised in _OLE_TYPES else _declared_ole(declared)
        return ContentType(suffix, _OLE_TYPES[suffix])
    if markup := _markup(head, declared, promised):
        return markup
    try:
        found = detect(path)
    except FileRefused:
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
    if promised in _TEXT_TYPES:
        suffix = "md" if promised == "markdown" else promised
        return ContentType(suffix, _TEXT_TYPES[suffix])
    for suffix, media_type in _TEXT_TYPES.items():
        if declared == media_type:
            return ContentType("md" if suffix == "markdown" else suffix, media_type)
    return ContentType("txt", "text/plain")


def _is_json(path: Path) -> bool:
    # Above this it is no page or catalogue that would be read.
    if path.stat().st_size > _LARGEST_JSON:
        return True
    try:
        json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return True


def _declared_ole(declared: str) -> str:
    return next((suffix for suffix, media_type in _OLE_TYPES.items() if media_type == declared), "doc")


def _other(head: bytes, declared: str, promised: str) -> ContentType:
    for magic, suffix, media_type in _MAGIC:
        if head.startswith(magic):
            if suffix == "zip" and promised in ("epub", "ods", "odp"):
                return ContentType(promised, declared or media_type)
            return ContentType(suffix, media_type)
    suffix = promised if re.fullmatch(r"[a-z0-9]{1,5}", promised) and promised not in ("html", "htm", "pdf") else "bin"
    return ContentType(suffix, declared or "application/octet-stream")
