from __future__ import annotations

import json
import zlib

import pytest

from ingestion.licence.check import decide
from ingestion.licence.html_marks import marks_of, read_xmp
from ingestion.licence.page_sections import text_of
from ingestion.licence.patterns import read_statements
from ingestion.licence.reading import read_html
from ingestion.types.licence import Light
from ingestion.web.html import parse
from tests.ingestion.licence.marks import read_marks

BY = "https://creativecommons.org/licenses/by/4.0/"
NC = "https://creativecommons.org/licenses/by-nc/4.0/"
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
        ld({"@type": "Report", "url": f"{URL}#top", "license": BY}),
        ld([{"@type": "Report", "url": "/report", "license": BY}, {"@type": "Article", "url": "/other"}]),
        ld({"@graph": [{"@type": "WebSite", "url": "https://example.org/", "license": BY}, {"@type": "WebPage"}]}),
        f'<aside class="widget"><a rel="license" href="{BY}">Creative Commons</a></aside>',
        f'<footer><p>This site is licensed under a <a href="{BY}">Creative Commons licence</a>.</p></footer>',
        f'<p>Alle Inhalte dieser Website stehen unter <a href="{BY}">dieser Lizenz</a>.</p>',
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
        f'<div itemscope itemtype="https://schema.org/ImageObject"><a itemprop="license" href="{BY}">l</a></div>',
        ld({"@type": "ImageObject", "license": BY}),
        ld({"@type": "Article", "image": {"@type": "ImageObject", "license": BY}}),
        ld({"@type": "CreativeWork", "contentUrl": "https://example.org/hero.jpg", "license": BY}),
        ld({"@type": "Article", "url": "https://example.org/another", "license": BY}),
        ld({"@type": "Article", "url": "https://elsewhere.org/report", "license": BY}),
        ld([{"@type": "Article"}, {"@type": "Dataset", "license": BY}]),
        ld({"@graph": [{"@type": "Report", "url": URL}, {"@type": "Article", "license": BY}]}),
        f'<div itemscope itemtype="https://schema.org/Article"><a itemprop="license" href="{BY}">l</a></div>' * 2,
        f'<p>Read more about <a href="{BY}">this licence</a></p>',
        f'<p>The photographs are licensed under a <a href="{BY}">Creative Commons licence</a></p>',
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


@pytest.mark.parametrize(
    "words",
    [
        f'<p>This work is licensed under <a href="{NC}">CC BY 4.0</a></p>',
        f'<p><a rel="license" href="{BY}">CC BY-NC-ND 4.0</a></p>',
        f'<p><a rel="license" href="{BY}"></a> Licensed under a Creative Commons Attribution-ShareAlike licence</p>',
    ],
)
def test_words_that_contradict_the_address_beside_them_are_for_a_person(words: str) -> None:
    root = parse(f"<html><body><main>{words}</main></body></html>")
    assert root is not None
    found = decide([*marks_of(root, URL), *read_statements(text_of(root).whole, "page")])
    assert (found.light, found.conflict) == ("YELLOW", True)


@pytest.mark.parametrize(
    ("words", "restrictions"),
    [
        ("Commercial use is prohibited.", ("NC",)),
        ("Toute utilisation commerciale est interdite.", ("NC",)),
        ("It may not be modified.", ("ND",)),
        ("", ()),
    ],
)
def test_what_is_forbidden_beside_a_licence_link_is_kept(words: str, restrictions: tuple[str, ...]) -> None:
    found = decide(read_marks(f'<footer><p><a rel="license" href="{BY}">Licence</a>. {words}</p></footer>', URL))
    assert (found.light, found.restrictions) == ("GREEN", restrictions)


@pytest.mark.parametrize(
    "box",
    [
        "<figure><figcaption>This work is licensed under CC BY 4.0.</figcaption></figure>",
        '<div class="comments"><p>This work is licensed under CC BY 4.0.</p></div>',
        "<blockquote>This report is licensed under CC BY 4.0.</blockquote>",
        '<div class="related-posts teaser">All content is licensed under CC BY 4.0.</div>',
    ],
)
def test_what_a_box_says_is_not_said_of_the_page(box: str) -> None:
    page = f"<html><body><main><p>{'The river rose. ' * 20}</p>{box}</main></body></html>".encode()
    reading = read_html(page, URL)
    assert [mark.light for mark in reading.marks] == ["YELLOW"]


def test_a_box_around_the_whole_page_is_the_page() -> None:
    reading = read_html(b'<body><div class="teaser"><p>This work is licensed under CC BY 4.0.</p></div></body>', URL)
    assert [mark.light for mark in reading.marks] == ["GREEN"]


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
