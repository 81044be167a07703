"""Asking the cells of a comparison: each within its own column, kept as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from ingestion.dataset.comparison.comparison import (
    CellPlace,
    CellStatus,
    Comparison,
    ComparisonCell,
    SearchEffort,
    filter_of,
    present_columns,
    searched_passages,
)
from ingestion.dataset.comparison.short_text import best_quotation, shortened, without_marks
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.types.run import Progress
from rag_engine.answer_sentences import insufficient, quotations_heading
from rag_engine.answering.chances import with_sources
from rag_engine.answering.citations import citation_at
from rag_engine.config import RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from rag_engine.filters import Filter
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.retrieval.place_fit import said
from rag_engine.takeaway.exported_text import attribute_text
from rag_engine.text.neutralise import one_line
from rag_engine.types.answer import QUOTED, Answer, Citation, CitedRecord, StructuredAnswer
from rag_engine.types.evidence import Evidence, GeographicScope, QueryPlan
from rag_engine.types.passage import Source

# Passages that are shown where none answers.
_NEAREST = 3
# Passages of a column that are read. One read on a slow machine takes a twentieth of a second.
MOST_READ = 1000
# Failures one after the other from which the model is taken to be unavailable.
_FAILURES = 3


@dataclass(frozen=True, slots=True)
class CellsRequest:
    """Request for a job: the cells of a comparison at these questions and columns.

    Only cells that were not asked or failed are asked; with `since` also those asked before that moment.
    """

    comparison: str
    questions: tuple[str, ...]
    columns: tuple[str, ...]
    since: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the request as the job queue keeps it."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values


@dataclass(frozen=True, slots=True)
class AskedCells:
    """Outcome of a job: how many cells were asked, how many failed, and the state of the comparison.

    `counts` gives the number of its cells by status; it is empty if the comparison was deleted meanwhile.
    """

    asked: int
    failed: int
    counts: Mapping[str, int]


_REQUEST = TypeAdapter(CellsRequest)


def cells_request_of(values: Mapping[str, Any]) -> CellsRequest:
    """Return the request that `to_json` gave."""
    return _REQUEST.validate_python(values)


def moment() -> str:
    """Return this moment in UTC, fine enough that a cell asked after it is later."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def places_of(comparison: Comparison, request: CellsRequest, present: Collection[str]) -> list[CellPlace]:
    """Return the places of a request that the comparison has, row by row, in present columns."""
    wanted = {(question, column) for question in request.questions for column in request.columns if column in present}
    return [place for place in comparison.places if place in wanted]


def waiting_of(comparison: Comparison, places: Sequence[CellPlace], since: str) -> list[CellPlace]:
    """Return the places that were not asked, that failed, or that were asked before the moment `since`."""
    left = set(comparison.open_places)
    return [place for place in places if place in left or comparison.cells[place].asked < since]


def ask_cells(
    engine: Engine,
    store: ComparisonStore,
    request: CellsRequest,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> AskedCells:
    """Ask the cells of a request, and keep each before the next is asked.

    `stopped` ends it after the cell it is at, and so does the removal of the comparison. A failed cell is kept as
    failed, and the next is asked. BackendError if the language model fails three times in a row, or at all of fewer
    cells.
    """
    comparison = store.require(request.comparison, whole=False)
    labels = {column.key: column.label for column in comparison.columns}
    present = present_columns(comparison, engine.collection.snapshot())
    asked_for = places_of(comparison, request, present)
    waiting = waiting_of(comparison, asked_for, request.since)
    if waiting and comparison.form:
        engine.models.require_language_model()
    plan_of, done = cache(engine.plan), len(asked_for) - len(waiting)
    asked, failed, in_a_row, there = 0, 0, 0, True
    for question, column in waiting:
        if stopped() or not there:
            break
        progress(Progress(done + asked, len(asked_for), 0, 0, f"{labels[column]}: {question}"))
        broken, begun = None, moment()
        try:
            cell = ask_cell(engine, comparison, plan_of(question), column)
        except (BackendError, InputError) as error:
            broken = error
            cell = ComparisonCell(question, column, "failed", error.message, error.message)
        # What is erased while it is asked is erased since.
        there = store.put_cell(comparison.id, replace(cell, asked=begun))
        failed += cell.status == "failed"
        if isinstance(broken, BackendError):
            in_a_row += 1
            if in_a_row == min(_FAILURES, len(waiting)):
                raise broken
        elif cell.status == "answered":
            # Where nothing is near enough, no model is asked.
            in_a_row = 0
        asked += 1
    progress(Progress(done + asked, len(asked_for), 0, 0, ""))
    after = store.outline(comparison.id)
    return AskedCells(asked, failed, after.counts if after else {})


def ask_cell(engine: Engine, comparison: Comparison, plan: QueryPlan, column: str) -> ComparisonCell:
    """Return the answer of a column to a planned question; BackendError if the language model fails.

    The column is the place that is asked about: a country that the question names is neither searched first nor a
    reason to refuse. Of documents about several countries, passages on other countries alone are left out, unless the
    question names one itself.
    """
    wanted = filter_of(comparison, column)
    searched = searched_passages(comparison, column, engine.collection.snapshot())
    retrieval = engine.retrieval(read_all=True, candidates=min(max(searched[1], 1), MOST_READ))
    # The scope of a question is what it names; here every document is of the column.
    evidence = engine.find(replace(plan, scope=GeographicScope()), wanted, retrieval)
    if comparison.form is None:
        evidence = _gathered(engine, evidence, wanted, retrieval)
    if comparison.by == "country" and not plan.scope:
        kept = [source for source in evidence.sources if _may_be_on(source, column)]
        if len(kept) < len(evidence.sources):
            evidence = with_sources(evidence, kept)
    answer = engine.structure(evidence, comparison.form) if comparison.form else _written(engine, evidence)
    cell = ComparisonCell(
        question=plan.question,
        column=column,
        status="nothing found",
        short="",
        text="",
        citations=_nearest(evidence) if answer.status == "insufficient_evidence" else (),
        effort=SearchEffort(*searched, evidence.read),
        generator=answer.generator,
        warnings=tuple(dict.fromkeys((*evidence.warnings, *answer.warnings))),
        found=tuple(dict.fromkeys(source.document.document_id for source in evidence.sources)),
    )
    if isinstance(answer, StructuredAnswer):
        return _with_records(cell, answer)
    answering = cell_answers(answer)
    short, lead = _worded(answer, engine, answering)
    status = _status(answer, answering)
    return replace(
        cell,
        status=status,
        short=short,
        text=_reworded(answer) if status == "closest passages" else answer.text,
        citations=cell.citations or answer.citations,
        lead=lead,
        quoted=answer.quoted,
        answering=answering,
    )


def cell_answers(answer: Answer) -> tuple[int, ...]:
    """Return the numbers from 0 of the citations that answer: of a language model's text all of them."""
    if answer.generator != QUOTED:
        return tuple(range(len(answer.citations)))
    return tuple(n for n, quotation in enumerate(answer.quoted) if quotation.fit == "answers")


def _written(engine: Engine, evidence: Evidence) -> Answer:
    """Return the answer in words; BackendError if the language model fails."""
    generator, _ = engine.models.language_model()
    answer: Answer | None = None
    for part in engine.answer_from(evidence, generator):
        answer = part if isinstance(part, Answer) else answer
    assert answer is not None, "an answer always ends with itself"
    if answer.status == "error" and answer.generator != QUOTED:
        raise BackendError(answer.text)
    return answer


def _with_records(cell: ComparisonCell, form: StructuredAnswer) -> ComparisonCell:
    """Return the cell with the records of a form, each with the fields of the form outside its list."""
    language = form.evidence.plan.language
    if not form.records:
        return replace(cell, short=insufficient(language), text=insufficient(language))
    return replace(
        cell,
        status="answered",
        short=shortened("; ".join(map(_values, form.records)), language),
        text="\n".join(f"- {_values(record)} [Source {record.citation.n}]" for record in form.records),
        citations=tuple(record.citation for record in form.records),
        records=tuple((*form.entities, *record.attributes) for record in form.records),
    )


def _values(record: CitedRecord) -> str:
    return one_line(
        "; ".join(attribute_text(attribute.value) for attribute in record.attributes if attribute.value is not None)
    )


def _gathered(engine: Engine, first: Evidence, wanted: Filter, retrieval: RetrievalConfig) -> Evidence:
    """Return the evidence for all parts of a question."""
    steps = engine.gather(first, wanted, retrieval)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            gathered: Evidence = end.value
            return gathered


def _may_be_on(source: Source, country: str) -> bool:
    """Return whether a passage names no other country alone."""
    metadata = source.document.metadata
    if len(metadata.countries) < 2:
        return True
    named = find_places(said(source), load_gazetteer(), metadata.language, running=True).countries
    return not named or country in named


def _status(answer: Answer, answering: Sequence[int]) -> CellStatus:
    if answer.status == "insufficient_evidence":
        return "nothing found"
    if answer.status == "error":
        return "failed"
    return "answered" if answering else "closest passages"


def _worded(answer: Answer, engine: Engine, answering: Sequence[int]) -> tuple[str, int]:
    """Return the few words of an answer that a table shows, and the number of their citation."""
    if answer.status != "answered" or answer.generator != QUOTED:
        return shortened(without_marks(answer.text), answer.evidence.plan.language), 0
    number, quotation, place = best_quotation(answer.quoted, answering)
    return shortened(quotation, engine.language_of(quotation), place), number


def _reworded(answer: Answer) -> str:
    """Return quotations of which none answers under the words that say so."""
    language = answer.evidence.plan.language
    sure, unsure = (quotations_heading(language, sure=one) for one in (True, False))
    return answer.text.replace(sure, unsure, 1)


def _nearest(evidence: Evidence) -> tuple[Citation, ...]:
    """Return the places of the passages that came nearest."""
    found = [(source, source.hits[0]) for source in evidence.sources[:_NEAREST] if source.hits]
    return tuple(
        citation_at(source, hit.start - source.start, hit.end - source.start, lambda *_, page=hit.page: page)
        for source, hit in found
    )
