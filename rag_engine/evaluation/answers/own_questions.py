"""The workspace's own test questions: kept from answers, written by hand or imported, in one file of questions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from filelock import FileLock

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.store import Turn
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.questions import AnswerQuestion, question_lines, read_answer_questions
from rag_engine.evaluation.gold import Quote, letters_of, locate
from rag_engine.types import ExtractedText


def own_questions_path(workspace: Path) -> Path:
    """Return the file of the workspace's own test questions, which `sextant eval answers` reads as well."""
    return workspace / "evaluation" / "questions.jsonl"


def read_own_questions(workspace: Path) -> tuple[AnswerQuestion, ...]:
    """Return the workspace's test questions in their order; InputError where the file is damaged."""
    path = own_questions_path(workspace)
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return _read(path, status.st_ino, status.st_mtime_ns, status.st_size)


# Pages look at everything a person does whether a question is one of them.
@lru_cache(maxsize=4)
def _read(path: Path, *_: int) -> tuple[AnswerQuestion, ...]:
    return read_answer_questions(path)


def change_own_questions(
    workspace: Path, change: Callable[[tuple[AnswerQuestion, ...]], Sequence[AnswerQuestion]]
) -> tuple[AnswerQuestion, ...]:
    """Store the questions as `change` returns them and return them as they were before."""
    path = own_questions_path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        before = read_own_questions(workspace)
        after = tuple(change(before))
        if after:
            write_atomic(path, question_lines(after).encode())
        else:
            path.unlink(missing_ok=True)
        return before


def with_questions(before: Sequence[AnswerQuestion], new: Sequence[AnswerQuestion]) -> list[AnswerQuestion]:
    """Return the questions with the new ones at their end, those that were there before in the place of their ids."""
    return list({one.id: one for one in (*before, *new)}.values())


def answer_id(conversation: str, asked: str) -> str:
    """Return the id of the question whose answer is kept; the same for one answer, so that it is kept once."""
    return f"ask-{hashlib.sha256(f'{conversation} {asked}'.encode()).hexdigest()[:12]}"


def kept_question(conversation: str, turn: Turn, language: str) -> AnswerQuestion:
    """Return the question of a turn with the passages that its answer cites as the expected ones.

    Where the answer is that nothing answers, this is expected. InputError for a question without a reply.
    """
    if turn.reply is None or turn.reply.status == "error":
        raise InputError("This question has no answer to keep.", help="Ask it again.")
    answered = turn.reply.status == "answered"
    # What is quoted below a refusal is no answer.
    cited = turn.reply.citations if answered else ()
    passages = dict.fromkeys(Quote(one.file, one.page, one.quote) for one in cited)
    if answered and not passages:
        raise InputError("This answer cites nothing.", help="Write the question by hand on the Evaluation page.")
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
