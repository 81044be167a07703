"""New indexes are held against the accepted answers before they answer, in worker and terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sql

from ingestion.acts import indexes
from ingestion.acts.context import ActContext, open_context
from ingestion.add_files import add_paths
from ingestion.worker import work
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.evaluation.answers.accepted_run import RUNS, find_accepted, keep_run, record_run
from rag_engine.evaluation.answers.gate import accept_answers, find_result
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.storage import schema as tables
from rag_engine.workspace import sparse_index
from tests.present import present
from tests.rag_engine.conftest import CountingEmbedder, unread

EVACUATION = "The mayor orders the evacuation and the fire service carries it out."


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with one plan, whose answers to eight questions were accepted."""
    folder = tmp_path_factory.mktemp("gate")
    (folder / "plan.md").write_text(f"# Flood plan\n\n{EVACUATION}\n", encoding="utf-8")
    asked = {
        "language": "en",
        "kind": "institutional",
        "question": "Who orders the evacuation?",
        "answer": "The mayor.",
        "passages": [{"document": "plan.md", "page": 1, "quote": EVACUATION}],
        "keywords": ["mayor"],
    }
    gold = folder / "gold.jsonl"
    gold.write_text("\n".join(json.dumps(asked | {"id": f"en-{number}"}) for number in range(8)), encoding="utf-8")
    engine = _engine(folder / "workspace")
    add_paths([folder / "plan.md"], engine)
    accept_answers(engine, AnswersRequest(str(gold)))
    engine.close()
    return folder / "workspace"


def _engine(workspace: Path) -> Engine:
    return Engine(unread(workspace), embedder=CountingEmbedder())


@pytest.fixture
def context(accepted: Path, tmp_path: Path) -> Iterator[ActContext]:
    """Return a context at a copy of it, in which nobody starts a worker."""
    engine = _engine(Path(shutil.copytree(accepted, tmp_path / "workspace")))
    yield replace(open_context(engine, LOCAL), start_worker=lambda _: None)
    engine.close()


def praise(context: ActContext) -> None:
    """Make the accepted answers better than any can be."""
    run = present(find_accepted(context.workspace))
    rows = tuple(replace(row, figures={**row.figures, "context_precision": 2.0}) for row in run.rows)
    keep_run(context.workspace, record_run(context.workspace, "praised", replace(run, rows=rows), "").id)


@pytest.mark.parametrize("encode", [False, True])
def test_new_indexes_that_answer_as_well_are_put_in_place(context: ActContext, encode: bool) -> None:
    assert indexes.rebuild(context, encode=encode) == len(context.engine.collection.snapshot())
    result = present(find_result(context.workspace))
    assert (result.generation, result.questions, result.dropped) == (2, 8, ())
    assert context.engine.collection.generation() == 2


@pytest.mark.parametrize("encode", [False, True])
def test_new_indexes_that_answer_worse_are_held_back_until_somebody_decides(context: ActContext, encode: bool) -> None:
    praise(context)
    with pytest.raises(WorkspaceError, match=r"context_precision fell .*rebuild --accept"):
        indexes.rebuild(context, encode=encode)
    result = present(find_result(context.workspace))
    assert (result.generation, result.dropped) == (2, ("context_precision",))
    assert context.engine.collection.generation() == 1
    assert context.engine.search("Who orders the evacuation?").hits
    indexes.rebuild(context, encode=encode, anyway=True)
    assert context.engine.collection.generation() == 2


def hold_back(context: ActContext, *, encode: bool = False) -> None:
    """Make new indexes that are held back."""
    praise(context)
    with pytest.raises(WorkspaceError, match="did not go live"):
        indexes.rebuild(context, encode=encode)


def chunks(context: ActContext) -> list[str]:
    """Return the passages that a search finds, each as often as it finds it."""
    return [hit.text for hit in context.engine.search("Who orders the evacuation?").hits]


@pytest.mark.parametrize("encode", [False, True])
def test_indexes_that_were_held_back_wait_and_answer_once_they_are_accepted(context: ActContext, encode: bool) -> None:
    before = chunks(context)
    hold_back(context, encode=encode)
    waiting = present(context.engine.collection.waiting())
    assert (waiting.number, context.engine.collection.generation()) == (2, 1)
    assert indexes.accept_index(context) == len(context.engine.collection.snapshot()) > 0
    assert (context.engine.collection.waiting(), context.engine.collection.generation()) == (None, 2)
    assert chunks(context) == before


@pytest.mark.parametrize("encode", [False, True])
def test_an_index_waits_also_for_another_process(context: ActContext, encode: bool) -> None:
    hold_back(context, encode=encode)
    context.engine.close()
    again = open_context(_engine(context.workspace), LOCAL)
    with again.engine.indexer():
        pass  # A writer that repairs, and changes nothing.
    indexes.accept_index(again)
    assert again.engine.collection.generation() == 2
    assert chunks(again)
    again.engine.close()


@pytest.mark.parametrize("encode", [False, True])
def test_an_index_that_is_discarded_leaves_nothing_behind(context: ActContext, encode: bool) -> None:
    documents = context.engine.catalog.read(sql.select(tables.documents.c.key))
    hold_back(context, encode=encode)
    indexes.discard_index(context)
    assert context.engine.collection.waiting() is None
    assert context.engine.catalog.read(sql.select(tables.documents.c.key)) == documents
    assert not sparse_index(context.workspace, 2).exists()
    assert chunks(context)
    with pytest.raises(WorkspaceError, match="No index waits"):
        indexes.accept_index(context)


@pytest.mark.parametrize("encode", [False, True])
def test_an_index_that_waits_goes_with_the_next_change_of_the_collection(context: ActContext, encode: bool) -> None:
    hold_back(context, encode=encode)
    (context.workspace.parent / "heat.md").write_text(
        "# Heat plan\n\nThe council opens cool rooms.\n", encoding="utf-8"
    )
    add_paths([context.workspace.parent / "heat.md"], context.engine)
    assert context.engine.collection.waiting() is None
    assert not sparse_index(context.workspace, 2).exists()
    assert set(context.engine.catalog.read(sql.select(tables.documents.c.status))) == {("active",)}


@pytest.mark.parametrize("encode", [False, True])
def test_a_document_that_is_erased_is_not_left_in_an_index_that_waits(context: ActContext, encode: bool) -> None:
    hold_back(context, encode=encode)
    erased = context.engine.writer.erase(context.engine.catalog.find_document("plan.md"))
    assert erased.left_behind == ()
    assert context.engine.collection.waiting() is None
    # The indexes that the erasure made have taken the number of those that waited.
    assert context.engine.collection.generation() == 2
    assert context.engine.collection.dense().filter() == set()
    assert context.engine.catalog.read(sql.select(tables.documents.c.key)) == []


@pytest.mark.parametrize("encode", [False, True])
def test_of_two_indexes_that_are_held_back_the_later_one_waits(context: ActContext, encode: bool) -> None:
    hold_back(context, encode=not encode)
    hold_back(context, encode=encode)
    waiting = present(context.engine.collection.waiting())
    assert bool(waiting.encoder) == encode
    indexes.accept_index(context)
    assert set(context.engine.catalog.read(sql.select(tables.documents.c.status))) == {("active",)}
    assert chunks(context)


@pytest.mark.parametrize(("accept", "generation"), [(True, 2), (False, 1)])
def test_the_worker_decides_on_an_index_that_waits(context: ActContext, accept: bool, generation: int) -> None:
    hold_back(context)
    indexes.queue_decision(context, accept=accept)
    work(context.engine)
    assert context.jobs.latest()[0].status == "done"
    assert (context.engine.collection.waiting(), context.engine.collection.generation()) == (None, generation)


def test_new_indexes_that_cannot_be_checked_are_not_put_in_place(context: ActContext) -> None:
    (context.workspace.parent / "other.md").write_text(
        "# Heat plan\n\nThe council opens cool rooms.\n", encoding="utf-8"
    )
    add_paths([context.workspace.parent / "other.md"], context.engine)
    context.engine.writer.erase(context.engine.catalog.find_document("plan.md"))
    with pytest.raises(WorkspaceError, match=r"could not be checked.*lacks 1 of the 1 documents.*--accept"):
        indexes.rebuild(context)
    assert context.engine.collection.generation() == 2
    assert context.engine.collection.waiting() is not None


def test_without_an_accepted_run_nothing_is_asked(context: ActContext) -> None:
    RUNS.delete(context.workspace, "accepted")
    indexes.rebuild(context)
    assert find_result(context.workspace) is None
    assert context.engine.collection.generation() == 2


def test_the_worker_reports_a_generation_that_was_held_back(context: ActContext) -> None:
    praise(context)
    indexes.queue_rebuild(context)
    work(context.engine)
    [job] = context.jobs.latest()
    assert job.status == "failed"
    assert "did not go live" in job.message
    assert context.engine.collection.generation() == 1


def test_the_worker_checks_and_accepts(context: ActContext) -> None:
    praise(context)
    indexes.queue_gate(context)
    work(context.engine)
    assert context.jobs.latest()[0].results == [{"dropped": ["context_precision"]}]
    indexes.queue_gate(context, accept=True)
    indexes.queue_gate(context)
    work(context.engine)
    assert context.jobs.latest()[0].results == [{"dropped": []}]


def test_a_rebuilding_that_is_cancelled_changes_nothing(context: ActContext) -> None:
    job = indexes.queue_rebuild(context, encode=True)
    assert context.jobs.next() is not None
    context.jobs.cancel(job.id)
    context.jobs.take_over()
    work(context.engine)
    assert context.jobs.latest()[0].status == "cancelled"
    assert context.engine.collection.generation() == 1
    assert context.engine.collection.waiting() is None


def test_a_check_against_nothing_is_refused_before_it_waits(context: ActContext) -> None:
    RUNS.delete(context.workspace, "accepted")
    with pytest.raises(InputError, match="--accept"):
        indexes.queue_gate(context)
    assert context.jobs.latest() == []
