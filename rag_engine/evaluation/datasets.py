"""Benchmark data sets in BEIR's form: a corpus, questions, and the documents that answer each.

A folder holds corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and qrels.tsv (query-id, corpus-id, score, or
the four columns of TREC). A data set that is cut into splits has queries.SPLIT.jsonl and qrels.SPLIT.tsv instead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from rag_engine.errors import InputError
from rag_engine.messages import Message, join_messages
from rag_engine.text.file_kinds import check_file

# The number of documents that tell the language of a corpus, and the share that must agree for one language.
_SAMPLE = 40
_AGREEMENT = 0.9
# Characters that a language is read from; the beginning of a long text tells it as well as the whole.
_SAMPLE_CHARACTERS = 2000
_MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file, numbered from 1; of an object in JSON, `values` are its fields."""

    path: Path
    number: int
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def error(self, fault: str, cure: str) -> InputError:
        """Return the error of the line; `fault` is a sentence."""
        place = join_messages([str(self.path), Message("line {which}", which=str(self.number))], ", ")
        return InputError("{what}: {error}", help=Message(cure), what=place, error=fault)

    def field(self, name: str, *, missing: str | None = None) -> str:
        """Return the text of a field, a number as its digits.

        A field that is absent or null gives `missing`, else InputError.
        """
        value = self.values.get(name)
        if value is None and missing is None:
            raise self.error(Message("the field {name!r} is missing.", name=name), Message("Every line needs it."))
        if value is None:
            return missing or ""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or (missing is None and not value.strip()):
            fault = Message("{name!r} is {value!r}, not a text.", name=name, value=value)
            raise self.error(fault, Message("Write it as a text."))
        return value

    def refuse_second(self, id: str, known: Container[str]) -> None:
        """Raise InputError if an earlier line has the id."""
        if id in known:
            raise self.error(Message("the id {id!r} was given before.", id=id), Message("Give it its own."))


def read_lines(path: Path) -> Iterator[FileLine]:
    """Yield the lines that are not blank."""
    check_file(path)
    try:
        # Only "\n" ends a line: JSON may hold U+2028 and its like as they are.
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield FileLine(path, number, line.rstrip("\r\n"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing.", help="Name a folder that has it.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", help="Make it readable.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason}.", help="Save it in UTF-8.") from error


def read_objects(path: Path) -> Iterator[FileLine]:
    """Yield the lines with their objects; InputError for any other line."""
    for line in read_lines(path):
        try:
            values = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            fault = Message("not JSON ({error}).", error=error)
            raise line.error(fault, Message("Write one JSON object a line.")) from error
        if not isinstance(values, dict):
            raise line.error(Message("not a JSON object."), Message('Write {"_id": ...}.'))
        yield replace(line, values=values)


Split = Literal["dev", "heldout", "all"]
Qrels = Mapping[str, Mapping[str, int]]
Identify = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document of a corpus; `language` is an ISO 639-1 code, "" if it is unknown."""

    id: str
    title: str
    text: str
    language: str = ""

    @property
    def whole(self) -> str:
        """Title, blank line, text; without the empty part."""
        return "\n\n".join(part for part in (self.title.strip(), self.text.strip()) if part)


@dataclass(frozen=True, slots=True)
class Query:
    """A question of a data set."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents, the judged questions, and the grade of each judged pair.

    A pair is question, then document; its grade is 0 or more. `language` is that of the documents, "mixed" for several.
    """

    name: str
    split: Split
    documents: tuple[CorpusDocument, ...]
    queries: tuple[Query, ...]
    qrels: Qrels
    language: str
    warnings: tuple[Message, ...] = ()


def read_dataset(folder: Path, split: Split, *, identify: Identify, queries_from: Path | None = None) -> Dataset:
    """Return the data set of a folder with the questions of a split; "all" takes every split.

    `queries_from` is the folder of another data set. Its questions, by the same ids, are asked of this corpus with this
    corpus's judgements. Questions that nobody judged are left out, and `warnings` gives their number. InputError names
    file, line and remedy of each fault:

    - a missing file, a line that is no JSON, an id given twice, a negative grade,
    - a judgement of an unknown question or document, no judged question at all.
    """
    if split not in get_args(Split):
        raise InputError(f"There is no split {split!r}.", help=f"Use {', '.join(get_args(Split))}.")
    documents, empty = _read_corpus(folder)
    asked = queries_from or folder
    queries = _read_queries(_split_files(asked, "queries", "jsonl", split))
    judged_files = _split_files(folder, "qrels", "tsv", split)
    # Asked of another corpus, a question may be missing there or here: what both have is compared.
    qrels = _read_qrels(judged_files, set(documents), None if queries_from else set(queries))
    judged = {id: query for id, query in queries.items() if any(qrels.get(id, {}).values())}
    if not judged:
        raise InputError(
            f"No question of {asked} has a relevant document in {', '.join(map(str, judged_files))}.",
            help="Judge at least one pair with a grade of 1 or more, under the ids that the questions have.",
        )
    warnings = _said(folder, empty, len(queries) - len(judged))
    name = folder.resolve().name + (f" asked by {queries_from.resolve().name}" if queries_from else "")
    identified, language = _in_language(list(documents.values()), identify)
    kept = {id: qrels[id] for id in judged}
    return Dataset(name, split, tuple(identified), tuple(judged.values()), kept, language, warnings)


def pool_datasets(datasets: Sequence[Dataset]) -> Dataset:
    """Return one data set of all the documents, each question with the relevant ones of every set.

    Document ids get their data set's name in front ("en:p12"), so that the same id in two corpora stays two documents.
    Questions are those of the first data set; a question's text in the others (its translation) is not asked.
    """
    first = datasets[0]
    given = [dataset.name for dataset in datasets]
    # Numbered, if another one of the pool has the same.
    names = [name if given.count(name) == 1 else f"{name}{place}" for place, name in enumerate(given, start=1)]
    documents = tuple(
        replace(document, id=f"{name}:{document.id}")
        for name, dataset in zip(names, datasets, strict=True)
        for document in dataset.documents
    )
    qrels = {
        query.id: {
            f"{name}:{id}": grade
            for name, dataset in zip(names, datasets, strict=True)
            for id, grade in dataset.qrels.get(query.id, {}).items()
        }
        for query in first.queries
    }
    languages = {dataset.language for dataset in datasets}
    return Dataset(
        name="+".join(names),
        split=first.split,
        documents=documents,
        queries=first.queries,
        qrels=qrels,
        language=languages.pop() if len(languages) == 1 else _MIXED,
        warnings=tuple(dict.fromkeys(warning for dataset in datasets for warning in dataset.warnings)),
    )


def _split_files(folder: Path, stem: str, ending: str, split: Split) -> list[Path]:
    """Return the files of a split; the plain one if the data set is not cut into splits."""
    plain = folder / f"{stem}.{ending}"
    cut = sorted(folder.glob(f"{stem}.*.{ending}"))
    if cut and split == "all":
        return cut
    wanted = folder / f"{stem}.{split}.{ending}"
    if wanted in cut:
        return [wanted]
    if not cut and plain.is_file():
        return [plain]
    there = ", ".join(path.name for path in cut)
    missing = f"{wanted.name}, only {there}" if cut else f"{wanted.name} or {plain.name}"
    raise InputError(
        f"{folder} has no {missing}.", help="Name a data set with corpus.jsonl, queries and qrels, or another split."
    )


def _read_corpus(folder: Path) -> tuple[dict[str, CorpusDocument], list[str]]:
    """Return the documents by id, and the ids of empty ones."""
    path = folder / "corpus.jsonl"
    documents: dict[str, CorpusDocument] = {}
    empty: list[str] = []
    for line in read_objects(path):
        texts = (line.field(name, missing="") for name in ("title", "text"))
        document = CorpusDocument(line.field("_id"), *texts)
        line.refuse_second(document.id, documents)
        documents[document.id] = document
        if not document.whole:
            empty.append(document.id)
    if not documents:
        raise InputError(f"{path} has no document.", help="Give a document a line: _id, title, text.")
    return documents, empty


def _read_queries(paths: Iterable[Path]) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for path in paths:
        for line in read_objects(path):
            query = Query(line.field("_id"), line.field("text"))
            if not any(character.isalnum() for character in query.text):
                raise line.error(f"question {query.id!r} has no word in it.", "Write it or remove it.")
            line.refuse_second(query.id, queries)
            queries[query.id] = query
    return queries


def _read_qrels(paths: Iterable[Path], documents: set[str], queries: set[str] | None) -> dict[str, dict[str, int]]:
    """Return grades by question and document; the questions are checked only if they are given."""
    qrels: dict[str, dict[str, int]] = {}
    for path in paths:
        for line in read_lines(path):
            columns = line.text.split("\t") if "\t" in line.text else line.text.split()
            if line.number == 1 and columns[0].strip().lower() in ("query-id", "query_id", "qid"):
                continue
            if len(columns) not in (3, 4):
                cure = "Write query-id, corpus-id, score between tabs, or TREC's query, 0, document, grade."
                raise line.error(f"{len(columns)} columns, not 3 or 4.", cure)
            query, document, reported = (columns[place].strip() for place in (0, -2, -1))
            grade = _grade(line, reported)
            _refuse_unknown(line, "document", document, documents, "corpus.jsonl")
            if queries is not None:
                _refuse_unknown(line, "question", query, queries, "the queries")
            graded = qrels.setdefault(query, {})
            if graded.setdefault(document, grade) != grade:
                message = f"{query!r} and {document!r} have grade {grade}, before {graded[document]}."
                raise line.error(message, "Keep one of the two lines.")
    return qrels


def _refuse_unknown(line: FileLine, kind: str, id: str, known: set[str], where: str) -> None:
    if id not in known:
        raise line.error(f"no {kind} has the id {id!r}.", f"Add it to {where}, or remove the line.")


def _grade(line: FileLine, reported: str) -> int:
    try:
        grade = float(reported)
    except ValueError:
        grade = -1.0
    if grade < 0 or not grade.is_integer():
        cure = "Write 0 for a document that does not answer, 1 or more for one that does."
        raise line.error(f"the grade {reported!r} is not a whole number from 0 up.", cure)
    return int(grade)


def _in_language(documents: list[CorpusDocument], identify: Identify) -> tuple[Iterable[CorpusDocument], str]:
    """Return the documents with their language, and the language of the corpus.

    All get one language if nearly all of a sample agree.
    """

    def language_of(document: CorpusDocument) -> str:
        return identify(document.whole[:_SAMPLE_CHARACTERS]) if document.whole else ""

    written = [document for document in documents if document.whole]
    step = max(1, len(written) // _SAMPLE)
    votes = Counter(map(language_of, written[::step]))
    language, count = votes.most_common(1)[0] if votes else ("", 0)
    if language and count >= _AGREEMENT * votes.total():
        return [replace(document, language=language) for document in documents], language
    return [replace(document, language=language_of(document)) for document in documents], _MIXED


def _said(folder: Path, empty: Sequence[str], unjudged: int) -> tuple[Message, ...]:
    reported = []
    if empty:
        named = ", ".join(empty[:3]) + (", ..." if len(empty) > 3 else "")
        reported.append(
            Message(
                "{folder}: {count} documents have no text and cannot be found ({named}).",
                folder=folder,
                count=len(empty),
                named=named,
            )
        )
    if unjudged:
        reported.append(
            Message(
                "{folder}: {count} questions have no relevant document and were left out.",
                folder=folder,
                count=unjudged,
            )
        )
    return tuple(reported)
