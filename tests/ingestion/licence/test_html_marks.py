from __future__ import annotations

import json
import zlib

import pytest

from ingestion.licence.html_marks import read_xmp
from ingestion.licence.verdict import decide
from ingestion.types import Light
from tests.ingestion.licence.marks import read_marks

BY = "https://creativecommons.org/licenses/by/4.0/"
URL = "https://example.org/report"


def lights(page: str) -> list[tuple[Light, str]]:
    return [(mark.light, mark.licence) for mark in read_marks(page, URL)]


def ld(value: object) -> str:
    return f'<html><head><script type="application/ld+json">{json.dumps(value)}</script></head><body>x</body></html>'


@pytest.mark.parametrize(
    "page",
    [
        f'<html><head><link rel="license" href="{BY}"></head></html>',
        f'<html><body><footer><a rel="license noopener" href="{BY}">licence</a></footer></body></html>',
        '<meta name="license" content="CC BY 4.0">',
        f'<meta name="DCTERMS.license" content="{BY}">',
        '<meta name="dc.rights" content="This work is licensed under CC BY 4.0">',
        f'<p>Under <a property="dct:license" href="{BY}">this</a></p>',
        f'<div itemscope itemtype="https://schema.org/Article"><a itemprop="license" href="{BY}">l</a></div>',
        ld({"@type": "Report", "license": BY}),
        ld({"@graph": [{"@type": "WebPage"}, {"@type": ["Article", "Thing"], "license": {"@id": BY}}]}),
        ld([{"@type": "http://schema.org/Dataset", "license": [BY]}]),
    ],
)
def test_machine_readable_licences_are_read(page: str) -> None:
    assert lights(page) == [("GREEN", "CC BY 4.0")]
    assert decide(read_marks(page, URL)).light == "GREEN"


@pytest.mark.parametrize(
    "page",
    [
        f'<figure><img src="a.jpg"><figcaption>J. Doe <a rel="license" href="{BY}">CC BY</a></figcaption></figure>',
        f'<p>Photo: J. Doe, <a rel="license" href="{BY}">CC BY 4.0</a></p>',
        f'<div class="photo-credit"><a rel="license" href="{BY}">CC BY</a></div>',
        f'<footer><p>Theme by Foo, <a rel="license" href="{BY}">CC BY</a></p></footer>',
        f'<aside><a rel="license" href="{BY}">widget</a></aside>',
        f'<div itemscope itemtype="https://schema.org/ImageObject"><a itemprop="license" href="{BY}">l</a></div>',
        ld({"@type": "ImageObject", "license": BY}),
        ld({"@type": "Article", "image": {"@type": "ImageObject", "license": BY}}),
        f'<p>Read more about <a href="{BY}">this licence</a></p>',
        '<a rel="license" href="https://creativecommons.org.evil.example/licenses/by/4.0/">CC BY</a>',
        '<script type="application/ld+json">{"@type": "Article", "license": "' + BY + "</script>",
        '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
        "",
        "\0\0",
        "<!-- " + "x" * 1000,
        '<a rel="license" href="http://[broken">x</a>',
    ],
)
def test_licences_of_other_things_and_broken_marks_free_nothing(page: str) -> None:
    assert not [mark for mark in read_marks(page, URL) if mark.light == "GREEN"]


def test_a_reserved_meta_element_is_red_and_contradicts_a_licence_link() -> None:
    page = f'<head><meta name="copyright" content="All rights reserved"><link rel="license" href="{BY}"></head>'
    found = decide(read_marks(page, URL))
    assert (found.light, found.conflict) == ("YELLOW", True)


def test_a_name_in_a_copyright_element_is_only_a_notice() -> None:
    assert lights('<meta name="copyright" content="Ministry of Works">') == [("YELLOW", "Copyright notice")]


def test_a_reservation_of_text_mining_stands_against_a_licence() -> None:
    page = f'<head><meta name="tdm-reservation" content="1"><link rel="license" href="{BY}"></head>'
    assert decide(read_marks(page, URL)).conflict


def test_latin_1_pages_are_read() -> None:
    page = '<meta charset="iso-8859-1"><meta name="dc.rights" content="Tous droits réservés">'.encode("latin-1")
    assert [mark.light for mark in read_marks(page, URL)] == ["RED"]


def packet(
    inside: str, *, about: str = '<dc:format xmlns:dc="http://purl.org/dc/elements/1.1/">application/pdf</dc:format>'
) -> bytes:
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:r="http://ns.adobe.com/xap/1.0/rights/" xmlns:cc="http://creativecommons.org/ns#" '
        f'xmlns:d="http://purl.org/dc/elements/1.1/"><rdf:Description>{about}{inside}</rdf:Description></rdf:RDF>'
        "</x:xmpmeta>"
    ).encode()


@pytest.mark.parametrize(
    ("inside", "light"),
    [
        (f"<r:WebStatement>{BY}</r:WebStatement>", "GREEN"),
        (f'<cc:license rdf:resource="{BY}"/>', "GREEN"),
        (
            "<r:UsageTerms><rdf:Alt><rdf:li>This work is licensed under CC BY 4.0</rdf:li></rdf:Alt></r:UsageTerms>",
            "GREEN",
        ),
        ("<d:rights><rdf:Alt><rdf:li>All rights reserved</rdf:li></rdf:Alt></d:rights>", "RED"),
        ("<r:Marked>True</r:Marked>", "YELLOW"),
    ],
)
def test_the_metadata_packet_of_a_pdf_is_read(inside: str, light: str) -> None:
    assert [mark.light for mark in read_xmp(b"%PDF-1.7\n" + packet(inside))] == [light]
    squeezed = b"<</Type/Metadata/Subtype/XML/Filter/FlateDecode>>stream\n" + zlib.compress(packet(inside))
    assert [mark.light for mark in read_xmp(b"%PDF-1.7\n" + squeezed)] == [light]


def test_the_packet_of_a_picture_inside_a_pdf_says_nothing_of_the_pdf() -> None:
    assert read_xmp(packet(f"<r:WebStatement>{BY}</r:WebStatement>", about="")) == []


def test_entities_in_a_packet_are_not_followed() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + packet("<r:UsageTerms>&a;</r:UsageTerms>")
    assert read_xmp(bomb) == []
