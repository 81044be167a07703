"""A portal with every branch that a list of sources can lead to, and the list."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from itertools import repeat
from urllib.parse import parse_qs, urlsplit

from tests.ingestion.web_server import Answer, Site, page, redirect
from tests.portal import files
from tests.portal.texts import (
    DROUGHT,
    FIRE,
    FLOOD,
    FLOOD_FR,
    FLOOD_REVISED,
    HEAT,
    HERITAGE,
    QUAKE,
    SLIDE,
    STORM,
    Text,
    about,
)

PDF = "application/pdf"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
META_CC_BY = '<meta name="license" content="https://creativecommons.org/licenses/by/4.0/">'
REL_CC_BY = '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">'
RESERVED = "© 2021 Sample Publishing House. All rights reserved."


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the list of sources; `path` is an address on the portal or a whole address."""

    code: str
    path: str
    name: str = ""
    authority: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """A row with what the portal answers to it."""

    row: Row
    answers: dict[str, Answer]


def branches(site: Site, other: Site, secure: Site) -> list[Branch]:
    """Return every row with its answers; `other` must not be asked, `secure` has a wrong certificate."""
    return [*_licences(), *_files(), *_pages(), *_portals(), *_trouble(site, other, secure), *_quality(), *_twins()]


def _branch(
    code: str, path: str, answer: Answer | None = None, name: str = "", others: dict[str, Answer] | None = None
) -> Branch:
    return Branch(Row(code, path, name), ({path: answer} if answer else {}) | (others or {}))


def _html(text: Text, *, head: str = "", footer: str = "") -> Answer:
    return page(files.content(text, head=head, footer=footer))


def _licences() -> list[Branch]:
    """Licences that are read from marks and statements, in nine languages, and those that are not free."""
    json_ld = json.dumps({"@context": "https://schema.org", "@type": "Report", "license": "https://creativecommons.org/publicdomain/zero/1.0/"})  # fmt: skip
    statements = {
        "en": "Reproduction is authorised provided the source is acknowledged.",
        "it": "La riproduzione è autorizzata con citazione della fonte.",
        "de": "Dieses Dokument steht unter der Datenlizenz Deutschland – Namensnennung – Version 2.0.",
        "es": "Se autoriza la reproducción siempre que se cite la fuente.",
        "fr": "Sauf mention contraire, tous les contenus de ce site sont sous licence etalab-2.0",
        "pt": "Esta obra está licenciada com uma Licença Creative Commons Atribuição 4.0 Internacional.",
        "tr": "Bu eser Creative Commons Atıf 4.0 Uluslararası Lisansı ile lisanslanmıştır.",
        "no": "Innholdet er tilgjengelig under Norsk lisens for offentlige data (NLOD) 2.0",
    }
    texts = {"en": about("hail"), "it": HEAT, "de": DROUGHT, "es": FIRE, "fr": HERITAGE, "pt": SLIDE, "tr": QUAKE,
             "no": STORM}  # fmt: skip
    spoken = [
        _branch(f"LIC-{language.upper()}", f"/licence/statement-{n}", _html(texts[language], footer=statement))
        for n, (language, statement) in enumerate(statements.items())
    ]
    nc = '<a rel="license" href="https://creativecommons.org/licenses/by-nc-nd/4.0/">CC BY-NC-ND 4.0</a>'
    return [
        *spoken,
        _branch("LIC-META", "/licence/meta", _html(about("dust storms"), head=META_CC_BY)),
        _branch("LIC-REL", "/licence/rel", _html(about("sea ice"), head=REL_CC_BY)),
        _branch("LIC-LD", "/licence/ld", _html(about("fog"), head=f'<script type="application/ld+json">{json_ld}</script>')),
        _branch("LIC-NCND", "/licence/nc-nd", _html(about("locusts"), footer=nc)),
        _branch("LIC-OGL", "/licence/ogl", _html(about("peat"), footer="All content is available under the Open Government Licence v3.0, except where otherwise stated.")),
        _branch("LIC-XMP", "/licence/xmp.pdf", page(files.pdf(about("frost"), "Sample Agency", xmp=True), PDF)),
        _branch("LIC-PDF", "/licence/statement.pdf", page(files.pdf(about("tides")), PDF)),
        _branch("LIC-NONE", "/licence/none", _html(about("moths"))),
        _branch("LIC-COPY", "/licence/copyright", _html(about("moss"), footer="© 2020 Sample Agency")),
        _branch("LIC-CONFLICT", "/licence/conflict", _html(about("reeds"), head=META_CC_BY, footer=RESERVED)),
        _branch("LIC-RED", "/licence/reserved", _html(about("ferns"), footer=RESERVED)),
        _branch("LIC-RED-DE", "/licence/vorbehalten", _html(about("lichen"), footer="© 2021 Musterverlag. Alle Rechte vorbehalten.")),
        _branch("LIC-RED-FR", "/licence/reserves", _html(about("clover"), footer="© 2021 Éditions Exemple. Tous droits réservés.")),
        _branch(
            "LIC-BEHIND",
            "/licence/behind",
            page(files.page("Action plan on otters", "<p>The plan is here.</p>", '<p><a href="/licence/behind.pdf">Download the full text</a></p>', head=META_CC_BY)),
            others={"/licence/behind.pdf": page(files.pdf(about("otters"), RESERVED), PDF)},
        ),
    ]  # fmt: skip


def _files() -> list[Branch]:
    """Files behind their own address."""
    return [
        _branch("FILE-PDF", "/files/plan.pdf", page(files.pdf(about("dams")), PDF), "Action plan on dams"),
        _branch("FILE-DOCX", "/files/plan.docx", page(files.docx(about("bridges")), WORD)),
        _branch("FILE-SCAN", "/files/scan.pdf", page(files.scan(Text("en", "Action plan on wells", "Adopted on 7 July 2014", (*about("wells").paragraphs[:2], files.CC_BY))), PDF)),
        _branch("FILE-REDIRECT", "/files/moved", redirect("/files/here.pdf"), others={"/files/here.pdf": page(files.pdf(about("roads")), PDF)}),
        _branch("FILE-ATTACHED", "/files/get", page(files.pdf(about("canals")), PDF, Content_Disposition='attachment; filename="canal-plan.pdf"')),
        _branch("FILE-OCTET", "/files/octet", page(files.pdf(about("quays")), "application/octet-stream")),
        _branch("FILE-LOCKED", "/files/locked.pdf", page(files.pdf(about("locks"), password="secret"), PDF)),
        _branch("FILE-DAMAGED", "/files/damaged.pdf", page(b"%PDF-1.7\n" + files.pdf(about("ruins"))[2000:2600], PDF)),
        _branch("FILE-EMPTY", "/files/empty.pdf", page(b"", PDF)),
        _branch("FILE-BOMB", "/files/bomb.docx", page(files.bomb(), WORD)),
        _branch("FILE-IMAGE", "/files/photo.jpg", page(b"\xff\xd8\xff\xe0" + b"x" * 4000, "image/jpeg")),
    ]  # fmt: skip


def _pages() -> list[Branch]:
    """Pages that lead to a document."""
    download = '<p><a href="{}">Download the full text</a></p>'
    script = (
        "<script>document.querySelector('main').innerHTML = "
        + json.dumps("".join(f"<p>{part}</p>" for part in about("glaciers").paragraphs))
        + "</script>"
    )
    return [
        _branch("PAGE-LANDING", "/pages/landing", page(files.page("Action plan on kelp", "<p>Our plan.</p>", download.format("/pages/kelp.pdf"), head=META_CC_BY)), others={"/pages/kelp.pdf": page(files.pdf(about("kelp")), PDF)}),
        _branch("PAGE-HOPS", "/pages/first", page(files.page("Action plan on eels", download.format("/pages/second"), head=META_CC_BY)), others={"/pages/second": page(files.page("Action plan on eels", download.format("/pages/eels.pdf"))), "/pages/eels.pdf": page(files.pdf(about("eels")), PDF)}),
        _branch("PAGE-SCRIPT", "/pages/script", page(files.page("Action plan on glaciers", "<div id='root'></div>", script, "<noscript>Enable JavaScript.</noscript>", head=META_CC_BY))),
        _branch("PAGE-BROWSER", "/pages/browser", _browsers_only(files.content(about("ravens"), head=META_CC_BY))),
        _branch("PAGE-LIES", "/pages/lies.pdf", page(files.page("Sorry", "<p>The file was not found.</p>", head=META_CC_BY))),
        _branch("PAGE-EMPTY", "/pages/empty", page(files.page("Nothing", head=META_CC_BY))),
    ]  # fmt: skip


def _portals() -> list[Branch]:
    """Pages that list documents, nested, looping and empty, and catalogues."""
    topics = ("owls", "bees", "hares", "toads")
    documents: dict[str, Answer] = {f"/portal/{topic}.pdf": page(files.pdf(about(topic)), PDF) for topic in topics}
    listed = files.links(*((f"/portal/{topic}.pdf", f"Action plan on {topic}") for topic in topics))
    nested = files.links(
        ("/nest/law", "Laws"), ("/nest/plans", "Plans and strategy"), ("/nest/policy", "Policy papers")
    )
    loop = files.links(
        ("/loop/2", "Policy archive, 2011 to 2020"),
        ("/loop/1", "Policy archive, 2001 to 2010"),
        ("/loop/3", "Policy archive, 1991 to 2000"),
        ("/loop/", "Strategy archive, all years"),
    )
    package: dict[str, object] = {
        "title": "Action plan on geese",
        "license_title": "Creative Commons Attribution 4.0",
        "license_url": "https://creativecommons.org/licenses/by/4.0/",
        "organization": {"title": "Sample Agency"},
        "resources": [{"url": "/ckan/geese.pdf", "format": "PDF", "name": "Plan"}],
    }
    return [
        _branch("PORT-LIST", "/portal/", page(files.page("Plans and policies", listed, head=META_CC_BY)), others=documents),
        _branch("PORT-NEST", "/nest/", page(files.page("Documents", nested, head=META_CC_BY)), others={
            "/nest/law": page(files.page("Laws", files.links(("/nest/trout.pdf", "Law on trout"), ("/nest/pike.pdf", "Law on pike"), ("/nest/", "All documents")), head=META_CC_BY)),
            "/nest/plans": page(files.page("Plans", files.links(("/nest/carp.pdf", "Strategy for carp")), head=META_CC_BY)),
            "/nest/policy": page(files.page("Policy papers", "<p>None yet.</p>", head=META_CC_BY)),
            **{f"/nest/{fish}.pdf": page(files.pdf(about(fish)), PDF) for fish in ("trout", "pike", "carp")},
        }),
        _branch("PORT-LOOP", "/loop/", page(files.page("Archive", loop, head=META_CC_BY)), others={"/loop/1": page(files.page("Policy archive 1", loop, head=META_CC_BY)), "/loop/2": page(files.page("Policy archive 2", loop, head=META_CC_BY)), "/loop/3": page(files.page("Policy archive 3", loop, head=META_CC_BY))}),
        _branch("PORT-CKAN", "/ckan/api/3/action/package_search", _ckan(package), others={"/ckan/geese.pdf": page(files.pdf(about("geese")), PDF)}),
    ]  # fmt: skip


def _trouble(site: Site, other: Site, secure: Site) -> list[Branch]:
    """Everything that can go wrong on the way."""
    chain: dict[str, Answer] = {f"/away/{n}": redirect(f"/away/{n + 1}") for n in range(20)}
    return [
        _branch("BAD-404", "/bad/gone.pdf"),
        _branch("BAD-410", "/bad/removed", page("gone", status=410)),
        _branch("BAD-403", "/bad/forbidden", page("no", status=403)),
        _branch("BAD-500", "/bad/broken", page("oh", status=500)),
        _branch("BAD-503", "/bad/busy", _at_last(files.content(about("ants"), head=META_CC_BY), 503, after=1)),
        _branch("BAD-429", "/bad/limited", _at_last(files.content(about("wasps"), head=META_CC_BY), 429, after=1)),
        _branch("BAD-LOOP", "/bad/round", redirect("/bad/round")),
        _branch("BAD-HOPS", "/away/0", None, others=chain),
        _branch("BAD-INSIDE", "/bad/inside", redirect(other.url("/secret"))),
        _branch("BAD-FILE", "/bad/file", redirect("file:///etc/passwd")),
        _branch("BAD-ENDLESS", "/bad/endless", _endless),
        _branch("BAD-LONG", "/bad/long.pdf", page(b"%PDF-1.7", PDF, Content_Length=str(10 * 2**30))),
        _branch("BAD-SLOW", "/bad/slow", _slow(site)),
        _branch("BAD-ROBOTS", "/private/plan", _html(about("bats"), head=META_CC_BY)),
        Branch(Row("BAD-TLS", secure.url("/plan")), {}),
        Branch(Row("BAD-PRIVATE", "http://10.0.0.1/plan.pdf"), {}),
        Branch(Row("BAD-DECIMAL", f"http://2130706433:{other.port}/secret"), {}),
        Branch(Row("BAD-MAPPED", f"http://[::ffff:127.0.0.1]:{other.port}/secret"), {}),
        Branch(Row("BAD-HOST", "http://no-such-host.invalid/plan.pdf"), {}),
    ]  # fmt: skip


def _quality() -> list[Branch]:
    """Documents that are not worth keeping."""
    thin = Text("en", "Action plan on snails", "7 July 2014", ("See the annex.",))
    cookies = Text("en", "Cookie policy", "7 July 2014", about("cookies").paragraphs)
    return [
        _branch("THIN", "/quality/thin", _html(thin, head=META_CC_BY)),
        _branch("COOKIES", "/quality/cookies", _html(cookies, head=META_CC_BY)),
    ]


def _twins() -> list[Branch]:
    """One work in several files: copies, near copies, versions, translations."""
    plan = files.pdf(FLOOD)
    return [
        _branch("WORK-OLD", "/work/arden-2019.pdf", page(plan, PDF), FLOOD.title),
        _branch("WORK-COPY", "/work/copy-of-arden.pdf", page(plan, PDF)),
        _branch("WORK-HTML", "/work/arden-2019", _html(FLOOD, head=META_CC_BY)),
        _branch("WORK-NEW", "/work/arden-2022_en.pdf", page(files.pdf(FLOOD_REVISED), PDF), FLOOD_REVISED.title),
        _branch("WORK-FR", "/work/arden-2022_fr.pdf", page(files.pdf(FLOOD_FR, "Ce document est publié sous licence Creative Commons Attribution 4.0 (CC BY 4.0)."), PDF), FLOOD_FR.title),
    ]  # fmt: skip


def _browsers_only(body: str) -> Answer:
    """Return a page that turns away visitors that do not announce themselves as browsers do."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        real = request.headers.get("Sec-Fetch-Mode") == "navigate"
        page(body if real else "Are you a robot?", status=200 if real else 403)(request)

    return answer


def _at_last(body: str, status: int, *, after: int) -> Answer:
    refusals = iter(range(after))

    def answer(request: BaseHTTPRequestHandler) -> None:
        refused = next(refusals, None) is not None
        page("later" if refused else body, status=status if refused else 200, Retry_After="0")(request)

    return answer


def _ckan(package: dict[str, object]) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        start = int(parse_qs(urlsplit(request.path).query).get("start", ["0"])[0])
        result = {"count": 1, "results": [package] if start == 0 else []}
        page(json.dumps({"success": True, "result": result}), "application/json")(request)

    return answer


def _endless(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    for piece in repeat(b"<p>more and more</p>" * 4000):
        request.wfile.write(piece)


def _slow(site: Site) -> Answer:
    """Return a byte now and then until the site closes."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.end_headers()
        while not site.released.wait(0.2):
            request.wfile.write(b" ")

    return answer
