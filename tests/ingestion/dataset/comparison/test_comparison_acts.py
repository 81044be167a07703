"""Acts on comparisons, and the job of the worker that asks their cells."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from ingestion.acts import documents
from ingestion.acts.comparisons import (
    ask_cell_again,
    ask_columns_again,
    ask_comparison,
    begin_comparison,
    comparison_jobs,
    continue_comparison,
    extend_comparison,
    find_comparison,
    list_comparisons,
    remove_comparison,
    rename_comparison,
    restore_comparison,
    shrink_comparison,
)
from ingestion.acts.context import ActContext, open_context
from ingestion.acts.jobs import control
from ingestion.add_files import add_paths
from ingestion.dataset.comparison.comparison import Comparison, outdated_columns
from ingestion.jobs.queue import Job
from ingestion.worker import work
from rag_engine.conversations.person import LOCAL
from rag_engine.errors import BackendError, InputError
from tests.ingestion.dataset.comparison.conftest import ComparingEngine, WritingModel
from tests.present import present

WHO = "Who pays for the heat plan?"
WHEN = "Who opens the cooling centres?"


@pytest.fixture
def begun(context: ActContext) -> Comparison:
    return begin_comparison(context, [WHO, WHEN], "country", {})


@pytest.fixture
def worked(context: ActContext, begun: Comparison) -> Job:
    """Return the job that has asked all of a comparison."""
    queued = present(ask_comparison(context, begun.id))
    return ended(context, queued)


def ended(context: ActContext, job: Job) -> Job:
    """Return a job after all work is done."""
    work(context.engine)
    return present(context.jobs.find(job.id))


def now(context: ActContext, comparison: Comparison) -> Comparison:
    return present(find_comparison(context, comparison.id))


def test_the_worker_asks_every_cell_and_the_comparison_survives_its_engine(
    context: ActContext, begun: Comparison, worked: Job
) -> None:
    assert (worked.status, worked.results[0]["asked"], worked.results[0]["failed"]) == ("done", 6, 0)
    assert len(now(context, begun).cells) == 6
    again = ComparingEngine(context.engine.config)
    assert find_comparison(open_context(again, LOCAL), begun.id) == now(context, begun)
    again.close()


def test_a_comparison_without_open_cells_queues_no_job(context: ActContext, begun: Comparison, worked: Job) -> None:
    assert ask_comparison(context, begun.id) is None


def test_asking_twice_is_one_run_and_a_paused_one_continues(context: ActContext, begun: Comparison) -> None:
    first = present(ask_comparison(context, begun.id))
    control(context, "pause", first.id)
    second = present(ask_comparison(context, begun.id))
    assert (second.id, second.status) == (first.id, "queued")


def test_cancelling_keeps_the_cells_that_are_there(context: ActContext, model: WritingModel, begun: Comparison) -> None:
    queued = present(ask_comparison(context, begun.id))

    def cancel() -> None:
        control(context, "cancel", queued.id)
        before, deadline = time.time(), time.monotonic() + 30
        # A heartbeat that began after the signal was given has heard it.
        while (job := context.jobs.find(queued.id)) is None or job.heartbeat < before + 0.6:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)

    model.reading = cancel
    assert ended(context, queued).status == "cancelled"
    assert len(model.read) == 1
    assert 0 < len(now(context, begun).cells) < 6
    rest = present(ask_comparison(context, begun.id))
    assert rest.id != queued.id


def test_one_cell_is_asked_again_by_itself(context: ActContext, begun: Comparison, worked: Job) -> None:
    before = now(context, begun).cells
    assert ended(context, ask_cell_again(context, begun.id, WHO, "Spain")).results[0]["asked"] == 1
    after = now(context, begun).cells
    assert [place for place in after if after[place].asked != before[place].asked] == [(WHO, "Spain")]


def test_a_model_that_fails_at_one_cell_asked_again_says_so(
    context: ActContext, model: WritingModel, begun: Comparison
) -> None:
    model.failing = {"": BackendError("out of memory")}
    job = ended(context, ask_cell_again(context, begun.id, WHO, "Spain"))
    assert (job.status, job.message) == ("failed", "out of memory")
    assert now(context, begun).cells[WHO, "Spain"].status == "failed"


def test_a_name_is_the_first_question_and_never_that_of_another(context: ActContext, begun: Comparison) -> None:
    other = begin_comparison(context, [WHO], "country", {})
    assert (begun.name, other.name) == (WHO, f"{WHO} (2)")
    assert rename_comparison(context, other.id, " Heat  plans ").name == "Heat plans"
    with pytest.raises(InputError, match="already"):
        rename_comparison(context, other.id, WHO)
    with pytest.raises(InputError, match="name is empty"):
        rename_comparison(context, other.id, "  ")


def test_a_comparison_of_the_same_name_and_kind_is_continued(context: ActContext, begun: Comparison) -> None:
    more = continue_comparison(context, [WHO, "Who is warned?"], "country", {})
    assert (more.id, more.questions) == (begun.id, (WHO, WHEN, "Who is warned?"))
    assert continue_comparison(context, [WHO], "document", {}).id != begun.id
    with pytest.raises(InputError, match="another filter"):
        continue_comparison(context, [WHO], "country", {"year": ("2020",)})


def test_columns_are_added_within_the_filter_of_the_others(context: ActContext) -> None:
    spain = begin_comparison(context, [WHO], "country", {"country": ("Spain",)})
    more = extend_comparison(context, spain.id, wanted={"country": ("France",)})
    assert [one.key for one in more.columns] == ["Spain", "France"]


def test_a_deleted_comparison_ends_its_runs_and_comes_back_with_its_cells(
    context: ActContext, begun: Comparison, worked: Job
) -> None:
    before = now(context, begun)
    queued = ask_cell_again(context, begun.id, WHO, "Spain")
    removed = remove_comparison(context, begun.id)
    assert removed == before
    assert list_comparisons(context) == []
    assert comparison_jobs(context, begun.id) == []
    assert ended(context, queued).status == "cancelled"
    restore_comparison(context, removed)
    assert now(context, begun) == before


def test_a_question_that_was_removed_comes_back_beside_what_was_asked_since(
    context: ActContext, begun: Comparison, worked: Job
) -> None:
    before = shrink_comparison(context, begun.id, question=WHEN)
    assert now(context, begun).questions == (WHO,)
    ask_cell_again(context, begun.id, WHO, "Spain")
    work(context.engine)
    asked = now(context, begun).cells[WHO, "Spain"].asked
    restore_comparison(context, before)
    assert (len(now(context, begun).cells), now(context, begun).cells[WHO, "Spain"].asked) == (6, asked)


def test_erasing_a_document_takes_its_column_and_the_cells_that_quote_it(
    context: ActContext, begun: Comparison, worked: Job
) -> None:
    by_document = begin_comparison(context, [WHO], "document", {})
    erased = next(one for one in context.engine.collection.documents() if one.file == "france.md")
    documents.erase(context, erased.document_id, "Ann", "")
    after = now(context, begun)
    assert (WHO, "France") not in after.cells
    assert (WHO, "Spain") in after.cells
    assert erased.document_id not in [one.key for one in now(context, by_document).columns]
    assert "prefecture" not in str(after.cells)
    with pytest.raises(InputError, match="no longer"):
        ask_cell_again(context, begun.id, WHO, "France")


def test_a_country_whose_documents_have_changed_is_outdated_until_it_is_asked_again(
    context: ActContext, begun: Comparison, worked: Job, tmp_path: Path
) -> None:
    assert outdated_columns(now(context, begun), context.engine.collection.snapshot()) == set()
    more = tmp_path / "more"
    more.mkdir()
    (more / "lyon.md").write_text("# Heat plan of Lyon\n\nThe city of Lyon in France pays for its heat plan.")
    (more / "metadata.jsonl").write_text('{"file": "lyon.md", "countries": ["France"], "language": "en"}')
    add_paths([more], context.engine)
    assert outdated_columns(now(context, begun), context.engine.collection.snapshot()) == {"France"}
    ask_columns_again(context, begun.id, ["France"])
    work(context.engine)
    after = now(context, begun)
    assert outdated_columns(after, context.engine.collection.snapshot()) == set()
    assert after.cells[WHO, "Spain"].asked < after.cells[WHO, "France"].asked


def test_a_filter_that_no_document_passes_begins_nothing(context: ActContext) -> None:
    with pytest.raises(InputError, match="No document has"):
        begin_comparison(context, [WHO], "country", {"hazard": ("Tsunami",)})
    assert list_comparisons(context) == []
