"""Acts of a person upon the test questions of a workspace: keep, write, import and ask them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ingestion.acts.context import ActContext, queue_once
from ingestion.acts.register import act
from ingestion.dataset.export import write_file
from ingestion.jobs.queue import Job
from ingestion.spreadsheets.workbook_writer import to_csv
from rag_engine.config import judge_settings
from rag_engine.conversations import store
from rag_engine.conversations.erased_documents import erased_since
from rag_engine.conversations.feedback import RatedAnswer, rated_answers
from rag_engine.conversations.quotation_answers import answering_quotations
from rag_engine.conversations.store import Turn, new_id, read_conversation
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.accepted_run import RecordedRun
from rag_engine.evaluation.answers.forgetting import without_quotes
from rag_engine.evaluation.answers.questions import AnswerQuestion, question_lines, read_answer_questions
from rag_engine.evaluation.answers.rows import rows_table
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.evaluation.answers.test_questions import (
    TEST_QUESTIONS,
    answer_id,
    change_test_questions,
    kept_question,
    place_quote,
    read_test_questions,
    with_questions,
)
from rag_engine.evaluation.answers.test_results import results_table
from rag_engine.evaluation.answers.test_runs import measure_test
from rag_engine.messages import NO_MESSAGE, Message


@dataclass(frozen=True, slots=True)
class ImportedQuestions:
    """The numbers of questions that a file added and replaced.

    `missing` are documents that the collection lacks.
    """

    added: int
    replaced: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemovedQuestion:
    """A question that was removed, its place among the others, and when it was removed (ISO, UTC)."""

    question: AnswerQuestion
    place: int
    when: str


@act("curator", "Keeping a test question")
def keep_answer(
    context: ActContext, conversation: str, asked: str, chosen: Collection[int] | None = None
) -> AnswerQuestion:
    """Keep the question asked at a time as a test question, with the `chosen` quotations of its answer.

    They are numbers from 0. None chosen of them means that the collection does not answer; without a choice those are
    kept that are likely to answer.
    """
    return _keep(context, [(conversation, asked)], chosen)[0]


@act("reader")
def is_kept_answer(context: ActContext, conversation: str, asked: str) -> bool:
    """Return whether the question that was asked at that time is a test question."""
    return TEST_QUESTIONS.read_any(context.workspace, answer_id(conversation, asked)) is not None


@act("reader")
def share_rating(context: ActContext, conversation: str, asked: str, *, shared: bool) -> None:
    """Let admins see the person's rating of an answer with question and answer, or no longer let them."""
    store.share_rating(context.workspace, conversation, asked, context.person, shared=shared)


@act("reader")
def is_shared_rating(context: ActContext, conversation: str, asked: str) -> bool:
    """Return whether admins see the person's rating of an answer."""
    found = read_conversation(context.workspace, conversation, context.person)
    return (
        any(turn.asked == asked and turn.rating and turn.rating.shared_by for turn in found.turns) if found else False
    )


@act("reader")
def list_feedback(context: ActContext) -> tuple[RatedAnswer, ...]:
    """Return the rated answers, the latest first, to an admin those too that others let admins see."""
    return rated_answers(context.workspace, context.person)


def exported_feedback(rated: Sequence[RatedAnswer]) -> bytes:
    """Return ratings as CSV; `By` is empty for the person's own."""
    rows = [
        (
            answer.asked,
            "good" if answer.rating.good else "bad",
            answer.question,
            answer.rating.reason,
            answer.title,
            answer.conversation,
            answer.by,
        )
        for answer in rated
    ]
    return to_csv(("Asked", "Rating", "Question", "Reason", "Conversation", "Id", "By"), rows)


@act("reader")
def good_answers(context: ActContext) -> list[RatedAnswer]:
    """Return the answers rated as good that can be test questions and are none yet, the latest first.

    They are refusals, and answers with a quotation that is likely to answer: of the others a person chooses one.
    """
    known = {question.id for question in read_test_questions(context.workspace)}
    good = (
        answer
        for answer in list_feedback(context)
        if answer.rating.good and answer.reply and (answer.refused or answering_quotations(answer.reply))
    )
    return [answer for answer in good if answer_id(answer.conversation, answer.asked) not in known]


@act("curator", "Keeping test questions")
def keep_good_answers(context: ActContext) -> list[AnswerQuestion]:
    """Keep every answer that was rated as good as a test question; return the new questions."""
    return _keep(context, [(answer.conversation, answer.asked) for answer in reversed(good_answers(context))])


@act("curator", "Writing a test question")
def put_question(context: ActContext, question: AnswerQuestion, *, answerable: bool) -> AnswerQuestion:
    """Keep a question that was written or edited by hand and return it; without an id it is a new one.

    Each new passage is looked up in its document: one without a page (0) gets the page that it is found on. InputError
    for words that no document says, for a question without words, and for an `answerable` one without a passage.
    """
    words = " ".join(question.question.split())
    if not words:
        raise InputError("The question has no words.", help="Write it as you would ask it.")
    if answerable and not question.passages:
        raise InputError(
            "No passage answers the question.",
            help="Choose a document and copy the words that answer, or say that the collection does not answer it.",
        )
    records = {document.file: document for document in context.engine.collection.documents()}
    # An answer may have quoted over the end of a page, or a document that has left since.
    before = TEST_QUESTIONS.read_any(context.workspace, question.id)
    known = before.passages if before else ()
    passages = []
    for quote in question.passages:
        if quote in known:
            passages.append(quote)
            continue
        if quote.document not in records:
            raise InputError("{file} is not in the collection.", help="Choose a document that is.", file=quote.document)
        placed = replace(quote, quote=" ".join(quote.quote.split()))
        passages.append(place_quote(placed, context.engine.catalog.extracted(records[quote.document])))
    put = replace(
        question,
        id=question.id or f"own-{new_id()[:12]}",
        language=question.language or context.engine.language_of(words) or "en",
        question=words,
        answer=question.answer.strip() if passages else "",
        passages=tuple(passages),
        keywords=question.keywords if passages else (),
    )
    change_test_questions(context.workspace, lambda before: with_questions(before, [put]))
    return put


@act("curator", "Removing test questions")
def remove_questions(context: ActContext, ids: Sequence[str]) -> tuple[RemovedQuestion, ...]:
    """Remove test questions and return them, for `restore_questions`."""
    before = change_test_questions(
        context.workspace, lambda now: [question for question in now if question.id not in ids]
    )
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    return tuple(RemovedQuestion(question, place, when) for place, question in enumerate(before) if question.id in ids)


@act("curator", "Restoring test questions")
def restore_questions(context: ActContext, removed: Sequence[RemovedQuestion]) -> None:
    """Put removed questions back, each at its place, without quotations of documents erased meanwhile."""

    def restored(now: Sequence[AnswerQuestion]) -> list[AnswerQuestion]:
        questions = [question for question in now if question.id not in {back.question.id for back in removed}]
        for back in removed:
            questions[back.place : back.place] = _without_erased(context, back)
        return questions

    change_test_questions(context.workspace, restored)


def _without_erased(context: ActContext, removed: RemovedQuestion) -> list[AnswerQuestion]:
    left = [removed.question]
    for document in erased_since(context.workspace, removed.when):
        if document.redact:
            left = [*without_quotes(context.engine.collection, left, document.document_id, document.file)]
    return left


@act("curator", "Importing test questions")
def import_questions(context: ActContext, file: Path) -> ImportedQuestions:
    """Take over the questions of a file of `sextant eval answers`; one of a known id replaces it."""
    new = read_answer_questions(file)
    known = {
        question.id for question in change_test_questions(context.workspace, lambda before: with_questions(before, new))
    }
    files = {document.file for document in context.engine.collection.documents()}
    quoted = dict.fromkeys(quote.document for question in new for quote in question.passages)
    replaced = sum(question.id in known for question in new)
    return ImportedQuestions(len(new) - replaced, replaced, tuple(one for one in quoted if one not in files))


@act("reader")
def exported_questions(context: ActContext) -> bytes:
    """Return the test questions as `import_questions` and `sextant eval answers` read them."""
    return question_lines(read_test_questions(context.workspace)).encode()


@act("reader")
def export_questions(context: ActContext, file: Path) -> int:
    """Write the test questions to a file and return their number; InputError if it cannot be written."""
    questions = read_test_questions(context.workspace)
    write_file(file, question_lines(questions).encode())
    return len(questions)


def exported_results(run: RecordedRun) -> bytes:
    """Return a run as CSV, a row a question."""
    return to_csv(*results_table(run.run.rows))


def write_run(recorded: RecordedRun, folder: Path) -> tuple[Path, Path]:
    """Write the rows of a run as CSV and all of it as JSON; return both files.

    `sextant eval gate --against` reads the JSON file.
    """
    table, whole = (folder / f"{recorded.id}{ending}" for ending in (".csv", ".json"))
    folder.mkdir(parents=True, exist_ok=True)
    write_file(table, to_csv(*rows_table(recorded.run.rows)))
    write_file(whole, json.dumps(asdict(recorded.run), ensure_ascii=False, indent=1).encode())
    return table, whole


@act("curator", "Asking the test questions")
def queue_test(context: ActContext, judge: str = "", judge_url: str = "", repeat: int = 1) -> Job:
    """Have the worker ask every test question; with a `judge` a second model judges the answers.

    A test that is under way serves as well, and continues where it was paused. InputError if there is no question.
    """
    if not read_test_questions(context.workspace):
        raise InputError(
            "There are no test questions yet.", help="Keep a good answer as one, or write one on the Evaluation page."
        )
    if judge:
        judge_settings(context.engine.config.generation, judge, judge_url)
    return queue_once(context, "test", asdict(AnswersRequest("", None, judge, judge_url, repeat)))


@act("curator", "Asking the test questions")
def ask_test_questions(
    context: ActContext, request: AnswersRequest, progress: Callable[[int, int, str], None] = lambda *_: None
) -> tuple[RecordedRun, Message]:
    """Ask every test question and keep the run.

    Return it with a warning about questions that were left out.
    """
    run, left_out = measure_test(context.engine, request, progress)
    named = "; ".join(question.question for question in left_out[:3])
    warning = Message(
        "{count} left out, as their documents are no longer in the collection: {questions}.",
        count=len(left_out),
        questions=named,
    )
    return run, warning if left_out else NO_MESSAGE


def _keep(
    context: ActContext, answers: Sequence[tuple[str, str]], chosen: Collection[int] | None = None
) -> list[AnswerQuestion]:
    """Keep answers as test questions, and return these.

    Each answer is named by its conversation and the time of its question.
    """
    kept = []
    for conversation, asked in answers:
        turn = _turn(context, conversation, asked)
        language = context.engine.language_of(turn.rewritten or turn.question) or "en"
        kept.append(kept_question(conversation, turn, language, chosen))
    change_test_questions(context.workspace, lambda before: with_questions(before, kept))
    return kept


def _turn(context: ActContext, conversation: str, asked: str) -> Turn:
    found = read_conversation(context.workspace, conversation, context.person)
    turn = next((one for one in found.turns if one.asked == asked), None) if found else None
    turn = turn or store.shared_turn(context.workspace, conversation, asked, context.person)
    if turn is None:
        raise InputError("This conversation was deleted.", help="Write the question by hand on the Evaluation page.")
    return turn
