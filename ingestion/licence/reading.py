"""Licence evidence in what an address gives or a file holds.

A page, a document, or a catalogue of records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from ingestion.catalogues.catalogue_api import CatalogueKind, catalogue_kind, lists_records
from ingestion.file_names import safe_name
from ingestion.file_reading import FileReading
from ingestion.licence.html_marks import MOST_BYTES, marks_of, read_xmp
from ingestion.licence.page_sections import FOOT, HEAD, terms_link, text_of
from ingestion.licence.patterns import read_statements
from ingestion.licence.table import load_licences, score_of
from ingestion.types.licence import LicenceMark, Light
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched
from ingestion.web.html import parse
from ingestion.web.page import read_page
from rag_engine.messages import Message
from rag_engine.text.folding import fold_in_place
from rag_engine.types.document import ExtractedText

# Gets what an address gives into a file, or in memory.
Fetch = Callable[[str, Path], Fetched]
# Reads a foreign file under limits; Refusal with the reason.
ReadFile = Callable[[Path], FileReading]
_READ_BYTES = 200_000_000
_CATALOGUE_BYTES = 20_000_000
_MOST_QUOTES = 12
_HTML = frozenset({"text/html", "application/xhtml+xml"})
# A text without pages of its own is read in parts of this length.
_PART = 15_000
# How many different words of an imprint (ISBN, publisher, layout ...) a page must have to be one.
_FEWEST_WORDS = 3
_LONGEST_IMPRINT = 6_000


@dataclass(frozen=True, slots=True)
class Reading:
    """Licence evidence of a file or page, the texts for the model, its terms page, and errors.

    `scripts` says that it is a page whose scripts may add to it; `catalogue` names the kind of a catalogue of records.
    """

    marks: tuple[LicenceMark, ...] = ()
    texts: tuple[str, ...] = ()
    terms: str = ""
    warnings: tuple[Message, ...] = ()
    refused: Refusal | None = None
    scripts: bool = False
    catalogue: CatalogueKind = ""


def read_address(url: str, fetch: Fetch, read: ReadFile, folder: Path) -> Reading:
    """Return what an address gives; its file is removed again."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix="licence_") as temporary:
        into = Path(temporary) / "page"
        fetched = fetch(url, into)
        path = Path(fetched.path) if fetched.path else into
        if not fetched.path:
            path.write_bytes(fetched.body)
        return _fetched(fetched, path, read)


def _fetched(fetched: Fetched, path: Path, read: ReadFile) -> Reading:
    with path.open("rb") as file:
        start = file.read(1024)
    looks_html = re.search(rb"<(?:!doctype html|html|head|body)", start, re.IGNORECASE)
    if not start.startswith(b"%PDF-") and (fetched.media_type in _HTML or looks_html):
        return read_html(path.read_bytes(), fetched.url, fetched.charset)
    if path.stat().st_size <= _CATALOGUE_BYTES and (kind := catalogue_kind(path.read_bytes())):
        return Reading(catalogue=kind)
    # The extractor tells a file by its bytes and, where these say nothing, by its name, which a refusal bears too.
    name = safe_name(fetched.file_name or unquote(urlsplit(fetched.url).path) or "document")
    return read_local(path.rename(path.with_name(name)), read)


def read_html(page: bytes, url: str, charset: str = "") -> Reading:
    """Return a page's statements to machines and to people, and the address of its site's terms."""
    root = parse(page[:MOST_BYTES], charset)
    if root is None:
        return Reading(warnings=(Message("The page is empty."),))
    text = text_of(root)
    footer = read_statements(text.footer or text.whole[-FOOT:], "footer")
    quoted = {(mark.light, mark.quote) for mark in footer}
    rest = [mark for mark in read_statements(text.whole, "page") if (mark.light, mark.quote) not in quoted]
    statements = [*footer, *rest, *map(_of_a_box, read_statements(text.boxes, "box"))]
    marks = (*marks_of(root, url), *statements)
    # Terms are for a page that decides nothing itself.
    terms = terms_link(root, url) if all(mark.light == "YELLOW" for mark in marks) else ""
    catalogue: CatalogueKind = "CKAN" if lists_records(read_page(page[:MOST_BYTES], charset, url)) else ""
    # Scripts may add to a page what its source does not say; data in a script element does not.
    scripts = any("json" not in (script.get("type") or "").lower() for script in root.iter("script"))
    # The model reads the sentences that name rights first, then the beginning and the end.
    quotes = list(dict.fromkeys(mark.quote for mark in statements))[:_MOST_QUOTES]
    texts = (*quotes, text.whole[:HEAD], text.footer[-FOOT:] or text.whole[-FOOT:])
    return Reading(marks, texts, terms, scripts=scripts, catalogue=catalogue)


def _of_a_box(mark: LicenceMark) -> LicenceMark:
    """Return a mark of a caption, a quotation or a comment: it neither frees the page nor reserves it."""
    light: Light = "RED" if mark.light == "RED" else "YELLOW"
    score = min(mark.score, score_of("weak")) if light == "RED" else score_of("none")
    return replace(mark, light=light, score=score, rule=f"{mark.rule} in a box", subject="part")


def read_local(path: Path, read: ReadFile) -> Reading:
    """Return a file by its own words and metadata; a page saved as HTML by its marks as well."""
    if not path.is_file():
        return Reading(warnings=(Message("{file} is not there.", file=path.name),))
    marks: list[LicenceMark] = []
    if path.stat().st_size <= _READ_BYTES:
        raw = path.read_bytes()
        if raw.startswith(b"%PDF-") or b"%PDF-" in raw[:1024]:
            marks += read_xmp(raw)
        elif path.suffix.lower() in (".html", ".htm", ".xhtml"):
            return replace(read_html(raw, ""), terms="")
    try:
        extracted = read(path).extracted
    except Refusal as refusal:
        warning = Message("The text of {file} was not read: {error}", file=path.name, error=refusal)
        return Reading(tuple(marks), warnings=(warning,), refused=refusal)
    statements = document_statements(extracted)
    opening = pages_of(extracted)[:2]
    texts = (*(mark.quote for mark in statements[:_MOST_QUOTES]), *(text[: HEAD * 2] for _, text in opening))
    return Reading((*marks, *statements), texts)


def document_statements(extracted: ExtractedText) -> list[LicenceMark]:
    """Return a document's statements on its licence, in the order of its pages, each mark with its page.

    Pages between the first two and the last two count only where they are an imprint: elsewhere a document speaks of
    the licences of others.
    """
    pages = pages_of(extracted)
    own = {1, 2, len(pages) - 1, len(pages)}
    return [
        mark
        for number, (name, text) in enumerate(pages, start=1)
        if number in own or is_imprint(text)
        for mark in read_statements(text, name)
    ]


def pages_of(extracted: ExtractedText) -> list[tuple[str, str]]:
    """Return the texts of all pages with their names; of a file without pages its parts."""
    if extracted.pages <= 1 or not extracted.blocks:
        return list(_parts(extracted.text))
    texts: list[list[str]] = [[] for _ in range(extracted.pages)]
    for block in extracted.blocks:
        texts[block.page - 1].append(extracted.text[block.start : block.end])
    return [(f"page {number}", "\n\n".join(blocks)) for number, blocks in enumerate(texts, start=1)]


def is_imprint(text: str) -> bool:
    """Return whether a page tells who published, printed and laid out the document."""
    if len(text) > _LONGEST_IMPRINT:
        return False
    found = load_licences().phrases["imprint"].findall(fold_in_place(text))
    return len(set(found)) >= _FEWEST_WORDS


def _parts(text: str) -> Iterator[tuple[str, str]]:
    if len(text) <= 2 * _PART:
        yield "text", text
        return
    cuts = range(0, len(text), _PART)
    for number, start in enumerate(cuts, start=1):
        name = "beginning" if number == 1 else "end" if number == len(cuts) else f"part {number}"
        yield name, text[start : start + _PART]
