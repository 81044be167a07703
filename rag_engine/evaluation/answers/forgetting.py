"""Removal of an erased document from the test questions that quote it, and from what was answered to them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.erased_documents import REDACTED
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.accepted_run import accepted_path, runs_folder
from rag_engine.evaluation.answers.own_questions import change_own_questions, own_questions_path, read_own_questions
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.rows import GUARD
from rag_engine.evaluation.answers.workspace_rows import answers_locked, cites_any_file
from rag_engine.evaluation.gold import letters_of
from rag_engine.storage.collection import Collection


@dataclass(frozen=True, slots=True)
class _CitingRow:
    """Row of a run, as far as it is read: one of another time has other fields beside these."""

    answer: str
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _RunWithRows:
    rows: tuple[_CitingRow, ...] = ()


_RUN = TypeAdapter(_RunWithRows)


def forget_in_evaluation(workspace: Path, file: str, says: Callable[[str], bool]) -> list[Path]:
    """Remove what the workspace's test questions quote of a file, and the answers that cite it, in every run.

    A question that nothing is left to answer goes with its quotes; a quote stays where another document of the name
    `says` it. The figures of the runs stay. Return the files that cannot be read, and so stay as they are.
    """

    def forget_in_questions(_path: Path) -> None:
        change_own_questions(workspace, lambda before: list(without_quotes(before, file, says)))

    questions = own_questions_path(workspace)
    unread = _unread([questions] if questions.exists() else [], forget_in_questions)
    folder = accepted_path(workspace).parent
    if not folder.exists():
        return unread
    with answers_locked(workspace):
        unread += _unread(_run_files(workspace), lambda path: _redact_run(path, file))
        unread += _unread(folder.glob("*.csv"), lambda path: _redact_rows(path, file))
    return unread


def unread_in_evaluation(workspace: Path) -> list[Path]:
    """Return the files of test questions and of their runs that cannot be read."""
    questions = own_questions_path(workspace)
    unread = _unread([questions] if questions.exists() else [], lambda _: read_own_questions(workspace))
    return unread + _unread(_run_files(workspace), _read_run)


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


def _run_files(workspace: Path) -> list[Path]:
    return [*runs_folder(workspace).glob("*.json"), *accepted_path(workspace).parent.glob("*.json")]


def _unread(paths: Iterable[Path], use: Callable[[Path], object]) -> list[Path]:
    """Use every file, and return those that could not be read."""
    unread = []
    for path in paths:
        try:
            use(path)
        except FileNotFoundError:
            # It was deleted meanwhile.
            continue
        except (InputError, OSError, ValueError, csv.Error):
            unread.append(path)
    return unread


def _read_run(path: Path) -> tuple[Any, list[dict[str, Any]]]:
    """Return what a file holds with the rows of a run in it; ValueError where they are not such."""
    run = from_json(path.read_bytes())
    _RUN.validate_python(run)
    return run, run.get("rows", [])


def _redact_run(path: Path, file: str) -> None:
    """Redact the answers of a run that cite the file."""
    run, rows = _read_run(path)
    citing = [row for row in rows if cites_any_file(row["cited"], (file,))]
    for row in citing:
        row["answer"] = REDACTED
    if citing:
        write_atomic(path, json.dumps(run, ensure_ascii=False, indent=1).encode())


def _redact_rows(path: Path, file: str) -> None:
    """Redact the answers that a run has written so far; a line that a kill cut off may hold part of one, and goes."""
    content = path.read_text("utf-8", "replace")
    header, *lines = list(csv.reader(io.StringIO(content, newline=""))) or [[]]
    if not {"answer", "cited"} <= set(header):
        if file in content:
            raise ValueError("not a table of answers")
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
