"""Records in the JSON of CKAN and DCAT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ingestion.catalogues.record import Distribution, Record, best_address
from ingestion.web.links import absolute

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
_Node: TypeAlias = "Mapping[str, Json]"

_MOST_NODES = 200_000
_LONGEST = 4000
_HALVES = re.compile("[\ud800-\udfff]")


def ckan_records(loaded: Json, address: str) -> tuple[tuple[Record, ...], int]:
    """Return the records of a package_search or package_show answer, and how many the search found in all.

    >>> answer = {"result": {"title": "Piano alluvioni", "resources": [{"url": "/piano.pdf", "format": "PDF"}]}}
    >>> [(record.title, record.url) for record in ckan_records(answer, "https://dati.example.org/")[0]]
    [('Piano alluvioni', 'https://dati.example.org/piano.pdf')]
    """
    result = loaded.get("result") if isinstance(loaded, dict) else None
    if not isinstance(result, dict):
        return (), 0
    packages = result.get("results")
    if not isinstance(packages, list):
        packages = [result] if "resources" in result else []
    count = result.get("count")
    records = tuple(_ckan_record(package, address) for package in packages if isinstance(package, dict))
    return records, count if isinstance(count, int) else len(records)


def _ckan_record(package: _Node, address: str) -> Record:
    resources = package.get("resources")
    distributions = [
        Distribution(
            absolute(_text(resource.get("url")), address),
            _text(resource.get("format")) or _text(resource.get("mimetype")),
        )
        for resource in (resources if isinstance(resources, list) else [])
        if isinstance(resource, dict)
    ]
    organization = package.get("organization")
    authority = _text(organization.get("title")) if isinstance(organization, dict) else ""
    return Record(
        title=_text(package.get("title")) or _text(package.get("name")),
        url=best_address(distributions, absolute(_text(package.get("url")), address)),
        authority=authority or _text(package.get("author")) or _text(package.get("maintainer")),
        # The licence's address tells its version; titles often do not.
        licence=_first(_text(package.get(key)) for key in ("license_url", "license_title", "license_id")),
        description=_text(package.get("notes")),
    )


def nodes_of(loaded: Json) -> dict[str, _Node]:
    """Return all objects of a JSON-LD document by their @id, or by their place if they have none.

    Their keys lose their prefix.
    """
    nodes: dict[str, _Node] = {}
    waiting: list[Json] = [loaded]
    while waiting and len(nodes) < _MOST_NODES:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, dict):
            node = {_local(key): value for key, value in one.items()}
            name = _text(node.get("@id")) or f"_:{len(nodes)}"
            # A mere reference to a node does not hide the node.
            if name not in nodes or len(node) > len(nodes[name]):
                nodes[name] = node
            waiting.extend(value for value in reversed(list(node.values())) if isinstance(value, dict | list))
    return nodes


def dcat_records(nodes: Mapping[str, _Node], address: str = "") -> Iterator[Record]:
    """Return the datasets among the nodes, in the document's order.

    >>> node = {"@type": "dcat:Dataset", "dct:title": "Flood plan", "dcat:landingPage": "https://example.org/plan"}
    >>> [(record.title, record.url) for record in dcat_records(nodes_of(node))]
    [('Flood plan', 'https://example.org/plan')]
    """
    for node in nodes.values():
        named = node.get("@type")
        kinds = {_local(kind) for kind in (named if isinstance(named, list) else [named]) if isinstance(kind, str)}
        if "Dataset" in kinds or (not kinds and {"distribution", "title"} <= node.keys()):
            yield _dcat_record(node, nodes, address)


def next_page(nodes: Mapping[str, _Node], address: str) -> str:
    """Return the address of a catalogue's next part (Hydra), or ""."""
    for node in nodes.values():
        for key in ("next", "nextPage"):
            value = node.get(key)
            text = _reference(value) or _text(value)
            if text and (url := absolute(text, address)):
                return url
    return ""


def _dcat_record(node: _Node, nodes: Mapping[str, _Node], address: str) -> Record:
    distributions, licences = [], [_name(node.get("license"), nodes), _name(node.get("rights"), nodes)]
    for one in _nodes(node.get("distribution"), nodes):
        url = _address(one.get("downloadURL"), address) or _address(one.get("accessURL"), address)
        kind = _name(one.get("mediaType"), nodes) or _name(one.get("format"), nodes)
        distributions.append(Distribution(url, kind))
        licences.append(_name(one.get("license"), nodes))
    page = _address(node.get("landingPage"), address) or _address(node.get("page"), address)
    return Record(
        title=_name(node.get("title"), nodes) or _name(node.get("name"), nodes),
        url=best_address(distributions, page),
        authority=_name(node.get("publisher"), nodes),
        licence=_first(licences),
        description=_text(node.get("description")),
    )


def _nodes(value: Json, nodes: Mapping[str, _Node]) -> Iterator[_Node]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            local = {_local(key): inner for key, inner in one.items()}
            yield nodes.get(_text(local.get("@id")), local) if len(local) == 1 else local
        elif isinstance(one, str) and one in nodes:
            yield nodes[one]


def _name(value: Json, nodes: Mapping[str, _Node]) -> str:
    """Return the readable value: a text, one of several languages (English first), or the name of a node."""
    if isinstance(value, dict | list):
        for node in _nodes(value, nodes):
            for key in ("name", "title", "prefLabel", "label"):
                if text := _text(node.get(key)):
                    return text
    text = _text(value)
    named = nodes.get(text)
    return (_text(named.get("name")) or text) if named else text or _reference(value)


def _address(value: Json, address: str) -> str:
    return absolute(_reference(value) or _text(value), address)


def _reference(value: Json) -> str:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict) and isinstance(named := one.get("@id"), str):
            return named[:_LONGEST]
    return ""


def _text(value: Json) -> str:
    """Return the text of a value; of several languages English, else the first."""
    if isinstance(value, str):
        # JSON can spell half a character, which no file can hold.
        return " ".join(_HALVES.sub("\ufffd", value[:_LONGEST]).split())
    if isinstance(value, dict):
        return _text(value.get("@value")) if isinstance(value.get("@value"), str) else ""
    if isinstance(value, list):
        english = [one for one in value if isinstance(one, dict) and one.get("@language") == "en"]
        return next((text for one in [*english, *value] if not isinstance(one, list) and (text := _text(one))), "")
    return ""


def _local(key: str) -> str:
    """Return a key or type without its vocabulary: dct:title and http://purl.org/dc/terms/title are title."""
    for mark in ("#", "/", ":"):
        key = key.rpartition(mark)[2]
    return key


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")
