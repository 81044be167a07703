"""Acts on comparisons, and the run of the worker that asks their cells."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from ingestion.add_files import add_paths
from ingestion.dataset.comparison.comparison import Comparison, outdated_columns
from ingestion.jobs.queue import Run
from ingestion.operations import documents
from ingestion.operations.comparisons import (
    ask_cell_again,
    ask_columns_again,
    ask_comparison,
    begin_comparison,
    comparison_runs,
    continue_comparison,
    extend_comparison,
    find_comparison,
    list_comparisons,
    remove_comparison,
    rename_comparison,
    restore_comparison,
    shrink_comparison,
)
from ingestion.operations.desk import Desk, open_desk
from ingestion.operations.runs import control
from ingestion.worker import work
from rag_engine.conversations.person import LOCAL
from rag_engine.errors import BackendError, InputError
from tests.ingestion.dataset.comparison.conftest import ComparingEngine, WritingModel

WHO = "Who pays for the heat plan?"
WHEN = "Who opens the cooling centres?"


@pytest.fixture
def begun(desk: Desk) -> Comparison:
    return begin_comparison(desk, [WHO, WHEN], "country", {})


@pytest.fixture
def worked(desk: Desk, begun: Comparison) -> Run:
    """Return the run that has asked all of a comparison."""
    queued = ask_comparison(desk, begun.id)
    assert queued is not None
    return ended(desk, queued)


def ended(desk: Desk, run: Run) -> Run:
    """Return a run after all work is done."""
    work(desk.engine)
    found = desk.jobs.find(run.id)
    assert found is not None
    return found


def now(desk: Desk, comparison: Comparison) -> Comparison:
    found = find_comparison(desk, comparison.id)
    assert found is not None
    return found


def test_the_worker_asks_every_cell_and_the_comparison_survives_its_engine(
    desk: Desk, begun: Comparison, worked: Run
) -> None:
    assert (worked.status, worked.results[0]["asked"], worked.results[0]["failed"]) == ("done", 6, 0)
    assert len(now(desk, begun).cells) == 6
    again = ComparingEngine(desk.engine.config)
    assert find_comparison(open_desk(again, LOCAL), begun.id) == now(desk, begun)
    again.close()


def test_a_comparison_without_open_cells_queues_no_run(desk: Desk, begun: Comparison, worked: Run) -> None:
    assert ask_comparison(desk, begun.id) is None


def test_asking_twice_is_one_run_and_a_paused_one_continues(desk: Desk, begun: Comparison) -> None:
    first = ask_comparison(desk, begun.id)
    assert first is not None
    control(desk, "pause", first.id)
    second = ask_comparison(desk, begun.id)
    assert second is not None
    assert (second.id, second.status) == (first.id, "queued")


def test_cancelling_keeps_the_cells_that_are_there(desk: Desk, model: WritingModel, begun: Comparison) -> None:
    queued = ask_comparison(desk, begun.id)
    assert queued is not None

    def cancel() -> None:
        control(desk, "cancel", queued.id)
        before, deadline = time.time(), time.monotonic() + 30
        # A heartbeat that began after the signal was given has heard it.
        while (run := desk.jobs.find(queued.id)) is None or run.heartbeat < before + 0.6:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)

    model.reading = cancel
    assert ended(desk, queued).status == "cancelled"
    assert len(model.read) == 1
    assert 0 < len(now(desk, begun).cells) < 6
    rest = ask_comparison(desk, begun.id)
    assert rest is not None
    assert rest.id != queued.id


def test_one_cell_is_asked_again_by_itself(desk: Desk, begun: Comparison, worked: Run) -> None:
    before = now(desk, begun).cells
    assert ended(desk, ask_cell_again(desk, begun.id, WHO, "Spain")).results[0]["asked"] == 1
    after = now(desk, begun).cells
    assert [place for place in after if after[place].asked != before[place].asked] == [(WHO, "Spain")]


def test_a_model_that_fails_at_one_cell_asked_again_says_so(desk: Desk, model: WritingModel, begun: Comparison) -> None:
    model.failing = {"": BackendError("out of memory")}
    run = ended(desk, ask_cell_again(desk, begun.id, WHO, "Spain"))
    assert (run.status, run.message) == ("failed", "out of memory")
    assert now(desk, begun).cells[WHO, "Spain"].status == "failed"


def test_a_name_is_the_first_question_and_never_that_of_another(desk: Desk, begun: Comparison) -> None:
    other = begin_comparison(desk, [WHO], "country", {})
    assert (begun.name, other.name) == (WHO, f"{WHO} (2)")
    assert rename_comparison(desk, other.id, " Heat  plans ").name == "Heat plans"
    with pytest.raises(InputError, match="already"):
        rename_comparison(desk, other.id, WHO)
    with pytest.raises(InputError, match="name is empty"):
        rename_comparison(desk, other.id, "  ")


def test_a_comparison_of_the_same_name_and_kind_is_continued(desk: Desk, begun: Comparison) -> None:
    more = continue_comparison(desk, [WHO, "Who is warned?"], "country", {})
    assert (more.id, more.questions) == (begun.id, (WHO, WHEN, "Who is warned?"))
    assert continue_comparison(desk, [WHO], "document", {}).id != begun.id
    with pytest.raises(InputError, match="another filter"):
        continue_comparison(desk, [WHO], "country", {"year": ("2020",)})


def test_columns_are_added_within_the_filter_of_the_others(desk: Desk) -> None:
    spain = begin_comparison(desk, [WHO], "country", {"country": ("Spain",)})
    more = extend_comparison(desk, spain.id, wanted={"country": ("France",)})
    assert [one.key for one in more.columns] == ["Spain", "France"]


def test_a_deleted_comparison_ends_its_runs_and_comes_back_with_its_cells(
    desk: Desk, begun: Comparison, worked: Run
) -> None:
    before = now(desk, begun)
    queued = ask_cell_again(desk, begun.id, WHO, "Spain")
    removed = remove_comparison(desk, begun.id)
    assert removed == before
    assert list_comparisons(desk) == []
    assert comparison_runs(desk, begun.id) == []
    assert ended(desk, queued).status == "cancelled"
    restore_comparison(desk, removed)
    assert now(desk, begun) == before


def test_a_question_that_was_removed_comes_back_beside_what_was_asked_since(
    desk: Desk, begun: Comparison, worked: Run
) -> None:
    before = shrink_comparison(desk, begun.id, question=WHEN)
    assert now(desk, begun).questions == (WHO,)
    ask_cell_again(desk, begun.id, WHO, "Spain")
    work(desk.engine)
    asked = now(desk, begun).cells[WHO, "Spain"].asked
    restore_comparison(desk, before)
    assert (len(now(desk, begun).cells), now(desk, begun).cells[WHO, "Spain"].asked) == (6, asked)


def test_erasing_a_document_takes_its_column_and_the_cells_that_quote_it(
    desk: Desk, begun: Comparison, worked: Run
) -> None:
    by_document = begin_comparison(desk, [WHO], "document", {})
    erased = next(one for one in desk.engine.collection.documents() if one.file == "france.md")
    documents.erase(desk, erased.document_id, "Ann", "")
    after = now(desk, begun)
    assert (WHO, "France") not in after.cells
    assert (WHO, "Spain") in after.cells
    assert erased.document_id not in [one.key for one in now(desk, by_document).columns]
    assert "prefecture" not in str(after.cells)
    with pytest.raises(InputError, match="no longer"):
        ask_cell_again(desk, begun.id, WHO, "France")


def test_a_country_whose_documents_have_changed_is_outdated_until_it_is_asked_again(
    desk: Desk, begun: Comparison, worked: Run, tmp_path: Path
) -> None:
    assert outdated_columns(now(desk, begun), desk.engine.collection.snapshot()) == set()
    more = tmp_path / "more"
    more.mkdir()
    (more / "lyon.md").write_text("# Heat plan of Lyon\n\nThe city of Lyon in France pays for its heat plan.")
    (more / "metadata.jsonl").write_text('{"file": "lyon.md", "countries": ["France"], "language": "en"}')
    add_paths([more], desk.engine)
    assert outdated_columns(now(desk, begun), desk.engine.collection.snapshot()) == {"France"}
    ask_columns_again(desk, begun.id, ["France"])
    work(desk.engine)
    after = now(desk, begun)
    assert outdated_columns(after, desk.engine.collection.snapshot()) == set()
    assert after.cells[WHO, "Spain"].asked < after.cells[WHO, "France"].asked


def test_a_filter_that_no_document_passes_begins_nothing(desk: Desk) -> None:
    with pytest.raises(InputError, match="No document has"):
        begin_comparison(desk, [WHO], "country", {"hazard": ("Tsunami",)})
    assert list_comparisons(desk) == []
