from __future__ import annotations

from rag_engine.evaluation.answers.rows import AnswerRow, rows_table

METRICS = ("abstention", "answer_match")
ROW = AnswerRow(
    id="en-1",
    language="en",
    kind="institutional",
    split="dev",
    answerable=True,
    status="answered",
    seconds=1.25,
    question="Who?",
    answer="The mayor.",
    cited=("plan.pdf p. 3", "plan.pdf p. 4"),
    generator="extractive",
    figures={"abstention": 1.0, "answer_match": 0.333333},
    spreads={"abstention": None, "answer_match": 0.1},
)


def test_the_table_of_rows_has_every_field_and_every_figure_with_its_spread() -> None:
    headings, [cells] = rows_table([ROW])
    assert dict(zip(headings, cells, strict=True)) == {
        **{name: getattr(ROW, name) for name in ("id", "language", "kind", "split", "status", "seconds", "question")},
        "answerable": "yes",
        "answer": "The mayor.",
        "cited": "plan.pdf p. 3; plan.pdf p. 4",
        "generator": "extractive",
        "abstention": 1.0,
        "answer_match": 0.333333,
        "abstention spread": None,
        "answer_match spread": 0.1,
        "failure": "",
    }
