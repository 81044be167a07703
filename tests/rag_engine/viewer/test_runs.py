"""A text is cut where its marks and links begin and end, and nowhere else."""

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.viewer.pages import TextRun, text_runs

_SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5)


def test_marks_and_links_may_overlap() -> None:
    assert text_runs((0, 10), [(2, 6)], [(4, 8)]) == (
        TextRun(0, 2),
        TextRun(2, 4, marked=True),
        TextRun(4, 6, marked=True, link=0),
        TextRun(6, 8, link=0),
        TextRun(8, 10),
    )


def test_what_is_outside_the_span_is_left_out() -> None:
    assert text_runs((5, 10), [(0, 7), (20, 30)]) == (TextRun(5, 7, marked=True), TextRun(7, 10))


def test_of_two_links_over_the_same_words_the_first_counts() -> None:
    assert text_runs((0, 4), [], [(0, 4), (0, 4)]) == (TextRun(0, 4, link=0),)


@given(st.integers(0, 20), st.integers(0, 20), _SPANS, _SPANS)
def test_the_runs_follow_one_another_over_the_whole_span(
    start: int, length: int, marks: list[tuple[int, int]], links: list[tuple[int, int]]
) -> None:
    runs = text_runs((start, start + length), marks, links)
    assert [place for run in runs for place in range(run.start, run.end)] == list(range(start, start + length))
    for run in runs:
        assert run.marked == any(a <= run.start < b for a, b in marks)
