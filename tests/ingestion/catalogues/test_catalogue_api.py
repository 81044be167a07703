from __future__ import annotations

import json
from itertools import islice

import pytest

from ingestion.catalogues.catalogue_api import CatalogueKind, Endpoint, catalogue_kind, endpoints_of, read_catalogue
from ingestion.catalogues.record import Distribution, Record, best_address
from ingestion.types.outcome import Refusal
from ingestion.web.page import read_page
from tests.ingestion.small_web import Answer, SmallWeb

AT = "https://data.example/"
OAI = "http://www.openarchives.org/OAI/2.0/"


def read(kind: CatalogueKind, url: str, answers: dict[str, bytes]) -> tuple[list[Record], list[str]]:
    web = SmallWeb({AT + name: Answer(body, "application/octet-stream") for name, body in answers.items()})
    pages = list(read_catalogue(Endpoint(kind, AT + url), web, max_bytes=10**7))
    return [record for one in pages for record in one.records], web.asked


def oai(*records: str, token: str = "") -> bytes:
    made = "".join(
        f"<record><header/><metadata><dc xmlns='http://purl.org/dc/elements/1.1/'>{one}</dc></metadata></record>"
        for one in records
    )
    more = f"<resumptionToken completeListSize='2'>{token}</resumptionToken>"
    return f'<?xml version="1.0"?><OAI-PMH xmlns="{OAI}"><ListRecords>{made}{more}</ListRecords></OAI-PMH>'.encode()


def test_records_of_an_archive_are_read_with_their_licence() -> None:
    first = (
        "<title>Flood plan</title><creator>A. Person</creator><publisher>City</publisher>"
        "<rights>info:eu-repo/semantics/openAccess</rights><rights>https://creativecommons.org/licenses/by/4.0/</rights>"
        "<identifier>doi:10.1/2</identifier><identifier>https://a.example/1</identifier>"
        "<relation>https://a.example/1.pdf</relation>"
    )
    second = "<title>Heat plan</title><identifier>https://a.example/2</identifier>"
    records, asked = read(
        "OAI-PMH",
        "oai?verb=Identify",
        {
            "oai?verb=ListRecords&metadataPrefix=oai_dc": oai(first, token="next 1"),
            "oai?verb=ListRecords&resumptionToken=next+1": oai(second),
        },
    )
    assert records == [
        Record("Flood plan", "https://a.example/1.pdf", "City", "https://creativecommons.org/licenses/by/4.0/"),
        Record("Heat plan", "https://a.example/2"),
    ]
    assert len(asked) == 2


def test_an_archive_that_hands_out_the_same_token_for_ever_ends() -> None:
    page = oai("<title>Flood plan</title><identifier>https://a.example/1</identifier>", token="again")
    answers = {
        "oai?verb=ListRecords&metadataPrefix=oai_dc&set=law": page,
        "oai?verb=ListRecords&resumptionToken=again": page,
    }
    _, asked = read("OAI-PMH", "oai?verb=ListRecords&set=law", answers)
    assert len(asked) == 2


def test_an_archives_error_is_told() -> None:
    body = f'<OAI-PMH xmlns="{OAI}"><error code="badArgument">No set.</error></OAI-PMH>'.encode()
    with pytest.raises(Refusal, match=r"badArgument No set\."):
        read("OAI-PMH", "oai", {"oai?verb=ListRecords&metadataPrefix=oai_dc": body})


def test_entities_are_not_resolved() -> None:
    lol = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    body = f'{lol}<OAI-PMH xmlns="{OAI}"><ListRecords><record><metadata><title xmlns="http://purl.org/dc/elements/1.1/">&b;&f;</title></metadata></record></ListRecords></OAI-PMH>'
    records, _ = read("OAI-PMH", "oai", {"oai?verb=ListRecords&metadataPrefix=oai_dc": body.encode()})
    assert records == [Record("", "")]


def test_dcat_with_inline_nodes() -> None:
    body = {
        "@type": "dcat:Catalog",
        "dataset": [
            {
                "@type": "dcat:Dataset",
                "title": "Flood plan",
                "publisher": {"name": "Agency"},
                "license": "https://www.usa.gov/government-works",
                "distribution": [
                    {"downloadURL": "https://a.example/p.csv", "mediaType": "text/csv"},
                    {"downloadURL": "/p.pdf", "mediaType": "application/pdf"},
                ],
            },
            {"@type": "dcat:Dataset", "title": "Gauges", "distribution": [{"downloadURL": "/g.csv", "format": "CSV"}]},
        ],
    }
    records, _ = read("DCAT", "data.json", {"data.json": json.dumps(body).encode()})
    assert records == [
        Record("Flood plan", f"{AT}p.pdf", "Agency", "https://www.usa.gov/government-works"),
        Record("Gauges", ""),
    ]


def test_dcat_as_a_graph_with_prefixes_and_languages() -> None:
    body = {
        "@graph": [
            {"@id": "urn:c", "@type": "dcat:Catalog", "dcat:dataset": {"@id": "urn:d"}, "hydra:next": {"@id": "/2"}},
            {
                "@id": "urn:d",
                "@type": ["dcat:Dataset"],
                "dct:title": [{"@language": "it", "@value": "Piano"}, {"@language": "en", "@value": "Plan"}],
                "dct:publisher": {"@id": "urn:p"},
                "dcat:distribution": [{"@id": "urn:x"}],
            },
            {"@id": "urn:p", "foaf:name": "Regione"},
            {
                "@id": "urn:x",
                "dcat:downloadURL": {"@id": "https://a.example/p"},
                "dct:format": {"@id": "http://publications.europa.eu/resource/authority/file-type/PDF"},
                "dct:license": {"@id": "http://creativecommons.org/licenses/by/4.0/"},
            },
        ]
    }
    answers = {"catalog.jsonld": json.dumps(body).encode(), "2": b'{"@graph": []}'}
    records, asked = read("DCAT", "catalog.jsonld", answers)
    assert records == [Record("Plan", "https://a.example/p", "Regione", "http://creativecommons.org/licenses/by/4.0/")]
    assert asked == [f"{AT}catalog.jsonld", f"{AT}2"]


def test_ckan_is_paged_by_what_it_gave() -> None:
    def body(name: str) -> bytes:
        package = {"title": name, "resources": [{"url": f"https://a.example/{name}.pdf", "format": ""}]}
        return json.dumps({"success": True, "result": {"count": 3, "results": [package]}}).encode()

    answers = {f"api/3/action/package_search?q=flood&rows=100&start={n}": body(f"plan{n}") for n in range(3)}
    records, asked = read("CKAN", "api/3/action/package_search?q=flood&rows=1&start=7", answers)
    assert [record.title for record in records] == ["plan0", "plan1", "plan2"]
    assert len(asked) == 3


def test_a_catalogue_is_read_no_further_than_it_is_taken() -> None:
    package = {"title": "Plan", "resources": [{"url": "https://a.example/p.pdf"}]}
    body = json.dumps({"success": True, "result": {"count": 10**9, "results": [package]}}).encode()
    web = SmallWeb({f"{AT}api/3/action/package_search?rows=100&start={n}": Answer(body) for n in range(9)})
    pages = list(islice(read_catalogue(Endpoint("CKAN", f"{AT}api/3"), web, max_bytes=1000), 4))
    assert len(pages) == len(web.asked) == 4


@pytest.mark.parametrize("body", [b"<html>Sorry</html>", b"{", b"[" * 100_000, b"null", b'{"success": false}'])
def test_other_answers_are_no_catalogue(body: bytes) -> None:
    assert catalogue_kind(body) == ""


def test_an_answer_that_is_no_json_is_refused() -> None:
    with pytest.raises(Refusal, match="should answer in JSON"):
        read("CKAN", "api/3", {"api/3/action/package_search?rows=100&start=0": b"[" * 100_000})


@pytest.mark.parametrize(
    ("address", "html", "endpoint"),
    [
        ("dataset?q=a&tags=b&page=3", "", Endpoint("CKAN", f"{AT}api/3/action/package_search?q=a&fq=tags%3A%22b%22")),
        ("x/dataset/flood-plan", "", Endpoint("CKAN", f"{AT}x/api/3/action/package_show?id=flood-plan")),
        ("", '<meta name="generator" content="CKAN 2.9">', Endpoint("CKAN", f"{AT}api/3/action/package_search")),
        ("a", '<link rel="alternate" type="application/ld+json" href="/a.jsonld">', Endpoint("DCAT", f"{AT}a.jsonld")),
        ("a", '<a href="/data.json">All data</a>', Endpoint("DCAT", f"{AT}data.json")),
        ("a", '<a href="/oai?verb=Identify">OAI</a>', Endpoint("OAI-PMH", f"{AT}oai?verb=Identify")),
    ],
)
def test_a_page_tells_where_its_catalogue_is(address: str, html: str, endpoint: Endpoint) -> None:
    page = read_page(f"<html><body>{html}</body></html>".encode(), "", AT + address)
    assert endpoints_of(page) == (endpoint,)


def test_the_best_form_of_a_record_is_the_one_people_read() -> None:
    forms = [
        Distribution("https://a.example/1", "CSV"),
        Distribution("https://a.example/2", "HTML"),
        Distribution("https://a.example/3", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        Distribution("https://a.example/4.pdf"),
    ]
    assert best_address(forms) == "https://a.example/4.pdf"
    assert best_address(forms[:3]) == "https://a.example/3"
    assert best_address(forms[:2]) == "https://a.example/2"
    assert best_address(forms[:1], "https://a.example/page") == ""
    assert best_address([], "https://a.example/page") == "https://a.example/page"


def test_half_characters_do_no_harm() -> None:
    body = b'{"dataset": [{"@type": "Dataset", "title": "Plan \\ud800", "landingPage": "https://a.example/\\ud800"}]}'
    records, _ = read("DCAT", "data.json", {"data.json": body})
    assert records == [Record("Plan \ufffd", "https://a.example/\ufffd")]
