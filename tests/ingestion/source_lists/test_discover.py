from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest

from ingestion.source_lists.discover import discover
from ingestion.types.outcome import Refusal
from ingestion.types.source import ListedSource
from rag_engine.errors import InputError
from tests.ingestion.small_web import Answer, SmallWeb

_FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>'
    '<entry><title>Dürre plan</title><link href="/n/1"/><updated>2024-03-02T00:00:00Z</updated></entry>'
    '<entry><title>Budget</title><link href="https://a.org/n/2"/></entry></feed>'
)


def _pages(bodies: Mapping[str, str | bytes]) -> SmallWeb:
    """Return a web of a few pages."""
    raw = {url: body if isinstance(body, bytes) else body.encode() for url, body in bodies.items()}
    return SmallWeb({url: Answer(body, "text/xml") for url, body in raw.items()})


def _sitemap(*urls: str) -> str:
    places = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'


def _index(*urls: str) -> str:
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"


def test_a_feed_proposes_its_entries_with_titles_and_dates() -> None:
    report = discover(
        "https://a.org/feed", _pages({"https://a.org/feed": _FEED}), [ListedSource("B1", "https://a.org/n/2")]
    )
    assert [(one.url, one.title, one.notes) for one in report.new] == [
        ("https://a.org/n/1", "Dürre plan", "Dated 2024-03-02")
    ]
    assert (report.known, report.new[0].origin) == (1, "https://a.org/feed, entry 1")


def test_an_index_is_followed_packed_sitemaps_are_unpacked_and_loops_end() -> None:
    web = _pages({
        "https://a.org/s.xml": _index("https://a.org/1.xml.gz", "https://a.org/s.xml", "https://a.org/gone.xml"),
        "https://a.org/1.xml.gz": gzip.compress(_sitemap("https://a.org/x", "https://a.org/x/").encode()),
    })  # fmt: skip
    report = discover("https://a.org/s.xml", web, [])
    assert [one.url for one in report.new] == ["https://a.org/x"]
    assert report.warnings == ("https://a.org/gone.xml was left out: https://a.org/gone.xml refuses (not_found).",)
    assert web.asked.count("https://a.org/s.xml") == 1


def test_twenty_lists_and_five_thousand_addresses_are_the_most() -> None:
    bodies: dict[str, str | bytes] = {
        f"https://a.org/{n}.xml": _sitemap(*(f"https://a.org/{n}/{k}" for k in range(400))) for n in range(40)
    }
    web = _pages(bodies | {"https://a.org/s.xml": _index(*bodies)})
    report = discover("https://a.org/s.xml", web, [])
    assert (len(report.new), len(web.asked)) == (5_000, 14)
    few = _pages({name: _sitemap(f"{name}/x") for name in bodies} | {"https://a.org/s.xml": _index(*bodies)})
    assert len(discover("https://a.org/s.xml", few, []).new) == 19
    assert len(few.asked) == 20


def test_only_entries_with_one_of_the_words_are_proposed() -> None:
    report = discover("https://a.org/feed", _pages({"https://a.org/feed": _FEED}), [], contains=("DURRE", "heat"))
    assert [one.title for one in report.new] == ["Dürre plan"]
    assert report.warnings == ("1 of 2 addresses contain: DURRE, heat.",)


def test_a_page_leads_to_the_feed_in_its_head() -> None:
    page = '<html><head><link rel="alternate" type="application/atom+xml" href="/feed"></head><body>x</body></html>'
    web = _pages({"https://a.org/news": page, "https://a.org/feed": _FEED})
    assert len(discover("https://a.org/news", web, []).new) == 2


def test_a_page_leads_to_the_sitemap_of_robots_txt_and_else_to_the_usual_place() -> None:
    page = "<!doctype html><title>x</title>"
    web = _pages({
        "https://a.org/": page,
        "https://a.org/robots.txt": "User-agent: *\nSitemap: https://a.org/deep/map.xml\n",
        "https://a.org/deep/map.xml": _sitemap("https://a.org/1"),
    })  # fmt: skip
    assert [one.url for one in discover("https://a.org/", web, []).new] == ["https://a.org/1"]
    usual = _pages({"https://a.org/": page, "https://a.org/sitemap.xml": _sitemap("https://a.org/2")})
    assert [one.url for one in discover("https://a.org/", usual, []).new] == ["https://a.org/2"]


def test_a_page_that_leads_nowhere_says_what_was_tried() -> None:
    with pytest.raises(InputError, match=r"neither its head, robots\.txt nor /sitemap\.xml"):
        discover("https://a.org/", _pages({"https://a.org/": "<html></html>"}), [])


def test_an_address_that_cannot_be_fetched_is_refused_with_its_reason() -> None:
    with pytest.raises(Refusal, match=r"refuses \(not_found\)"):
        discover("https://a.org/", _pages({}), [])
