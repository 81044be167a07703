"""Removal of an erased document from the test questions and from their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from rag_engine.evaluation.answers.accepted_run import RUNS, without_answers
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.test_questions import change_test_questions
from rag_engine.evaluation.gold import Quote, letters_of
from rag_engine.storage.collection import Collection


def forget_in_evaluation(collection: Collection, document_id: str, file: str) -> None:
    """Remove a document's quotes from the test questions, and the answers that cite it from all runs.

    The figures of the runs stay.
    """
    workspace = collection.catalog.workspace
    change_test_questions(workspace, lambda before: tuple(without_quotes(collection, before, document_id, file)))
    RUNS.change_all(workspace, file, lambda run: replace(run, run=without_answers(run.run, (file,))))


def without_quotes(
    collection: Collection, before: Sequence[AnswerQuestion], document_id: str, file: str
) -> Iterator[AnswerQuestion]:
    """Yield questions without the quotes of a file that no other document of its name has.

    A question that loses all its quotes is left out.
    """

    @cache
    def texts() -> list[str]:
        others = (
            document
            for document in collection.documents()
            if document.file == file and document.document_id != document_id
        )
        return [letters_of(collection.catalog.text(document.key))[0] for document in others]

    def stays(quote: Quote) -> bool:
        return quote.document != file or any(letters_of(quote.quote)[0] in text for text in texts())

    for question in before:
        left = tuple(filter(stays, question.passages))
        if left == question.passages:
            yield question
        elif left:
            yield replace(question, passages=left, answer="", keywords=())
