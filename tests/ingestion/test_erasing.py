"""Erasures that are broken off at every step: by whom they are finished, and what they leave behind."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.doctor import examine
from cli.main import app as terminal
from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.acts.documents import (
    add_files,
    erase,
    finish_erasures,
    preview_upload,
    queue_uploads,
    resume_erasures,
    unfinished_erasures,
)
from ingestion.acts.evaluation import ask_test_questions, keep_answer
from ingestion.acts.indexes import queue_rebuild
from ingestion.acts.people import audit_entries
from ingestion.records.erasures import erasing
from ingestion.types.run import Progress
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.conversations.answer_jobs import AnswerJobs
from rag_engine.conversations.erased_documents import REDACTED
from rag_engine.conversations.recording import AnswerPart
from rag_engine.conversations.reply import reply_of
from rag_engine.conversations.store import Conversation, Turn, begin_turn, end_turn, new_id, read_conversation
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, SextantError, WorkspaceError
from rag_engine.evaluation.answers.accepted_run import keep_run, record_run, require_accepted
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.filters import parse_filters
from rag_engine.notebook.notebook import NotebookEntry, answer_entry, with_entry
from rag_engine.notebook.store import DEFAULT, change_notebook
from rag_engine.storage.catalog import pack_text
from rag_engine.types.answer import Answer
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import Evidence
from tests.ingestion.documents import pdf
from tests.ingestion.left_behind import files_holding, forms
from tests.present import present
from tests.rag_engine.conftest import CountingEmbedder
from tests.raw_records import raw_records
from tests.threads import join_threads

# Just before: anything is removed, the catalog knows, its rows go, the words go from the indexes, it is noted as done.
STEPS = (
    "ingestion.acts.documents._forget",
    "rag_engine.storage.collection_writer.erase",
    "rag_engine.storage.erase_document.purge",
    "rag_engine.storage.collection_writer.CollectionWriter._end_erasure",
    "ingestion.acts.documents.end_erasure",
)
WORDS = ("zanzibar", "harbourmaster", "ylang")
TEXT = "# The ylang statute\n\n" + "The harbourmaster keeps the zanzibar rules. " * 20


class Killed(BaseException):
    """The end of a process, which no step may catch."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two documents and a workspace of them."""
    return make(tmp_path_factory.mktemp("made"))


def make(folder: Path) -> Path:
    """Return the folder, in which two documents and a workspace of them were made."""
    for name, text in (("own.md", TEXT), ("bay.md", "# The bay\n\n" + "The bay has other rules. " * 20)):
        (folder / name).write_text(text, encoding="utf-8")
    with closing(open_engine(folder / "workspace")) as engine:
        add_files(context_of(engine), [folder / "own.md", folder / "bay.md"])
    return folder


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    """Return a workspace of two documents, which lie beside it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "workspace"


def open_engine(workspace: Path) -> Engine:
    return Engine(read_config(workspace), embedder=CountingEmbedder())


def context_of(engine: Engine) -> ActContext:
    return replace(open_context(engine, local_person("Ada")), start_worker=lambda _: None)


def asked(engine: Engine, question: str) -> Answer:
    answer = list(engine.ask(question))[-1]
    assert isinstance(answer, Answer)
    return answer


def conversed(workspace: Path, question: str, answer: Answer) -> Conversation:
    """Return a conversation of one question and its answer."""
    return present(end_turn(workspace, begin_turn(workspace, new_id(), question), reply_of(answer)))


def kill(workspace: Path, step: str) -> None:
    """Begin to erase own.md, and end just before a step."""

    def end(*_: object, **__: object) -> None:
        raise Killed

    with closing(open_engine(workspace)) as engine, pytest.MonkeyPatch.context() as patch, suppress(Killed):
        patch.setattr(step, end)
        erase(context_of(engine), "own.md")
        pytest.fail("nothing was broken off")


def holding(workspace: Path, *more: bytes) -> Iterator[Path]:
    """Yield the files that hold a word of the document in any form, packed, or one of the other bytes."""
    return files_holding(workspace, (*forms(*WORDS), *more))


@pytest.mark.parametrize("what", ["document", "former version"])
def test_after_an_erasure_no_file_of_the_workspace_holds_anything_of_the_document(tmp_path: Path, what: str) -> None:
    workspace = make(tmp_path) / "workspace"
    with closing(open_engine(workspace)) as engine:
        context, named = context_of(engine), "own.md"
        text = engine.catalog.text(engine.catalog.find_document(named).key)
        rows = [row.tobytes() for row in engine.collection.view().vectors if row.any()]
        ended = conversed(workspace, "Who keeps the rules?", asked(engine, "Who keeps the rules?"))
        assert ended.turns[0].reply is not None
        entry = answer_entry(ended.id, ended.turns[0])
        change_notebook(workspace, DEFAULT.id, lambda one: with_entry(one, entry))
        if what == "former version":
            new = "# The new statute\n\n" + "Nobody keeps any rules. " * 20
            (workspace.parent / "own.md").write_text(new, encoding="utf-8")
            add_files(context, [workspace.parent / "own.md"])
            named = next(one.source for one in engine.collection.documents() if one.is_former)
        packed = pack_text(text)[:64]
        assert len({path.name for path in holding(workspace, packed)}) >= 4
        assert erase(context, named, redact=True).left_behind == ()
        left = {row.tobytes() for row in engine.collection.view().vectors if row.any()}
        gone = [one for one in rows if one not in left]
        assert gone
        # Both while the engine is open and after it has ended.
        assert list(holding(workspace, packed, *gone)) == []
    assert list(holding(workspace, packed, *gone)) == []


FEE = "# Rules of the beach\n\nThe fee for a day at the beach is {} euros for each adult.\n"


@pytest.mark.parametrize("way", ["replaced", "changed"])
def test_the_version_before_an_erased_one_is_in_force_again(tmp_path: Path, way: str) -> None:
    """Three versions, of which the middle one goes first, then the newest."""
    make(tmp_path)
    with closing(open_engine(tmp_path / "workspace")) as engine:
        context, before = context_of(engine), ""
        for number in (1, 2, 3):
            file = tmp_path / ("rules.md" if way == "changed" else f"rules{number}.md")
            file.write_text(FEE.format(10 * number), encoding="utf-8")
            described = {"file": file.name, "title": "Rules of the beach", "language": "en", "date": f"20{number - 1}1"}
            (tmp_path / "metadata.jsonl").write_text(json.dumps(described), encoding="utf-8")
            replaces = before if way == "replaced" else ""
            [added] = add_files(context, [file], replaces=replaces)
            before = added.document_id

        def fees(*filters: str) -> set[str]:
            hits = engine.search("What is the fee for a day at the beach?", parse_filters(filters)).hits
            return {word for hit in hits for word in ("10", "20", "30") if f"is {word} euros" in hit.text}

        def version(fee: int) -> DocumentRecord:
            found = engine.collection.documents()
            return next(one for one in found if f"is {fee} euros" in engine.catalog.text(one.key))

        assert (fees(), fees("as_of=2015"), fees("as_of=2005")) == ({"30"}, {"20"}, {"10"})
        assert erase(context, version(20).source).in_force_again == ("Rules of the beach",)
        assert (fees(), fees("as_of=2015")) == ({"30"}, {"10"})
        assert erase(context, version(30).source).in_force_again == ("Rules of the beach",)
        assert fees() == {"10"}
        assert (version(10).metadata.superseded, version(10).is_former) == ("", False)
        # It is a document like any other: the same file again changes nothing, and it may be erased.
        add_files(context, [file])
        erase(context, version(10).source)
        assert fees("versions=all") <= {"30"}


@pytest.mark.parametrize("redact", [True, False])
def test_an_answer_that_is_being_written_keeps_of_an_erased_document_what_an_answer_before_it_does(
    workspace: Path, *, redact: bool
) -> None:
    question, jobs, id = "Who keeps the rules?", AnswerJobs(workspace), new_id()
    found, erased = threading.Event(), threading.Event()
    with closing(open_engine(workspace)) as engine:
        parts = list(engine.ask(question))
        answer = parts[-1]
        assert isinstance(answer, Answer)
        assert answer.citations

        def written() -> Iterator[AnswerPart]:
            for part in parts:
                yield part
                if isinstance(part, Evidence):
                    found.set()
                    erased.wait(60)

        jobs.start(id, question, lambda _: written())
        found.wait(60)
        erase(context_of(engine), "own.md", redact=redact)
        change_notebook(workspace, DEFAULT.id, lambda one: with_entry(one, of_before(id, question, answer)))
        erased.set()
        join_threads(f"answer {id}")
        # Neither was there when the erasure looked.
        held = raw_records(workspace, "conversation"), raw_records(workspace, "notebook")
        assert [any(word in str(one) for word in WORDS) for one in held] == [not redact] * 2
        conversation = present(read_conversation(workspace, id))
        reply = present(conversation.turns[0].reply)
        own = [source.text for source in reply.sources if source.file == "own.md"]
        assert own == (
            [] if redact else [" … ".join(sorted({one.quote for one in reply.citations if one.file == "own.md"}))]
        )


def of_before(id: str, question: str, answer: Answer) -> NotebookEntry:
    """Return a notebook's entry of an answer that a page still shows."""
    return answer_entry(id, Turn(question, "2026-01-01T00:00:00+00:00", reply_of(answer)))


@pytest.mark.parametrize("redact", [True, False])
def test_test_questions_and_their_runs_keep_what_they_quote_unless_it_is_to_be_redacted(
    workspace: Path, *, redact: bool
) -> None:
    with closing(open_engine(workspace)) as engine:
        context, question = context_of(engine), "Who keeps the zoning rules?"
        answer = list(engine.ask(question))[-1]
        assert isinstance(answer, Answer)
        begun = begin_turn(workspace, new_id(), question)
        end_turn(workspace, begun, reply_of(answer))
        keep_answer(context, begun.id, begun.turns[-1].asked, [0])
        measured, _ = ask_test_questions(context, AnswersRequest())
        keep_run(workspace, measured.id)
        assert kinds_holding(workspace) == ["test question", "run", "run"]
        assert erase(context, "own.md", redact=redact).left_behind == ()
        assert kinds_holding(workspace) == ([] if redact else ["test question", "run", "run"])
        # Figures are compared with those of later runs.
        assert require_accepted(workspace).figures == measured.run.figures


def kinds_holding(workspace: Path) -> list[str]:
    """Return the kinds of the records of test questions that hold a word of the document, a kind a record."""
    found = ((kind, body) for kind in ("test question", "run") for body in raw_records(workspace, kind).values())
    return [kind for kind, body in found if any(word in body for word in WORDS)]


@pytest.mark.parametrize("redact", [True, False])
def test_a_run_of_test_questions_keeps_no_answer_that_an_erasure_meanwhile_would_have_removed(
    workspace: Path, *, redact: bool
) -> None:
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        for question in ("Who keeps the zoning rules?", "Which officer keeps the zoning rules?"):
            begun = conversed(workspace, question, asked(engine, question))
            keep_answer(context, begun.id, begun.turns[-1].asked, [0])
        start = datetime.now(UTC).isoformat()

        def erasing(done: int, *_: object) -> None:
            if done == 1 and any(one.file == "own.md" for one in engine.collection.documents()):
                erase(context, "own.md", redact=redact)

        run, _ = ask_test_questions(context, AnswersRequest(), erasing)
        [first, _] = run.run.rows
        assert first.cited[0] == "own.md"
        assert (first.answer == REDACTED) == redact
        # One that was being asked when the other process erased, and what is accepted of it.
        late = replace(run.run, rows=(replace(first, answer=TEXT),))
        keep_run(workspace, record_run(workspace, "gate.0a", late, start).id)
        assert kinds_holding(workspace) == ([] if redact else ["test question"] * 2 + ["run"] * 3)


def test_an_original_that_a_repair_set_aside_is_erased_with_the_document_that_was_added_from_it(tmp_path: Path) -> None:
    content = TEXT.encode()
    folder = tmp_path / "workspace" / "damaged" / "2026-01-01" / "files" / hashlib.sha256(content).hexdigest()[:12]
    folder.mkdir(parents=True)
    (folder / "own.md").write_bytes(content)
    with closing(open_engine(tmp_path / "workspace")) as engine:
        add_files(context_of(engine), [folder / "own.md"])
        assert erase(context_of(engine), "own.md").left_behind == ()
    assert list(holding(tmp_path / "workspace")) == []


def test_an_upload_that_could_not_be_added_is_erased_with_the_document_of_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploaded, other = ("own.md", TEXT.encode()), ("bay.md", b"# The bay\n\nThe bay has other rules.")
    with closing(open_engine(tmp_path / "workspace")) as engine:
        context = context_of(engine)

        def upload(*files: tuple[str, bytes]) -> str:
            queue_uploads(context, [(name, BytesIO(content)) for name, content in files])
            work(engine)
            return context.jobs.latest()[0].status

        with monkeypatch.context() as patch:
            patch.setattr(CountingEmbedder, "encode_passages", failing)
            assert upload(uploaded, other) == "failed"
        assert upload(uploaded) == "done"
        # One that waits to be added is not removed before it is.
        waiting = queue_uploads(context, [(uploaded[0], BytesIO(uploaded[1]))])
        assert erase(context, "own.md").left_behind == ()
        assert [path.parent.parent.name for path in holding(tmp_path / "workspace")] == ["uploads"]
        context.jobs.cancel(waiting.id)
        assert upload(uploaded) == "done"
        assert erase(context, "own.md").left_behind == ()
    assert list(holding(tmp_path / "workspace")) == []
    assert [path.name for path in (tmp_path / "workspace" / "uploads").glob("*/*")] == ["bay.md"]


def failing(*_: object) -> None:
    raise BackendError("The encoder does not answer.", retryable=True)


def test_no_run_keeps_the_title_of_the_document_that_it_was_at(workspace: Path) -> None:
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        done, paused, running = (context.jobs.queue("run", {}) for _ in range(3))
        for id in (done, paused, running):
            context.jobs.beat(id, Progress(1, 3, 0, 0, "The ylang statute", "indexing"))
        assert context.jobs.finish(done, "done", []).progress is None
        stopped = present(context.jobs.finish(paused, "paused", []).progress)
        assert (stopped.done, stopped.current) == (1, "")
        context.jobs.cancel(paused)
        cancelled = present(context.jobs.find(paused))
        assert (cancelled.status, cancelled.progress) == ("cancelled", None)
        grounded = context.jobs.queue("ground", {})
        context.jobs.finish(
            grounded, "done", [{"failed": 1, "failure": "ylang: no answer"}], "1 left. ylang: no answer"
        )
        assert erase(context, "own.md").left_behind == ()
    assert list(holding(workspace)) == []


def test_drawn_pages_are_erased_with_their_document(workspace: Path) -> None:
    drawings = workspace / "drawings"
    files = [pdf(workspace.parent / f"{name}.pdf", [f"Nobody keeps the rules of bay {name}."]) for name in "ac"]
    with closing(open_engine(workspace)) as engine:
        add_files(context_of(engine), files)
        for name in ("a.pdf", "c.pdf"):
            document = engine.catalog.find_document(name)
            drawn, measured = engine.drawings.draw_page(document, 1, width=300)
            drawn.result(), measured.result()
        assert len(list(drawings.iterdir())) == 2
        assert erase(context_of(engine), "a.pdf").left_behind == ()
        [left] = drawings.iterdir()
        assert left.name == engine.catalog.find_document("c.pdf").sha256[:12]


@pytest.mark.parametrize("step", STEPS)
def test_an_erasure_that_was_killed_is_finished_by_whoever_writes_next(workspace: Path, step: str) -> None:
    kill(workspace, step)
    with closing(open_engine(workspace)) as engine:
        assert unfinished_erasures(context_of(engine)) == ["own.md"]
        assert next(one for one in examine(engine) if one.name == "Erasures").state == "bad"
        # It has no run to carry out.
        assert work(engine) == 0
        assert [one.file for one in engine.collection.documents()] == ["bay.md"]
        assert unfinished_erasures(context_of(engine)) == []
        assert "Erasures" not in {one.name for one in examine(engine)}
    assert list(holding(workspace)) == []


@pytest.mark.parametrize("step", STEPS)
def test_an_erasure_that_was_killed_can_be_repeated_by_name(workspace: Path, step: str) -> None:
    kill(workspace, step)
    with closing(open_engine(workspace)) as engine:
        assert erase(context_of(engine), "own.md").left_behind == ()
        with pytest.raises(InputError, match="No document is called"):
            erase(context_of(engine), "own.md")
    assert list(holding(workspace)) == []


def test_an_erasure_whose_process_was_killed_is_interrupted_in_the_log_until_it_is_finished(workspace: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from ingestion.acts import documents\n"
        "from tests.ingestion.test_erasing import context_of, open_engine\n"
        "documents._forget = lambda *_, **__: os.kill(os.getpid(), 9)\n"
        "documents.erase(context_of(open_engine(Path(sys.argv[1]))), 'own.md')\n"
    )
    subprocess.run([sys.executable, "-c", killed, str(workspace)], check=False)
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        [begun] = audit_entries(context, of="erase")
        assert (begun.outcome, begun.by) == ("interrupted", "Ada")
        assert finish_erasures(context) == 1
        [done] = audit_entries(context, of="erase")
        assert (done.outcome, done.on) == ("done", begun.on)


def test_an_erasure_removes_what_a_killed_process_had_half_written_of_the_document(workspace: Path) -> None:
    half = "import os, sys; from pathlib import Path; from rag_engine.atomic_write import replacing\n"
    half += f"with replacing(Path(sys.argv[1])) as new: new.write_bytes({TEXT.encode()!r}); os._exit(1)"
    readings = workspace / "readings" / "0a"
    readings.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", half, str(readings / "own.json.gz")], check=False)
    assert list(readings.iterdir())
    with closing(open_engine(workspace)) as engine:
        erase(context_of(engine), "own.md")
    assert list(holding(workspace)) == []


@pytest.mark.parametrize("step", STEPS[2:4])
def test_a_writer_that_knows_nothing_of_ingestion_finishes_what_the_stores_hold(workspace: Path, step: str) -> None:
    kill(workspace, step)
    with closing(open_engine(workspace)) as engine:
        with engine.indexer():
            pass
        assert not engine.collection.is_erasing()
    assert list(holding(workspace)) == []


def test_a_server_that_starts_has_the_worker_finish_an_erasure(workspace: Path) -> None:
    started: list[Path] = []
    with closing(open_engine(workspace)) as engine:
        context = replace(context_of(engine), start_worker=started.append)
        resume_erasures(context)
        assert started == []
    kill(workspace, STEPS[1])
    with closing(open_engine(workspace)) as engine:
        resume_erasures(replace(context_of(engine), start_worker=started.append))
        assert started == [workspace]


def test_words_that_an_erasure_left_in_the_indexes_are_told_until_these_are_made_anew(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_engine.storage.collection_writer._MADE_ANEW", 0)
    with closing(open_engine(workspace)) as engine:
        [left] = erase(context_of(engine), "own.md").left_behind
        assert unfinished_erasures(context_of(engine)) == []
        told = next(one for one in examine(engine) if one.name == "Erased words")
        assert (told.state, left in told.found) == ("bad", True)
        assert work(engine) == 0
        assert "Erased words" not in {one.name for one in examine(engine)}
    assert list(holding(workspace)) == []


def test_nobody_finishes_what_another_process_is_erasing(workspace: Path) -> None:
    kill(workspace, STEPS[1])
    with closing(open_engine(workspace)) as engine, erasing(workspace):
        assert work(engine) == 0
        assert unfinished_erasures(context_of(engine)) == ["own.md"]
        with pytest.raises(WorkspaceError, match="Another process is erasing"):
            erase(context_of(engine), "own.md")


def test_a_command_that_may_write_finishes_an_erasure_first(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_engine.engine.open_engine", lambda config: Engine(config, embedder=CountingEmbedder()))
    kill(workspace, STEPS[2])
    assert CliRunner().invoke(terminal, ["status", "--workspace", str(workspace)]).exit_code == 0
    assert list(holding(workspace)) == []


@pytest.mark.parametrize("damaged", ["meta.json", "chroma.sqlite3"])
@pytest.mark.parametrize("how", [["rebuild"], ["rebuild", "--encode"], "worker"])
@pytest.mark.parametrize("step", STEPS[:4:3])
def test_a_damaged_index_is_made_anew_though_it_keeps_an_erasure_from_being_finished(
    workspace: Path, damaged: str, how: list[str] | str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_engine.engine.open_engine", lambda config: Engine(config, embedder=CountingEmbedder()))
    kill(workspace, step)
    for file in workspace.rglob(damaged):
        file.write_bytes(b"no such file" * 400)
    with closing(open_engine(workspace)) as engine, pytest.raises(SextantError):
        finish_erasures(context_of(engine))
    if how == "worker":
        with closing(open_engine(workspace)) as engine:
            job = queue_rebuild(context_of(engine))
            work(engine)
            assert [(one.id, one.status) for one in context_of(engine).jobs.latest()] == [(job.id, "done")]
    else:
        ended = CliRunner().invoke(terminal, [*how, "--workspace", str(workspace)])
        assert ended.exit_code == 0, ended.output
    with closing(open_engine(workspace)) as engine:
        assert [one.file for one in engine.collection.documents()] == ["bay.md"]
        assert unfinished_erasures(context_of(engine)) == []
        assert engine.search("The bay has other rules").hits
    assert list(holding(workspace)) == []


def test_nothing_of_a_list_that_was_only_looked_at_outlives_an_erasure(workspace: Path) -> None:
    with closing(open_engine(workspace)) as engine:
        preview = preview_upload(context_of(engine), "list.csv", BytesIO(TEXT.encode()))
        assert preview.read_text() == TEXT
        assert erase(context_of(engine), "own.md").left_behind == ()
    assert list(holding(workspace)) == []


def test_an_erasure_that_was_killed_and_is_asked_for_again_is_finished_and_said(workspace: Path) -> None:
    kill(workspace, "rag_engine.storage.collection_writer.CollectionWriter._end_erasure")
    again = CliRunner().invoke(terminal, ["erase", "own.md", "--workspace", str(workspace)])
    assert again.exit_code == 0, again.output
    assert "own.md, begun before and finished now" in " ".join(again.output.split())
    assert list(holding(workspace)) == []
