"""New indexes are held against the accepted answers before they answer, in worker and terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sql

from ingestion.add_files import add_paths
from ingestion.operations import answers, indexes
from ingestion.operations.desk import Desk, open_desk
from ingestion.worker import work
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.evaluation.answers.accepted_run import RUNS, find_accepted, keep_run, record_run
from rag_engine.evaluation.answers.gate import accept_answers, find_result
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.storage import schema as tables
from rag_engine.workspace import sparse_index
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
def desk(accepted: Path, tmp_path: Path) -> Iterator[Desk]:
    """Return a desk at a copy of it, at which nobody starts a worker."""
    engine = _engine(Path(shutil.copytree(accepted, tmp_path / "workspace")))
    yield replace(open_desk(engine, LOCAL), start_worker=lambda _: None)
    engine.close()


def praise(desk: Desk) -> None:
    """Make the accepted answers better than any can be."""
    run = find_accepted(desk.workspace)
    assert run is not None
    rows = tuple(replace(row, figures={**row.figures, "context_precision": 2.0}) for row in run.rows)
    keep_run(desk.workspace, record_run(desk.workspace, "praised", replace(run, rows=rows), "").id)


@pytest.mark.parametrize("encode", [False, True])
def test_new_indexes_that_answer_as_well_are_put_in_place(desk: Desk, encode: bool) -> None:
    assert indexes.rebuild(desk, encode=encode) == len(desk.engine.collection.snapshot())
    result = find_result(desk.workspace)
    assert result is not None
    assert (result.generation, result.questions, result.dropped) == (2, 8, ())
    assert desk.engine.collection.generation() == 2


@pytest.mark.parametrize("encode", [False, True])
def test_new_indexes_that_answer_worse_are_held_back_until_somebody_decides(desk: Desk, encode: bool) -> None:
    praise(desk)
    with pytest.raises(WorkspaceError, match=r"context_precision fell .*rebuild --accept"):
        indexes.rebuild(desk, encode=encode)
    result = find_result(desk.workspace)
    assert result is not None
    assert (result.generation, result.dropped) == (2, ("context_precision",))
    assert desk.engine.collection.generation() == 1
    assert desk.engine.search("Who orders the evacuation?").hits
    indexes.rebuild(desk, encode=encode, anyway=True)
    assert desk.engine.collection.generation() == 2


def hold_back(desk: Desk, *, encode: bool = False) -> None:
    """Make new indexes that are held back."""
    praise(desk)
    with pytest.raises(WorkspaceError, match="did not go live"):
        indexes.rebuild(desk, encode=encode)


def chunks(desk: Desk) -> list[str]:
    """Return the passages that a search finds, each as often as it finds it."""
    return [hit.text for hit in desk.engine.search("Who orders the evacuation?").hits]


@pytest.mark.parametrize("encode", [False, True])
def test_indexes_that_were_held_back_wait_and_answer_once_they_are_accepted(desk: Desk, encode: bool) -> None:
    before = chunks(desk)
    hold_back(desk, encode=encode)
    waiting = desk.engine.collection.waiting()
    assert waiting is not None
    assert (waiting.number, desk.engine.collection.generation()) == (2, 1)
    assert indexes.accept_index(desk) == len(desk.engine.collection.snapshot()) > 0
    assert (desk.engine.collection.waiting(), desk.engine.collection.generation()) == (None, 2)
    assert chunks(desk) == before


@pytest.mark.parametrize("encode", [False, True])
def test_an_index_waits_also_for_another_process(desk: Desk, encode: bool) -> None:
    hold_back(desk, encode=encode)
    desk.engine.close()
    again = open_desk(_engine(desk.workspace), LOCAL)
    with again.engine.indexer():
        pass  # A writer that repairs, and changes nothing.
    indexes.accept_index(again)
    assert again.engine.collection.generation() == 2
    assert chunks(again)
    again.engine.close()


@pytest.mark.parametrize("encode", [False, True])
def test_an_index_that_is_discarded_leaves_nothing_behind(desk: Desk, encode: bool) -> None:
    documents = desk.engine.catalog.read(sql.select(tables.documents.c.key))
    hold_back(desk, encode=encode)
    indexes.discard_index(desk)
    assert desk.engine.collection.waiting() is None
    assert desk.engine.catalog.read(sql.select(tables.documents.c.key)) == documents
    assert not sparse_index(desk.workspace, 2).exists()
    assert chunks(desk)
    with pytest.raises(WorkspaceError, match="No index waits"):
        indexes.accept_index(desk)


@pytest.mark.parametrize("encode", [False, True])
def test_an_index_that_waits_goes_with_the_next_change_of_the_collection(desk: Desk, encode: bool) -> None:
    hold_back(desk, encode=encode)
    (desk.workspace.parent / "heat.md").write_text("# Heat plan\n\nThe council opens cool rooms.\n", encoding="utf-8")
    add_paths([desk.workspace.parent / "heat.md"], desk.engine)
    assert desk.engine.collection.waiting() is None
    assert not sparse_index(desk.workspace, 2).exists()
    assert set(desk.engine.catalog.read(sql.select(tables.documents.c.status))) == {("active",)}


@pytest.mark.parametrize("encode", [False, True])
def test_a_document_that_is_erased_is_not_left_in_an_index_that_waits(desk: Desk, encode: bool) -> None:
    hold_back(desk, encode=encode)
    erased = desk.engine.collection.erase(desk.engine.catalog.find_document("plan.md"))
    assert erased.left_behind == ()
    assert desk.engine.collection.waiting() is None
    # The indexes that the erasure made have taken the number of those that waited.
    assert desk.engine.collection.generation() == 2
    assert desk.engine.collection.dense().filter() == set()
    assert desk.engine.catalog.read(sql.select(tables.documents.c.key)) == []


@pytest.mark.parametrize("encode", [False, True])
def test_of_two_indexes_that_are_held_back_the_later_one_waits(desk: Desk, encode: bool) -> None:
    hold_back(desk, encode=not encode)
    hold_back(desk, encode=encode)
    waiting = desk.engine.collection.waiting()
    assert waiting is not None
    assert bool(waiting.encoder) == encode
    indexes.accept_index(desk)
    assert set(desk.engine.catalog.read(sql.select(tables.documents.c.status))) == {("active",)}
    assert chunks(desk)


@pytest.mark.parametrize(("accept", "generation"), [(True, 2), (False, 1)])
def test_the_worker_decides_on_an_index_that_waits(desk: Desk, accept: bool, generation: int) -> None:
    hold_back(desk)
    indexes.queue_decision(desk, accept=accept)
    work(desk.engine)
    assert desk.jobs.runs()[0].status == "done"
    assert (desk.engine.collection.waiting(), desk.engine.collection.generation()) == (None, generation)


def test_new_indexes_that_cannot_be_checked_are_not_put_in_place(desk: Desk) -> None:
    (desk.workspace.parent / "other.md").write_text("# Heat plan\n\nThe council opens cool rooms.\n", encoding="utf-8")
    add_paths([desk.workspace.parent / "other.md"], desk.engine)
    desk.engine.collection.erase(desk.engine.catalog.find_document("plan.md"))
    with pytest.raises(WorkspaceError, match=r"could not be checked.*lacks 1 of the 1 documents.*--accept"):
        indexes.rebuild(desk)
    assert desk.engine.collection.generation() == 2
    assert desk.engine.collection.waiting() is not None


def test_without_an_accepted_run_nothing_is_asked(desk: Desk) -> None:
    RUNS.delete(desk.workspace, "accepted")
    indexes.rebuild(desk)
    assert find_result(desk.workspace) is None
    assert desk.engine.collection.generation() == 2


def test_the_worker_reports_a_generation_that_was_held_back(desk: Desk) -> None:
    praise(desk)
    indexes.queue_rebuild(desk)
    work(desk.engine)
    [run] = desk.jobs.runs()
    assert run.status == "failed"
    assert "did not go live" in run.message
    assert desk.engine.collection.generation() == 1


def test_the_worker_checks_and_accepts(desk: Desk) -> None:
    praise(desk)
    answers.queue_gate(desk)
    work(desk.engine)
    assert desk.jobs.runs()[0].results == [{"dropped": ["context_precision"]}]
    answers.queue_gate(desk, accept=True)
    answers.queue_gate(desk)
    work(desk.engine)
    assert desk.jobs.runs()[0].results == [{"dropped": []}]


def test_a_rebuilding_that_is_cancelled_changes_nothing(desk: Desk) -> None:
    run = indexes.queue_rebuild(desk, encode=True)
    assert desk.jobs.next() is not None
    desk.jobs.cancel(run.id)
    desk.jobs.take_over()
    work(desk.engine)
    assert desk.jobs.runs()[0].status == "cancelled"
    assert desk.engine.collection.generation() == 1
    assert desk.engine.collection.waiting() is None


def test_a_check_against_nothing_is_refused_before_it_waits(desk: Desk) -> None:
    RUNS.delete(desk.workspace, "accepted")
    with pytest.raises(InputError, match="--accept"):
        answers.queue_gate(desk)
    assert desk.jobs.runs() == []
