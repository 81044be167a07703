from __future__ import annotations

import pytest

from ingestion.navigation.page_kind import PageVerdict, link_share, page_kind
from ingestion.protocols import LanguageModel
from ingestion.web.page import Page, read_page
from tests.ingestion.small_web import WORDS, SmallJudge, listing, page

AT = "https://water.example/en/water/index.html"


def made(main: str, around: str = "", title: str = "") -> Page:
    return read_page(page(main, around=around, title=title).body, "utf-8", AT)


def kind(
    main: str, *, around: str = "", expected: str = "", language_model: LanguageModel | None = None
) -> PageVerdict:
    return page_kind(made(main, around), expected=expected, language_model=language_model)


@pytest.mark.parametrize(
    "names",
    [
        ("Flood policy", "Water directive", "Emergency management act"),
        ("Piano alluvioni", "Legge 225", "Linee guida sul caldo"),
        ("Ley de aguas", "Plan de sequías", "Estrategia de adaptación"),
        ("Loi sur l'eau", "Plan canicule", "Stratégie nationale"),
        ("Hochwasserschutzgesetz", "Wasserverordnung", "Anpassungsstrategie"),
        ("Lei da água", "Plano de cheias", "Política nacional"),
        ("Su Kanunu", "Taşkın Yönetim Planı", "İklim Stratejisi"),
        ("Forskrift om vann", "Klimaplan", "Lov om naturskade"),
        ("Waterwet", "Deltaplan", "Verordening"),
    ],
)
def test_three_links_with_policy_words_make_a_directory(names: tuple[str, ...]) -> None:
    found = kind(listing(*((f"/{n}", name) for n, name in enumerate(names))))
    assert (found.kind, found.confidence) == ("directory", 0.95)
    assert found.why.startswith("3 links hold a policy word")


def test_the_word_may_stand_in_the_address() -> None:
    assert (
        kind(listing(("/docs/flood-strategy", "Floods"), ("/docs/heat_plan", "Heat"), ("/DroughtAct", "Drought"))).kind
        == "directory"
    )


def test_a_word_in_the_folder_that_all_pages_share_says_nothing() -> None:
    html = page(listing(("/policy/a", "Staff"), ("/policy/b", "News"), ("/policy/c", "Events"))).body
    assert page_kind(read_page(html, "", "https://x.example/policy/")).kind == "content"


def test_three_links_to_one_document_are_one() -> None:
    assert (
        kind(listing(("/a?utm_source=1", "Flood policy"), ("/a", "The policy"), ("/a#2", "Policy 2"))).kind
        != "directory"
    )


@pytest.mark.parametrize(
    "around",
    [
        "<nav>{}</nav>",
        "<header>{}</header>",
        "<footer>{}</footer>",
        "<aside>{}</aside>",
        "<div class='menu wide'>{}</div>",
        "<div role='navigation'>{}</div>",
        "<div id='footer'>{}</div>",
        "<div style='display:none'>{}</div>",
    ],
)
def test_menus_do_not_count(around: str) -> None:
    links = listing(("/a", "Flood policy"), ("/b", "Heat plan"), ("/c", "Drought act"))
    body = f"<html><body>{around.format(links)}<div><p>{WORDS * 9}</p></div></body></html>"
    assert page_kind(read_page(body.encode(), "", AT)).kind == "content"


def test_site_policies_do_not_count() -> None:
    links = listing(("/1", "Privacy policy"), ("/2", "Cookie policy"), ("/3", "Política de privacidad"))
    assert kind(f"<p>{WORDS * 5}</p>{links}").kind == "content"


def test_a_law_that_refers_to_laws_is_content() -> None:
    text = "".join(f'<p>{WORDS * 2} as <a href="/l{n}">Directive {n}</a> says.</p>' for n in range(9))
    assert kind(text).kind == "content"


def test_a_law_that_ends_in_a_list_of_laws_is_content() -> None:
    related = listing(("/a", "Flood policy"), ("/b", "Heat plan"), ("/c", "Drought act"))
    page_ = made(f"<p>{WORDS * 60}</p>{related}")
    assert link_share(page_) < 0.04
    assert page_kind(page_).kind == "content"


def test_a_list_with_a_paragraph_about_each_entry_is_a_directory() -> None:
    entries = "".join(
        f'<div><h3><a href="/{n}">National flood plan {n}</a></h3><p>{WORDS * 4}</p></div>' for n in range(6)
    )
    assert kind(entries).kind == "directory"


def test_a_list_of_articles_is_a_directory() -> None:
    entries = "".join(
        f'<article><h3><a href="/{n}">National plan {n}</a></h3><p>{WORDS * 3}</p></article>' for n in range(6)
    )
    body = f"<html><body>{entries}</body></html>"
    assert page_kind(read_page(body.encode(), "", AT)).kind == "directory"


@pytest.mark.parametrize(
    "text",
    ["Read more", "Full text", "Access document", "Leggi tutto", "Descargar", "Télécharger", "Weiterlesen", "Ler mais",
     "Devamını oku", "İndir", "Last ned", "Lees meer"],
)  # fmt: skip
def test_a_link_that_leads_on_makes_a_landing_page(text: str) -> None:
    found = kind(f'<p>On floods.</p><a href="/privacy">Privacy</a><a href="/doc">{text}</a>')
    assert (found.kind, found.confidence) == ("landing", 0.85)
    assert [one.link.url for one in found.candidates] == ["https://water.example/doc"]


@pytest.mark.parametrize("text", ["Log in to download", "Privacy", "Share", "Cookies"])
def test_links_that_lead_to_no_document_make_none(text: str) -> None:
    assert kind(f'<p>{WORDS}</p><a href="/login">{text}</a>').kind == "content"


def test_a_file_that_is_like_the_expected_title_makes_a_landing_page() -> None:
    links = listing(("/1.pdf", "Deltaprogramma 2022"), ("/2.pdf", "Kantine"))
    found = kind(f"<p>Water.</p>{links}", expected="Deltaprogramma")
    assert [one.link.text for one in found.candidates] == ["Deltaprogramma 2022"]


def test_a_long_text_with_a_teaser_at_its_end_is_content() -> None:
    assert kind(f'<p>{WORDS * 30}</p><p><a href="/other">Read more</a></p>').kind == "content"


def test_a_long_text_that_can_be_downloaded_leads_to_its_file() -> None:
    assert kind(f'<p>{WORDS * 60}</p><p><a href="/law.pdf">Download</a></p>').kind == "landing"
    assert kind(f'<p>{WORDS * 60}</p><p><a href="/reader">Download the reader</a></p>').kind == "content"


@pytest.mark.parametrize(
    "html",
    [
        '<head><meta name="citation_pdf_url" content="/s.pdf"></head>',
        '<head><meta http-equiv="refresh" content="0; url=/s.pdf"></head>',
        '<body><iframe src="/s.pdf"></iframe></body>',
        '<body><object data="/s" type="application/pdf"></object></body>',
    ],
)
def test_a_page_around_a_document_leads_to_it(html: str) -> None:
    assert page_kind(read_page(f"<html>{html}</html>".encode(), "", AT)).kind == "landing"


def test_the_model_decides_what_the_rules_do_not() -> None:
    links = '<a href="/a">Deltaprogramma</a><a href="/b">Kust</a>'
    language_model = SmallJudge({"kind": "landing", "link": 1, "reason": "Leads to the programme."})
    found = kind(f"<p>{WORDS}</p>{links}", expected="Deltaprogramma", language_model=language_model)
    assert (found.kind, [one.link.text for one in found.candidates]) == ("landing", ["Deltaprogramma"])
    assert found.why == "small-model: Leads to the programme."


@pytest.mark.parametrize(
    "reply",
    [{"kind": "landing", "link": 99, "reason": ""}, {"kind": "file"}, {"kind": "landing", "link": "1"}, {}, None],
)
def test_a_model_that_answers_nonsense_is_told_and_the_page_is_content(reply: dict[str, object] | None) -> None:
    found = kind(f"<p>{WORDS}</p><a href='/a'>A</a>", language_model=SmallJudge(reply))
    assert found.kind == "content"
    assert "small-model" in found.warning


def test_the_model_is_not_asked_where_the_rules_know() -> None:
    language_model = SmallJudge(None)
    kind('<p>On floods.</p><a href="/doc">Read more</a>', language_model=language_model)
    assert language_model.asked == []


def test_a_table_whose_links_only_say_pdf_is_a_directory() -> None:
    rows = "".join(
        f"<tr><td>{name}</td><td>2020</td><td><a href='/{n}.pdf'>PDF</a></td></tr>"
        for n, name in enumerate(("National flood plan", "Heat strategy", "Drought act"))
    )
    assert kind(f"<table>{rows}</table>").kind == "directory"


def test_a_list_of_teasers_is_no_landing_page() -> None:
    teasers = "".join(f'<div><p>News {n} on water.</p><a href="/{n}">Read more</a></div>' for n in range(5))
    assert kind(teasers).kind == "content"


@pytest.mark.parametrize(
    ("main", "target"),
    [
        ('<p>Available in <a href="/f/x9.pdf">Español</a></p>', "/f/x9.pdf"),
        ('<p>The text, adopted last year by the council, is kept <a href="/f/x9.pdf">here</a>.</p>', "/f/x9.pdf"),
        ('<p>Die Vorschrift: <a href="/m/3.pdf">FwDV 3 herunterladen (PDF)</a>, gültig seit 2008.</p>', "/m/3.pdf"),
        ('<p><a href="/f/deck.pptx">Download presentation</a></p>', "/f/deck.pptx"),
        ('<iframe src="/pdfjs/web/viewer.html?file=%2Fdocs%2Fplan.pdf"></iframe>', "/docs/plan.pdf"),
        ('<p><a href="/pdfjs/web/viewer.html?file=../../docs/plan.pdf">Ansehen</a></p>', "/docs/plan.pdf"),
        ("<button onclick=\"location.href='/docs/plan.pdf'\">Open</button>", "/docs/plan.pdf"),
        ("<div onclick=\"window.open('/docs/plan.pdf', '_blank')\">Ver</div>", "/docs/plan.pdf"),
        ('<object data="/docs/plan.pdf"></object>', "/docs/plan.pdf"),
        ('<form action="/docs/plan.pdf"><button>Get it</button></form>', "/docs/plan.pdf"),
    ],
)
def test_a_landing_page_s_only_file_is_taken_however_it_is_reached(main: str, target: str) -> None:
    found = kind(f"<h1>Flood plan</h1><p>{WORDS}</p>{main}")
    assert found.kind == "landing"
    assert [one.link.url for one in found.candidates] == [f"https://water.example{target}"]


def test_two_files_in_sentences_are_references_and_no_offer() -> None:
    files = '<p>It refers to <a href="/a.pdf">note one</a> and to <a href="/b.pdf">note two</a> in all it says.</p>'
    assert kind(f"<p>{WORDS}</p>{files}").kind == "content"
