from __future__ import annotations

from dataclasses import replace

from rag_engine.answering.replies import language_warning, written_language
from rag_engine.backends.language_identification import identify_language
from rag_engine.types import QueryPlan

PLAN = QueryPlan("Wer erstellt den Hochwasserplan?", "de", ("hochwasserplan",))
ENGLISH = "A lead flood authority must prepare, publish and keep up to date a local flood plan [Source 1]."
GERMAN = "Die federführende Behörde erstellt den örtlichen Hochwasserplan und hält ihn aktuell [Source 1]."


def test_an_answer_in_another_language_than_the_question_is_reported_by_name() -> None:
    written = written_language(ENGLISH, PLAN, identify_language)
    assert list(language_warning(written, PLAN)) == [
        "The model answered in English, not in German. Ask again, or use another model."
    ]


def test_an_answer_in_the_language_of_the_question_is_not() -> None:
    assert list(language_warning(written_language(GERMAN, PLAN, identify_language), PLAN)) == []


def test_a_language_that_was_wished_for_is_no_fault() -> None:
    wished = replace(PLAN, output_instructions="auf Englisch")
    written = written_language(ENGLISH, wished, identify_language)
    assert (written, list(language_warning(written, wished))) == ("en", [])


def test_a_few_words_say_nothing_of_their_language() -> None:
    assert written_language("Local authority [Source 1].", PLAN, identify_language) == "de"
