"""Results of the own questions: each question, shares, and two runs compared."""

from dataclasses import replace

import pytest

from rag_engine.evaluation.answers.accepted_run import KeptRun
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.evaluation.answers.test_results import (
    compare_tests,
    describe_chance,
    describe_result,
    is_as_expected,
    least_difference,
    results_table,
    settings_of,
    shares,
)
from rag_engine.evaluation.significance import share_interval, sign_p


def row(id: str, **figures: float | None) -> AnswerRow:
    known = {"abstention": 1.0, "context_recall": 0.0, "citation_recall": 0.0, "first_quotation": 0.0}
    return AnswerRow(
        id, "en", "", "", True, "answered", 0.5, "Who?", "The mayor.", ("a.pdf p. 1",), "quotes", known | figures, {}
    )


def run(*rows: AnswerRow, **settings: object) -> KeptRun:
    return KeptRun(settings, rows, (), AnswersRequest())


FOUND = row("a", context_recall=0.5)
CITED = row("a", context_recall=1.0, citation_recall=0.5)
FIRST = row("a", context_recall=1.0, citation_recall=1.0, first_quotation=1.0)
REFUSED = replace(row("n", abstention=1.0), answerable=False, status="insufficient_evidence")
GUESSED = replace(row("n", abstention=0.0), answerable=False)
FAILED = replace(row("f"), status="error", failure="The model is gone.")


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        (row("a", context_recall=0.49), "Evidence not found"),
        (FOUND, "Evidence found, not cited"),
        (CITED, "Evidence cited"),
        (FIRST, "First quotation right"),
        (replace(FOUND, status="insufficient_evidence"), "Wrongly refused"),
        (REFUSED, "Rightly refused"),
        (GUESSED, "Answered without evidence"),
        (FAILED, "Failed"),
    ],
)
def test_a_result_is_said_in_a_few_words(answered: AnswerRow, words: str) -> None:
    assert describe_result(answered) == words
    assert is_as_expected(answered) == (words in ("First quotation right", "Rightly refused"))


def test_a_share_counts_only_the_questions_that_its_measure_is_about() -> None:
    counted = {one.measure: (one.right, one.questions) for one in shares((FOUND, CITED, FIRST, GUESSED, FAILED))}
    assert counted == {"found": (3, 3), "cited": (2, 3), "first": (1, 3), "refused": (0, 1)}
    assert [one.measure for one in shares((REFUSED,))] == ["refused"]


def test_the_interval_of_a_share_is_wilsons() -> None:
    # Newcombe 1998, table I: 81 of 263.
    found = share_interval(81, 263)
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    assert (share_interval(0, 0).low, share_interval(0, 0).high) == (0, 1)


def test_questions_that_turned_both_ways_alike_are_chance() -> None:
    assert sign_p(6, 0) == pytest.approx(2 / 2**6)
    assert sign_p(3, 3) == sign_p(0, 0) == 1


def test_a_difference_that_even_one_way_would_be_chance_is_said_in_points() -> None:
    assert (least_difference(5), least_difference(12), least_difference(100)) == (None, 50, 6)
    assert describe_chance(12) == "12 questions: a difference below 50 points between two runs may be chance."
    assert describe_chance(1).startswith("1 question: any difference")


def test_two_runs_are_compared_on_the_questions_that_both_asked() -> None:
    before = run(
        FOUND, GUESSED, replace(row("old"), question="Gone?"), model="a", settings={"top_k": 5, "rerank": True}
    )
    after = run(FIRST, GUESSED, row("new"), model="a", settings={"top_k": 8, "rerank": True})
    found = compare_tests(before, after)
    assert [(one.after.id, one.change) for one in found.changes] == [("a", "better"), ("n", "same")]
    assert (found.count("better"), found.count("worse"), found.count("same")) == (1, 0, 1)
    first = next(one for one in found.shares if one.measure == "first")
    assert (first.before, first.after, first.gained, first.lost, first.verdict) == (0, 1, 1, 0, "may be chance")
    assert found.settings == {"settings.top_k": ("5", "8")}
    assert compare_tests(after, before).count("worse") == 1
    assert settings_of(after) == {"model": "a", "settings.top_k": "8", "settings.rerank": "True"}


def test_hashes_are_called_by_what_they_are_of_and_shortened() -> None:
    assert settings_of(run(collection="0123456789abcdef", versions={"code": "c", "python": "3.11.7"})) == {
        "documents (hash)": "0123456789ab",
        "program (hash)": "c",
        "versions.python": "3.11.7",
    }


def test_six_questions_that_all_turned_right_are_more_than_chance() -> None:
    olds = [replace(FOUND, id=str(number)) for number in range(6)]
    news = [replace(FIRST, id=str(number)) for number in range(6)]
    verdicts = {one.measure: one.verdict for one in compare_tests(run(*olds), run(*news)).shares}
    assert verdicts == {"found": "none", "cited": "more than chance", "first": "more than chance"}


def test_a_run_is_a_table_with_a_row_for_each_question() -> None:
    headings, rows = results_table((FIRST, REFUSED))
    assert headings[:7] == [
        *("Id", "Question", "Result", "Evidence found", "Evidence cited", "First quotation right", "Rightly refused")
    ]
    assert rows[0][2:7] == ["First quotation right", "yes", "yes", "yes", ""]
    assert rows[1][2:7] == ["Rightly refused", "", "", "", "yes"]
    assert all(len(one) == len(headings) for one in rows)
