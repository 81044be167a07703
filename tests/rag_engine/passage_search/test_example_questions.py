"""Questions are drawn from headings and definitions, in the document's own language."""

from __future__ import annotations

from rag_engine.passage_search.example_questions import candidates


def test_a_heading_that_asks_comes_first_then_a_term_then_a_topic() -> None:
    text = "For the purpose of this Agreement “Convention” means the Framework Convention."
    headings = ("3.1 Reporting of national plans", "Article 2", "II. Who pays for the maps?", "ALL ABOUT MONEY")
    assert list(candidates(text, headings, "en")) == [
        "Who pays for the maps?",
        "What does “Convention” mean?",
        "What do the documents say about “Reporting of national plans”?",
    ]


def test_a_topic_is_asked_about_in_the_language_of_its_document() -> None:
    assert list(candidates("", ("§ 5 Schutz der Bevölkerung",), "de")) == [
        "Was steht in den Dokumenten über „Schutz der Bevölkerung“?"
    ]


def test_a_language_without_patterns_offers_only_what_is_a_question_already() -> None:
    assert list(candidates("", ("Kto płaci za mapy?", "Mapy powodziowe gminy"), "pl")) == ["Kto płaci za mapy?"]
