from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from ingestion.source_lists.feeds import FeedEntry, list_kind, read_feed, read_page_lists, read_sitemap, unpack
from rag_engine.errors import InputError


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'<?xml version="1.0"?><!-- made by <x> --><urlset/>', "sitemap"),
        (b"\xef\xbb\xbf<sitemapindex>", "sitemap index"),
        (b"<rdf:RDF>", "feed"),
        (b"<rss>", "feed"),
        (b'<feed xmlns="x">', "feed"),
        (b"<!DOCTYPE html><HTML>", "page"),
        (b"<!doctype html><title>x", "page"),
        ("<urlset/>".encode("utf-16"), "sitemap"),
        (b"plain text", ""),
    ],
)
def test_a_list_is_told_by_its_outermost_element(body: bytes, kind: str) -> None:
    assert list_kind(body) == kind


def test_a_news_sitemap_gives_titles_and_dates() -> None:
    body = (
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:n="urn:n">'
        b"<url><loc> https://a.org/1 </loc><lastmod>2024-05</lastmod><n:news><n:title>Plan</n:title></n:news></url>"
        b"<url><lastmod>2024</lastmod></url></urlset>"
    )
    assert read_sitemap(body) == [FeedEntry("https://a.org/1", "Plan", "2024-05")]


@pytest.mark.parametrize("version", ["0.91", "2.0"])
def test_an_rss_feed_gives_titles_and_dates(version: str) -> None:
    body = (
        f'<rss version="{version}"><channel><item><title>A &amp; B</title><link>https://a.org/1?x=1&amp;y=2</link>'
        "<pubDate>Wed, 02 Oct 2024 13:00:00 GMT</pubDate></item><item><title>no link</title></item></channel></rss>"
    )
    assert read_feed(body.encode()) == [FeedEntry("https://a.org/1?x=1&y=2", "A & B", "2024-10-02")]


def test_the_name_of_a_file_is_not_opened_as_one(tmp_path: Path) -> None:
    (tmp_path / "f.xml").write_text("<rss version='2.0'><channel/></rss>", encoding="utf-8")
    with pytest.raises(InputError, match="neither an RSS nor an Atom feed"):
        read_feed(os.fsencode(tmp_path / "f.xml"))


@pytest.mark.parametrize("root", ["urlset", "rss"])
def test_entities_are_refused(root: str) -> None:
    body = f'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]><{root}>&b;</{root}>'.encode()
    with pytest.raises(InputError, match="declares entities"):
        (read_sitemap if root == "urlset" else read_feed)(body)


def test_a_packed_list_that_grows_without_end_is_refused() -> None:
    assert unpack(gzip.compress(b"<urlset/>")) == b"<urlset/>"
    with pytest.raises(InputError, match="unpacks to more than"):
        unpack(gzip.compress(b" " * 51_000_000))
    with pytest.raises(InputError, match="breaks off"):
        unpack(gzip.compress(b"<urlset/>" * 99)[:30])


def test_broken_xml_is_told() -> None:
    with pytest.raises(InputError, match="not valid XML"):
        read_sitemap(b"<urlset><url>")


def test_a_page_names_its_feeds_and_sitemaps() -> None:
    body = b"""<html><head><title> The
        agency </title><link rel="alternate" type="application/rss+xml" href="/rss"><link rel="alternate" hreflang="it"
        href="/it"><link rel="sitemap" href="/map.xml"></head></html>"""
    found = read_page_lists(body)
    assert found == ("/rss", "/map.xml")
    assert read_page_lists(b"") == ()
