"""Removal of an erased document from the test questions that quote it, and from what was answered to them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.erased_documents import REDACTED
from rag_engine.evaluation.answers.accepted_run import accepted_path, runs_folder
from rag_engine.evaluation.answers.own_questions import change_own_questions, own_questions_path
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.rows import GUARD
from rag_engine.evaluation.answers.workspace_rows import answers_locked, cites_any_file
from rag_engine.evaluation.gold import letters_of
from rag_engine.storage.collection import Collection


def forget_in_evaluation(workspace: Path, file: str, says: Callable[[str], bool]) -> None:
    """Remove what the workspace's test questions quote of a file, and the answers that cite it, in every run.

    A question that nothing is left to answer goes with its quotes; a quote stays where another document of the name
    `says` it. The figures of the runs stay.
    """
    if own_questions_path(workspace).exists():
        change_own_questions(workspace, lambda before: list(without_quotes(before, file, says)))
    folder = accepted_path(workspace).parent
    if not folder.exists():
        return
    with answers_locked(workspace):
        for path in (*runs_folder(workspace).glob("*.json"), *folder.glob("*.json")):
            _redact_run(path, file)
        for path in folder.glob("*.csv"):
            _redact_rows(path, file)


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


def _redact_run(path: Path, file: str) -> None:
    """Redact the answers of a run that cite the file. It is not read as a run: one of another time has other fields."""
    run = json.loads(path.read_bytes())
    citing = [row for row in run.get("rows", ()) if cites_any_file(row["cited"], (file,))]
    for row in citing:
        row["answer"] = REDACTED
    if citing:
        write_atomic(path, json.dumps(run, ensure_ascii=False, indent=1).encode())


def _redact_rows(path: Path, file: str) -> None:
    """Redact the answers that a run has written so far; a line that a kill cut off may hold part of one, and goes."""
    with path.open(encoding="utf-8", errors="replace", newline="") as table:
        header, *lines = list(csv.reader(table)) or [[]]
    if not {"answer", "cited"} <= set(header):
        return
    answer, places = header.index("answer"), header.index("cited")
    rows = [line for line in lines if len(line) == len(header)]
    citing = [row for row in rows if f"; {file} p. " in f"; {row[places].removeprefix(GUARD)}"]
    for row in citing:
        row[answer] = REDACTED
    if citing or len(rows) < len(lines):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([header, *rows])
        write_atomic(path, text.getvalue().encode())
