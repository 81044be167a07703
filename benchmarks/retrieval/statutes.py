"""Statutes whose sections are cited: their printed texts, and how often the right sections come first."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from scipy import stats

from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import CorpusDocument, Qrels, read_objects
from rag_engine.evaluation.significance import Interval

# Document ids of a question, best first.
Run = Mapping[str, Sequence[str]]

# An id names the act and the number: IPC_304A, and with spaces where they were typed so: "ART_239 A A".
_ID = re.compile(r"[A-Z]+_(?P<number>\d[\dA-Z ]*)")
_PREAMBLE = "0"


@dataclass(frozen=True, slots=True)
class _Act:
    file: str
    name: str
    unit: str


_ACTS = (
    _Act("constitution.jsonl", "Constitution of India", "Article"),
    _Act("crpc.jsonl", "Code of Criminal Procedure, 1973", "Section"),
    _Act("iea.jsonl", "Indian Evidence Act, 1872", "Section"),
    _Act("ipc.jsonl", "Indian Penal Code, 1860", "Section"),
)


@dataclass(frozen=True, slots=True)
class StatuteScore:
    """The number of questions, and the shares whose first citation and whose whole set are right."""

    questions: int
    primary: Interval
    complete: Interval


def wilson_interval(successes: int, trials: int) -> Interval:
    """Return the share of successes with its 95% interval (Wilson 1927); 0 to 1 where nothing was tried."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is not a share.")
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    found = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    return Interval(successes / trials, float(found.low), float(found.high))


def read_statutes(folder: Path) -> tuple[CorpusDocument, ...]:
    """Return the sections of the four Indian acts in printed order, each with its heading and its act.

    The title is the act ("Indian Penal Code, 1860"). The text begins with the citation of a lawyer, as a printed act
    does
    ("Section 302. Punishment for murder"), a blank line, and the words of the section, one paragraph a line. A section
    whose words are missing from the file is its heading alone.

    InputError names file, line and remedy for an id that holds no number, an id given twice, a section without a
    heading,
    and a file that is missing.
    """
    documents: dict[str, CorpusDocument] = {}
    for act in _ACTS:
        path = folder / act.file
        for line in read_objects(path):
            id = line.field("_id")
            line.refuse_second(id, documents)
            heading = _heading(path, line.number, id, act.unit, line.field("title"))
            words = _paragraphs(line.field("text", missing=""))
            text = f"{heading}\n\n{words}" if words else heading
            documents[id] = CorpusDocument(id, act.name, text, "en")
    return tuple(documents.values())


def assemble_statutes(statutes: Path, questions: Path, destination: Path) -> Path:
    """Return the destination, now a data set in BEIR's form.

    The acts as corpus.jsonl beside the questions and judgements.

    `statutes` holds the four files of the acts, `questions` the files queries*.jsonl and qrels*.tsv, which are copied
    as they are. The folder is made where it is not there; InputError where there are no questions.
    """
    asked = [path for pattern in ("queries*.jsonl", "qrels*.tsv") for path in sorted(questions.glob(pattern))]
    if not asked:
        raise InputError(
            f"{questions} has no queries*.jsonl.", help="Name the folder of the questions on the statutes."
        )
    documents = read_statutes(statutes)
    destination.mkdir(parents=True, exist_ok=True)
    with (destination / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for document in documents:
            line = {"_id": document.id, "title": document.title, "text": document.text}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    for path in asked:
        shutil.copyfile(path, destination / path.name)
    return destination


def primary_right(ranking: Sequence[str], relevant: Set[str]) -> bool:
    """Whether the first document answers; an empty ranking does not."""
    return bool(ranking) and ranking[0] in relevant


def complete_right(ranking: Sequence[str], relevant: Set[str]) -> bool:
    """Whether the n relevant documents are exactly the first n of the ranking, in any order.

    So a set is right only without a wrong section between the right ones, as when a clerk writes down the first n;
    what comes after them does not count. The judgements give n: how many to cite is not for the ranking to say.
    """
    return set(ranking[: len(relevant)]) == set(relevant)


def score_statutes(run: Run, qrels: Qrels) -> StatuteScore:
    """Return the shares of questions with the primary citation right and with the whole set right.

    95% Wilson intervals.

    A document is relevant with a grade of 1 or more. A judged question that the run does not have counts as wrong,
    so that leaving hard questions out gains nothing. InputError for a run that has questions nobody judged, for a
    question with no relevant document, and for a ranking that names a document twice.
    """
    relevant = {query: {id for id, grade in grades.items() if grade > 0} for query, grades in qrels.items()}
    _refuse_questions([query for query in run if query not in relevant], "no judgement")
    _refuse_questions([query for query, ids in relevant.items() if not ids], "no relevant document")
    twice = [query for query, ranking in run.items() if len(set(ranking)) < len(ranking)]
    _refuse_questions(twice, "a document ranked twice")
    primary = sum(primary_right(run.get(query, ()), ids) for query, ids in relevant.items())
    complete = sum(complete_right(run.get(query, ()), ids) for query, ids in relevant.items())
    count = len(relevant)
    return StatuteScore(count, wilson_interval(primary, count), wilson_interval(complete, count))


def _heading(path: Path, line: int, id: str, unit: str, title: str) -> str:
    match = _ID.fullmatch(id)
    if match is None:
        raise InputError(f"{path}, line {line}: the id {id!r} has no number.", help="Write it as IPC_302 or ART_21A.")
    number = match["number"].replace(" ", "")
    return title.strip() if number == _PREAMBLE else f"{unit} {number}. {title.strip()}"


def _paragraphs(text: str) -> str:
    """Return the text with one paragraph a line; the files indent with tabs and leave lines empty."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _refuse_questions(queries: Sequence[str], what: str) -> None:
    if queries:
        named = ", ".join(queries[:3]) + (", ..." if len(queries) > 3 else "")
        raise InputError(
            f"{len(queries)} questions have {what} ({named}).",
            help="Score a run of these questions with their own judgements, each document once.",
        )
