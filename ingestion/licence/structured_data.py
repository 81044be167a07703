"""Licences in a page's structured data: JSON-LD, microdata, RDFa; only those of the page's own main thing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urljoin, urlsplit

from lxml import html

from ingestion.licence.table import load_licences

_JSON_BYTES = 1_000_000
_JSON_NODES = 5_000
_DEPTH = 3
# What a whole site is said of, from whichever of its pages.
_SITES = frozenset(("website", "datacatalog"))
_PAGES = frozenset(("webpage", "itempage", "collectionpage"))
_ADDRESSES = ("@id", "url", "mainEntityOfPage")


@dataclass(frozen=True, slots=True)
class LicenceValue:
    """A value of a licence property, where it stood, and the name of its weight."""

    value: str
    place: str
    score: Literal["meta", "link"]


def json_ld_licences(root: html.HtmlElement, url: str) -> Iterator[LicenceValue]:
    """Return the licences that JSON-LD states of the page's own main thing.

    With an address it is the page's own by that address, of a site by its host; without, where it is the only thing
    of the page. A picture's, a program's or another article's licence is not the page's.
    """
    things = [thing for loaded in _scripts(root) for thing in _things(loaded)]
    about = [thing for thing in things if not _kinds(thing) & (_SITES | _PAGES)]
    addressed = [thing for thing in about if _is_at(thing, url)]
    own = addressed or (about if len(about) == 1 and not _addresses(about[0]) else [])
    pages = [one for one in things if _kinds(one) & _PAGES and (_is_at(one, url) or not _addresses(one))]
    sites = [one for one in things if _kinds(one) & _SITES and _is_of_host(one, url)]
    for thing in (*own, *pages, *sites):
        for key in load_licences().html.json_keys:
            for value in _values(thing.get(key)):
                yield LicenceValue(value, "JSON-LD license", "meta")


def property_licences(root: html.HtmlElement, is_aside: Callable[[html.HtmlElement], bool]) -> Iterator[LicenceValue]:
    """Return the licences in microdata and RDFa; none where several things of the page have one each."""
    words = load_licences().html
    found: list[tuple[html.HtmlElement | None, LicenceValue]] = []
    for element in root.xpath("//*[@itemprop or @property]"):
        names = {name.lower() for name in f"{element.get('itemprop') or ''} {element.get('property') or ''}".split()}
        if element.tag == "meta" and not element.get("itemprop"):
            continue
        if not (names & words.properties or "license" in names):
            continue
        scope = next((above for above in element.iterancestors() if above.get("itemtype")), None)
        kind = (scope.get("itemtype") or "").rstrip("/").rpartition("/")[2].lower() if scope is not None else ""
        if kind in words.page_types and not is_aside(element):
            place = f"property {' '.join(sorted(names))}"
            found.append((scope, LicenceValue(_value_of(element), place, "link")))
    if len({id(scope) for scope, _ in found}) == 1:
        yield from (value for _, value in found)


def _value_of(element: html.HtmlElement) -> str:
    written = element.get("href") or element.get("resource") or element.get("content")
    return str(written or " ".join(map(str, element.itertext())))


def _scripts(root: html.HtmlElement) -> Iterator[object]:
    for element in root.iter("script"):
        text = element.text or ""
        if "ld+json" not in (element.get("type") or "").lower() or len(text) > _JSON_BYTES:
            continue
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _things(loaded: object) -> Iterator[Mapping[str, object]]:
    """Return the things that JSON-LD describes for themselves and that a page may be."""
    waiting, seen = [loaded], 0
    while waiting and seen < _JSON_NODES:
        seen += 1
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            # A frame around a graph is no thing of its own; a file with an address of its content is no page.
            if _kinds(node) & load_licences().html.page_types and "@graph" not in node and "contentUrl" not in node:
                yield node
            waiting += [node[key] for key in ("@graph", "mainEntity") if key in node]


def _kinds(node: Mapping[str, object]) -> frozenset[str]:
    kinds = node.get("@type", "")
    several = kinds if isinstance(kinds, list) else [kinds]
    return frozenset(str(kind).rpartition("/")[2].rpartition(":")[2].lower() for kind in several)


def _addresses(node: Mapping[str, object]) -> Sequence[str]:
    return [value for key in _ADDRESSES for value in _values(node.get(key)) if not value.startswith("_:")]


def _is_at(node: Mapping[str, object], url: str) -> bool:
    """Return whether one of the thing's addresses is that of the page, whatever its query and fragment."""
    return any(_plain(urljoin(url, address)) == _plain(url) for address in _addresses(node))


def _is_of_host(node: Mapping[str, object], url: str) -> bool:
    hosts = {(urlsplit(urljoin(url, address)).hostname or "") for address in _addresses(node)}
    return not hosts or (urlsplit(url).hostname or "") in hosts


def _plain(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/")


def _values(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEPTH:
        for one in value[:20]:
            yield from _values(one, depth + 1)
    elif isinstance(value, dict) and depth < _DEPTH:
        named = (value[key] for key in ("@id", "url", "name", "@value") if isinstance(value.get(key), str))
        yield from (str(one) for one in [next(named, "")] if one)
