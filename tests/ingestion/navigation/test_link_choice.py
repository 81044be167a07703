from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.navigation.link_choice import link_language, rank_links, title_similarity
from ingestion.web.links import PageLink, promises_document


def link(path: str, text: str) -> PageLink:
    url = f"https://a.example/{path}"
    return PageLink(url, text, file=promises_document(url))


def best(links: list[PageLink], expected: str, *languages: str) -> str:
    return rank_links(links, expected, languages)[0].link.url.removeprefix("https://a.example/")


def test_the_title_decides() -> None:
    links = [link("1.pdf", "Heat health action plan"), link("2.pdf", "National flood strategy"), link("3.pdf", "Annex")]
    assert best(links, "Flood strategy") == "2.pdf"


def test_the_file_name_counts_as_the_text_does() -> None:
    assert best(
        [link("a.pdf", "Download"), link("national-flood-strategy.pdf", "Download")], "National Flood Strategy"
    ) == ("national-flood-strategy.pdf")


def test_a_document_comes_before_a_page_and_a_pdf_before_others() -> None:
    links = [link("flood", "Flood plan"), link("flood.docx", "Flood plan"), link("flood.pdf", "Flood plan")]
    assert [one.link.url[18:] for one in rank_links(links, "Flood plan")] == ["flood.pdf", "flood.docx", "flood"]


def test_years_tell_editions_apart() -> None:
    links = [link("a.pdf", "Flood plan 2016"), link("b.pdf", "Flood plan 2022")]
    assert best(links, "Flood plan 2022") == "b.pdf"


def test_the_wanted_language_comes_first_and_no_language_before_another() -> None:
    links = [link("p_fr.pdf", "Plan (FR)"), link("p.pdf", "Plan"), link("p_it.pdf", "Plan (IT)")]
    assert [one.link.url[18:] for one in rank_links(links, "Plan", ("it",))] == ["p_it.pdf", "p.pdf", "p_fr.pdf"]


def test_equal_links_keep_the_order_of_the_page() -> None:
    links = [link(f"{n}.pdf", "Plan") for n in range(5)]
    assert [one.link for one in rank_links(links, "Plan")] == links


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("x", "Français", "fr"),
        ("x", "Scarica (IT)", "it"),
        ("de/plan.pdf", "Plan", "de"),
        ("plan_tr.pdf", "Plan", "tr"),
        ("x", "No plan", ""),
        ("x", "Es un plan de agua", ""),
        ("x", "Download in English", "en"),
    ],
)
def test_the_language_of_a_link(path: str, text: str, language: str) -> None:
    assert link_language(link(path, text)) == language


def test_titles_that_have_nothing_in_common_are_not_alike_at_all() -> None:
    assert title_similarity("Canteen menu of the week", "National flood risk management strategy") == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Strategia nazionale alluvioni", "Strategie nazionali per le alluvioni"),
        ("Download the National Flood Strategy (PDF, 2 MB)", "National flood strategy"),
        ("STRATÉGIE_NATIONALE_INONDATIONS.pdf", "Stratégie nationale inondations"),
        ("Taşkın Yönetim Planı", "taskin yonetim plani"),
    ],
)
def test_forms_of_one_title_are_alike(first: str, second: str) -> None:
    assert title_similarity(first, second) >= 0.8


@given(st.text(max_size=200), st.text(max_size=200))
def test_similarity_is_a_share(first: str, second: str) -> None:
    assert 0 <= title_similarity(first, second) <= 1
