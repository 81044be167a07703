"""Properties that a file of any format declares (title, authors, dates ...), read without trusting it."""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from ingestion.extraction.assemble import tidy
from ingestion.extraction.date_patterns import declared_date
from ingestion.extraction.formats.zip_container import Element, check_archive, open_archive, read_entry, safe_parser
from ingestion.types import ExtractionLimits, FileProperties, Refusal
from ingestion.web.html import parse

_LONGEST_NAME = 500
_LONGEST_TEXT = 2_000
_MOST_NAMES = 30


def declared_of(
    *,
    title: Iterable[str | None] = (),
    authors: Iterable[str | None] = (),
    publisher: Iterable[str | None] = (),
    language: Iterable[str | None] = (),
    date: Iterable[str] = (),
    subject: Iterable[str | None] = (),
    keywords: Iterable[str | None] = (),
    description: Iterable[str | None] = (),
    created: Iterable[str] = (),
    margins: Iterable[str] = (),
) -> FileProperties:
    """Return the first that says anything of each kind, on one line and no longer than a person would write it."""
    return FileProperties(
        title=_first(title),
        authors=_all(authors),
        publisher=_first(publisher),
        language=_first(language)[:35],
        date=next(filter(None, date), ""),
        subject=_first(subject),
        keywords=_all(keywords),
        description=_first(description, _LONGEST_TEXT),
        created=next(filter(None, created), ""),
        margins=_all(margins),
    )


def _first(values: Iterable[str | None], longest: int = _LONGEST_NAME) -> str:
    return next((text for value in values if value and (text := tidy(value[: 2 * longest])[:longest].strip())), "")


def _all(values: Iterable[str | None]) -> tuple[str, ...]:
    named = (tidy(value[:_LONGEST_NAME]) for value in values if value)
    return tuple(dict.fromkeys(filter(None, named)))[:_MOST_NAMES]


_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_PRISM = re.compile(r"\{http://prismstandard\.org/namespaces/[^}]*\}publicationDate$")
_XMP = "{http://ns.adobe.com/xap/1.0/}"
_ODF_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
# A part that says what a file is has some kilobytes; a page's head is over long before this.
_LARGEST_PART = 2_000_000
_HEAD = 3_000_000
_MARGIN_PAGES = 4
_MARGIN_LINES = 20
_LONGEST_MARGIN = 200
_EDGE = 0.09


def read_properties(path: Path, limits: ExtractionLimits | None = None) -> FileProperties:
    """Return the properties of a file by its bytes; an empty FileProperties where it has none or is damaged."""
    limits = limits or ExtractionLimits()
    try:
        with path.open("rb") as file:
            head = file.read(2_048)
        if b"%PDF-" in head[:1_024]:
            return _pdf(path)
        if head.startswith(b"PK\x03\x04"):
            return _zipped(path, limits)
        if head.lstrip().startswith(b"{\\rtf"):
            return _rtf(path)
        if b"<" in head and head.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith(b"<"):
            return _page(path)
    except (OSError, ValueError, RuntimeError, Refusal, etree.LxmlError, zipfile.BadZipFile, RecursionError):
        # What a file says of itself is a clue and no more: a damaged one gives none, and extraction says why.
        return FileProperties()
    return FileProperties()


def _pdf(path: Path) -> FileProperties:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    with pymupdf.open(path) as document:
        if document.needs_pass:
            return FileProperties()
        told: dict[str, str | None] = document.metadata or {}
        packet: str = document.get_xml_metadata() or ""
        tongue = document.language or ""
        margins = _margins(document)
    xmp = _xmp(packet) if 0 < len(packet) < _LARGEST_PART else None
    subjects = _texts(xmp, f"{_DC}subject")
    made = [declared_date(told.get("creationDate") or ""), *map(declared_date, _texts(xmp, f"{_XMP}CreateDate"))]
    # Most programs write the day of saving into dc:date as well.
    said = [value for value in map(declared_date, _texts(xmp, f"{_DC}date")) if value not in made]
    return declared_of(
        title=[told.get("title"), *_texts(xmp, f"{_DC}title")],
        authors=_people([told.get("author") or "", *_texts(xmp, f"{_DC}creator")]),
        publisher=_texts(xmp, f"{_DC}publisher"),
        language=[*_texts(xmp, f"{_DC}language"), tongue],
        date=[*map(declared_date, _matching(xmp, _PRISM)), *said],
        subject=[told.get("subject")],
        keywords=_split([told.get("keywords") or "", *subjects]),
        description=_texts(xmp, f"{_DC}description"),
        created=made,
        margins=margins,
    )


def _margins(document: Any) -> list[str]:
    """Return the lines that return at the head or foot of the first pages, as the first of these has them."""
    pages = [_edges(document[number]) for number in range(min(_MARGIN_PAGES, document.page_count))]
    seen = [line for lines in pages for line in dict.fromkeys(map(_without_numbers, lines))]
    return [line for lines in pages for line in lines if seen.count(_without_numbers(line)) > 1][:_MARGIN_LINES]


def _edges(page: Any) -> list[str]:
    height = page.rect.height
    found = [
        " ".join(line.split())
        for _, top, _, bottom, text, *_ in page.get_text("blocks")
        if bottom < _EDGE * height or top > (1 - _EDGE) * height
        for line in text.split("\n")
    ]
    return [line for line in found if 3 < len(line) <= _LONGEST_MARGIN]


def _without_numbers(line: str) -> str:
    """Return the line without its numbers, which is the same from page to page."""
    return "".join(letter for letter in line if not letter.isdigit())


def _xmp(packet: str) -> Element | None:
    """Return the root of an XMP packet; None when it is not XML."""
    try:
        return etree.fromstring(packet.strip("\x00 \r\n\t").encode("utf-8", "replace"), safe_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None


def _texts(root: Element | None, name: str) -> list[str]:
    """Return the texts of every element of a name; those of a list (rdf:Alt, rdf:Seq, rdf:Bag) one by one."""
    if root is None:
        return []
    found: list[str] = []
    for element in root.iter(name):
        found += [text for piece in element.itertext() if (text := str(piece).strip())]
    attributes = [value for element in root.iter() for key, value in element.attrib.items() if key == name]
    return [*found, *map(str, attributes)]


def _matching(root: Element | None, name: re.Pattern[str]) -> list[str]:
    if root is None:
        return []
    names = {str(element.tag) for element in root.iter() if isinstance(element.tag, str) and name.match(element.tag)}
    names |= {str(key) for element in root.iter() for key in element.attrib if name.match(str(key))}
    return [text for one in sorted(names) for text in _texts(root, one)]


def _zipped(path: Path, limits: ExtractionLimits) -> FileProperties:
    with open_archive(path) as archive:
        check_archive(archive, path, limits)
        names = set(archive.namelist())
        if "META-INF/container.xml" in names:
            return _epub(archive, path)
        if "docProps/core.xml" in names:
            return _properties(_part(archive, "docProps/core.xml", path), _company(archive, names, path))
        if "meta.xml" in names:
            return _properties(_part(archive, "meta.xml", path), [])
    return FileProperties()


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> Element:
    return etree.fromstring(read_entry(archive, name, path, most=_LARGEST_PART), safe_parser())


def _company(archive: zipfile.ZipFile, names: set[str], path: Path) -> list[str]:
    if "docProps/app.xml" not in names:
        return []
    namespace = "{http://schemas.openxmlformats.org/officeDocument/2006/extended-properties}"
    return _texts(_part(archive, "docProps/app.xml", path), f"{namespace}Company")


def _properties(root: Element, company: Iterable[str]) -> FileProperties:
    """Return the Dublin Core of an office document: Microsoft's core properties or OpenDocument's meta.xml."""
    authors = [*_texts(root, f"{_ODF_META}initial-creator"), *_texts(root, f"{_DC}creator")]
    created = [*_texts(root, f"{_TERMS}created"), *_texts(root, f"{_ODF_META}creation-date")]
    return declared_of(
        title=_texts(root, f"{_DC}title"),
        authors=_people(authors),
        publisher=[*_texts(root, f"{_DC}publisher"), *company],
        language=_texts(root, f"{_DC}language"),
        subject=_texts(root, f"{_DC}subject"),
        keywords=_split([*_texts(root, f"{_CORE}keywords"), *_texts(root, f"{_ODF_META}keyword")]),
        description=_texts(root, f"{_DC}description"),
        created=map(declared_date, created),
    )


def _epub(archive: zipfile.ZipFile, path: Path) -> FileProperties:
    container = _part(archive, "META-INF/container.xml", path)
    rootfile = container.find(f"{_CONTAINER}rootfiles/{_CONTAINER}rootfile")
    name = posixpath.normpath("" if rootfile is None else rootfile.get("full-path", ""))
    root = _part(archive, name, path).find(f"{_OPF}metadata")
    # EPUB 2 says what each date is of; EPUB 3 has only that of publication.
    dates = [] if root is None else sorted(root.iter(f"{_DC}date"), key=_not_publication)
    return declared_of(
        title=_texts(root, f"{_DC}title"),
        authors=_texts(root, f"{_DC}creator"),
        publisher=_texts(root, f"{_DC}publisher"),
        language=_texts(root, f"{_DC}language"),
        date=[declared_date(element.text or "") for element in dates],
        keywords=_texts(root, f"{_DC}subject"),
        description=_texts(root, f"{_DC}description"),
    )


def _not_publication(element: Element) -> bool:
    return element.get(f"{_OPF}event", "publication") not in ("publication", "original-publication")


_META: dict[str, tuple[str, ...]] = {
    "title": ("citation_title", "dc.title", "dcterms.title", "og:title", "twitter:title"),
    "authors": ("citation_author", "dc.creator", "dcterms.creator", "author", "article:author"),
    "publisher": ("citation_publisher", "dc.publisher", "dcterms.publisher", "og:site_name"),
    "language": ("citation_language", "dc.language", "dcterms.language", "language", "og:locale"),
    "date": (
        "citation_publication_date", "citation_date", "dcterms.issued", "dc.date.issued", "article:published_time",
        "dc.date", "dcterms.date", "date", "pubdate", "publication_date", "dcterms.created", "dc.date.created",
    ),
    "keywords": ("dc.subject", "dcterms.subject", "keywords", "article:tag"),
    "description": ("dc.description", "dcterms.description", "description", "og:description"),
}  # fmt: skip


def _page(path: Path) -> FileProperties:
    with path.open("rb") as file:
        raw = file.read(_HEAD)
    root = parse(raw)
    if root is None:
        return FileProperties()
    metas: dict[str, list[str]] = {}
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or element.get("itemprop") or "").strip().lower()
        metas.setdefault(name.replace("dc:", "dc.").replace("dcterms:", "dcterms."), []).append(
            element.get("content") or ""
        )
    told = {kind: [value for name in names for value in metas.get(name, [])] for kind, names in _META.items()}
    items = list(_linked_data(root))
    headlines = [*_values(items, "headline"), *_values(items, "name", of=_WORKS)]
    return declared_of(
        title=[*told["title"][:1], *headlines, *told["title"], root.findtext(".//title")],
        authors=_people([*told["authors"], *_values(items, "author")]),
        publisher=[*told["publisher"][:1], *_values(items, "publisher"), *told["publisher"]],
        language=[*_tongues(root), *told["language"], *_values(items, "inLanguage")],
        date=map(declared_date, [*told["date"], *_values(items, "datePublished"), *_values(items, "dateCreated")]),
        keywords=_split([*told["keywords"], *_values(items, "keywords")]),
        description=[*told["description"], *_values(items, "description", of=_WORKS)],
        created=map(declared_date, _values(items, "dateModified") + metas.get("article:modified_time", [])),
    )


def _tongues(root: Element) -> list[str]:
    page = next(root.iter("html"), root)
    return [page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang") or ""]


_WORK_TYPES = (
    "Article NewsArticle Report GovernmentDocument Legislation CreativeWork DigitalDocument TechArticle Dataset Book "
    "ScholarlyArticle WebPage PublicationIssue"
)
_WORKS = frozenset(_WORK_TYPES.split())
_MOST_ITEMS = 500


def _linked_data(root: Element) -> Iterator[dict[str, Any]]:
    """Yield the items of a page's JSON-LD, the outer ones first."""
    waiting: list[Any] = []
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower() == "application/ld+json":
            try:
                waiting.append(json.loads(script.text or ""))
            except (ValueError, RecursionError):
                continue
    for _ in range(_MOST_ITEMS):
        if not waiting:
            return
        item = waiting.pop(0)
        if isinstance(item, list):
            waiting = [*item[:_MOST_ITEMS], *waiting]
        elif isinstance(item, dict):
            yield item
            waiting += [item[name] for name in ("@graph", "mainEntity", "mainEntityOfPage") if name in item]


def _values(items: Iterable[dict[str, Any]], name: str, of: frozenset[str] = frozenset()) -> list[str]:
    """Return the texts of a property; of a person or body its name."""
    found: list[str] = []
    for item in items:
        kinds = item.get("@type")
        if of and not of.intersection(map(str, kinds if isinstance(kinds, list) else [kinds])):
            continue
        values = item.get(name)
        for value in values[:_MOST_ITEMS] if isinstance(values, list) else [values]:
            said = value.get("name", value.get("@value")) if isinstance(value, dict) else value
            if isinstance(said, str):
                found.append(said)
    return found


def _rtf(path: Path) -> FileProperties:
    from striprtf.striprtf import rtf_to_text

    with path.open("rb") as file:
        text = file.read(200_000).decode("latin-1")
    start = text.find("{\\info")
    if start < 0:
        return FileProperties()
    # The group of properties stands before the text; what comes after it is cut off at its closing brace.
    group = text[start : start + 20_000]

    def said(name: str) -> str:
        match = re.search(r"\{\\(?:\*\\)?" + name + r"(?![a-z])([^{}]{0,2000})\}", group)
        return rtf_to_text("{\\rtf1\\ansi " + match[1] + "}", errors="replace") if match else ""

    created = re.search(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})", group)
    return declared_of(
        title=[said("title")],
        authors=_people([said("author")]),
        publisher=[said("company")],
        subject=[said("subject")],
        keywords=_split([said("keywords")]),
        description=[said("doccomm")],
        created=[declared_date(f"{created[1]}-{int(created[2]):02}-{int(created[3]):02}")] if created else [],
    )


def _people(values: Iterable[str]) -> list[str]:
    """Return names one by one; a comma may stand inside a name, a semicolon does not."""
    return [name for value in values for name in value[:5_000].split(";") if name.strip().lower() not in _NOBODY]


_NOBODY = frozenset({"unknown", "user", "admin", "administrator", "author", "default", "windows user", "anonymous"})


def _split(values: Iterable[str]) -> list[str]:
    return [word for value in values for word in re.split(r"[;,\r\n]", value[:5_000]) if word.strip()]
