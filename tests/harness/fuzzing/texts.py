"""Parsers of texts: web pages, licences, addresses, lists, what a model replies."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from ingestion.catalogues.catalogue_api import Endpoint, catalogue_kind, endpoints_of, read_catalogue
from ingestion.config import WebConfig
from ingestion.licence.html_marks import read_xmp
from ingestion.licence.patterns import pieces_of, read_limits, read_statements, says_reserved, sentences_of
from ingestion.licence.reading import read_html
from ingestion.metadata_file import NAME, read_descriptions
from ingestion.source_lists.feeds import list_kind, read_entries, read_page_lists, unpack
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import read_target
from ingestion.web.page import read_page
from ingestion.web.politeness import PolitenessPolicy
from ingestion.web.response import retry_after_seconds, says_file, suggested_name
from ingestion.web.urls import normal_url, registered_name, url_of_any_language
from rag_engine.answering.bundle import read_bundle
from rag_engine.answering.replies import check_marks
from rag_engine.answering.structured.answer_schema import parse_schema, shipped_schemas
from rag_engine.backends.llm_reply import read_object
from rag_engine.errors import BackendError, InputError
from rag_engine.evaluation.gold import read_gold
from rag_engine.filters import parse_filters
from rag_engine.prompts import PLANNER_SCHEMA, SUPPORT_SCHEMA
from rag_engine.text.neutralise import neutralise
from tests.harness.fuzzing.seam import Seam
from tests.ingestion.small_web import Answer, SmallWeb

_ADDRESS = "https://example.org/plans/a"


def text_seams(folder: Path) -> dict[str, Seam]:
    """Return the parsers by what they read; they write into the folder what they read from a file."""
    return {
        "web pages": Seam(_page, (), PAGES),
        "licence statements": Seam(_licence, (), _LICENCES),
        "addresses": Seam(_address, (Refusal,), _ADDRESSES),
        "headers": Seam(_headers, (), _HEADERS),
        "robots.txt": Seam(_robots, (Refusal,), _ROBOTS),
        "sitemaps and feeds": Seam(_feed, (InputError,), _FEEDS),
        "catalogues": Seam(_catalogue, (Refusal,), _CATALOGUES),
        **{
            f"seed lists ({suffix})": Seam(partial(_seeds, folder / f"seeds.{suffix}"), (InputError,), _LISTS)
            for suffix in ("csv", "txt")
        },
        "metadata.jsonl": Seam(partial(_descriptions, folder), (InputError,), _DESCRIPTIONS),
        "gold sets": Seam(partial(_gold, folder / "gold.jsonl"), (InputError,), _GOLD),
        "bundles": Seam(partial(_bundle, folder / "answer.zip"), (InputError,), (b"PK\x05\x06" + bytes(18), b"PK")),
        "replies in JSON": Seam(_reply, (BackendError,), _REPLIES),
        "marks of a model": Seam(_marks, (), _MARKS),
        "answer schemas": Seam(_schema, (InputError,), tuple(one.read_bytes() for one in shipped_schemas())),
        "filters": Seam(_filters, (InputError,), (b"hazard=Flood", b"year=2015-2020", b"as_of=2020-01-01")),
    }


# --- the seams


def _page(content: bytes) -> None:
    endpoints_of(read_page(content, "utf-8", _ADDRESS))
    read_page(content, content[:12].decode("latin-1"), _ADDRESS)
    read_html(content, _ADDRESS)
    read_xmp(content)


def _licence(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    for piece in pieces_of(text):
        list(sentences_of(piece))
    read_statements(text, "page")
    read_limits(text, "page")
    says_reserved(text)


def _address(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    for one in (normal_url(text), url_of_any_language(text)):
        registered_name(one)
    target = read_target(text)
    assert read_target(target.url) == target


def _headers(content: bytes) -> None:
    text = content.decode("latin-1")
    retry_after_seconds(text)
    name = suggested_name(text)
    assert "/" not in name
    assert "\0" not in name
    says_file(text, text, name)


def _robots(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    policy = PolitenessPolicy(WebConfig(host_seconds=0.0, most_delay=0.0), lambda _url: (200, text))
    policy.check(_ADDRESS)
    policy.wait(_ADDRESS)


def _feed(content: bytes) -> None:
    body = unpack(content)
    list_kind(body)
    read_page_lists(body)
    read_entries(body)


def _catalogue(content: bytes) -> None:
    kind = catalogue_kind(content)
    web = SmallWeb({})
    endpoint = Endpoint(kind or "DCAT", "https://example.org/api")
    media = "text/xml" if kind == "OAI-PMH" else "application/json"
    web.answers = _Everywhere(Answer(content, media))
    for number, _ in enumerate(read_catalogue(endpoint, web, max_bytes=10**6)):
        if number > 2:
            break


class _Everywhere(dict[str, Answer]):
    """The same answer at every address."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self._answer = answer

    def get(self, _url: object, _default: object = None) -> Answer:
        return self._answer


def _seeds(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    read_source_list(path, ())


def _descriptions(folder: Path, content: bytes) -> None:
    (folder / NAME).write_bytes(content)
    read_descriptions(folder)


def _gold(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    read_gold(path, "all")


def _bundle(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    read_bundle(path)


def _reply(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    read_object(text, SUPPORT_SCHEMA if b"labels" in content else PLANNER_SCHEMA, model="model")


def _marks(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    assert set(check_marks(text, range(1, 6)).cited) <= set(range(1, 6))
    assert not check_marks(neutralise(text), range(1, 6)).cited


def _schema(content: bytes) -> None:
    parse_schema(content.decode("utf-8", "replace"), "schema.json")


def _filters(content: bytes) -> None:
    parse_filters([content.decode("utf-8", "replace")])


# --- honest inputs

PAGES = (
    b"<!doctype html><html lang=en><head><title>Plan</title><meta charset=utf-8><link rel=license "
    b"href=https://creativecommons.org/licenses/by/4.0/><base href=/x/></head><body><main><h1>Plan</h1><p>The flood "
    b"plan of the authority.</p><table><tr><th colspan=2>A<tr><td>1<td>2</table><a href=plan.pdf hreflang=en>PDF</a>"
    b"</main><footer>Licensed under CC BY 4.0</footer></body></html>",
    b'<html><script type="application/ld+json">{"@type": "Dataset", "license": "https://a.b/c", "@graph": []}</script>'
    b"<div itemscope itemtype=http://schema.org/Thing><a itemprop=license href='/l'>CC BY</a></div>"
    b"<meta name=generator content=ckan><meta http-equiv=refresh content='0; url=/b'></html>",
    b'<?xpacket begin="" id="x"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/'
    b'22-rdf-syntax-ns#"><rdf:Description xmlns:cc="http://creativecommons.org/ns#" cc:license="https://a.b"/></rdf:RDF>'
    b"</x:xmpmeta><?xpacket end?>",
)
_LICENCES = (
    b"This work is licensed under a Creative Commons Attribution-NonCommercial 4.0 International licence. All rights "
    b"reserved unless stated otherwise. \xc2\xa9 2020 Ministry. Reproduction is authorised provided the source is "
    b"acknowledged.",
    b"Diese Ver\xc3\xb6ffentlichung steht unter der Lizenz CC BY-SA 3.0 DE; Nachdruck, auch auszugsweise, nur mit "
    b"Genehmigung.",
    b"Riproduzione consentita citando la fonte, art. 52 c. 2 CAD. Licencia abierta 2.0 (Etalab).",
)
_ADDRESSES = (
    b"https://example.org/a/b.pdf?lang=en&x=1#part",
    b"http://user:word@[2606:2800::1]:8080/%zz/../a;b=c",
    b"HTTPS://B\xc3\xbccher.Example:443/a b?q=\xc3\xbc",
)
_HEADERS = (
    b'attachment; filename="plan 1.pdf"',
    b"attachment; filename*=UTF-8''pl%C3%A4n.pdf; filename=\"a.pdf\"",
    b"Wed, 21 Oct 2026 07:28:00 GMT",
    b"120",
)
_ROBOTS = (
    b"User-agent: *\nDisallow: /private*\nAllow: /$\nCrawl-delay: 2\nSitemap: https://example.org/sitemap.xml\n"
    b"Request-rate: 1/5 0600-0845\nVisit-time: 0600-0845\n",
    b"\xef\xbb\xbfuser-agent:sextant\ndisallow: /plans/a\n",
)
_FEEDS = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.b/c</loc>'
    b"<lastmod>2020-01-01T00:00:00Z</lastmod></url></urlset>",
    b"<rss version='2.0'><channel><title>t</title><item><title>a</title><link>https://a.b/</link>"
    b"<pubDate>Wed, 21 Oct 2020 07:28:00 GMT</pubDate></item></channel></rss>",
    b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>a</title><link href='https://a.b/'/>"
    b"<updated>2020-01-01T00:00:00Z</updated></entry></feed>",
    b"<html><head><link rel=alternate type=application/rss+xml href=/feed></head></html>",
)
_CATALOGUES = (
    b'{"success": true, "result": {"count": 3, "results": [{"id": "a", "name": "plan", "title": "Plan", "license_id": '
    b'"cc-by", "resources": [{"url": "https://a.b/c.pdf", "format": "PDF", "size": 3}], "organization": {"title": "M"},'
    b'"extras": [{"key": "a", "value": "b"}]}]}}',
    b'{"@graph": [{"@id": "a", "@type": "dcat:Dataset", "dct:title": {"@value": "Plan", "@language": "en"}, '
    b'"dcat:distribution": [{"@id": "d"}]}, {"@id": "d", "dcat:downloadURL": {"@id": "https://a.b/c.pdf"}, '
    b'"dct:license": "https://creativecommons.org/licenses/by/4.0/"}]}',
    b'{"dataset": [{"title": "Plan", "landingPage": "https://a.b/", "distribution": [{"downloadURL": "https://a.b"}]}]}',
    b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><header><identifier>a</identifier>'
    b'</header><metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Plan</dc:title><dc:identifier>https://a.b/c.pdf'
    b"</dc:identifier><dc:rights>CC BY</dc:rights></oai_dc:dc></metadata></record><resumptionToken "
    b'completeListSize="9">t</resumptionToken></ListRecords></OAI-PMH>',
)
_LISTS = (
    b'Code,Title,URL,Notes\nA1,Plan,https://a.b/c.pdf,"see, also"\nA2,Plan,"https://a.b/d; https://a.b/e",visited\n',
    b"Titel;Adresse;Beh\xf6rde\nPlan;http://a.b/c (abgerufen 3.5.2021);Amt\n",
    b"https://a.b/c\nsee https://a.b/d.\nwww.example.org/e\nmailto:a@b.c\n",
    b"\xff\xfeU\0R\0L\0\n\0h\0t\0t\0p\0:\0/\0/\0a\0.\0b\0/\0",
    _FEEDS[0],
)
_DESCRIPTIONS = (
    b'{"file": "a.pdf", "title": "Plan", "year": 2020, "hazards": ["Flood"], "countries": ["Italia"]}\n'
    b'{"file": "b.pdf", "language": "en", "authority": "Ministry", "date": "2020-01-02", "licence": "CC BY 4.0"}\n',
)
_GOLD = (
    b'{"id": "1", "question": "Which?", "language": "en", "split": "dev", "kind": "fact", "passages": [{"document": '
    b'"a.pdf", "page": 3, "quote": "The dyke was raised."}]}\n',
    b'{"id": "2", "question": "Wo?", "language": "de", "passages": [], "cross_lingual": true}\n',
)
_REPLIES = (
    json.dumps(
        {"query_1": "a b", "query_2": "c", "query_3": "d", "output_instructions": "", "geographic_scope": ["Italy"]}
    ).encode(),
    b'Here it is:\n```json\n{"labels": ["supported", "unsupported"]}\n```\nDone.',
    b'<think>{"a": 1}</think> {"labels": ["supported"], "labels": ["partly supported"], "x": {"y": [1, 2.5e3, null]}}',
)
_MARKS = (
    b"The dyke was raised [Source 1]. So it was [Sources 2, 3-5] and (Fonte 2) and [^1] and "
    b"\xe3\x80\x901\xe2\x80\xa0source\xe3\x80\x91.\n\nReferences\n[1] Plan, 2020",
    b"Es gilt [Quelle 3, S. 12] \xe2\x80\x9eso [4]\xe2\x80\x9c [Source 9] [kaynak 2] [1](x) [[2]]",
)
