"""Questions with reference answers: each with its kind and the passages that answer it, or with none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from rag_engine.config import DATA
from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import line_error, read_objects, text_field
from rag_engine.evaluation.gold import Quote, read_quotes
from rag_engine.text.languages import language_name

QuestionKind = Literal["identification", "terminology", "geographic", "institutional"]
# The questions on the collection that comes with the program.
SAMPLE = DATA / "eval" / "gold" / "sample.jsonl"

_FIELDS = ("id", "language", "kind", "question", "answer", "passages", "keywords", "split")
_SPLITS = ("", "dev", "heldout")


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question with the answer that it ought to get; without answer and passages, it ought to get none.

    Passages of one document answer together, those of another document on their own. `keywords` are the words and
    numbers that no right answer can do without. `split` is "dev" or "heldout", "" where a file has no halves.
    """

    id: str
    language: str
    kind: QuestionKind
    question: str
    answer: str
    passages: tuple[Quote, ...]
    keywords: tuple[str, ...]
    split: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the collection answers it."""
        return bool(self.passages)


def read_answer_questions(path: Path) -> tuple[AnswerQuestion, ...]:
    """Return the questions in the order of the file; InputError names the line, its fault and the remedy."""
    questions: dict[str, AnswerQuestion] = {}
    for number, values in read_objects(path):
        question = _question(path, number, values)
        if question.id in questions:
            raise line_error(path, number, f"the id {question.id!r} was given before", "Give it its own.")
        questions[question.id] = question
    if not questions:
        raise InputError(f"{path} has no question.", help="Give a question a line.")
    return tuple(questions.values())


def _question(path: Path, number: int, values: Mapping[str, Any]) -> AnswerQuestion:
    unknown = ", ".join(sorted(values.keys() - set(_FIELDS)))
    if unknown:
        raise line_error(path, number, f"unknown field {unknown}", f"Use {', '.join(_FIELDS)}.")
    kind = text_field(path, number, values, "kind")
    if kind not in get_args(QuestionKind):
        raise line_error(path, number, f"the kind is {kind!r}", f"Use {', '.join(get_args(QuestionKind))}.")
    language = text_field(path, number, values, "language")
    if not language_name(language):
        raise line_error(path, number, f"the language is {language!r}", "Use an ISO 639-1 code, for example en.")
    passages = values.get("passages")
    quotes = read_quotes(path, number, passages) if passages else ()
    answer = text_field(path, number, values, "answer", missing="")
    keywords = _keywords(path, number, values.get("keywords", []))
    if bool(quotes) != bool(answer.strip()) or bool(quotes) != bool(keywords):
        message = "answer, passages and keywords do not go together"
        raise line_error(path, number, message, "Give all three, or none for a question without an answer.")
    question = text_field(path, number, values, "question")
    id = text_field(path, number, values, "id")
    split = text_field(path, number, values, "split", missing="")
    if split not in _SPLITS:
        raise line_error(path, number, f"the split is {split!r}", "Use dev or heldout, or leave it out.")
    return AnswerQuestion(id, language, cast("QuestionKind", kind), question, answer, quotes, keywords, split)


def _keywords(path: Path, number: int, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) and any(map(str.isalnum, one)) for one in given):
        raise line_error(
            path, number, f"the keywords are {given!r}", 'Write them as a list, for example ["42 percent"].'
        )
    return tuple(given)
