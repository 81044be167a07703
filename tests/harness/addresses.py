"""Addresses that lead inside, at every entrance by which one comes in: nothing is asked there."""

from __future__ import annotations

import ipaddress
import json
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ingestion.catalogues.catalogue_api import Endpoint, read_catalogue
from ingestion.source_lists.discover import discover
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import is_public
from ingestion.web.browser import open_browser
from ingestion.web.checked_proxy import USER, CheckedProxy
from ingestion.web.http import HttpWeb
from rag_engine.backends.ollama import find_ollama
from rag_engine.backends.openai import find_openai
from rag_engine.config import GenerationConfig
from rag_engine.errors import SextantError
from rag_engine.types.evidence import QueryPlan
from rag_engine.types.language_model import Prompt
from tests.conftest import CHROMIUM
from tests.harness.tally import Effort, Tally
from tests.ingestion.web.test_address_policy import CLOSED, HIDING, PUBLIC
from tests.ingestion.web_server import QUICK, Site, page, redirect, serving

_PROMPT = Prompt("rules", "question", QueryPlan("question", "en", ("question",)), (), (), 900, 3072, 0.3)
_LARGEST = 1_000_000
_T = TypeVar("_T")


@dataclass
class _Connections:
    """Places that this process connects to while it is watched; `allowed` are the servers of a run."""

    made: list[tuple[str, int]] = field(default_factory=list)
    allowed: set[int] = field(default_factory=set)

    def see(self, place: object) -> None:
        if isinstance(place, tuple) and place[1] not in self.allowed:
            self.made.append((str(place[0]), int(place[1])))

    def taken(self) -> list[tuple[str, int]]:
        """Return the places that lead inside, and forget them."""
        made, self.made = self.made, []
        return [place for place in made if not is_public(ipaddress.ip_address(place[0].partition("%")[0]))]


_SEEN = _Connections()


@dataclass(frozen=True)
class _Vector:
    """An address to be tried, and what the name server says of its host where it is a name."""

    url: str
    addresses: tuple[str, ...] = ()


def addresses(effort: Effort) -> Iterator[Tally]:
    """Give each address to each entrance and look where connections go."""
    with ExitStack() as opened:
        inside = opened.enter_context(serving({"/": page("secret")}))
        site = opened.enter_context(serving({}))
        _SEEN.allowed = {site.port}
        vectors = list(_vectors(inside.port))[:: 5 if effort == "short" else 1]
        for name, enter in _ENTRANCES.items():
            yield _tried(name, enter, vectors, site, inside)
        yield _tried("the server of a model", _model_server, [_Vector(inside.url("/"))], site, inside)
        if effort == "whole" and CHROMIUM.exists():
            yield _in_the_browser(vectors, site, inside)


def _vectors(port: int) -> Iterator[_Vector]:
    """Yield closed addresses: as written, in disguise, and behind names.

    Some names lead inside, others change where they lead.
    """
    for address in CLOSED:
        host = f"[{address}]" if ":" in address else address
        yield _Vector(f"http://{host}:{port}/")
        yield _Vector(f"http://inside.example:{port}/", (address,))
    for url in HIDING:
        yield _Vector(url)
    for host in ("localhost", "LOCALHOST", "localhost.localdomain", "[::1]", "[::ffff:127.0.0.1]", "127.0.0.1"):
        yield _Vector(f"http://{host}:{port}/", ("127.0.0.1",))
    yield _Vector(f"http://both.example:{port}/", (*PUBLIC, "127.0.0.1"))
    yield _Vector(f"http://①②⑦.⓪.⓪.①:{port}/", ("127.0.0.1",))
    yield _Vector(f"http://127。0。0。1:{port}/", ("127.0.0.1",))
    yield _Vector(f"http://127.0.0.1%00.example:{port}/", ("127.0.0.1",))
    yield _Vector(f"http://example.org#@127.0.0.1:{port}/", ("127.0.0.1",))
    yield _Vector(f"http://127.0.0.1.nip.example:{port}/", ("127.0.0.1",))


def _tried(
    name: str, enter: Callable[[_Vector, Site], None], vectors: list[_Vector], site: Site, inside: Site
) -> Tally:
    lost = []
    for vector in vectors:
        site.answers.clear()
        site.asked.clear()
        found = []
        with _watching():
            try:
                enter(vector, site)
            except SextantError:
                pass
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
        found += [f"connected to {place}" for place in _SEEN.taken()]
        if inside.asked:
            found.append(f"asked inside for {dict(inside.asked)}")
            inside.asked.clear()
        if enter in _BY_WAY_OF_A_SITE and not site.asked:
            found.append("it was not tried: the site was not asked")
        lost += [f"{vector.url} ({', '.join(vector.addresses)}): {'; '.join(found)}"] if found else []
    return Tally(f"addresses that lead inside, by {name}", len(vectors), tuple(lost))


@contextmanager
def _watching() -> Iterator[None]:
    # Not by an audit hook: it stays for the life of the process, and slows whatever else is tested in it.
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _seen(getattr(socket.socket, name)))
        yield


def _seen(connect: Callable[[socket.socket, Any], _T]) -> Callable[[socket.socket, Any], _T]:
    def connect_seen(self: socket.socket, place: Any) -> _T:
        _SEEN.see(place)
        return connect(self, place)

    return connect_seen


def _web(vector: _Vector, site: Site) -> HttpWeb:
    def resolve(host: str, port: int) -> tuple[str, ...]:
        if host == "127.0.0.1" or ":" in host or not vector.addresses:
            # As the system does with an address: also with those that are no address to ours.
            return (host,)
        return vector.addresses

    return HttpWeb(site.config(), resolve=resolve)


# --- the entrances


def _listed(vector: _Vector, site: Site) -> None:
    """Give the address as a row of a list of sources, and fetch what comes of it."""
    with tempfile.TemporaryDirectory() as folder, _web(vector, site) as web:
        path = Path(folder) / "seeds.csv"
        path.write_text(f'Title,URL\nPlan,"{vector.url}"\nOther,https://example.org/a.pdf\n', encoding="utf-8")
        for source in read_source_list(path, ()).new:
            if "example.org/a.pdf" not in source.url:
                web.fetch(source.url)


def _fetched(vector: _Vector, site: Site) -> None:
    """Fetch the address, as any phase does with a link of a page."""
    with _web(vector, site) as web:
        web.fetch(vector.url)


def _redirected(vector: _Vector, site: Site) -> None:
    site.answers["/"] = redirect(vector.url.encode().decode("latin-1"))
    with _web(vector, site) as web:
        web.fetch(site.url("/"))


def _robots(vector: _Vector, site: Site) -> None:
    """Have a site send its robots.txt there, and name its list of pages there."""
    site.answers["/robots.txt"] = redirect(vector.url.encode().decode("latin-1"))
    site.answers["/"] = page("<p>plan</p>")
    with _web(vector, site) as web:
        web.fetch(site.url("/"))


def _discovered(vector: _Vector, site: Site) -> None:
    """Name it in a sitemap of sitemaps, and in the robots.txt of the site."""
    index = f"<sitemapindex><sitemap><loc>{vector.url.replace('&', '&amp;')}</loc></sitemap></sitemapindex>"
    site.answers["/sitemap.xml"] = page(index, "application/xml")
    site.answers["/robots.txt"] = page(f"Sitemap: {vector.url}\n", "text/plain")
    with _web(vector, site) as web:
        discover(site.url("/sitemap.xml"), web, ())
        site.answers["/"] = page(f"<html><head><link rel=alternate type='application/rss+xml' href='{vector.url}'>")
        discover(site.url("/"), web, ())


def _catalogued(vector: _Vector, site: Site) -> None:
    """Name it as the next page of a catalogue, and as the catalogue itself."""
    following = {"@type": "hydra:PartialCollectionView", "hydra:next": {"@id": vector.url}}
    dataset = {"@type": "dcat:Dataset", "dct:title": "Plan", "dcat:landingPage": "https://example.org/"}
    site.answers["/data.json"] = page(json.dumps({"@graph": [dataset, following]}), "application/ld+json")
    with _web(vector, site) as web:
        with suppress(Refusal):
            list(read_catalogue(Endpoint("DCAT", site.url("/data.json")), web, max_bytes=_LARGEST))
        for kind in ("CKAN", "OAI-PMH"):
            with suppress(Refusal):
                list(read_catalogue(Endpoint(kind, vector.url), web, max_bytes=_LARGEST))


def _by_proxy(vector: _Vector, site: Site) -> None:
    """Ask the browser's proxy for the address, by GET and by CONNECT.

    The list of sources names its host, so that any port is allowed.
    """
    host = vector.url.partition("://")[2].partition("/")[0]
    name, _, port = host.rpartition(":")
    named = [(name.strip("[]").lower(), int(port))] if port.isdigit() else []
    answers = vector.addresses or ("127.0.0.1",)
    with CheckedProxy(QUICK, resolve=lambda _host, _port: answers, named=named) as proxy:
        _SEEN.allowed.add(proxy.port)
        for line in (f"GET {vector.url} HTTP/1.1", f"CONNECT {host} HTTP/1.1"):
            _sent(proxy, line)
        _SEEN.allowed.discard(proxy.port)


def _sent(proxy: CheckedProxy, line: str) -> None:
    from base64 import b64encode

    key = b64encode(f"{USER}:{proxy.key}".encode()).decode()
    with socket.create_connection(("127.0.0.1", proxy.port), 5) as connection, suppress(ConnectionError):
        connection.sendall(f"{line}\r\nHost: x\r\nProxy-Authorization: Basic {key}\r\n\r\n".encode())
        answer = b""
        while b"secret" not in answer and (piece := connection.recv(65536)):
            answer += piece
    if b"secret" in answer or b"established" in answer:
        raise AssertionError(f"the proxy answered {answer[:80]!r}")


def _model_server(vector: _Vector, site: Site) -> None:
    """Have the server of a language model send a question on to it."""
    sent_on = redirect(vector.url, 307)
    site.answers.update(dict.fromkeys(("/v1/models/m", "/v1/chat/completions", "/api/tags", "/api/show"), sent_on))
    with suppress(SextantError):
        openai = find_openai(GenerationConfig(openai_url=site.url("/v1"), openai_model="m", answer_seconds=5))
        list(openai.stream(_PROMPT) if openai else ())
    ollama = find_ollama(GenerationConfig(ollama_url=site.origin, answer_seconds=5))
    list(ollama.stream(_PROMPT) if ollama else ())


_ENTRANCES: dict[str, Callable[[_Vector, Site], None]] = {
    "a list of sources": _listed,
    "a link": _fetched,
    "a redirect": _redirected,
    "robots.txt": _robots,
    "discovery": _discovered,
    "a catalogue": _catalogued,
    "the browser's proxy": _by_proxy,
}
_BY_WAY_OF_A_SITE = (_redirected, _robots, _discovered, _catalogued, _model_server)


def _in_the_browser(vectors: list[_Vector], site: Site, inside: Site) -> Tally:
    """Have a page in the browser ask for every address by script, picture and frame."""
    urls = json.dumps([vector.url for vector in vectors])
    script = (
        f"const urls = {urls}; const tried = urls.map(u => {{ new Image().src = u; "
        "const f = document.createElement('iframe'); try { f.src = u; document.body.append(f) } catch (e) {} "
        "try { return fetch(u, {mode: 'no-cors'}).catch(() => 0) } catch (e) { return 0 } });"
        "Promise.allSettled(tried).then(() => document.body.append('all tried'))"
    )
    site.answers["/"] = page(f"<body><p>The flood plan of the river authority.</p><script>{script}</script></body>")
    lost = []
    with _watching():
        browser = open_browser(site.config(), resolve=lambda host, port: ("127.0.0.1",))
        assert browser is not None
        with browser:
            try:
                browser.render(site.url("/"))
            except SextantError as error:
                lost.append(f"the page was not drawn: {error}")
    lost += [f"connected to {place}" for place in _SEEN.taken() if place[1] == inside.port]
    lost += [f"asked inside for {dict(inside.asked)}"] if inside.asked else []
    return Tally("addresses that lead inside, by a page in the browser", len(vectors), tuple(lost))
