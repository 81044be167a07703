"""Queued work, carried out in this process or by a separate worker."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sql

from ingestion import workspace as folders
from ingestion.acts.context import ActContext
from ingestion.acts.documents import add_files, erase, ground, queue_erasure, queue_uploads
from ingestion.acts.jobs import control
from ingestion.acts.sources import add_own_files, queue_removal
from ingestion.jobs.process import ensure_worker, follow
from ingestion.jobs.queue import DEAD_AFTER_SECONDS, Job, JobQueue
from ingestion.jobs.uploads import keep_upload, remove_leftovers
from ingestion.types.run import Progress
from ingestion.types.source import ListedSource
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, WorkspaceError
from rag_engine.messages import Message
from rag_engine.processes.writer_lock import write_lock
from rag_engine.protocols import Vectors
from rag_engine.storage.catalog import open_catalog
from rag_engine.storage.erase_document import Erasure
from rag_engine.storage.index_entries import IndexedEntry, replace_index
from rag_engine.types.document import DocumentRecord
from tests.conftest import ROOT
from tests.present import present
from tests.rag_engine.conftest import CountingEmbedder

HARBOUR = "Rules of the harbour. The harbour master keeps the rules."


class BrokenEmbedder(CountingEmbedder):
    """A model that goes away at texts about a harbour."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if any("harbour" in text for text in texts):
            raise BackendError("The model is away.")
        return super().encode_passages(texts)


def upload(engine: Engine, name: str, text: str) -> Path:
    """Where the queued upload waits."""
    path = keep_upload(engine.config.workspace, name, io.BytesIO(text.encode()))
    JobQueue(engine.catalog).queue("add", {"paths": [str(path)]})
    return path


def await_job(jobs: JobQueue, condition: Callable[[Job], bool], seconds: float = 60) -> Job:
    """Return the latest job, as soon as it is as it should be."""
    deadline = time.monotonic() + seconds
    while not condition(job := jobs.latest()[0]):
        assert time.monotonic() < deadline, job
        threading.Event().wait(0.05)
    return job


def test_an_addition_and_a_removal_are_carried_out_in_order(
    engine: Engine, jobs: JobQueue, small_documents: Path
) -> None:
    jobs.queue("add", {"paths": [str(small_documents)]})
    assert work(engine) == 1
    [done] = jobs.latest()
    assert done.status == "done"
    assert [one["status"] for one in done.results] == ["indexed"] * 3
    jobs.queue("erase", {"documents": [engine.collection.documents()[0].document_id]})
    work(engine)
    assert jobs.latest()[0].results[0]["left_behind"] == []
    assert len(engine.collection.documents()) == 2


def test_an_erasure_whose_worker_was_killed_before_it_could_say_so_is_done(
    engine: Engine, jobs: JobQueue, small_documents: Path
) -> None:
    jobs.queue("add", {"paths": [str(small_documents)]})
    work(engine)
    record = engine.collection.documents()[0]
    jobs.queue("erase", {"documents": [record.document_id]})
    assert jobs.next() is not None
    engine.writer.erase(record)
    jobs.take_over()
    work(engine)
    assert (jobs.latest()[0].status, jobs.latest()[0].attempts) == ("done", 2)


def test_a_title_neither_blocks_a_deletion_nor_is_deleted_for_the_document_it_names(
    engine: Engine, context: ActContext, tmp_path: Path
) -> None:
    rules, other = tmp_path / "rules.md", tmp_path / "other.md"
    rules.write_text("# Rules\n\n" + "The harbour has rules. " * 20)
    other.write_text(f"# {rules}\n\n" + "The bay has none. " * 20)
    add_files(context, [rules, other])
    assert engine.collection.documents()[1].metadata.title == str(rules)
    queue_erasure(context, [str(rules)])
    # Asked for once more before it is carried out.
    queue_erasure(context, [str(rules)])
    work(engine)
    assert [one.status for one in context.jobs.latest()] == ["failed", "done"]
    assert [one.file for one in engine.collection.documents()] == ["other.md"]


def test_a_second_upload_of_a_name_is_a_document_of_its_own_and_nothing_stays_behind(engine: Engine) -> None:
    for text in ("The first edition of the rules. " * 20, "The second edition of the rules. " * 20):
        upload(engine, "rules.txt", text)
        work(engine)
    first, second = engine.collection.documents()
    assert (first.file, second.file) == ("rules.txt", "rules.txt")
    assert "first" in engine.catalog.text(first.key)
    assert "second" in engine.catalog.text(second.key)
    assert list(folders.uploads(engine.config.workspace).iterdir()) == []
    assert JobQueue(engine.catalog).latest()[0].message == ""


def test_an_upload_that_replaces_a_document_is_its_new_version(engine: Engine, context: ActContext) -> None:
    upload(engine, "rules.txt", "The first edition of the rules. " * 20)
    work(engine)
    [former] = engine.collection.documents()
    second = ("rules 2.txt", io.BytesIO(b"The second edition of the rules. " * 20))
    queue_uploads(context, [second], replaces=former.source)
    work(engine)
    assert [one.file for one in engine.collection.documents()] == ["rules.txt", "rules 2.txt"]
    assert {hit.document.file for hit in engine.search("edition of the rules").hits} == {"rules 2.txt"}
    before = engine.search("edition of the rules", {"as_of": ("2001",)}).hits
    assert "rules.txt" in {hit.document.file for hit in before}


def test_a_job_that_got_somewhere_before_its_worker_was_killed_has_all_its_attempts_again(
    engine: Engine, context: ActContext, jobs: JobQueue
) -> None:
    add_own_files(context, [(f"{name}.txt", io.BytesIO(name.encode() * 200)) for name in ("rules ", "plans ")])
    # Too short for a heartbeat.
    jobs.queue("run", {"phases": ["licence"]})
    for _ in range(5):
        assert jobs.next() is not None
        jobs.take_over()
    work(engine)
    assert (jobs.latest()[0].status, jobs.latest()[0].attempts) == ("done", 1)


def test_an_upload_that_can_never_be_read_does_not_stay_behind(engine: Engine) -> None:
    path = upload(engine, "empty.pdf", "")
    work(engine)
    assert JobQueue(engine.catalog).latest()[0].results[0]["status"] == "refused"
    assert not path.parent.exists()


def test_an_upload_that_could_not_be_indexed_is_kept_and_the_job_says_where(tmp_path: Path) -> None:
    engine = Engine(read_config(tmp_path / "workspace"), embedder=BrokenEmbedder())
    path = upload(engine, "rules.txt", "The rules of the harbour. " * 20)
    work(engine)
    [job] = JobQueue(engine.catalog).latest()
    assert path.exists()
    assert job.results[0]["status"] == "failed"
    assert "rules.txt" in job.message
    assert str(folders.uploads(engine.config.workspace)) in job.message
    engine.close()


def test_what_a_killed_worker_left_of_an_upload_is_removed_and_what_waits_stays(engine: Engine, jobs: JobQueue) -> None:
    done, waiting = upload(engine, "done.txt", "Done."), upload(engine, "waiting.txt", "Waiting.")
    result = {"path": f"{done.parent.name}/done.txt", "status": "indexed"}
    jobs.finish(jobs.latest()[1].id, "done", [result])
    remove_leftovers(engine.config.workspace, jobs)
    assert not done.parent.exists()
    assert waiting.exists()


def test_a_job_waits_while_another_process_writes(engine: Engine, jobs: JobQueue, small_documents: Path) -> None:
    jobs.queue("add", {"paths": [str(small_documents)]})
    with ThreadPoolExecutor(1) as pool:
        with write_lock(engine.config.workspace):
            worked = pool.submit(work, engine)
            waiting = await_job(jobs, lambda job: job.progress is not None)
            assert waiting.alive
            assert "being written by process" in (waiting.progress or Progress(0, 0, 0, 0, "")).current
        assert worked.result(30) == 1
    assert [one["status"] for one in jobs.latest()[0].results] == ["indexed"] * 3


def test_a_job_that_waits_for_another_process_can_be_cancelled(
    engine: Engine, jobs: JobQueue, small_documents: Path
) -> None:
    id = jobs.queue("add", {"paths": [str(small_documents)]})
    with write_lock(engine.config.workspace), ThreadPoolExecutor(1) as pool:
        worked = pool.submit(work, engine)
        await_job(jobs, lambda job: job.progress is not None)
        jobs.cancel(id)
        assert worked.result(30) == 1
    assert jobs.latest()[0].status == "cancelled"


def test_a_job_that_cannot_be_done_fails_with_its_reason_and_the_next_goes_on(engine: Engine, jobs: JobQueue) -> None:
    jobs.queue("erase", {"documents": ["ffffffffffff"]})
    jobs.queue("add", {"paths": ["/nowhere/at/all.pdf"]})
    assert work(engine) == 2
    second, first = jobs.latest()
    assert (first.status, second.status) == ("failed", "done")
    assert "ffffffffffff" in first.message
    assert second.results[0]["status"] == "failed"


def test_a_waiting_job_can_be_cancelled(engine: Engine, jobs: JobQueue) -> None:
    jobs.cancel(jobs.queue("add", {"paths": ["/nowhere"]}))
    assert work(engine) == 0
    assert jobs.latest()[0].status == "cancelled"


def test_a_running_job_learns_that_it_is_cancelled_and_shows_how_far_it_is(engine: Engine, jobs: JobQueue) -> None:
    job = jobs.queue("add", {"paths": []})
    jobs.next()
    progress = Progress(1, 4, 100, 900, "plan.pdf")
    assert jobs.beat(job, progress) == ""
    jobs.cancel(job)
    assert jobs.beat(job, progress) == "cancel"
    [now] = jobs.latest()
    assert now.alive
    assert asdict(now.progress or Progress(0, 0, 0, 0, "")) == asdict(progress)


def test_a_job_whose_worker_died_is_taken_up_again(engine: Engine, jobs: JobQueue, small_documents: Path) -> None:
    jobs.queue("add", {"paths": [str(small_documents)]})
    jobs.next()
    assert jobs.next() is None
    with engine.catalog.begin() as connection:
        connection.execute(sql.text("UPDATE jobs SET heartbeat = :at"), {"at": time.time() - DEAD_AFTER_SECONDS - 1})
    assert not jobs.latest()[0].alive
    assert work(engine) == 1
    assert jobs.latest()[0].status == "done"


def test_a_job_that_breaks_its_worker_over_and_over_is_not_tried_again(
    engine: Engine, jobs: JobQueue, small_documents: Path
) -> None:
    jobs.queue("add", {"paths": [str(small_documents)]})
    for _ in range(7):
        assert jobs.next() is not None
        jobs.take_over()
    work(engine)
    [job] = jobs.latest()
    assert job.status == "failed"
    assert "7 times" in job.message
    assert engine.collection.documents() == []


@pytest.fixture
def without_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_READER", "none")


@pytest.mark.usefixtures("without_reader")
def test_a_knowledge_base_that_is_paused_keeps_what_is_done_and_goes_on(
    engine: Engine, context: ActContext, jobs: JobQueue, small_documents: Path
) -> None:
    jobs.queue("add", {"paths": [str(small_documents)]})
    work(engine)
    document = engine.collection.documents()[0]
    listed = [IndexedEntry(term, "", "terms.csv", 1, 0, 60) for term in ("plan", "authority", "maps")]
    replace_index(engine.catalog, "terms.csv", {document.key: listed})
    queued = ground(context)
    assert ground(context).id == queued.id, "one at a time"
    jobs.pause(queued.id)
    assert work(engine) == 0

    control(context, "resume", queued.id)
    work(engine)

    [summary] = jobs.latest()[0].results
    assert (jobs.latest()[0].status, summary["written"], summary["generator"]) == ("done", 3, "extractive")
    ground(context)
    work(engine)
    assert jobs.latest()[0].results[0]["kept"] == 3


def test_a_knowledge_base_needs_an_index(context: ActContext) -> None:
    with pytest.raises(InputError, match="No document of the collection has an index"):
        ground(context)


def test_an_error_that_nobody_foresaw_fails_its_job_and_leaves_the_next_to_a_new_worker(
    engine: Engine, jobs: JobQueue
) -> None:
    jobs.queue("fly", {})
    jobs.queue("add", {"paths": []})
    with pytest.raises(KeyError, match="fly"):
        work(engine)
    assert [job.status for job in jobs.latest()] == ["queued", "failed"]
    work(engine)
    assert [job.status for job in jobs.latest()] == ["done", "failed"]


def test_a_worker_of_its_own_does_the_work_and_imports_nothing_from_the_folder_it_is_started_in(
    tmp_path: Path, small_documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ingestion.py").write_text("raise SystemExit('a stray module')")
    monkeypatch.chdir(tmp_path)
    workspace = tmp_path / "workspace"
    engine = Engine(read_config(workspace))
    jobs = JobQueue(engine.catalog)
    jobs.queue("add", {"paths": [str(small_documents / "flood.md")]})
    ensure_worker(workspace)
    assert await_job(jobs, lambda job: job.status not in ("queued", "running"), 120).status == "done"
    assert [record.file for record in engine.collection.documents()] == ["flood.md"]
    assert folders.await_worker(workspace, 30)
    engine.close()


def test_who_follows_a_job_is_told_when_no_worker_can_say_why_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingestion.jobs.process._PAUSE_SECONDS", 0.0)
    workspace = tmp_path / "workspace"
    engine = Engine(read_config(workspace))
    job = JobQueue(engine.catalog).queue("add", {"paths": []})
    (workspace / "settings.toml").write_text("answer_seconds = [")
    with pytest.raises(WorkspaceError, match=r"3 workers ended with an error .*worker\.log says why"):
        follow(engine, job)
    assert "settings.toml" in (workspace / "worker.log").read_text()
    engine.close()


def test_a_worker_that_is_asked_to_end_holds_nothing_against_what_it_was_at(
    tmp_path: Path, small_documents: Path
) -> None:
    workspace = tmp_path / "workspace"
    engine = Engine(read_config(workspace))
    JobQueue(engine.catalog).queue("add", {"paths": [str(small_documents)]})
    command = [sys.executable, "-m", "ingestion.worker", str(workspace), "0"]
    with subprocess.Popen(command, cwd=ROOT) as worker:
        marks = folders.refused(workspace)
        deadline = time.monotonic() + 120
        while not list(marks.glob("*.begun")):
            assert worker.poll() is None
            assert time.monotonic() < deadline
        worker.terminate()
    assert worker.returncode == -signal.SIGTERM
    assert not list(marks.glob("*.begun"))
    engine.close()


def test_a_worker_takes_up_nothing_when_the_server_it_was_started_beside_is_gone(
    engine: Engine, jobs: JobQueue
) -> None:
    jobs.queue("add", {"paths": []})
    command = [sys.executable, "-m", "ingestion.worker", str(engine.config.workspace), "999999"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    assert jobs.latest()[0].status == "queued"


def test_a_paused_job_waits_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    jobs = JobQueue(catalog)
    id = jobs.queue("run", {})
    jobs.pause(id)
    assert (jobs.next(), jobs.latest()[0].status) == (None, "paused")
    jobs.resume(id)
    present(jobs.next())
    jobs.pause(id)
    assert jobs.beat(id, None) == "pause"
    jobs.finish(id, "paused", [])
    jobs.resume(id)
    resumed = present(jobs.next())
    assert (resumed.id, resumed.signal) == (id, "")
    jobs.cancel(id)
    assert jobs.beat(id, None) == "cancel"
    catalog.close()


def test_a_deletion_can_be_undone_until_the_work_has_begun(engine: Engine, context: ActContext) -> None:
    upload(engine, "rules.txt", HARBOUR)
    work(engine)
    [record] = engine.collection.documents()
    with ThreadPoolExecutor() as pool:
        job = queue_erasure(context, [record.source], undo_seconds=60)
        ended = pool.submit(work, engine)
        await_job(context.jobs, lambda one: one.status == "running")
        control(context, "cancel", job.id)
        ended.result(timeout=30)
    assert context.jobs.latest()[0].status == "cancelled"
    assert engine.collection.documents() == [record]


def test_one_undo_keeps_all_documents_of_a_deletion_and_without_it_all_are_gone(
    engine: Engine, context: ActContext
) -> None:
    for name in ("harbour.txt", "dyke.txt"):
        upload(engine, name, f"{HARBOUR} It is the {name}.")
    work(engine)
    kept = engine.collection.documents()
    sources = [one.source for one in kept]
    assert len(sources) == 2
    control(context, "cancel", queue_erasure(context, sources, undo_seconds=60).id)
    work(engine)
    assert engine.collection.documents() == kept

    queue_erasure(context, sources)
    work(engine)
    ended = context.jobs.latest()[0]
    assert (ended.status, len(ended.results)) == ("done", 2)
    assert not engine.collection.documents()


def test_a_deletion_of_several_goes_on_past_one_that_is_refused(engine: Engine, context: ActContext) -> None:
    for name in ("harbour.txt", "dyke.txt"):
        upload(engine, name, f"{HARBOUR} It is the {name}.")
    work(engine)
    first, second = (one.source for one in engine.collection.documents())
    queue_erasure(context, [first, second])
    erase(context, first)
    work(engine)
    ended = context.jobs.latest()[0]
    assert (ended.status, len(ended.results)) == ("done", 1)
    assert first in ended.message
    assert not engine.collection.documents()


def test_the_removal_of_sources_can_be_undone_until_the_work_has_begun(engine: Engine, context: ActContext) -> None:
    upload(engine, "rules.txt", HARBOUR)
    work(engine)
    context.store.add(
        [ListedSource(code, f"https://example.org/{code}", origin=Message("by hand")) for code in ("A1", "A2")]
    )
    with ThreadPoolExecutor() as pool:
        job = queue_removal(context, ["A1"], "Ada", undo_seconds=60)
        ended = pool.submit(work, engine)
        await_job(context.jobs, lambda one: one.status == "running")
        control(context, "cancel", job.id)
        ended.result(timeout=30)
    assert context.jobs.latest()[0].status == "cancelled"
    assert set(context.store.records()) == {"A1", "A2"}

    queue_removal(context, ["A1"], "Ada")
    work(engine)
    assert context.jobs.latest()[0].status == "done"
    assert set(context.store.records()) == {"A2"}


def has_beaten_since(last: float, job: Job) -> bool:
    return job.heartbeat != last


def test_a_deletion_that_has_begun_is_not_called_cancelled(
    engine: Engine, jobs: JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(engine, "rules.txt", HARBOUR)
    work(engine)
    id = jobs.queue("erase", {"documents": [engine.collection.documents()[0].source]})
    erase = engine.writer.erase

    def late(record: DocumentRecord) -> Erasure:
        jobs.cancel(id)
        # One heartbeat may have been under way; with the next the worker has heard of it.
        for _ in range(2):
            last = jobs.latest()[0].heartbeat
            await_job(jobs, partial(has_beaten_since, last))
        return erase(record)

    monkeypatch.setattr(engine.writer, "erase", late)
    work(engine)
    assert jobs.latest()[0].status == "done"
    assert engine.collection.documents() == []
