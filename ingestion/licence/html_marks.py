"""Machine-readable licences of pages and PDFs: links, meta elements, JSON-LD, microdata, RDFa, XMP."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

from ingestion.licence.names import UNSTATED, name_of_address, name_of_text, names_in
from ingestion.licence.patterns import read_statements
from ingestion.licence.table import load_licences, score_of
from ingestion.types import LicenceMark, Light

MOST_BYTES = 10_000_000
_JSON_BYTES = 1_000_000
_JSON_NODES = 5_000
_QUOTE = 300
_XMP = re.compile(rb"<x:xmpmeta[\s>]")
_XMP_END = b"</x:xmpmeta>"
_XMP_STREAM = re.compile(rb"/Subtype\s*/XML[^>]{0,200}>>\s*stream\r?\n|/Type\s*/Metadata[^>]{0,200}>>\s*stream\r?\n")
_XMP_BYTES = 500_000
_RESOURCE = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"
# A packet that tells of a PDF is the document's; others come with the pictures in it.
_OF_A_PDF = re.compile(rb"application/pdf|ns\.adobe\.com/pdf/|aiim\.org/pdfa|<pdf:|pdfx/1\.3")


def marks_of(root: html.HtmlElement, url: str) -> list[LicenceMark]:
    """Return the marks of a page, without those of a picture, a widget or a theme on it; changes nothing in it."""
    marks = [*_metas(root), *_links(root, url), *_json_ld(root, url), *_properties(root, url)]
    return list(dict.fromkeys(marks))


def read_xmp(raw: bytes) -> list[LicenceMark]:
    """Return the marks in the metadata packets of a PDF's bytes; those of pictures inside it are left out.

    Metadata streams lie in the open in a PDF, by its own standard, so that they can be read without parsing it.
    """
    marks: list[LicenceMark] = []
    for packet in _packets(raw):
        if _OF_A_PDF.search(packet):
            marks += _packet_marks(packet)
    return list(dict.fromkeys(marks))


def mark_of(value: str, place: str, score: float, url: str = "") -> LicenceMark | None:
    """Return the evidence in a machine-readable value: a licence's address or name, or a sentence; None without any."""
    value = " ".join(value[: 4 * _QUOTE].split())
    if not value:
        return None
    address = urljoin(url, value) if url and re.match(r"[./]", value) else value
    light: Light = "GREEN"
    rule = "machine-readable"
    licence = name_of_address(address) if re.match(r"(?:https?:)?//|www\.|creativecommons", address) else ""
    if not licence and " " not in value and not re.match(r"https?:", value):
        licence = name_of_text(value.replace("_", "-")) or name_of_text(f"License: {value}")
    # In a field for the licence a name needs no subject: the field is its subject.
    licence = licence or _name_alone(value)
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


def _name_alone(value: str) -> str:
    """Return the licence of a value that is its name and nothing else."""
    rules = {mark.rule for mark in read_statements(value, "")}
    return name_of_text(value) if rules == {"name-alone"} else ""


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
        rel = (element.get("rel") or "").lower().split()
        href = (element.get("href") or "").strip()
        # Without rel an address of a licence is a mention; it weighs only beside words that grant.
        if {"license", "licence", "copyright"}.isdisjoint(rel):
            continue
        licence = name_of_address(_joined(url, href))
        if licence and not _is_aside(element):
            light: Light = "YELLOW" if licence == UNSTATED else "GREEN"
            score, place = score_of("weak" if licence == UNSTATED else "link"), f"<{element.tag} rel=license>"
            yield LicenceMark("mark", light, licence, score, href[:_QUOTE], place, "licence-link", "document")


def _joined(base: str, href: str) -> str:
    """Return a link's whole address; "" for none and for one that is malformed."""
    try:
        urlsplit(urljoin(base, href))
    except ValueError:
        return ""
    return href and urljoin(base, href[:2000])


def _is_aside(element: html.HtmlElement) -> bool:
    """Return whether the element is about a picture, a widget or a theme, by its ancestors and surroundings."""
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


def _json_ld(root: html.HtmlElement, url: str) -> Iterator[LicenceMark]:
    for element in root.iter("script"):
        if "ld+json" not in (element.get("type") or "").lower():
            continue
        try:
            loaded = json.loads(text) if len(text := element.text or "") <= _JSON_BYTES else None
        except (ValueError, RecursionError):
            continue
        for value in _json_licences(loaded):
            if mark := mark_of(value, "JSON-LD license", score_of("meta"), url):
                yield mark


def _json_licences(loaded: object) -> Iterator[str]:
    """Return the licences of the page's own nodes; a picture's or a program's inside them are not the page's."""
    waiting, seen = [loaded], 0
    while waiting and seen < _JSON_NODES:
        seen += 1
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            kinds = node.get("@type", "")
            named = {
                str(kind).rpartition("/")[2].rpartition(":")[2].lower()
                for kind in (kinds if isinstance(kinds, list) else [kinds])
            }
            if named & load_licences().html.page_types:
                for key in load_licences().html.json_keys:
                    yield from _json_values(node.get(key))
                waiting += [node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in node]


def _json_values(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < 3:
        for one in value[:20]:
            yield from _json_values(one, depth + 1)
    elif isinstance(value, dict) and depth < 3:
        for key in ("@id", "url", "name", "@value"):
            if isinstance(value.get(key), str):
                yield str(value[key])
                return


def _properties(root: html.HtmlElement, url: str) -> Iterator[LicenceMark]:
    words = load_licences().html
    for element in root.xpath("//*[@itemprop or @property]"):
        names = {name.lower() for name in f"{element.get('itemprop') or ''} {element.get('property') or ''}".split()}
        if element.tag == "meta" and not element.get("itemprop"):
            continue
        if not (names & words.properties or "license" in names):
            continue
        scope = next((above for above in element.iterancestors() if above.get("itemtype")), None)
        kind = (scope.get("itemtype") or "").rstrip("/").rpartition("/")[2].lower() if scope is not None else ""
        if kind not in words.page_types or _is_aside(element):
            continue
        value = (
            element.get("href")
            or element.get("resource")
            or element.get("content")
            or " ".join(map(str, element.itertext()))
        )
        if mark := mark_of(value, f"property {' '.join(sorted(names))}", score_of("link"), url):
            yield mark


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
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False)
    try:
        root = etree.fromstring(packet, parser)
    except (etree.XMLSyntaxError, ValueError):
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
