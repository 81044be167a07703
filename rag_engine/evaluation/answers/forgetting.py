"""Removal of an erased document from the test questions that quote it, and from what was answered to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from rag_engine.evaluation.answers.accepted_run import RUNS, without_answers
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.test_questions import change_test_questions
from rag_engine.evaluation.gold import letters_of
from rag_engine.storage.collection import Collection


def forget_in_evaluation(workspace: Path, file: str, says: Callable[[str], bool]) -> None:
    """Remove what the workspace's test questions quote of a file, and the answers that cite it, in every run.

    A question that nothing is left to answer goes with its quotes; a quote stays where another document of the name
    `says` it. The figures of the runs stay.
    """
    change_test_questions(workspace, lambda before: tuple(without_quotes(before, file, says)))
    RUNS.change_all(workspace, file, lambda one: replace(one, run=without_answers(one.run, (file,))))


def said_by_others(collection: Collection, file: str, document_id: str) -> Callable[[str], bool]:
    """Return whether another document of this file name says a quote; their texts are read when that is first asked."""

    @cache
    def texts() -> list[str]:
        others = (one for one in collection.documents() if one.file == file and one.document_id != document_id)
        return [letters_of(collection.catalog.text(one.key))[0] for one in others]

    return lambda quote: any(letters_of(quote)[0] in text for text in texts())


def without_quotes(
    before: Sequence[AnswerQuestion], file: str, says: Callable[[str], bool]
) -> Iterator[AnswerQuestion]:
    """Yield questions without what they quote of a file, but for quotes that another document of its name `says`.

    A question that nothing is left to answer is not among them.
    """
    for one in before:
        left = tuple(quote for quote in one.passages if quote.document != file or says(quote.quote))
        if left == one.passages:
            yield one
        elif left:
            yield replace(one, passages=left, answer="", keywords=())
