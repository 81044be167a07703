from __future__ import annotations

import time

import pytest

from ingestion.web.page import Page, read_page, saved_page
from tests.ingestion.small_web import WORDS

AT = "https://a.example/list;jsessionid=1?id=2&utm_source=x"


def read(html: str, charset: str = "") -> Page:
    return read_page(html.encode(), charset, AT)


def test_what_the_head_says_of_the_document_is_kept_and_the_rest_goes() -> None:
    head = (
        '<title>Plan | Site</title><meta name="DC.date" content="2020-01-02"><meta name="csrf-token" content="x9">'
        '<meta property="og:title" content="Plan"><meta name="viewport" content="width=1">'
        '<link rel="stylesheet" href="x">'
    )
    saved = saved_page(read(f'<html lang="it-IT"><head>{head}</head><body><p>{WORDS}</p></body></html>')).decode()
    assert '<html lang="it">' in saved
    assert '<meta name="DC.date" content="2020-01-02">' in saved
    assert '<meta property="og:title" content="Plan">' in saved
    assert not [word for word in ("csrf", "viewport", "stylesheet", "jsessionid", "utm_source") if word in saved]


def test_other_forms_of_a_page_do_not_change_its_address() -> None:
    found = read('<html><head><link rel="alternate" type="application/ld+json" href="/a.jsonld"></head></html>')
    assert found.address == AT
    assert found.feeds == (("https://a.example/a.jsonld", "application/ld+json"),)


def test_what_changes_by_itself_does_not_change_the_file() -> None:
    def made(token: str) -> str:
        return (
            f'<html><head><meta name="token" content="{token}"><script>{token}</script></head><body><nav>{token}</nav>'
            f'<main data-x="{token}"><p>{WORDS * 3}</p><a href="/b?sid={token}">Law</a></main></body></html>'
        )

    assert saved_page(read(made("1"))) == saved_page(read(made("2")))


def test_nothing_in_a_saved_page_runs_or_loads() -> None:
    body = (
        f'<main><p onmouseover="x()" style="color:red">{WORDS * 3}</p><a href="javascript:x()">A</a><img src="http://t/x">'
        '<svg onload="x()"></svg><iframe src="http://t"></iframe><form action="http://t"><input name="q"></form>'
        '<link rel="stylesheet" href="http://t/x.css"><video src="http://t/v"></video><base href="http://t/"></main>'
    )
    saved = saved_page(read(f"<html><body>{body}</body></html>")).decode()
    assert not [word for word in ("http://t", "javascript", "onload", "onmouseover", "style=") if word in saved]


def test_the_heading_outside_the_content_is_kept() -> None:
    saved = saved_page(
        read(f"<html><body><header><h1>Plan</h1></header><main>{WORDS * 3}</main></body></html>")
    ).decode()
    assert "<main><h1>Plan</h1>The river" in saved


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("Überflutung".encode(), ""),
        ("Überflutung".encode("latin-1"), "iso-8859-1"),
        ('<meta charset="windows-1252">Überflutung'.encode("cp1252"), ""),
        ("Überflutung".encode("utf-16"), ""),
        ("Überflutung".encode("latin-1"), "no-such-charset"),
        ("Überflutung".encode("latin-1"), "utf-8"),
    ],
)
def test_any_charset_is_read(body: bytes, charset: str) -> None:
    assert "Überflutung" in read_page(body, charset, AT).text


@pytest.mark.parametrize(
    "body", [b"", b"\x00\x00", b"<!-- -->", b"<?xml version='1.0'?>", b"\xff\xfe", b"<a", b"<html/>"]
)
def test_pages_that_are_none_have_no_text(body: bytes) -> None:
    found = read_page(body, "", AT)
    assert len(found.text) < 5
    assert saved_page(found)


@pytest.mark.parametrize(
    "html",
    [
        '<div id="root"></div><script src="a.js"></script>',
        "<noscript>Please enable JavaScript to see this page.</noscript><script>1</script>"
        "<p>Water and more water for all who live here in the valley, in summer as in winter.</p>",
        "<app-root></app-root><script>1</script>",
    ],
)
def test_a_page_that_shows_nothing_without_scripts_is_a_shell(html: str) -> None:
    assert read(f"<html><body>{html}</body></html>").needs_scripts


def test_a_short_page_without_scripts_is_no_shell() -> None:
    assert not read("<html><body><p>Soon.</p></body></html>").needs_scripts


@pytest.mark.parametrize(
    "html",
    [
        "<div class=nav>" * 250 + "x" * 200_000,
        "<p style='display" + ":" * 100_000 + "'>",
        "<table>" * 5000,
        "<a href='" + "a" * 1_000_000 + "'>x</a>",
        "<b>" * 50_000,
        "&lt;" * 500_000,
    ],
)
def test_hostile_pages_take_no_time(html: str) -> None:
    started = time.process_time()
    saved_page(read(f"<html><body>{html}</body></html>"))
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "html",
    [
        "<h1>Plan&#1;\ufffe</h1><main>&#xFFFE;Text</main>",
        "<?xml version='1.0' encoding='utf-16'?><?xml version='1.0' encoding='utf-16'?><html><p lang='&#2;'>Plan",
        "<head><title>&#3;Plan</title><meta name=author content='&#4;'></head><a href='/&#5;'>A</a>",
    ],
)
def test_characters_that_no_file_can_hold_do_no_harm(html: str) -> None:
    assert b"Plan" in saved_page(read(html))
