"""Properties that a file of any format declares (title, authors, dates ...), read without trusting it."""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from email.utils import parseaddr, parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any

from lxml import etree

from ingestion.extraction.assemble import one_line
from ingestion.extraction.date_patterns import declared_date, month_leads
from ingestion.extraction.file_type import detect
from ingestion.extraction.formats.epub import OPF, package_name
from ingestion.extraction.formats.law.force import first_day
from ingestion.extraction.formats.law.identifiers import law_identifiers
from ingestion.extraction.formats.law.schemes import scheme_of
from ingestion.extraction.formats.mail.mime import read_web_archive
from ingestion.extraction.formats.mail.read import MAIL_READERS
from ingestion.extraction.formats.zip_container import Element, Package, open_package, parse_xml, safe_parser
from ingestion.extraction.identifiers import named_in
from ingestion.file_reading import ExtractionLimits, FileProperties
from ingestion.types.outcome import Refusal
from ingestion.web.html import parse

_LONGEST_NAME = 500
_LONGEST = {"description": 2_000, "language": 35}
_SEVERAL = ("authors", "keywords", "margins", "identifiers")
_MOST_NAMES = 30
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_PRISM = re.compile(r"\{http://prismstandard\.org/namespaces/[^}]*\}publicationDate$")
_XMP = "{http://ns.adobe.com/xap/1.0/}"
_ODF_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_APP = "{http://schemas.openxmlformats.org/officeDocument/2006/extended-properties}"
_CORE_NAMES = ("title", "creator", "publisher", "language", "date", "subject", "description")
_PUBLICATION = ("publication", "original-publication")
# A part that says what a file is has some kilobytes; a page's head is over long before this.
_LARGEST_PART = 2_000_000
_HEAD = 3_000_000
_MARGIN_PAGES = 4
_MARGIN_LINES = 20
_LONGEST_MARGIN = 200
_EDGE = 0.09
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
    "identifiers": ("wt.z_docid", "dc.identifier", "dcterms.identifier", "eli:id_local", "citation_celex"),
    "description": ("dc.description", "dcterms.description", "description", "og:description"),
}  # fmt: skip
_WORK_TYPES = (
    "Article NewsArticle Report GovernmentDocument Legislation CreativeWork DigitalDocument TechArticle Dataset Book "
    "ScholarlyArticle WebPage PublicationIssue"
)
_WORKS = frozenset(_WORK_TYPES.split())
_MOST_ITEMS = 500
_NOBODY = frozenset({"unknown", "user", "admin", "administrator", "author", "default", "windows user", "anonymous"})


def declared_of(**declared_values: Iterable[str | None]) -> FileProperties:
    """Return properties: of each kind the first that says anything, on one line, and not too long.

    Of authors, keywords and margins all that say anything, each once.
    """
    found: dict[str, Any] = {
        kind: _all(values) if kind in _SEVERAL else _first(values, _LONGEST.get(kind, _LONGEST_NAME))
        for kind, values in declared_values.items()
    }
    return FileProperties(**found)


def _first(values: Iterable[str | None], longest: int) -> str:
    return next((text for value in values if value and (text := one_line(value[: 2 * longest])[:longest].strip())), "")


def _all(values: Iterable[str | None]) -> tuple[str, ...]:
    named = (one_line(value[:_LONGEST_NAME]) for value in values if value)
    return tuple(dict.fromkeys(filter(None, named)))[:_MOST_NAMES]


def read_properties(path: Path, limits: ExtractionLimits | None = None) -> FileProperties:
    """Return the properties of a file by its bytes.

    An empty FileProperties where it has none or is damaged.
    """
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
            if (law := _law(path, head)) is not None:
                return law
            with path.open("rb") as file:
                return _page(file.read(_HEAD))
        return _mail(path)
    except (OSError, ValueError, RuntimeError, Refusal, etree.LxmlError, zipfile.BadZipFile, RecursionError):
        # What a file says of itself is a clue and no more: a damaged one gives none, and extraction says why.
        return FileProperties()


def _mail(path: Path) -> FileProperties:
    """Return the headers of a mail, what the page of a web archive declares, nothing for other text."""
    found = detect(path)
    if found == "mhtml":
        return _page(next(iter(read_web_archive(path)), "").encode("utf-8-sig")[:_HEAD])
    if found not in ("eml", "msg"):
        return FileProperties()
    mail = next(MAIL_READERS[found](path))
    name, address = parseaddr(mail.sender)
    return declared_of(title=[mail.subject], authors=_people([name or address]), date=[_sent(mail.date)])


def _sent(stated: str) -> str:
    try:
        return parsedate_to_datetime(stated).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _pdf(path: Path) -> FileProperties:
    from ingestion.extraction.formats.pdf_lines import ERRORS, damaged_pdf, open_pdf

    with open_pdf(path) as document:
        try:
            declared_values: dict[str, str | None] = document.metadata or {}
            packet: str = document.get_xml_metadata() or ""
            tongue = document.language or ""
            margins = _margins(document)
        except ERRORS as error:
            raise damaged_pdf(path, error) from error
    packed = packet.strip("\x00 \r\n\t").encode("utf-8", "replace")
    xmp = parse_xml(packed) if len(packet) < _LARGEST_PART else None
    xmp = etree.Element("none") if xmp is None else xmp
    core = _dublin_core(xmp)
    made = [
        declared_date(value) for value in [declared_values.get("creationDate") or "", *_texts(xmp, f"{_XMP}CreateDate")]
    ]
    names = {str(name) for element in xmp.iter() for name in (element.tag, *element.attrib)}
    published = [text for name in sorted(filter(_PRISM.match, names)) for text in _texts(xmp, name)]
    # Most programs write the day of saving into dc:date as well.
    stated = [value for value in map(declared_date, core["date"]) if value not in made]
    return declared_of(
        title=[declared_values.get("title"), *core["title"]],
        authors=_people([declared_values.get("author") or "", *core["creator"]]),
        publisher=core["publisher"],
        language=[*core["language"], tongue],
        date=[*map(declared_date, published), *stated],
        keywords=_split([declared_values.get("keywords") or "", *core["subject"]]),
        description=core["description"],
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


def _texts(root: Element, name: str) -> list[str]:
    """Return the texts of every element of a name; items of a list (rdf:Alt, rdf:Seq, rdf:Bag) singly."""
    pieces = [str(piece).strip() for element in root.iter(name) for piece in element.itertext()]
    return [*filter(None, pieces), *(str(element.get(name)) for element in root.iter() if name in element.attrib)]


def _dublin_core(root: Element) -> dict[str, list[str]]:
    """Return the texts of each element of the Dublin Core by its name."""
    return {name: _texts(root, f"{_DC}{name}") for name in _CORE_NAMES}


def _zipped(path: Path, limits: ExtractionLimits) -> FileProperties:
    with open_package(path, limits) as package:
        if "META-INF/container.xml" in package.names:
            return _epub(package)
        if "docProps/core.xml" in package.names:
            has_app = "docProps/app.xml" in package.names
            company = _texts(_part(package, "docProps/app.xml"), f"{_APP}Company") if has_app else []
            return _office(_part(package, "docProps/core.xml"), company)
        return _office(_part(package, "meta.xml"), []) if "meta.xml" in package.names else FileProperties()


def _part(package: Package, name: str) -> Element:
    return etree.fromstring(package.read(name, most=_LARGEST_PART), safe_parser())


def _office(root: Element, company: Iterable[str]) -> FileProperties:
    """Return the Dublin Core of an office document.

    Microsoft's core properties or OpenDocument's meta.xml.
    """
    core = _dublin_core(root)
    created = [*_texts(root, f"{_TERMS}created"), *_texts(root, f"{_ODF_META}creation-date")]
    return declared_of(
        title=core["title"],
        authors=_people([*_texts(root, f"{_ODF_META}initial-creator"), *core["creator"]]),
        publisher=[*core["publisher"], *company],
        language=core["language"],
        keywords=_split([*_texts(root, f"{_CORE}keywords"), *_texts(root, f"{_ODF_META}keyword")]),
        description=core["description"],
        created=map(declared_date, created),
    )


def _epub(package: Package) -> FileProperties:
    root = _part(package, posixpath.normpath(package_name(package))).find(f"{OPF}metadata")
    if root is None:
        return FileProperties()
    core = _dublin_core(root)
    # EPUB 2 says what each date is of; EPUB 3 has only that of publication.
    dates = sorted(root.iter(f"{_DC}date"), key=lambda one: one.get(f"{OPF}event", _PUBLICATION[0]) not in _PUBLICATION)
    return declared_of(
        title=core["title"],
        authors=core["creator"],
        publisher=core["publisher"],
        language=core["language"],
        date=[declared_date(element.text or "") for element in dates],
        keywords=core["subject"],
        description=core["description"],
    )


def _law(path: Path, head: bytes) -> FileProperties | None:
    """Return the properties of a law as XML; None for another file."""
    if b"<html" in head.lower() or (scheme := scheme_of(path)) is None:
        return None
    root = etree.parse(str(path), safe_parser()).getroot()
    return declared_of(
        title=[scheme.title(root)],
        publisher=[scheme.stated(root, "publisher")],
        language=[scheme.language(root)],
        date=[declared_date(scheme.stated(root, "published"))],
        identifiers=law_identifiers(scheme, root),
        in_force=[first_day(scheme, root)],
    )


def _page(raw: bytes) -> FileProperties:
    root = parse(raw)
    if root is None:
        return FileProperties()
    metas: dict[str, list[str]] = {}
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or element.get("itemprop") or "").strip().lower()
        metas.setdefault(name.replace("dc:", "dc.").replace("dcterms:", "dcterms."), []).append(
            element.get("content") or ""
        )
    declared_values = {
        kind: [value for name in names for value in metas.get(name, [])] for kind, names in _META.items()
    }
    items = list(_linked_data(root))
    tongues = [tongue for tongue in (*_tongues(root), *metas.get("og:locale", [])) if tongue]
    dated = partial(declared_date, month_first=month_leads(next(iter(tongues), "")))
    headlines = [*_values(items, "headline"), *_values(items, "name", of=_WORKS)]
    return declared_of(
        title=[*declared_values["title"][:1], *headlines, *declared_values["title"], root.findtext(".//title")],
        authors=_people([*declared_values["authors"], *_values(items, "author")]),
        publisher=[*declared_values["publisher"][:1], *_values(items, "publisher"), *declared_values["publisher"]],
        language=[*_tongues(root), *declared_values["language"], *_values(items, "inLanguage")],
        date=map(
            dated,
            [
                *declared_values["date"],
                *_values(items, "datePublished"),
                *_marked_up(root, "datePublished"),
                *_values(items, "dateCreated"),
            ],
        ),
        keywords=_split([*declared_values["keywords"], *_values(items, "keywords")]),
        description=[*declared_values["description"], *_values(items, "description", of=_WORKS)],
        created=map(dated, _values(items, "dateModified") + metas.get("article:modified_time", [])),
        identifiers=named_in(
            [*declared_values["identifiers"], *_described_law(root), *_values(items, "legislationIdentifier")]
        ),
    )


def _described_law(root: Element) -> list[str]:
    """Return the address of the law that a page says it holds, in the vocabulary of ELI."""
    laws = (element for element in root.iter() if "eli:LegalResource" in (element.get("typeof") or "").split())
    return [next((law.get("about") or law.get("resource") or "" for law in laws), "")]


def _marked_up(root: Element, name: str) -> list[str]:
    """Return what a page's elements give as a property.

    Nothing where they differ, as in a list of articles.
    """
    found = {
        (element.get("datetime") or element.get("content") or one_line(str(element.xpath("string()")))).strip()
        for element in root.iter()
        if name in (element.get("itemprop") or "").split()
    }
    return list(found) if len(found) == 1 else []


def _tongues(root: Element) -> list[str]:
    page = next(root.iter("html"), root)
    return [page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang") or ""]


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
            stated = value.get("name", value.get("@value")) if isinstance(value, dict) else value
            if isinstance(stated, str):
                found.append(stated)
    return found


def _rtf(path: Path) -> FileProperties:
    from striprtf.striprtf import rtf_to_text

    with path.open("rb") as file:
        text = file.read(200_000).decode("latin-1")
    start = text.find("{\\info")
    if start < 0:
        return FileProperties()
    # The group of properties comes before the text; what comes after it is cut off at its closing brace.
    group = text[start : start + 20_000]

    def stated(name: str) -> str:
        match = re.search(r"\{\\(?:\*\\)?" + name + r"(?![a-z])([^{}]{0,2000})\}", group)
        return rtf_to_text("{\\rtf1\\ansi " + match[1] + "}", errors="replace") if match else ""

    created = re.search(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})", group)
    return declared_of(
        title=[stated("title")],
        authors=_people([stated("author")]),
        publisher=[stated("company")],
        keywords=_split([stated("keywords")]),
        description=[stated("doccomm")],
        created=[declared_date(f"{created[1]}-{int(created[2]):02}-{int(created[3]):02}")] if created else [],
    )


def _people(values: Iterable[str]) -> list[str]:
    """Return names one by one, parted by semicolons; a comma may be part of a name."""
    return [name for value in values for name in value[:5_000].split(";") if name.strip().lower() not in _NOBODY]


def _split(values: Iterable[str]) -> list[str]:
    return [word for value in values for word in re.split(r"[;,\r\n]", value[:5_000]) if word.strip()]
