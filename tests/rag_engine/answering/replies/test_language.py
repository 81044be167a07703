from dataclasses import replace

import pytest

from rag_engine.answering.replies import language_warning, written_language
from rag_engine.backends.identify_language import identify_language
from rag_engine.types.evidence import QueryPlan

PLAN = QueryPlan("Wer erstellt den Hochwasserplan?", "de", ("hochwasserplan",))
ENGLISH = "A lead flood authority must prepare, publish and keep up to date a local flood plan [Source 1]."
GERMAN = "Die federführende Behörde erstellt den örtlichen Hochwasserplan und hält ihn aktuell [Source 1]."


@pytest.mark.parametrize(
    ("text", "wished", "language", "warnings"),
    [
        (ENGLISH, "", "en", ["The model answered in English, not in German. Ask again, or use another model."]),
        (ENGLISH, "auf Englisch", "en", []),
        (GERMAN, "", "de", []),
        ("Local authority [Source 1].", "", "de", []),
    ],
    ids=["another language", "the language that was wished for", "the question's language", "a few words"],
)
def test_an_answer_in_a_language_that_nobody_asked_for_is_reported_by_name(
    text: str, wished: str, language: str, warnings: list[str]
) -> None:
    plan = replace(PLAN, output_instructions=wished)
    written = written_language(text, plan, identify_language)
    assert (written, list(language_warning(written, plan))) == (language, warnings)
