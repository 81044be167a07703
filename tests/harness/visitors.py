"""Many people at once: each gets the answer to the own question, and every file that is uploaded is there.

Threads of one engine with its jobs, as the page server has them; sessions of Streamlit itself would take minutes.
"""

from __future__ import annotations

import io
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingestion.add_files import add_paths
from ingestion.jobs.queue import JobQueue
from ingestion.jobs.worker import work
from ingestion.operations.desk import Desk, local_person, open_desk
from ingestion.operations.documents import queue_uploads
from rag_engine.config import read_config
from rag_engine.conversations.answer_jobs import AnswerJobs
from rag_engine.conversations.store import Turn, new_id, read_conversation
from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from tests.harness.tally import Effort, Tally
from tests.rag_engine.conftest import CountingEmbedder

_ASKING, _UPLOADING = {"short": 12, "whole": 50}, {"short": 3, "whole": 10}
_SECONDS = 240.0


def visitors(effort: Effort) -> Iterator[Tally]:
    """Let people ask and upload at the same moment."""
    asking, uploading = _ASKING[effort], _UPLOADING[effort]
    with tempfile.TemporaryDirectory(prefix="sextant-harness-") as home:
        config = read_config(Path(home) / "workspace")
        config = replace(config, reader="none", retrieval=replace(config.retrieval, rerank=False))
        engine = Engine(config, embedder=CountingEmbedder())
        try:
            documents = _plans(engine, Path(home) / "in", asking)
            desk = replace(open_desk(engine, local_person("Ada")), start_worker=lambda _workspace: None)
            jobs, start = AnswerJobs(engine.config.workspace), threading.Barrier(asking + uploading)
            ask, upload = partial(_ask, engine, jobs, documents, start), partial(_upload, desk, start)
            with ThreadPoolExecutor(asking + uploading) as pool:
                asked, uploaded = (
                    [pool.submit(ask, n) for n in range(asking)],
                    [pool.submit(upload, n) for n in range(uploading)],
                )
                lost = [f"file {n}: {one.exception()}" for n, one in enumerate(uploaded) if one.exception()]
                while JobQueue(engine.catalog).waiting():
                    work(engine)
                answers = [found for one in asked if (found := one.result())]
            lost += list(_missing(engine, uploading))
        finally:
            engine.close()
    yield Tally(f"answers to {asking} people who ask at once while {uploading} upload", asking, tuple(answers))
    yield Tally(
        f"files of {uploading} people who upload at once while {asking} ask", uploading, tuple(lost[:uploading])
    )


def _town(number: int) -> str:
    return "Ort" + "".join(chr(97 + int(digit)) for digit in str(number)) + "heim"


def _plans(engine: Engine, folder: Path, count: int) -> list[str]:
    """Add a plan for each asker; return the ids of the documents in their order."""
    folder.mkdir()
    for number in range(count):
        sentence = f"The dyke of {_town(number)} was raised by two metres in {1900 + number}. "
        (folder / f"{number:03}.txt").write_text(f"Plan of {_town(number)}\n\n{sentence}The mayor inspects it.\n")
    added = add_paths([folder], engine)
    assert {one.status for one in added} == {"indexed"}, added
    return [one.document_id for one in added]


def _ask(engine: Engine, jobs: AnswerJobs, documents: list[str], start: threading.Barrier, number: int) -> str:
    """Ask as a page does, and return what is wrong with the answer that is kept, or ""."""
    id, question = new_id(), f"When was the dyke of {_town(number)} raised?"
    start.wait(60)
    try:
        jobs.start(id, question, lambda before: engine.ask_next(question, before))
    except SextantError as error:
        return f"{question} {error}"
    turn = _ended(engine.config.workspace, id)
    if turn is None or turn.reply is None:
        return f"{question} no answer within {_SECONDS:.0f} s"
    reply = turn.reply
    cited = {one.document_id for one in reply.citations}
    named = set(re.findall(r"Ort[a-j]+heim", reply.text))
    if turn.question != question or reply.status != "answered":
        return f"{question} {turn.question} {reply.status}: {reply.text[:200]}"
    if documents[number] not in cited or _town(number) not in named:
        return f"{question} cites {cited}: {reply.text[:200]}"
    return ""


def _ended(workspace: Path, id: str) -> Turn | None:
    """Return the turn once its answer is kept."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        conversation = read_conversation(workspace, id)
        if conversation and conversation.turns and conversation.turns[-1].reply:
            return conversation.turns[-1]
        for thread in threading.enumerate():
            if thread.name == f"answer {id}":
                thread.join(_SECONDS)
    return None


def _upload(desk: Desk, start: threading.Barrier, number: int) -> None:
    """Upload a file of a name that all of them have."""
    start.wait(60)
    content = f"Report {number}\n\nThe harbour of {_town(number)} was deepened in {2000 + number}.\n"
    queue_uploads(desk, [("report.txt", io.BytesIO(content.encode()))])


def _missing(engine: Engine, count: int) -> Iterator[str]:
    texts = [engine.catalog.text(one.key) for one in engine.collection.documents() if one.file == "report.txt"]
    for number in range(count):
        found = sum(f"harbour of {_town(number)} " in text for text in texts)
        if found != 1:
            yield f"the report of {_town(number)} is there {found} times"
