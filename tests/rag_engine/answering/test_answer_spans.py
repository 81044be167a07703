"""How sure a reader is of an answer: its best start and end, against there being none."""

import pytest

from rag_engine.answering.chances import answer_score, best_span
from rag_engine.types.passage import PassageReading

# "Every dyke | twice a year", a token for each word.
READING = PassageReading(
    relevance=1.0,
    absent=2.0,
    tokens=((0, 5), (6, 10), (13, 18), (19, 20), (21, 25)),
    starts=(0.0, 0.5, 5.0, 0.0, 0.0),
    ends=(4.0, 0.0, 0.0, 0.0, 4.0),
)


@pytest.mark.parametrize(
    ("start", "end", "score"),
    [
        (0, 25, 5.0 + 4.0 - 2.0),
        # No answer ends before it begins.
        (0, 10, 0.0 + 4.0 - 2.0),
        (6, 20, 5.0 + 0.0 - 2.0),
        (13, 25, 5.0 + 4.0 - 2.0),
    ],
)
def test_an_answer_is_scored_within_a_stretch_against_none(start: int, end: int, score: float) -> None:
    assert answer_score(READING, start, end) == score


def test_a_stretch_without_a_token_answers_nothing() -> None:
    assert answer_score(READING, 10, 13) < -10


def test_the_words_that_answer_best_are_found_within_a_stretch() -> None:
    found = best_span(READING, 0, 25)
    assert found is not None
    assert (found.start, found.end, found.score) == (13, 25, 7.0)
    assert (found.moved(100).start, found.moved(100).end) == (113, 125)
    assert best_span(READING, 10, 13) is None
