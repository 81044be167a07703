"""Machine-readable licences of pages and PDFs: links, meta elements, JSON-LD, microdata, RDFa, XMP."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from lxml import html

from ingestion.extraction.formats.zip_container import parse_xml
from ingestion.licence.names import UNSTATED, name_of_address, name_of_text, names_in, restrictions_of
from ingestion.licence.page_sections import BREAKS
from ingestion.licence.patterns import read_limits, read_statements
from ingestion.licence.table import load_licences, score_of
from ingestion.types.licence import LicenceMark, Light

MOST_BYTES = 10_000_000
_QUOTE = 300
_BESIDE = 600
_XMP = re.compile(rb"<x:xmpmeta[\s>]")
_XMP_END = b"</x:xmpmeta>"
_XMP_STREAM = re.compile(rb"/Subtype\s*/XML[^>]{0,200}>>\s*stream\r?\n|/Type\s*/Metadata[^>]{0,200}>>\s*stream\r?\n")
_XMP_BYTES = 500_000
_RESOURCE = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"
# A packet that tells of a PDF is the document's; others come with the pictures in it.
_OF_A_PDF = re.compile(rb"application/pdf|ns\.adobe\.com/pdf/|aiim\.org/pdfa|<pdf:|pdfx/1\.3")
_JSON_BYTES = 1_000_000
_JSON_NODES = 5_000
_DEPTH = 3
# What a whole site is said of, from whichever of its pages.
_SITES = frozenset(("website", "datacatalog"))
_PAGES = frozenset(("webpage", "itempage", "collectionpage"))
_ADDRESSES = ("@id", "url", "mainEntityOfPage")


def marks_of(root: html.HtmlElement, url: str) -> list[LicenceMark]:
    """Return the marks of a page, without those of a picture, a widget or a theme on it.

    Changes nothing in it.
    """
    structured = filter(None, (*_json_ld_marks(root, url), *_property_marks(root, url)))
    marks = [*_metas(root), *_links(root, url), *structured]
    return list(dict.fromkeys(marks))


def read_xmp(raw: bytes) -> list[LicenceMark]:
    """Return the marks in the metadata packets of a PDF's bytes, without those of its pictures.

    Metadata streams lie in the open in a PDF, by its own standard, so that they can be read without parsing it.
    """
    marks: list[LicenceMark] = []
    for packet in _packets(raw):
        if _OF_A_PDF.search(packet):
            marks += _packet_marks(packet)
    return list(dict.fromkeys(marks))


def mark_of(value: str, place: str, score: float, url: str = "") -> LicenceMark | None:
    """Return the evidence in a machine-readable value: a licence's address or name, or a sentence.

    None without any.
    """
    value = " ".join(value[: 4 * _QUOTE].split())
    if not value:
        return None
    address = urljoin(url, value) if url and re.match(r"[./]", value) else value
    light: Light = "GREEN"
    rule = "machine-readable"
    licence = name_of_address(address) if re.match(r"(?:https?:)?//|www\.|creativecommons", address) else ""
    if not licence and " " not in value and not re.match(r"https?:", value):
        licence = name_of_text(value.replace("_", "-")) or name_of_text(f"License: {value}")
    if not licence and {mark.rule for mark in read_statements(value, "")} == {"name-alone"}:
        # In a field for the licence a name needs no subject: the field is its subject.
        licence = name_of_text(value)
    if not licence:
        statements = read_statements(value, place)
        if deciding := next((mark for light in ("RED", "GREEN") for mark in statements if mark.light == light), None):
            light, licence, rule = deciding.light, deciding.licence, deciding.rule
        elif re.search(r"(?i)(?<!\w)public domain(?!\w)", value) and len(value) < 40:
            licence = "Public domain"
        else:
            named = names_in(value)
            light, score = "YELLOW", 0.0
            licence = named[0].name if named else "Copyright notice"
    elif licence == UNSTATED:
        light, score = "YELLOW", score_of("weak")
    return LicenceMark("mark", light, licence, score, value[:_QUOTE], place, rule, "document")


def _metas(root: html.HtmlElement) -> Iterator[LicenceMark]:
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or "").strip().lower()
        content = element.get("content") or ""
        if name in ("tdm-reservation", "tdm:reservation") and content.strip() == "1":
            yield LicenceMark(
                "mark", "RED", "Text and data mining reserved", score_of("meta"), "tdm-reservation: 1", f"meta {name}"
            )
        elif name in load_licences().html.metas and (mark := mark_of(content, f"meta {name}", score_of("meta"))):
            yield mark


def _links(root: html.HtmlElement, url: str) -> Iterator[LicenceMark]:
    for element in root.iter("link", "a", "area"):
        href = (element.get("href") or "").strip()
        licence = name_of_address(_joined(url, href))
        if not licence or is_aside(element):
            continue
        rel = (element.get("rel") or "").lower().split()
        # Without rel an address of a licence is a mention; it weighs only beside words that grant.
        if not {"license", "licence", "copyright"}.isdisjoint(rel):
            light: Light = "YELLOW" if licence == UNSTATED else "GREEN"
            score, place = score_of("weak" if licence == UNSTATED else "link"), f"<{element.tag} rel=license>"
            yield LicenceMark("mark", light, licence, score, href[:_QUOTE], place, "licence-link", "document")
            yield from read_limits(_words_beside(element), "beside the licence link")
        if licence != UNSTATED:
            words = _words_beside(element)
            yield from _against_its_words(licence, href, words)
            if not rel and not element.get("property") and not element.get("itemprop"):
                yield from _named_by_its_link(licence, " ".join(map(str, element.itertext())), words)


def _words_beside(element: html.HtmlElement) -> str:
    """Return the text of a link and the text around it in its paragraph."""
    block = next((above for above in element.iterancestors() if above.tag in BREAKS), None)
    return "" if block is None or element.tag == "link" else " ".join(map(str, block.itertext()))[:_BESIDE]


def _named_by_its_link(licence: str, linked: str, words: str) -> Iterator[LicenceMark]:
    """Find "licensed under a Creative Commons licence" where the link alone says which of them."""
    if not linked.strip() or any(name.name != UNSTATED for name in names_in(words)):
        return
    for mark in read_statements(words.replace(linked, f" {licence} ", 1), "link in its sentence"):
        if mark.light == "GREEN" and mark.licence == licence:
            yield replace(mark, layer="mark")


def _against_its_words(licence: str, href: str, words: str) -> Iterator[LicenceMark]:
    """Find a licence in the words of a link that allows something else than the linked one."""
    named = [one.name for one in names_in(words) if one.name != UNSTATED]
    other = next((name for name in named if set(restrictions_of(name)) != set(restrictions_of(licence))), None)
    if other is None or any(set(restrictions_of(name)) == set(restrictions_of(licence)) for name in named):
        return
    for name, quote in ((licence, href), (other, words)):
        tidy = " ".join(quote.split())[:_QUOTE]
        yield LicenceMark(
            "mark", "GREEN", name, score_of("weak"), tidy, "licence link and its words", "link-against-words"
        )


def _joined(base: str, href: str) -> str:
    """Return a link's whole address; "" if it has none or a malformed one."""
    try:
        urlsplit(urljoin(base, href))
    except ValueError:
        return ""
    return href and urljoin(base, href[:2000])


def is_aside(element: html.HtmlElement) -> bool:
    """Return whether the element is about a picture, a widget or a theme, by its surroundings."""
    if element.tag == "link":
        return False
    words = load_licences().html
    for depth, above in enumerate(element.iterancestors()):
        if above.tag in words.aside_elements or (
            above.tag not in ("html", "body", "main")
            and words.aside_names.search(f"{above.get('class', '')} {above.get('id', '')}")
        ):
            return True
        if depth > 12:
            break
    parent = element.getparent()
    around = "" if parent is None else " ".join(map(str, parent.itertext()))[:400]
    if not words.aside_text.search(around):
        return False
    # "Text and images of this site": the page after all.
    return not any(mark.light == "GREEN" for mark in read_statements(around, ""))


def _packets(raw: bytes) -> Iterator[bytes]:
    for match in _XMP.finditer(raw):
        end = raw.find(_XMP_END, match.start(), match.start() + _XMP_BYTES)
        if end > 0:
            yield raw[match.start() : end + len(_XMP_END)]
    for match in _XMP_STREAM.finditer(raw):
        if b"FlateDecode" in match.group() or b"FlateDecode" in raw[max(0, match.start() - 200) : match.start()]:
            try:
                opened = zlib.decompressobj().decompress(raw[match.end() : match.end() + _XMP_BYTES], _XMP_BYTES)
            except zlib.error:
                continue
            start, end = opened.find(b"<x:xmpmeta"), opened.find(_XMP_END)
            if 0 <= start < end:
                yield opened[start : end + len(_XMP_END)]


def _packet_marks(packet: bytes) -> Iterator[LicenceMark]:
    root = parse_xml(packet)
    if root is None:
        return
    fields = load_licences().html.xmp
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        values = [(element.tag, f"{element.get(_RESOURCE) or ''} {' '.join(map(str, element.itertext()))}")]
        # Properties may be written as attributes of their description.
        values += [(str(name), str(value)) for name, value in element.attrib.items()]
        for name, value in values:
            if name in fields and (mark := mark_of(value, fields[name], score_of("meta"))):
                yield mark
            elif name.endswith("xap/1.0/rights/}Marked") and value.strip().lower() == "true":
                yield LicenceMark("mark", "YELLOW", "Copyright notice", 0.0, "Marked: True", "XMP xmpRights:Marked")


def _json_ld_marks(root: html.HtmlElement, url: str) -> Iterator[LicenceMark | None]:
    """Yield the licences that JSON-LD states of the page's own main thing.

    With an address, it belongs to the page of that address or the site of that host. Without one, it belongs to the
    page if it is the page's only thing. A picture's, a program's or another article's licence is not the page's.
    """
    things = [thing for loaded in _scripts(root) for thing in _things(loaded)]
    about = [thing for thing in things if not _kinds(thing) & (_SITES | _PAGES)]
    addressed = [thing for thing in about if _is_at(thing, url)]
    own = addressed or (about if len(about) == 1 and not _addresses(about[0]) else [])
    pages = [one for one in things if _kinds(one) & _PAGES and (_is_at(one, url) or not _addresses(one))]
    sites = [one for one in things if _kinds(one) & _SITES and _is_of_host(one, url)]
    for thing in (*own, *pages, *sites):
        for key in load_licences().html.json_keys:
            for value in _values(thing.get(key)):
                yield mark_of(value, "JSON-LD license", score_of("meta"), url)


def _property_marks(root: html.HtmlElement, url: str) -> Iterator[LicenceMark | None]:
    """Yield the licences in microdata and RDFa; none if several things of the page have one each."""
    words = load_licences().html
    found: list[tuple[html.HtmlElement | None, LicenceMark | None]] = []
    for element in root.xpath("//*[@itemprop or @property]"):
        names = {name.lower() for name in f"{element.get('itemprop') or ''} {element.get('property') or ''}".split()}
        if element.tag == "meta" and not element.get("itemprop"):
            continue
        if not (names & words.properties or "license" in names):
            continue
        scope = next((above for above in element.iterancestors() if above.get("itemtype")), None)
        kind = (scope.get("itemtype") or "").rstrip("/").rpartition("/")[2].lower() if scope is not None else ""
        if kind in words.page_types and not is_aside(element):
            place = f"property {' '.join(sorted(names))}"
            written = element.get("href") or element.get("resource") or element.get("content")
            value = str(written or " ".join(map(str, element.itertext())))
            found.append((scope, mark_of(value, place, score_of("link"), url)))
    if len({id(scope) for scope, _ in found}) == 1:
        yield from (mark for _, mark in found)


def _scripts(root: html.HtmlElement) -> Iterator[object]:
    for element in root.iter("script"):
        text = element.text or ""
        if "ld+json" not in (element.get("type") or "").lower() or len(text) > _JSON_BYTES:
            continue
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _things(loaded: object) -> Iterator[Mapping[str, object]]:
    """Return the things that JSON-LD describes for themselves and that a page may be."""
    waiting, seen = [loaded], 0
    while waiting and seen < _JSON_NODES:
        seen += 1
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            # A frame around a graph is no thing of its own; a file with an address of its content is no page.
            if _kinds(node) & load_licences().html.page_types and "@graph" not in node and "contentUrl" not in node:
                yield node
            waiting += [node[key] for key in ("@graph", "mainEntity") if key in node]


def _kinds(node: Mapping[str, object]) -> frozenset[str]:
    kinds = node.get("@type", "")
    several = kinds if isinstance(kinds, list) else [kinds]
    return frozenset(str(kind).rpartition("/")[2].rpartition(":")[2].lower() for kind in several)


def _addresses(node: Mapping[str, object]) -> Sequence[str]:
    return [value for key in _ADDRESSES for value in _values(node.get(key)) if not value.startswith("_:")]


def _is_at(node: Mapping[str, object], url: str) -> bool:
    """Return whether the thing has the address of the page, under any query and fragment."""
    return any(_plain(urljoin(url, address)) == _plain(url) for address in _addresses(node))


def _is_of_host(node: Mapping[str, object], url: str) -> bool:
    hosts = {(urlsplit(urljoin(url, address)).hostname or "") for address in _addresses(node)}
    return not hosts or (urlsplit(url).hostname or "") in hosts


def _plain(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/")


def _values(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEPTH:
        for one in value[:20]:
            yield from _values(one, depth + 1)
    elif isinstance(value, dict) and depth < _DEPTH:
        named = (value[key] for key in ("@id", "url", "name", "@value") if isinstance(value.get(key), str))
        yield from (str(one) for one in [next(named, "")] if one)
