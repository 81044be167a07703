"""What an address proposes, asked of a small web of pages held in memory."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ingestion.discovery import discover
from ingestion.outcomes import Fetched, Refused, Source, Validators
from rag_engine.errors import InputError

_FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>'
    '<entry><title>Dürre plan</title><link href="/n/1"/><updated>2024-03-02T00:00:00Z</updated></entry>'
    '<entry><title>Budget</title><link href="https://a.org/n/2"/></entry></feed>'
)


@dataclass
class _Pages:
    """A web of a few pages."""

    bodies: dict[str, str | bytes]
    asked: list[str] = field(default_factory=list)

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        self.asked.append(url)
        if url not in self.bodies:
            raise Refused("not_found", f"{url} is not there.")
        body = self.bodies[url]
        return Fetched((url,), 200, "text/xml", "", body if isinstance(body, bytes) else body.encode())


def _sitemap(*urls: str) -> str:
    places = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'


def _index(*urls: str) -> str:
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"


def test_a_feed_proposes_its_entries_with_titles_and_dates() -> None:
    report = discover("https://a.org/feed", _Pages({"https://a.org/feed": _FEED}), [Source("B1", "https://a.org/n/2")])
    assert [(one.url, one.title, one.notes) for one in report.new] == [
        ("https://a.org/n/1", "Dürre plan", "Dated 2024-03-02")
    ]
    assert (report.known, report.new[0].origin) == (1, "https://a.org/feed, entry 1")


def test_an_index_is_followed_packed_sitemaps_are_unpacked_and_loops_end() -> None:
    web = _Pages({
        "https://a.org/s.xml": _index("https://a.org/1.xml.gz", "https://a.org/s.xml", "https://a.org/gone.xml"),
        "https://a.org/1.xml.gz": gzip.compress(_sitemap("https://a.org/x", "https://a.org/x/").encode()),
    })  # fmt: skip
    report = discover("https://a.org/s.xml", web, [])
    assert [one.url for one in report.new] == ["https://a.org/x"]
    assert report.warnings == ("https://a.org/gone.xml was left out: https://a.org/gone.xml is not there.",)
    assert web.asked.count("https://a.org/s.xml") == 1


def test_twenty_lists_and_five_thousand_addresses_are_the_most() -> None:
    bodies: dict[str, str | bytes] = {
        f"https://a.org/{n}.xml": _sitemap(*(f"https://a.org/{n}/{k}" for k in range(400))) for n in range(40)
    }
    web = _Pages(bodies | {"https://a.org/s.xml": _index(*bodies)})
    report = discover("https://a.org/s.xml", web, [])
    assert (len(report.new), len(web.asked)) == (5_000, 14)
    few = _Pages({name: _sitemap(f"{name}/x") for name in bodies} | {"https://a.org/s.xml": _index(*bodies)})
    assert len(discover("https://a.org/s.xml", few, []).new) == 19
    assert len(few.asked) == 20


def test_only_entries_with_one_of_the_words_are_proposed() -> None:
    report = discover("https://a.org/feed", _Pages({"https://a.org/feed": _FEED}), [], contains=("DURRE", "heat"))
    assert [one.title for one in report.new] == ["Dürre plan"]
    assert report.warnings == ("1 of 2 addresses contain: DURRE, heat.",)


def test_a_page_leads_to_the_feed_in_its_head() -> None:
    page = '<html><head><link rel="alternate" type="application/atom+xml" href="/feed"></head><body>x</body></html>'
    web = _Pages({"https://a.org/news": page, "https://a.org/feed": _FEED})
    assert len(discover("https://a.org/news", web, []).new) == 2


def test_a_page_leads_to_the_sitemap_of_robots_txt_and_else_to_the_usual_place() -> None:
    page = "<!doctype html><title>x</title>"
    web = _Pages({
        "https://a.org/": page,
        "https://a.org/robots.txt": "User-agent: *\nSitemap: https://a.org/deep/map.xml\n",
        "https://a.org/deep/map.xml": _sitemap("https://a.org/1"),
    })  # fmt: skip
    assert [one.url for one in discover("https://a.org/", web, []).new] == ["https://a.org/1"]
    usual = _Pages({"https://a.org/": page, "https://a.org/sitemap.xml": _sitemap("https://a.org/2")})
    assert [one.url for one in discover("https://a.org/", usual, []).new] == ["https://a.org/2"]


def test_a_page_that_leads_nowhere_says_what_was_tried() -> None:
    with pytest.raises(InputError, match=r"neither its head, robots\.txt nor /sitemap\.xml"):
        discover("https://a.org/", _Pages({"https://a.org/": "<html></html>"}), [])


def test_an_address_that_cannot_be_fetched_is_refused_with_its_reason() -> None:
    with pytest.raises(Refused, match="is not there"):
        discover("https://a.org/", _Pages({}), [])
