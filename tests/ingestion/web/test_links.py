from __future__ import annotations

import time

import pytest

from ingestion.web.links import PageLink, absolute, file_name_of, promises_document, promises_file, without_session
from ingestion.web.page import read_page

AT = "https://a.example/docs/list.html"


def links(body: str, head: str = "") -> tuple[PageLink, ...]:
    return read_page(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "utf-8", AT).links


def test_addresses_are_absolute_and_without_fragment() -> None:
    found = links('<a href="a.pdf#page=2">A</a><a href="//b.example/x">B</a><a href="/c">C</a>')
    assert [link.url for link in found] == [
        "https://a.example/docs/a.pdf",
        "https://b.example/x",
        "https://a.example/c",
    ]


def test_the_pages_base_is_honoured() -> None:
    assert links('<a href="x">X</a>', '<base href="/other/">')[0].url == "https://a.example/other/x"


@pytest.mark.parametrize(
    "href",
    ["javascript:alert(1)", "mailto:a@b.c", "tel:1", "#top", "", "http://[", "file:///etc/passwd", "data:text/html,x"],
)
def test_what_is_no_web_address_is_no_link(href: str) -> None:
    assert links(f'<a href="{href}">X</a>') == ()


def test_a_link_to_the_page_itself_is_none() -> None:
    assert links('<a href="/docs/list.html?utm_source=x">This page</a>') == ()


def test_of_several_links_to_one_address_the_longest_text_counts() -> None:
    found = links('<a href="/a"><img alt=""></a><a href="/a">Flood plan of the north</a><a href="/a">More</a>')
    assert [link.text for link in found] == ["Flood plan of the north"]


def test_a_link_without_text_is_called_by_its_picture_or_label() -> None:
    found = links(
        '<a href="/a"><img alt="Flood plan"></a><a href="/b" aria-label="Heat plan"></a><a href="/c" title="Act"></a>'
    )
    assert [link.text for link in found] == ["Flood plan", "Heat plan", "Act"]


def test_an_entry_stands_alone_and_a_reference_in_a_sentence_does_not() -> None:
    found = links(
        '<ul><li><a href="/a">Flood plan</a> of the year 2020, adopted by the council in its spring session</li></ul>'
        '<p>As the council said in its <a href="/b">heat plan</a> of the year 2020, adopted in its spring session.</p>'
    )
    assert [link.standing for link in found] == [True, False]


def test_a_declared_type_makes_a_file() -> None:
    assert links('<a href="/get?id=1" type="application/pdf" hreflang="it">Piano</a>')[0] == PageLink(
        "https://a.example/get?id=1", "Piano", "it", True, True
    )


def test_fifty_thousand_links_in_one_paragraph_take_no_time() -> None:
    body = "<p>" + "".join(f'<a href="/{n}">{n}</a> ' for n in range(50_000)) + "</p>"
    started = time.process_time()
    assert len(links(body)) == 5000
    assert time.process_time() - started < 10


def test_suffixes_tell_files() -> None:
    assert promises_file("https://a.example/x.PDF?download=1")
    assert promises_document("https://a.example/x.docx")
    assert promises_file("https://a.example/x.csv")
    assert not promises_document("https://a.example/x.csv")
    assert not promises_file("https://a.example/x.pdf/view")
    assert not promises_file("https://a.example/law.html")
    assert file_name_of("https://a.example/files/Flood%20plan.pdf?x=1") == "Flood plan"


def test_sessions_and_tracking_go() -> None:
    url = "https://a.example/x;jsessionid=12AB?id=3&PHPSESSID=9&utm_source=m"
    assert without_session(url) == "https://a.example/x?id=3"
    assert without_session("https://a.example/x?b=2&a=%C3%A4") == "https://a.example/x?b=2&a=%C3%A4"


def test_line_ends_in_an_address_do_not_matter() -> None:
    assert absolute("\n /a\n.pdf ", AT) == "https://a.example/a.pdf"


def test_a_link_that_only_says_pdf_is_called_by_its_row() -> None:
    found = links(
        "<table><tr><td>National flood plan</td>"
        "<td><a href='/1.pdf'>PDF</a> <a href='/1.doc'>Word document</a></td></tr></table>"
        "<ul><li>Heat plan (<a href='/2.pdf'>download, 2 MB</a>)</li>"
        "<li><a href='/3.pdf'>Drought act</a> of 2020</li></ul>"
        "<p>Water. <a href='/4.pdf'>Download</a></p>"
    )
    assert [link.name for link in found] == [
        "National flood plan",
        "National flood plan",
        "Heat plan",
        "Drought act",
        "Download",
    ]
