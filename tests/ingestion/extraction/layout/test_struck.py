"""Words of a PDF that are struck keep their places in its text."""

from ingestion.extraction.layout.struck import StruckSpan, struck_texts
from rag_engine.types.document import Box, Line, StruckText

TEXT = "Owners pay each year.\nMillers mow the dykes."
LINES = (Line(0, 21, 1, Box(50, 100, 200, 112)), Line(22, 44, 1, Box(50, 140, 200, 152)))


def span(text: str, top: float, after: int = 0) -> StruckSpan:
    return StruckSpan(text, Box(80, top, 120, top + 12), after)


def test_struck_lines_between_the_same_words_are_one() -> None:
    spans = [span("They mow in May,", 116), span("and in June.", 128)]
    assert struck_texts([(1, spans)], TEXT, LINES) == (StruckText(21, 1, "They mow in May, and in June."),)


def test_struck_words_that_a_page_gives_in_another_order_stay_apart() -> None:
    spans = [span("twice", 140, 10), span("a groat", 100, 9)]
    assert struck_texts([(1, spans), (2, [])], TEXT, LINES) == (
        StruckText(10, 1, "a groat"),
        StruckText(33, 1, "twice"),
    )
