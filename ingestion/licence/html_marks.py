"""Machine-readable licences of pages and PDFs: links, meta elements, JSON-LD, microdata, RDFa, XMP."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

from ingestion.licence.names import UNSTATED, name_of_address, name_of_text, names_in, restrictions_of
from ingestion.licence.page_sections import BREAKS
from ingestion.licence.patterns import read_limits, read_statements
from ingestion.licence.structured_data import json_ld_licences, property_licences
from ingestion.licence.table import load_licences, score_of
from ingestion.types import LicenceMark, Light

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


def marks_of(root: html.HtmlElement, url: str) -> list[LicenceMark]:
    """Return the marks of a page, without those of a picture, a widget or a theme on it; changes nothing in it."""
    values = [*json_ld_licences(root, url), *property_licences(root, is_aside)]
    structured = [mark_of(one.value, one.place, score_of(one.score), url) for one in values]
    marks = [*_metas(root), *_links(root, url), *filter(None, structured)]
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
    """Return the text of a link with what is around it in its paragraph."""
    block = next((above for above in element.iterancestors() if above.tag in BREAKS), None)
    return "" if block is None or element.tag == "link" else " ".join(map(str, block.itertext()))[:_BESIDE]


def _named_by_its_link(licence: str, linked: str, words: str) -> Iterator[LicenceMark]:
    """Find "licensed under a Creative Commons licence" where the link alone says which of them."""
    if not linked.strip() or any(one.name != UNSTATED for one in names_in(words)):
        return
    for mark in read_statements(words.replace(linked, f" {licence} ", 1), "link in its sentence"):
        if mark.light == "GREEN" and mark.licence == licence:
            yield replace(mark, layer="mark")


def _against_its_words(licence: str, href: str, words: str) -> Iterator[LicenceMark]:
    """Find a licence that the words name and that allows something else than the one whose address they link to."""
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
    """Return a link's whole address; "" for none and for one that is malformed."""
    try:
        urlsplit(urljoin(base, href))
    except ValueError:
        return ""
    return href and urljoin(base, href[:2000])


def is_aside(element: html.HtmlElement) -> bool:
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
