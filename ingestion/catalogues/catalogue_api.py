"""Catalogues that machines read.

CKAN, DCAT in JSON, OAI-PMH. Their records, read page by page through the Web.

Clients of these interfaces open connections past the check of addresses, so the answers are read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from lxml import etree

from ingestion.catalogues.ckan_dcat import Json, ckan_records, dcat_records, next_page, nodes_of
from ingestion.catalogues.record import Distribution, Record, best_address
from ingestion.extraction.formats.zip_container import parse_xml
from ingestion.protocols import Web
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched
from ingestion.web.html import Element
from ingestion.web.links import absolute
from ingestion.web.page import Page

CatalogueKind = Literal["", "CKAN", "DCAT", "OAI-PMH"]
_ROWS = 100
_DCAT_NAMES = (".jsonld", "/data.json")
_CKAN_PLACES = ("dataset", "organization", "group")
# A part of a CKAN address, or a parameter of its search page, and the field of its index that it stands for.
_CKAN_FACETS = {"organization": "organization", "group": "groups", "groups": "groups", "tags": "tags"}
_JSON = "application/ld+json,application/json;q=0.9,*/*;q=0.5"
_XML = "text/xml,application/xml;q=0.9,*/*;q=0.5"
_DC = "{http://purl.org/dc/elements/1.1/}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Endpoint of a catalogue."""

    kind: CatalogueKind
    url: str


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """One answer of a catalogue.

    Its address, its records, and how many there are in all (0 if it does not say).
    """

    url: str
    records: tuple[Record, ...]
    total: int = 0


def catalogue_kind(body: bytes) -> CatalogueKind:
    """Return the kind of catalogue whose answer this is, or "".

    >>> catalogue_kind(b'{"success": true, "result": {"results": []}}')
    'CKAN'
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        root = parse_xml(body)
        return "OAI-PMH" if root is not None and root.tag.rpartition("}")[2] == "OAI-PMH" else ""
    if not start.startswith((b"{", b"[")):
        return ""
    try:
        loaded: Json = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if isinstance(loaded, dict) and "success" in loaded and "result" in loaded:
        return "CKAN"
    return "DCAT" if any(True for _ in dcat_records(nodes_of(loaded))) else ""


def endpoints_of(page: Page) -> tuple[Endpoint, ...]:
    """Return the catalogues that a page belongs to, surest first; the query of a CKAN search page is kept."""
    found = [Endpoint("CKAN", url) for url in _ckan_addresses(page)]
    for url, media_type in page.feeds:
        if media_type == "application/ld+json" or urlsplit(url).path.endswith(_DCAT_NAMES):
            found.append(Endpoint("DCAT", url))
    for link in page.links:
        parts = urlsplit(link.url)
        if parts.path.endswith(_DCAT_NAMES):
            found.append(Endpoint("DCAT", link.url))
        elif "verb=Identify" in parts.query or "verb=ListRecords" in parts.query:
            found.append(Endpoint("OAI-PMH", link.url))
    return tuple(dict.fromkeys(found))


def lists_records(page: Page) -> bool:
    """Return whether a page is the list of a CKAN catalogue.

    Its front, a search, an organization or a group.
    """
    if "ckan" not in page.generator.lower():
        return False
    segments = [segment for segment in urlsplit(page.address).path.split("/") if segment]
    return not segments or segments[-1] == "dataset" or (len(segments) > 1 and segments[-2] in _CKAN_FACETS)


def _ckan_addresses(page: Page) -> Iterator[str]:
    parts = urlsplit(page.address)
    segments = parts.path.rstrip("/").split("/")
    place = next((number for number, name in enumerate(segments) if name in _CKAN_PLACES), 0)
    if not place and "ckan" not in page.generator.lower():
        return
    root = "/".join(segments[:place] if place else segments)
    below = segments[place + 1 :] if place else []
    if place and segments[place] == "dataset" and below:
        query = urlencode({"id": below[0]})
        yield urlunsplit(parts._replace(path=f"{root}/api/3/action/package_show", query=query))
        return
    given = parse_qsl(parts.query)
    kept = [(name, value) for name, value in given if name in ("q", "sort")]
    facets = [(_CKAN_FACETS.get(name, name), value) for name, value in given if name in _CKAN_FACETS]
    if place and below and segments[place] in _CKAN_FACETS:
        facets.append((_CKAN_FACETS[segments[place]], below[0]))
    if facets:
        kept.append(("fq", " ".join(f'{name}:"{value}"' for name, value in facets)))
    yield urlunsplit(parts._replace(path=f"{root}/api/3/action/package_search", query=urlencode(kept)))


def read_catalogue(endpoint: Endpoint, web: Web, *, max_bytes: int) -> Iterator[CataloguePage]:
    """Return the answers of a catalogue one after another, as long as the caller takes them.

    Refusal if it does not answer, or with something else. A catalogue that offers the same page again has ended.
    """
    url, seen = _first_address(endpoint), set[str]()
    while url and url not in seen:
        seen.add(url)
        fetched = web.fetch(url, max_bytes=max_bytes, accept=_XML if endpoint.kind == "OAI-PMH" else _JSON)
        page, url = _read(endpoint.kind, url, fetched)
        yield page
        if not page.records:
            return


def _first_address(endpoint: Endpoint) -> str:
    parts = urlsplit(endpoint.url)
    if endpoint.kind == "CKAN":
        if "/api/" in parts.path:
            root = parts.path[: parts.path.index("/api/")]
            if not parts.path.rstrip("/").endswith(("package_search", "package_show")):
                parts = parts._replace(path=f"{root}/api/3/action/package_search", query="")
        if parts.path.rstrip("/").endswith("package_show"):
            return urlunsplit(parts)
        return _with(urlunsplit(parts), rows=_ROWS, start=0)
    if endpoint.kind == "OAI-PMH":
        query = dict(parse_qsl(parts.query))
        kept = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
        kept |= {name: value for name, value in query.items() if name in ("set", "from", "until")}
        return urlunsplit(parts._replace(query=urlencode(kept)))
    return endpoint.url


def _read(kind: CatalogueKind, url: str, fetched: Fetched) -> tuple[CataloguePage, str]:
    if kind == "OAI-PMH":
        return _read_oai(url, fetched)
    try:
        loaded: Json = json.loads(fetched.body)
    except (ValueError, RecursionError) as error:
        raise Refusal(
            "wrong_content", "{url} should answer in JSON and does not: {error}.", url=url, error=error
        ) from error
    if kind == "CKAN":
        records, total = ckan_records(loaded, fetched.url)
        start = int(dict(parse_qsl(urlsplit(url).query)).get("start", 0))
        after = start + len(records)
        more = after < total and bool(records) and "package_show" not in url
        return CataloguePage(url, records, total), _with(url, start=after) if more else ""
    nodes = nodes_of(loaded)
    return CataloguePage(url, tuple(dcat_records(nodes, fetched.url))), next_page(nodes, fetched.url)


def _read_oai(url: str, fetched: Fetched) -> tuple[CataloguePage, str]:
    root = parse_xml(fetched.body)
    if root is None or root.tag.rpartition("}")[2] != "OAI-PMH":
        raise Refusal("wrong_content", "{url} should answer as OAI-PMH does and does not.", url=url)
    if (failed := next(root.iter("{*}error"), None)) is not None:
        error = f"{failed.get('code', 'error')} {' '.join((failed.text or '').split())[:200]}".strip()
        if error.startswith("noRecordsMatch"):
            return CataloguePage(url, ()), ""
        raise Refusal("wrong_content", "{url} answers with an error: {error}.", url=url, error=error)
    resumption = next(root.iter("{*}resumptionToken"), etree.Element("none"))
    token, size = (resumption.text or "").strip()[:2000], resumption.get("completeListSize", "")
    total = int(size[:9]) if size.isascii() and size.isdigit() else 0
    # After the first page the token stands for all other arguments (OAI-PMH 2.0, section 3.5).
    query = urlencode({"verb": "ListRecords", "resumptionToken": token})
    following = urlunsplit(urlsplit(url)._replace(query=query)) if token else ""
    return CataloguePage(url, tuple(oai_records(root)), total), following


def _with(url: str, **changes: int) -> str:
    parts = urlsplit(url)
    pairs = [(name, value) for name, value in parse_qsl(parts.query) if name not in changes]
    pairs += [(name, str(value)) for name, value in changes.items()]
    return urlunsplit(parts._replace(query=urlencode(pairs)))


def oai_records(root: Element) -> Iterator[Record]:
    """Return the records in order, without deleted ones.

    The address is the identifier or relation that is a document, else the first that is an address.
    """
    for record in root.iter("{*}record"):
        header = record.find("{*}header")
        if header is not None and header.get("status") == "deleted":
            continue
        identifiers = [url for value in _values(record, "identifier", "relation") if (url := absolute(value, ""))]
        # The statement that names a licence by address, else the first; "open access" says nothing of reuse.
        rights = list(_values(record, "rights"))
        named = [value for value in rights if "creativecommons.org" in value or "licen" in value.lower()]
        rest = [value for value in rights if not value.startswith("info:eu-repo/")]
        yield Record(
            title=next(_values(record, "title"), ""),
            url=best_address([Distribution(url) for url in identifiers]),
            authority=next(_values(record, "publisher"), "") or next(_values(record, "creator"), ""),
            licence=next(iter([*named, *rest]), ""),
            description=" ".join(_values(record, "description", "subject"))[:4000],
        )


def _values(record: Element, *names: str) -> Iterator[str]:
    for name in names:
        for element in record.iter(_DC + name):
            if text := " ".join((element.text or "").split()):
                yield text[:4000]
