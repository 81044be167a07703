"""The cells of a comparison, asked of real documents and kept as they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from ingestion.dataset.comparison.ask_cells import AskedCells, CellsRequest, ask_cells, cells_request_of
from ingestion.dataset.comparison.comparison import ColumnKind, Comparison, ComparisonCell
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.operations.comparisons import (
    ask_comparison,
    begin_comparison,
    extend_comparison,
    remove_comparison,
    restore_comparison,
)
from ingestion.operations.desk import Desk
from ingestion.operations.documents import erase
from ingestion.types.run import Progress
from ingestion.worker import work
from rag_engine.errors import BackendError
from tests.ingestion.dataset.comparison.conftest import WritingModel
from tests.ingestion.left_behind import files_holding, forms

WHO = "Who pays for the heat plan?"
WHEN = "Who opens the cooling centres?"


def begin(desk: Desk, questions: Sequence[str] = (WHO,), by: ColumnKind = "country") -> Comparison:
    return begin_comparison(desk, questions, by, {})


def ask(desk: Desk, begun: Comparison, since: str = "", **more: Any) -> AskedCells:
    columns = tuple(column.key for column in begun.columns)
    request = CellsRequest(begun.id, begun.questions, columns, since)
    return ask_cells(desk.engine, ComparisonStore(desk.engine.catalog), request, **more)


def found(desk: Desk, begun: Comparison) -> dict[tuple[str, str], ComparisonCell]:
    return dict(ComparisonStore(desk.engine.catalog).require(begun.id).cells)


def test_a_country_is_answered_from_its_own_documents_with_the_place_of_its_quote(desk: Desk) -> None:
    begun = begin(desk)
    done = ask(desk, begun)
    assert (done.asked, done.failed) == (3, 0)
    cells = found(desk, begun)
    spain, france = cells[WHO, "Spain"], cells[WHO, "France"]
    assert "health ministry of Spain pays" in spain.short
    assert "prefecture of France pays" in france.short
    assert france.first is not None
    assert (france.first.file, france.first.page, france.first.licence) == ("france.md", 1, "CC BY-NC 4.0")
    assert (
        desk.engine.catalog.text(_key(desk, "france.md"))[france.first.start : france.first.end] == france.first.quote
    )


def test_how_hard_was_searched_counts_the_passages_of_the_column(desk: Desk) -> None:
    begun = begin(desk)
    ask(desk, begun)
    effort = found(desk, begun)[WHO, "Spain"].effort
    children = {one.file: one.children for one in desk.engine.collection.documents()}
    assert (effort.documents, effort.passages) == (2, children["spain.md"] + children["both.md"])
    assert 0 < effort.read <= effort.passages


def test_a_country_that_a_question_names_is_no_reason_to_refuse_another_column(desk: Desk) -> None:
    begun = begin(desk, ["Who pays for the heat plan in France?"])
    ask(desk, begun)
    cells = {column: cell for (_, column), cell in found(desk, begun).items()}
    assert "health ministry of Spain" in cells["Spain"].short


def test_a_document_about_several_countries_answers_each_with_its_own_passages(desk: Desk) -> None:
    begun = begin(desk, [WHEN])
    ask(desk, begun)
    cells = found(desk, begun)
    assert "In Italy the regions" in cells[WHEN, "Italy"].text
    assert "In Spain the municipalities" not in cells[WHEN, "Italy"].text
    assert "In Spain the municipalities" in cells[WHEN, "Spain"].text
    assert "In Italy the regions" not in cells[WHEN, "Spain"].text


def test_where_nothing_is_found_the_nearest_passages_are_no_evidence(desk: Desk) -> None:
    begun = begin(desk, ["Which helicopters transport wounded climbers?"])
    ask(desk, begun)
    cells = found(desk, begun).values()
    assert {cell.status for cell in cells} == {"nothing found"}
    assert not any(cell.evidence for cell in cells)
    assert all(cell.effort.passages for cell in cells)


def test_each_document_is_asked_by_itself(desk: Desk) -> None:
    begun = begin(desk, by="document")
    ask(desk, begun)
    for (_, column), cell in found(desk, begun).items():
        assert {one.document_id for one in cell.citations} <= {column}
        assert cell.effort.documents == 1


def test_a_language_model_writes_the_cells(desk: Desk, model: WritingModel) -> None:
    begun = begin(desk)
    ask(desk, begun)
    cell = found(desk, begun)[WHO, "France"]
    assert (cell.status, cell.text, cell.generator) == ("answered", model.reply, "writing model")
    assert cell.short == "The ministry pays for the heat plan."
    assert cell.first is not None
    assert "prefecture of France pays" in cell.first.quote


def test_one_cell_that_fails_does_not_stop_the_others_and_is_asked_again(desk: Desk, model: WritingModel) -> None:
    model.failing = {"prefecture of France": BackendError("too long")}
    begun = begin(desk)
    done = ask(desk, begun)
    assert (done.asked, done.failed) == (3, 1)
    statuses = {column: cell.status for (_, column), cell in found(desk, begun).items()}
    assert statuses["France"] == "failed"
    assert statuses["Spain"] == "answered"
    model.failing = {}
    assert ask(desk, begun).asked == 1
    assert found(desk, begun)[WHO, "France"].status == "answered"


def test_a_model_that_always_fails_ends_the_run_and_leaves_the_rest_for_later(desk: Desk, model: WritingModel) -> None:
    model.failing = {"": BackendError("out of memory")}
    begun = begin(desk, [WHO, WHEN])
    with pytest.raises(BackendError, match="out of memory"):
        ask(desk, begun)
    statuses = [cell.status for cell in found(desk, begun).values()]
    # Where nothing is near enough no model is asked, and that says nothing of the model. The last cell is left.
    assert (statuses.count("failed"), statuses.count("nothing found")) == (3, 2)


def test_only_what_is_missing_is_asked_and_progress_counts_the_rest(desk: Desk) -> None:
    begun = begin(desk)
    ask(desk, begun)
    more = extend_comparison(desk, begun.id, [WHEN])
    told: list[Progress] = []
    assert ask(desk, more, progress=told.append).asked == 3
    assert [(one.done, one.total) for one in told] == [(3, 6), (4, 6), (5, 6), (6, 6)]
    assert told[0].current == f"France: {WHEN}"


def test_what_was_asked_before_a_moment_is_asked_once_more_and_no_oftener(desk: Desk) -> None:
    begun = begin(desk)
    ask(desk, begun)
    moment = max(cell.asked for cell in found(desk, begun).values())
    assert ask(desk, begun, since=f"{moment}~").asked == 3
    assert ask(desk, begun, since=moment).asked == 0


def test_stopping_keeps_what_is_there(desk: Desk) -> None:
    begun = begin(desk)
    asked: list[Progress] = []
    done = ask(desk, begun, progress=asked.append, stopped=lambda: len(asked) == 2)
    assert done.asked == len(found(desk, begun)) == 2


def test_a_comparison_that_is_removed_meanwhile_ends_its_run(desk: Desk) -> None:
    begun, store = begin(desk), ComparisonStore(desk.engine.catalog)
    done = ask(desk, begun, progress=lambda _: store.remove(begun.id))
    assert (done.asked, done.counts) == (1, {})
    assert store.find(begun.id) is None


def test_a_column_whose_documents_have_gone_is_left_out(desk: Desk) -> None:
    begun = begin(desk)
    desk.engine.collection.erase(desk.engine.catalog.find_document("france.md"))
    assert ask(desk, begun).asked == 2
    assert (WHO, "France") not in found(desk, begun)


def test_a_cell_whose_answer_comes_after_its_document_was_erased_is_not_kept(desk: Desk) -> None:
    begun, store = begin(desk), ComparisonStore(desk.engine.catalog)
    ask(desk, begun)
    late = found(desk, begun)[WHO, "France"]
    erase(desk, "france.md")
    assert store.put_cell(begun.id, late)
    assert found(desk, begun).keys() == {(WHO, "Spain"), (WHO, "Italy")}


def test_a_comparison_that_is_restored_lacks_the_cells_that_cite_what_was_erased_meanwhile(desk: Desk) -> None:
    begun = begin(desk)
    ask(desk, begun)
    removed = remove_comparison(desk, begun.id)
    erase(desk, "france.md")
    assert removed is not None
    restore_comparison(desk, removed)
    assert (WHO, "Spain") in found(desk, begun)
    assert (WHO, "France") not in found(desk, begun)


def test_a_comparison_that_is_restored_has_no_column_of_a_document_erased_meanwhile(desk: Desk) -> None:
    begun = begin(desk, by="document")
    removed = remove_comparison(desk, begun.id)
    erase(desk, "france.md")
    assert removed is not None
    restore_comparison(desk, removed)
    assert [one.label for one in removed.columns if "France" not in one.label] == [
        one.label for one in ComparisonStore(desk.engine.catalog).require(begun.id).columns
    ]
    assert list(files_holding(desk.workspace, forms("Heat plan of France"))) == []


@pytest.mark.parametrize("late", [True, False])
def test_an_answer_that_does_not_cite_an_erased_document_stays_and_names_it_no_more(
    desk: Desk, model: WritingModel, late: bool
) -> None:
    # Only the first source fits.
    model.context_window = 1400
    begun, store = begin(desk), ComparisonStore(desk.engine.catalog)
    ask(desk, begun)
    before = found(desk, begun)[WHO, "Spain"]
    assert [one.file for one in before.citations] == ["spain.md"]
    assert "“both”" in " ".join(before.warnings)
    erase(desk, "both.md")
    if late:
        store.put_cell(begun.id, before)
    after = found(desk, begun)[WHO, "Spain"]
    assert (after.text, after.citations) == (before.text, before.citations)
    assert list(files_holding(desk.workspace, forms("“both”"))) == []


def test_what_a_server_repeated_of_an_erased_document_goes_with_it(desk: Desk, model: WritingModel) -> None:
    model.failing = {"heat plan": BackendError("It was given: The prefecture of France pays.", retryable=True)}
    begun = begin(desk, [WHO, "Who is paying for the heat plan?"])
    queue = ask_comparison(desk, begun.id)
    assert queue is not None
    work(desk.engine)
    ended = desk.jobs.find(queue.id)
    assert ended is not None
    assert (ended.status, "prefecture of France" in ended.message) == ("failed", True)
    erase(desk, "france.md")
    assert list(files_holding(desk.workspace, forms("prefecture of France"))) == []


def test_a_request_survives_the_job_queue() -> None:
    request = CellsRequest("1", (WHO,), ("Spain",), "2026-01-01T00:00:00.000001+00:00")
    assert cells_request_of(json.loads(json.dumps(request.to_json()))) == request


def _key(desk: Desk, file: str) -> int:
    return next(one.key for one in desk.engine.collection.documents() if one.file == file)
