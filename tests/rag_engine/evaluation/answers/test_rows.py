from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import InputError
from rag_engine.evaluation.answers.rows import AnswerRow, RowFile

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


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "run" / "rows.csv"
    other = replace(ROW, id="en-2", figures={"abstention": 0.0, "answer_match": None}, failure="the judge failed")
    RowFile(path, METRICS).append(ROW)
    RowFile(path, METRICS).append(other)
    assert RowFile(path, METRICS).rows == {"en-1": ROW, "en-2": other}


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r")))
def test_any_answer_survives(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    RowFile(path, METRICS).append(replace(ROW, answer=text))
    assert RowFile(path, METRICS).rows["en-1"].answer == text


def test_a_spreadsheet_runs_no_answer_as_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    RowFile(path, METRICS).append(replace(ROW, answer="=1+1"))
    assert ",'=1+1," in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_row_that_was_cut_off_is_dropped_and_what_follows_is_whole(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows.csv"
    rows = RowFile(path, METRICS)
    rows.append(ROW)
    rows.append(replace(ROW, id="en-2", question="Qui décide ?"))
    path.write_bytes(path.read_bytes()[: -2 - cut])
    resumed = RowFile(path, METRICS)
    resumed.append(replace(ROW, id="en-3"))
    assert list(RowFile(path, METRICS).rows) == ["en-1", "en-3"]


def test_a_question_that_failed_is_not_done(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    RowFile(path, METRICS).append(replace(ROW, status="error"))
    assert RowFile(path, METRICS).rows == {}


def test_a_file_that_is_begun_again_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = RowFile(path, METRICS)
    rows.append(ROW)
    rows.restart()
    assert RowFile(path, METRICS).rows == {}


def test_another_table_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("name,price\napple,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a table of answers"):
        RowFile(path, METRICS)
    assert path.read_text(encoding="utf-8").startswith("name,price")
