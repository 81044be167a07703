"""The test questions of a workspace, among its records: kept, written by hand or imported."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.conversations.quotation_answers import answering_quotations
from rag_engine.conversations.record_kinds import RecordKind
from rag_engine.conversations.store import Turn
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.gold import Quote, letters_of, locate
from rag_engine.messages import Message
from rag_engine.types.document import ExtractedText

TEST_QUESTIONS = RecordKind("test question", Message("test question"), TypeAdapter(AnswerQuestion))


def read_test_questions(workspace: Path) -> tuple[AnswerQuestion, ...]:
    """Return the workspace's test questions in their order."""
    return tuple(TEST_QUESTIONS.read_all(workspace))


def change_test_questions(
    workspace: Path, change: Callable[[tuple[AnswerQuestion, ...]], Sequence[AnswerQuestion]]
) -> tuple[AnswerQuestion, ...]:
    """Store the questions as `change` returns them and return them as they were before."""
    with TEST_QUESTIONS.changing(workspace):
        before = read_test_questions(workspace)
        after = change(before)
        if tuple(after) != before:
            # All of them: their order is that in which they are written.
            for gone in before:
                TEST_QUESTIONS.delete(workspace, gone.id)
            for question in after:
                TEST_QUESTIONS.write(workspace, question)
    return before


def with_questions(before: Sequence[AnswerQuestion], new: Sequence[AnswerQuestion]) -> list[AnswerQuestion]:
    """Return the questions with the new ones at their end.

    A new one with a known id takes the place of the old one.
    """
    return list({question.id: question for question in (*before, *new)}.values())


def answer_id(conversation: str, asked: str) -> str:
    """Return the id of a kept question; the same for one answer, so that it is kept once."""
    return f"ask-{hashlib.sha256(f'{conversation} {asked}'.encode()).hexdigest()[:12]}"


def kept_question(
    conversation: str, turn: Turn, language: str, chosen: Collection[int] | None = None
) -> AnswerQuestion:
    """Return the question of a turn with the passages that answer it.

    No passages say that the collection does not answer it.

    `chosen` are the numbers from 0 of the quotations that a person says answer it. Without a person's word they are
    those that are likely to, and none of a refusal. InputError for a question without a reply or such a quotation.
    """
    if turn.reply is None or turn.reply.status == "error":
        raise InputError("This question has no answer to keep.", help="Ask it again.")
    likely = answering_quotations(turn.reply)
    if chosen is None and turn.reply.status == "answered" and not likely:
        raise InputError("No quotation of this answer is likely to answer.", help="Choose one below the answer.")
    cited = [turn.reply.citations[number] for number in sorted(likely if chosen is None else chosen)]
    passages = dict.fromkeys(Quote(citation.file, citation.page, citation.quote) for citation in cited)
    question = " ".join((turn.rewritten or turn.question).split())
    filters = turn.settings.wanted if turn.settings else {}
    id = answer_id(conversation, turn.asked)
    return AnswerQuestion(id, language, "", question, "", tuple(passages), (), filters=filters)


def place_quote(quote: Quote, extracted: ExtractedText) -> Quote:
    """Return the quote with its page: the one that it names, else (0) the first one that it is found on.

    InputError where the document does not say it there.
    """
    if quote.page:
        locate(quote, extracted)
        return quote
    letters, positions = letters_of(extracted.text)
    wanted, _ = letters_of(quote.quote)
    at = letters.find(wanted) if wanted else -1
    if at < 0:
        raise InputError(
            "{file} does not say {quote!r}.",
            help="Copy a sentence of it, word for word.",
            file=quote.document,
            quote=quote.quote[:80],
        )
    page = next((line.page for line in extracted.lines if positions[at] < line.end), 1)
    return Quote(quote.document, page, quote.quote)
