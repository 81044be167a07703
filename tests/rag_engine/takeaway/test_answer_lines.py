"""The lines of an answer."""

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.takeaway.exported_text import AnswerLine, AnswerRun, answer_lines


def test_lists_headings_bold_words_and_marks_are_told_apart() -> None:
    assert list(answer_lines("## The plan\n- **six** years [Source 2]\n    2. so\n\nend")) == [
        AnswerLine("heading", (AnswerRun("The plan"),)),
        AnswerLine("bullet", (AnswerRun("six", bold=True), AnswerRun(" years "), AnswerRun("[Source 2]", n=2))),
        AnswerLine("numbered", (AnswerRun("so"),), 2, "2"),
        AnswerLine("text", ()),
        AnswerLine("text", (AnswerRun("end"),)),
    ]


@given(st.text(alphabet="ab *\n", max_size=40))
def test_no_letter_is_lost_or_moved(text: str) -> None:
    kept = "".join(run.text for line in answer_lines(text) for run in line.runs)
    assert [sign for sign in kept if sign in "ab"] == [sign for sign in text if sign in "ab"]
