"""The cells of a comparison, asked of real documents and kept as they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingestion.acts.comparisons import (
    ask_comparison,
    begin_comparison,
    extend_comparison,
    remove_comparison,
    restore_comparison,
)
from ingestion.acts.context import ActContext
from ingestion.acts.documents import add_files, erase
from ingestion.dataset.comparison.ask_cells import AskedCells, CellsRequest, ask_cells, cells_request_of
from ingestion.dataset.comparison.comparison import ColumnKind, Comparison, ComparisonCell
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.types.run import Progress
from ingestion.worker import work
from rag_engine.errors import BackendError
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Tier
from tests.ingestion.dataset.comparison.conftest import ComparingEngine, WritingModel
from tests.ingestion.left_behind import files_holding, forms
from tests.present import present
from tests.rag_engine.small_collection import ReadingByHand

WHO = "Who pays for the heat plan?"
WHEN = "Who opens the cooling centres?"


def begin(context: ActContext, questions: Sequence[str] = (WHO,), by: ColumnKind = "country") -> Comparison:
    return begin_comparison(context, questions, by, {})


def ask(context: ActContext, begun: Comparison, since: str = "", **more: Any) -> AskedCells:
    columns = tuple(column.key for column in begun.columns)
    request = CellsRequest(begun.id, begun.questions, columns, since)
    return ask_cells(context.engine, ComparisonStore(context.engine.catalog), request, **more)


def found(context: ActContext, begun: Comparison) -> dict[tuple[str, str], ComparisonCell]:
    return dict(ComparisonStore(context.engine.catalog).require(begun.id).cells)


def test_a_country_is_answered_from_its_own_documents_with_the_place_of_its_quote(context: ActContext) -> None:
    begun = begin(context)
    done = ask(context, begun)
    assert (done.asked, done.failed) == (3, 0)
    cells = found(context, begun)
    spain, france = cells[WHO, "Spain"], cells[WHO, "France"]
    assert "health ministry of Spain pays" in spain.short
    assert "prefecture of France pays" in france.short
    assert france.first is not None
    assert (france.first.file, france.first.page, france.first.licence) == ("france.md", 1, "CC BY-NC 4.0")
    assert (
        context.engine.catalog.text(_key(context, "france.md"))[france.first.start : france.first.end]
        == france.first.quote
    )


@pytest.mark.parametrize("reader", [ReadingByHand(len), None])
def test_how_hard_was_searched_counts_the_passages_of_the_column(
    context: ActContext, engine: ComparingEngine, reader: ReadingByHand | None
) -> None:
    engine.models.reading = reader
    begun = begin(context)
    ask(context, begun)
    effort = found(context, begun)[WHO, "Spain"].effort
    children = {one.file: one.children for one in context.engine.collection.documents()}
    assert (effort.documents, effort.passages) == (2, children["spain.md"] + children["both.md"])
    assert effort.read == (effort.passages if reader else 0)


def test_every_passage_of_a_long_document_is_read(context: ActContext, engine: ComparingEngine, tmp_path: Path) -> None:
    said = "\n\n".join(f"# Chapter {n}\n\nWatch {n} is kept by the warden of district {n}." * 3 for n in range(60))
    (tmp_path / "long.md").write_text(said, encoding="utf-8")
    add_files(context, [tmp_path / "long.md"])
    engine.models.reading = reader = ReadingByHand(len)
    engine.config = replace(engine.config, retrieval=engine.retrieval(rerank=True))
    [long] = [one for one in engine.collection.documents() if one.file == "long.md"]
    begun = begin_comparison(context, ["Who keeps watch 41?"], "document", {}, only=[long.document_id])
    ask(context, begun)
    [cell] = found(context, begun).values()
    assert (cell.effort.read, cell.effort.passages) == (long.children, long.children)
    assert long.children > 40
    # Quotations are read by themselves too.
    assert len(set(reader.scored)) >= long.children


def test_a_country_that_a_question_names_is_no_reason_to_refuse_another_column(context: ActContext) -> None:
    begun = begin(context, ["Who pays for the heat plan in France?"])
    ask(context, begun)
    cells = {column: cell for (_, column), cell in found(context, begun).items()}
    assert "health ministry of Spain" in cells["Spain"].short


def test_a_document_about_several_countries_answers_each_with_its_own_passages(context: ActContext) -> None:
    begun = begin(context, [WHEN])
    ask(context, begun)
    cells = found(context, begun)
    assert "In Italy the regions" in cells[WHEN, "Italy"].text
    assert "In Spain the municipalities" not in cells[WHEN, "Italy"].text
    assert "In Spain the municipalities" in cells[WHEN, "Spain"].text
    assert "In Italy the regions" not in cells[WHEN, "Spain"].text


def test_where_nothing_is_found_the_nearest_passages_are_no_evidence(context: ActContext) -> None:
    begun = begin(context, ["Which helicopters transport wounded climbers?"])
    ask(context, begun)
    cells = found(context, begun).values()
    assert {cell.status for cell in cells} == {"nothing found"}
    assert not any(cell.evidence for cell in cells)
    assert all(cell.effort.passages for cell in cells)


def test_each_document_is_asked_by_itself(context: ActContext) -> None:
    begun = begin(context, by="document")
    ask(context, begun)
    for (_, column), cell in found(context, begun).items():
        assert {one.document_id for one in cell.citations} <= {column}
        assert cell.effort.documents == 1


@pytest.mark.parametrize(("tier", "status"), [("strong", "answered"), ("moderate", "closest passages")])
def test_a_cell_is_answered_only_where_a_quotation_answers(
    context: ActContext, engine: ComparingEngine, monkeypatch: pytest.MonkeyPatch, tier: Tier, status: str
) -> None:
    find = engine.find
    monkeypatch.setattr(engine, "find", lambda *given: with_tier(find(*given), tier))
    begun = begin(context)
    ask(context, begun)
    cell = found(context, begun)[WHO, "France"]
    assert (cell.status, bool(cell.answering)) == (status, status == "answered")
    assert ("may not answer" in cell.text) == (status == "closest passages")


def with_tier(evidence: Evidence, tier: Tier) -> Evidence:
    """Return evidence that is enough, with every passage of one tier."""
    sources = tuple(
        replace(source, hits=tuple(replace(hit, tier=tier) for hit in source.hits)) for source in evidence.sources
    )
    return replace(evidence, sources=sources, ground="enough")


def test_a_language_model_writes_the_cells(context: ActContext, model: WritingModel) -> None:
    begun = begin(context)
    ask(context, begun)
    cell = found(context, begun)[WHO, "France"]
    assert (cell.status, cell.text, cell.generator) == ("answered", model.reply, "writing model")
    assert cell.short == "The ministry pays for the heat plan."
    assert cell.first is not None
    assert "prefecture of France pays" in cell.first.quote


def test_one_cell_that_fails_does_not_stop_the_others_and_is_asked_again(
    context: ActContext, model: WritingModel
) -> None:
    model.failing = {"prefecture of France": BackendError("too long")}
    begun = begin(context)
    done = ask(context, begun)
    assert (done.asked, done.failed) == (3, 1)
    statuses = {column: cell.status for (_, column), cell in found(context, begun).items()}
    assert statuses["France"] == "failed"
    assert statuses["Spain"] == "answered"
    model.failing = {}
    assert ask(context, begun).asked == 1
    assert found(context, begun)[WHO, "France"].status == "answered"


def test_a_model_that_always_fails_ends_the_run_and_leaves_the_rest_for_later(
    context: ActContext, model: WritingModel
) -> None:
    model.failing = {"": BackendError("out of memory")}
    begun = begin(context, [WHO, WHEN])
    with pytest.raises(BackendError, match="out of memory"):
        ask(context, begun)
    statuses = [cell.status for cell in found(context, begun).values()]
    # Where nothing is near enough no model is asked, and that says nothing of the model. The last cell is left.
    assert (statuses.count("failed"), statuses.count("nothing found")) == (3, 2)


def test_only_what_is_missing_is_asked_and_progress_counts_the_rest(context: ActContext) -> None:
    begun = begin(context)
    ask(context, begun)
    more = extend_comparison(context, begun.id, [WHEN])
    told: list[Progress] = []
    assert ask(context, more, progress=told.append).asked == 3
    assert [(one.done, one.total) for one in told] == [(3, 6), (4, 6), (5, 6), (6, 6)]
    assert told[0].current == f"France: {WHEN}"


def test_what_was_asked_before_a_moment_is_asked_once_more_and_no_oftener(context: ActContext) -> None:
    begun = begin(context)
    ask(context, begun)
    moment = max(cell.asked for cell in found(context, begun).values())
    assert ask(context, begun, since=f"{moment}~").asked == 3
    assert ask(context, begun, since=moment).asked == 0


def test_stopping_keeps_what_is_there(context: ActContext) -> None:
    begun = begin(context)
    asked: list[Progress] = []
    done = ask(context, begun, progress=asked.append, stopped=lambda: len(asked) == 2)
    assert done.asked == len(found(context, begun)) == 2


def test_a_comparison_that_is_removed_meanwhile_ends_its_job(context: ActContext) -> None:
    begun, store = begin(context), ComparisonStore(context.engine.catalog)
    done = ask(context, begun, progress=lambda _: store.remove(begun.id))
    assert (done.asked, done.counts) == (1, {})
    assert store.find(begun.id) is None


def test_a_column_whose_documents_have_gone_is_left_out(context: ActContext) -> None:
    begun = begin(context)
    context.engine.writer.erase(context.engine.catalog.find_document("france.md"))
    assert ask(context, begun).asked == 2
    assert (WHO, "France") not in found(context, begun)


def test_a_cell_whose_answer_comes_after_its_document_was_erased_is_not_kept(context: ActContext) -> None:
    begun, store = begin(context), ComparisonStore(context.engine.catalog)
    ask(context, begun)
    late = found(context, begun)[WHO, "France"]
    erase(context, "france.md")
    assert store.put_cell(begun.id, late)
    assert found(context, begun).keys() == {(WHO, "Spain"), (WHO, "Italy")}


def test_a_comparison_that_is_restored_lacks_the_cells_that_cite_what_was_erased_meanwhile(context: ActContext) -> None:
    begun = begin(context)
    ask(context, begun)
    removed = remove_comparison(context, begun.id)
    erase(context, "france.md")
    assert removed is not None
    restore_comparison(context, removed)
    assert (WHO, "Spain") in found(context, begun)
    assert (WHO, "France") not in found(context, begun)


def test_a_comparison_that_is_restored_has_no_column_of_a_document_erased_meanwhile(context: ActContext) -> None:
    begun = begin(context, by="document")
    removed = remove_comparison(context, begun.id)
    erase(context, "france.md")
    assert removed is not None
    restore_comparison(context, removed)
    assert [one.label for one in removed.columns if "France" not in one.label] == [
        one.label for one in ComparisonStore(context.engine.catalog).require(begun.id).columns
    ]
    assert list(files_holding(context.workspace, forms("Heat plan of France"))) == []


@pytest.mark.parametrize("late", [True, False])
def test_an_answer_that_does_not_cite_an_erased_document_stays_and_names_it_no_more(
    context: ActContext, model: WritingModel, late: bool
) -> None:
    # Only the first source fits.
    model.context_window = 1400
    begun, store = begin(context), ComparisonStore(context.engine.catalog)
    ask(context, begun)
    before = found(context, begun)[WHO, "Spain"]
    assert [one.file for one in before.citations] == ["spain.md"]
    assert "“both”" in " ".join(before.warnings)
    erase(context, "both.md")
    if late:
        store.put_cell(begun.id, before)
    after = found(context, begun)[WHO, "Spain"]
    assert (after.text, after.citations) == (before.text, before.citations)
    assert list(files_holding(context.workspace, forms("“both”"))) == []


def test_what_a_server_repeated_of_an_erased_document_goes_with_it(context: ActContext, model: WritingModel) -> None:
    model.failing = {"heat plan": BackendError("It was given: The prefecture of France pays.", retryable=True)}
    begun = begin(context, [WHO, "Who is paying for the heat plan?"])
    queue = present(ask_comparison(context, begun.id))
    work(context.engine)
    ended = present(context.jobs.find(queue.id))
    assert (ended.status, "prefecture of France" in ended.message) == ("failed", True)
    erase(context, "france.md")
    assert list(files_holding(context.workspace, forms("prefecture of France"))) == []


def test_a_request_survives_the_job_queue() -> None:
    request = CellsRequest("1", (WHO,), ("Spain",), "2026-01-01T00:00:00.000001+00:00")
    assert cells_request_of(json.loads(json.dumps(request.to_json()))) == request


def _key(context: ActContext, file: str) -> int:
    return next(one.key for one in context.engine.collection.documents() if one.file == file)
