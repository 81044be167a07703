"""Questions with known answers, one JSON object a line, each with its passages or none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from rag_engine.config import DATA
from rag_engine.conversations.person import SharedRecord
from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import FileLine, read_objects
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
    for line in read_objects(path):
        question = _question(line)
        line.refuse_second(question.id, questions)
        questions[question.id] = question
    if not questions:
        raise InputError("{file} has no question.", help="Give a question a line.", file=path)
    return tuple(questions.values())


def question_lines(questions: Iterable[AnswerQuestion]) -> str:
    """Return questions as `read_answer_questions` reads them; fields without a value are left out."""
    objects = ({name: value for name, value in asdict(question).items() if value} for question in questions)
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)


def _question(line: FileLine) -> AnswerQuestion:
    unknown = ", ".join(sorted(line.values.keys() - set(_FIELDS)))
    if unknown:
        cure = Message("Use {fields}.", fields=", ".join(_FIELDS))
        raise line.error(Message("unknown field {unknown}.", unknown=unknown), cure)
    kind = line.field("kind", missing="")
    if kind not in get_args(QuestionKind):
        kinds = ", ".join(filter(None, get_args(QuestionKind)))
        cure = Message("Use {kinds}, or leave it out.", kinds=kinds)
        raise line.error(Message("the kind is {kind!r}.", kind=kind), cure)
    language = line.field("language")
    if not language_name(language):
        cure = Message("Use an ISO 639-1 code, for example en.")
        raise line.error(Message("the language is {language!r}.", language=language), cure)
    quotes = read_quotes(line) if line.values.get("passages") else ()
    answer = line.field("answer", missing="")
    keywords = _keywords(line)
    if not quotes and (answer.strip() or keywords):
        cure = Message("Give the passages, or none of the three where nothing answers.")
        raise line.error(Message("an answer or keywords without passages."), cure)
    question = line.field("question")
    id = line.field("id")
    split = line.field("split", missing="")
    if split not in _SPLITS:
        cure = Message("Use dev or heldout, or leave it out.")
        raise line.error(Message("the split is {split!r}.", split=split), cure)
    filters = _filters(line)
    return AnswerQuestion(id, language, cast("QuestionKind", kind), question, answer, quotes, keywords, split, filters)


def _filters(line: FileLine) -> Filter:
    """Return a filter in which each facet has a list of values.

    The facets are checked when the question is asked.
    """
    given = line.values.get("filters", {})
    lists = given.values() if isinstance(given, dict) else [None]
    if not all(isinstance(values, list) and all(isinstance(value, str) for value in values) for values in lists):
        cure = Message('Write them as lists, for example {"country": ["Italy"]}.')
        raise line.error(Message("the filters are {given!r}.", given=given), cure)
    return {name: tuple(values) for name, values in given.items()}


def _keywords(line: FileLine) -> tuple[str, ...]:
    given = line.values.get("keywords", [])
    if not isinstance(given, list) or not all(isinstance(one, str) and any(map(str.isalnum, one)) for one in given):
        cure = Message('Write them as a list, for example ["42 percent"].')
        raise line.error(Message("the keywords are {given!r}.", given=given), cure)
    return tuple(given)
