"""Comparison: questions as rows, documents or countries as columns, and answers in the cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ingestion.dataset.comparison.decisions import CHOICES, CellDecision
from rag_engine.answering.structured.answer_schema import NOTE, AnswerSchema, SchemaAttribute
from rag_engine.answering_documents import answering_documents
from rag_engine.conversations.person import SharedRecord
from rag_engine.errors import InputError
from rag_engine.filters import DOCUMENT, VERSIONS, Filter
from rag_engine.messages import Message
from rag_engine.storage.snapshot import Snapshot
from rag_engine.text.file_kinds import pages_text
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import Attribute, Citation, ShownQuotation
from rag_engine.types.document import DocumentRecord

ColumnKind = Literal["document", "country"]
CellStatus = Literal["answered", "closest passages", "nothing found", "failed"]
NOT_ASKED = "not asked yet"
# What can be said of a place: a decision by hand comes before what was found.
STATES = (*CHOICES, *get_args(CellStatus), NOT_ASKED)
MOST_QUESTIONS, MOST_COLUMNS, MOST_CELLS = 200, 1000, 20_000
COUNTRY = "country"


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """Extent of the search for a cell: the passages of its documents, and the closely read ones."""

    documents: int
    passages: int
    read: int

    def describe(self, words: Wording = ENGLISH) -> str:
        """Return the effort in words: "1,234 passages in 12 documents searched, 9 read closely"."""
        return words.message(
            "{passages} in {documents} searched, {read} read closely",
            passages=words.counted("{n} passage", "{n} passages", self.passages),
            documents=words.counted("{n} document", "{n} documents", self.documents),
            read=words.number(self.read),
        )


@dataclass(frozen=True, slots=True)
class ComparisonCell(SharedRecord):
    """The answer of a column to a question.

    `short` is the text in the table, from the citation `lead` if it is a quotation. `text` is the whole answer with its
    marks [Source n], `asked` the moment in UTC. Where nothing was found, `citations` are the nearest passages. `found`
    are the documents of all passages that were found, whether the answer cites them or not. Of a form, `records` are
    the values of each record, stated by the citation of the same place. `quoted` are those of an answer without
    a model as they are shown. `answering` are the numbers from 0 of the citations that answer. `since` is the moment
    from which the cell has this answer, `decision` the last one by hand.
    """

    question: str
    column: str
    status: CellStatus
    short: Message | str
    text: Message | str
    citations: tuple[Citation, ...] = ()
    lead: int = 0
    effort: SearchEffort = SearchEffort(0, 0, 0)
    generator: str = ""
    warnings: tuple[Message, ...] = ()
    asked: str = ""
    found: tuple[str, ...] = ()
    records: tuple[tuple[Attribute, ...], ...] = ()
    comparison: str = ""
    quoted: tuple[ShownQuotation, ...] = ()
    answering: tuple[int, ...] = ()
    since: str = ""
    decision: CellDecision | None = None

    @property
    def decided(self) -> CellDecision | None:
        """The decision that counts; none but a correction outlives the answer that it was made upon."""
        made = self.decision
        return made if made and (made.choice == "corrected" or made.since == self.since) else None

    @property
    def state(self) -> str:
        """The choice of a person who decided on the cell, else its status."""
        return self.decided.choice if self.decided else self.status

    @property
    def is_answer(self) -> bool:
        """Whether its text is an answer: it was found to answer, or a person says so."""
        found = self.status != "nothing found" and self.state in ("answered", "accepted")
        return found or self.state == "corrected"

    @property
    def shown(self) -> Message | str:
        """The text in the table: a person's in place of the answer's."""
        return self.decided.text if self.decided and self.decided.choice == "corrected" else self.short

    @property
    def id(self) -> str:
        """The id of the cell among the cells of every comparison."""
        return cell_id(self.comparison, (self.question, self.column))

    @property
    def evidence(self) -> tuple[Citation, ...]:
        """The quotes that bear the answer out: none if nothing was found."""
        return () if self.status == "nothing found" else self.citations

    @property
    def first(self) -> Citation | None:
        """The quote that the table names, None if there is none."""
        return next(iter(self.evidence[self.lead :]), None)

    def source(self, words: Wording = ENGLISH) -> str:
        """Where that quote is: its title, unless that is the column, and its page; "" without a quote."""
        if self.first is None:
            return ""
        page = pages_text(self.first.file, self.first.named_page, words)
        own = self.first.document_id == self.column
        return ", ".join(filter(None, ("" if own else self.first.title, page)))


@dataclass(frozen=True, slots=True)
class ComparisonColumn:
    """A document by its id and title, or a country by its name."""

    key: str
    label: str


CellPlace = tuple[str, str]


def cell_id(comparison: str, place: CellPlace) -> str:
    """Return the id of the cell at a question and a column, which have one line each."""
    question, column = place
    return f"{comparison}\n{column}\n{question}"


@dataclass(frozen=True, slots=True)
class Comparison(SharedRecord):
    """Questions, columns of one kind with their filter, and the cells asked so far, by their place.

    With a form, each cell holds its records instead of an answer in words. The cells of an outline have no texts.
    """

    id: str
    name: str
    by: ColumnKind
    questions: tuple[str, ...]
    columns: tuple[ComparisonColumn, ...]
    wanted: Filter
    made: str
    cells: Mapping[CellPlace, ComparisonCell]
    form: AnswerSchema | None = None

    @property
    def places(self) -> tuple[CellPlace, ...]:
        """Every place, row by row."""
        return tuple((question, column.key) for question in self.questions for column in self.columns)

    @property
    def open_places(self) -> tuple[CellPlace, ...]:
        """The places that were not asked, or that failed."""
        return tuple(
            place for place in self.places if (cell := self.cells.get(place)) is None or cell.status == "failed"
        )

    def state_of(self, place: CellPlace) -> str:
        """Return how a place is answered or decided on, or that it was not asked yet."""
        cell = self.cells.get(place)
        return cell.state if cell else NOT_ASKED

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places have which state, or were not asked yet."""
        return dict(Counter(map(self.state_of, self.places)))

    def describe(self, words: Wording = ENGLISH) -> str:
        """Return how many cells have which state: "12 answered, 3 nothing found, 25 not asked yet"."""
        return describe_counts(self.counts, words)


def describe_counts(counts: Mapping[str, int], words: Wording = ENGLISH) -> str:
    """Return the counts of a comparison in words.

    >>> describe_counts({"answered": 12, "nothing found": 3})
    '12 answered, 3 nothing found'
    """
    n = {state: counts.get(state, 0) for state in STATES}
    told = {
        "accepted": words.counted("{n} accepted", "{n} accepted", n["accepted"]),
        "corrected": words.counted("{n} corrected", "{n} corrected", n["corrected"]),
        "rejected": words.counted("{n} rejected", "{n} rejected", n["rejected"]),
        "answered": words.counted("{n} answered", "{n} answered", n["answered"]),
        "closest passages": words.counted("{n} closest passages", "{n} closest passages", n["closest passages"]),
        "nothing found": words.counted("{n} nothing found", "{n} nothing found", n["nothing found"]),
        "failed": words.counted("{n} failed", "{n} failed", n["failed"]),
        NOT_ASKED: words.counted("{n} not asked yet", "{n} not asked yet", n[NOT_ASKED]),
    }
    return ", ".join(text for state, text in told.items() if n[state])


def read_questions(text: str) -> tuple[str, ...]:
    r"""Return the questions of a text, one a line, each once.

    >>> read_questions("Who warns the public?\n\nWho pays?\n  Who   pays?")
    ('Who warns the public?', 'Who pays?')
    """
    return tuple(dict.fromkeys(filter(None, (" ".join(line.split()) for line in text.splitlines()))))


def schema_questions(schema: AnswerSchema) -> tuple[str, ...]:
    """Return a question for each value that a schema asks for, in its own words."""
    fields = [*schema.entities, *schema.attributes]
    return tuple(_field_question(schema.title, field) for field in fields if field.name != NOTE)


def _field_question(about: str, field: SchemaAttribute) -> str:
    """Return "Policy measures, actor: who is to do it?"; a description that is a question stays as it is."""
    said = " ".join(field.description.split())
    if said.endswith("?"):
        return said
    name = (field.title or field.name.replace("_", " ")).strip()
    subject = ", ".join(filter(None, (about, name[:1].lower() + name[1:] if about else name)))
    return f"{subject}: {said.rstrip('.')}?" if said else f"{subject}?"


def columns_of(by: ColumnKind, wanted: Filter, snapshot: Snapshot) -> tuple[ComparisonColumn, ...]:
    """Return the columns that a filter chooses: its documents by title, or their countries.

    A filter by country leaves those countries alone. InputError for a value that no document has.
    """
    allowed = answering_documents(wanted, snapshot.facets, snapshot.documents)
    chosen = [snapshot.documents[key] for key in sorted(snapshot.documents if allowed is None else allowed)]
    if by == "document":
        labels = _distinct_labels(chosen)
        found = (ComparisonColumn(document.document_id, labels[document.key]) for document in chosen)
        return tuple({column.key: column for column in found}.values())
    asked = {value.casefold() for value in wanted.get(COUNTRY, ())}
    countries = {country for document in chosen for country in document.metadata.countries}
    return tuple(ComparisonColumn(one, one) for one in sorted(countries) if not asked or one.casefold() in asked)


def _distinct_labels(documents: Sequence[DocumentRecord]) -> dict[int, str]:
    """Return the titles of documents, with the year or the file's name where two have the same."""
    titles = {document.key: document.shown_title for document in documents}
    for added in (lambda one: str(one.metadata.year or ""), lambda one: one.file):
        often = Counter(titles.values())
        again = [document for document in documents if often[titles[document.key]] > 1 and added(document)]
        titles |= {document.key: f"{titles[document.key]} ({added(document)})" for document in again}
    return titles


def filter_of(comparison: Comparison, column: str) -> Filter:
    """Return the filter within which a column is asked: one document, or the documents about one country."""
    if comparison.by == "document":
        return {DOCUMENT: (column,), VERSIONS: ("all",)}
    return {**comparison.wanted, COUNTRY: (column,)}


def present_columns(comparison: Comparison, snapshot: Snapshot) -> frozenset[str]:
    """Return the columns that the collection still has."""
    held = snapshot.facets.get(DOCUMENT if comparison.by == "document" else COUNTRY, {})
    return frozenset(column.key for column in comparison.columns if held.get(column.key))


def searched_passages(comparison: Comparison, column: str, snapshot: Snapshot) -> tuple[int, int]:
    """Return how many documents a column has that answer, and how many passages they have together."""
    allowed = answering_documents(filter_of(comparison, column), snapshot.facets, snapshot.documents)
    keys = snapshot.documents if allowed is None else allowed
    return len(keys), sum(snapshot.documents[key].children for key in keys)


def outdated_columns(comparison: Comparison, snapshot: Snapshot) -> frozenset[str]:
    """Return the present columns with a cell that was asked of other documents than they have now."""
    asked: dict[str, set[tuple[int, int]]] = {}
    for (_, column), cell in comparison.cells.items():
        if cell.status != "failed":
            asked.setdefault(column, set()).add((cell.effort.documents, cell.effort.passages))
    present = present_columns(comparison, snapshot) & asked.keys()
    return frozenset(key for key in present if asked[key] != {searched_passages(comparison, key, snapshot)})


def extended(
    comparison: Comparison, questions: Sequence[str] = (), columns: Sequence[ComparisonColumn] = ()
) -> Comparison:
    """Return the comparison with more questions and columns, without those that it already has.

    InputError if nothing is added, or if there is more than a table can show.
    """
    asked = tuple(dict.fromkeys((*comparison.questions, *questions)))
    known = {column.key: column for column in (*columns, *comparison.columns)}
    keys = dict.fromkeys(column.key for column in (*comparison.columns, *columns))
    if not asked:
        raise InputError("There is no question to compare by.", help="Write one question a line.")
    if not keys:
        raise InputError("There is nothing to compare.", help="Choose a filter that leaves documents or countries.")
    if len(asked) > MOST_QUESTIONS:
        raise InputError(
            "A comparison has at most {most} questions; these are {count}.",
            help="Leave some out, or make a second comparison.",
            most=MOST_QUESTIONS,
            count=len(asked),
        )
    if len(keys) > MOST_COLUMNS:
        raise InputError(
            "A comparison has at most {most} columns; these are {count}.",
            help="Narrow them down by a filter.",
            most=MOST_COLUMNS,
            count=len(keys),
        )
    if len(asked) * len(keys) > MOST_CELLS:
        raise InputError(
            "A comparison has at most {most:,} cells; these are {count:,}.",
            help="Leave some out, or make a second comparison.",
            most=MOST_CELLS,
            count=len(asked) * len(keys),
        )
    return replace(comparison, questions=asked, columns=tuple(known[key] for key in keys))


def without(comparison: Comparison, *, question: str = "", column: str = "") -> Comparison:
    """Return the comparison without a question or a column, and without its cells."""
    return replace(
        comparison,
        questions=tuple(one for one in comparison.questions if one != question),
        columns=tuple(one for one in comparison.columns if one.key != column),
        cells={place: cell for place, cell in comparison.cells.items() if question != place[0] and column != place[1]},
    )


def documents_of(cell: ComparisonCell) -> set[str]:
    """Return the documents that a cell may repeat: its column, what it cites, and what was found for it."""
    return {cell.column, *cell.found, *(citation.document_id for citation in cell.citations)}


def cites_any(cell: ComparisonCell, documents: Collection[str]) -> bool:
    """Return whether a cell is about one of these documents or cites one."""
    return cell.column in documents or any(citation.document_id in documents for citation in cell.citations)


def without_documents(cell: ComparisonCell, documents: Collection[str]) -> ComparisonCell | None:
    """Return a cell without its parts from erased documents; None if it must be asked again.

    A failed cell is asked again too: a server may have repeated the text of a document in its error. A warning may name
    what was found.
    """
    if cell.status == "failed" or cites_any(cell, documents):
        return None
    left = tuple(one for one in cell.found if one not in documents)
    return cell if left == cell.found else replace(cell, warnings=(), found=left)


def cells_in_order(comparison: Comparison) -> Iterator[tuple[str, ComparisonColumn, ComparisonCell | None]]:
    """Yield question, column and cell of each place, row by row; None for a place that was not asked."""
    for question in comparison.questions:
        for column in comparison.columns:
            yield question, column, comparison.cells.get((question, column.key))


def cell_text(cell: ComparisonCell | None, words: Wording = ENGLISH) -> str:
    """Return a cell as a table shows it: its words with their page, or how much was searched."""
    if cell is None:
        return words.message("Not asked yet")
    decided = cell.decided
    if decided and decided.choice == "corrected":
        return words.message("{text} [corrected by {name}]", text=decided.text, name=decided.author)
    said = _found_text(cell, words)
    if decided and decided.choice == "rejected":
        return words.message("Rejected by {name}: {text}", name=decided.author, text=said)
    return said


def _found_text(cell: ComparisonCell, words: Wording) -> str:
    if cell.status == "nothing found":
        return words.message("Nothing found: {effort}.", effort=cell.effort.describe(words))
    if cell.status == "failed":
        return words.message("Failed: {error}", error=words.kept(cell.short))
    source = cell.source(words)
    shown = f"{cell.short} [{source}]" if source else cell.short
    closest = cell.status == "closest passages" and cell.state != "accepted"
    return words.message("Closest passages: {quote}", quote=shown) if closest else shown


def state_text(state: str, words: Wording = ENGLISH) -> str:
    """Return the state of a cell, or that it was not asked, in words."""
    match state:
        case "accepted":
            return words.message("accepted")
        case "corrected":
            return words.message("corrected")
        case "rejected":
            return words.message("rejected")
        case "answered":
            return words.message("answered")
        case "closest passages":
            return words.message("closest passages")
        case "nothing found":
            return words.message("nothing found")
        case "failed":
            return words.message("failed")
        case _:
            return words.message("not asked yet")
