import pytest

from rag_engine.answering.replies import without_closing_refusal

# As qwen2.5-coder:1.5b wrote it.
ANSWERED = "[Source 1] A lead flood authority must prepare, publish and keep up to date a local flood plan."


@pytest.mark.parametrize(
    "refusal",
    [
        "\nNo answer found in these documents.",
        "\n\n**No answer found in these documents**",
        " Nessuna risposta trovata in questi documenti.",
    ],
)
def test_a_refusal_below_a_cited_statement_goes(refusal: str) -> None:
    assert without_closing_refusal(ANSWERED + refusal) == ANSWERED


@pytest.mark.parametrize(
    "text",
    [
        "No answer found in these documents. [Source 1] is about heat.",
        "The documents are about heat. No answer found in these documents.",
        ANSWERED,
    ],
)
def test_a_refusal_that_no_cited_statement_comes_before_stays(text: str) -> None:
    assert without_closing_refusal(text) == text
