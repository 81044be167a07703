"""Questions with known answers, one JSON object a line, each with its passages or none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from rag_engine.config import DATA
from rag_engine.conversations.person import SharedRecord
from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import line_error, read_objects, text_field
from rag_engine.evaluation.gold import Quote, read_quotes
from rag_engine.filters import Filter
from rag_engine.messages import Message
from rag_engine.text.languages import language_name

# "" is a kind that nobody has named.
QuestionKind = Literal["identification", "terminology", "geographic", "institutional", ""]
# The questions on the collection that comes with the program.
SAMPLE = DATA / "eval" / "gold" / "sample.jsonl"

_FIELDS = ("id", "language", "kind", "question", "answer", "passages", "keywords", "split", "filters")
_SPLITS = ("", "dev", "heldout")


@dataclass(frozen=True, slots=True)
class AnswerQuestion(SharedRecord):
    """A question with the passages that answer it; without any, it ought to get no answer.

    Passages of one document answer together, those of another document on their own. `answer` is a reference answer and
    `keywords` are the words and numbers that no right answer can do without, as far as they are given. `split` is "dev"
    or "heldout", "" where a file has no halves. `filters` is the filter that the question is asked with.
    """

    id: str
    language: str
    kind: QuestionKind
    question: str
    answer: str
    passages: tuple[Quote, ...]
    keywords: tuple[str, ...]
    split: str = ""
    filters: Filter = field(default_factory=dict)

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
            raise line_error(
                path, number, Message("the id {id!r} was given before.", id=question.id), Message("Give it its own.")
            )
        questions[question.id] = question
    if not questions:
        raise InputError("{file} has no question.", help="Give a question a line.", file=path)
    return tuple(questions.values())


def question_lines(questions: Iterable[AnswerQuestion]) -> str:
    """Return questions as `read_answer_questions` reads them; fields without a value are left out."""
    objects = ({name: value for name, value in asdict(one).items() if value} for one in questions)
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)


def _question(path: Path, number: int, values: Mapping[str, Any]) -> AnswerQuestion:
    unknown = ", ".join(sorted(values.keys() - set(_FIELDS)))
    if unknown:
        raise line_error(
            path,
            number,
            Message("unknown field {unknown}.", unknown=unknown),
            Message("Use {fields}.", fields=", ".join(_FIELDS)),
        )
    kind = text_field(path, number, values, "kind", missing="")
    if kind not in get_args(QuestionKind):
        kinds = ", ".join(filter(None, get_args(QuestionKind)))
        raise line_error(
            path,
            number,
            Message("the kind is {kind!r}.", kind=kind),
            Message("Use {kinds}, or leave it out.", kinds=kinds),
        )
    language = text_field(path, number, values, "language")
    if not language_name(language):
        raise line_error(
            path,
            number,
            Message("the language is {language!r}.", language=language),
            Message("Use an ISO 639-1 code, for example en."),
        )
    passages = values.get("passages")
    quotes = read_quotes(path, number, passages) if passages else ()
    answer = text_field(path, number, values, "answer", missing="")
    keywords = _keywords(path, number, values.get("keywords", []))
    if not quotes and (answer.strip() or keywords):
        message = Message("an answer or keywords without passages.")
        raise line_error(
            path, number, message, Message("Give the passages, or none of the three where nothing answers.")
        )
    question = text_field(path, number, values, "question")
    id = text_field(path, number, values, "id")
    split = text_field(path, number, values, "split", missing="")
    if split not in _SPLITS:
        raise line_error(
            path,
            number,
            Message("the split is {split!r}.", split=split),
            Message("Use dev or heldout, or leave it out."),
        )
    filters = _filters(path, number, values.get("filters", {}))
    return AnswerQuestion(id, language, cast("QuestionKind", kind), question, answer, quotes, keywords, split, filters)


def _filters(path: Path, number: int, given: Any) -> Filter:
    """Return a filter in which each facet has a list of values.

    The facets are checked when the question is asked.
    """
    lists = given.values() if isinstance(given, dict) else [None]
    if not all(isinstance(values, list) and all(isinstance(one, str) for one in values) for values in lists):
        raise line_error(
            path,
            number,
            Message("the filters are {given!r}.", given=given),
            Message('Write them as lists, for example {"country": ["Italy"]}.'),
        )
    return {name: tuple(values) for name, values in given.items()}


def _keywords(path: Path, number: int, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) and any(map(str.isalnum, one)) for one in given):
        raise line_error(
            path,
            number,
            Message("the keywords are {given!r}.", given=given),
            Message('Write them as a list, for example ["42 percent"].'),
        )
    return tuple(given)
