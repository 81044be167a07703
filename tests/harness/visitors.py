"""Many people at once: each gets the answer to their question, and every uploaded file arrives.

They are sessions of a real page server over its websocket, without a language model: the answers are quotations. No
browser takes part: sixty of them would be a test of the machine.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.page_server import serving
from ingestion.add_files import add_paths
from ingestion.jobs.queue import JobQueue
from rag_engine.config import ROOT, read_config
from rag_engine.conversations.store import read_conversation
from rag_engine.engine import open_engine
from rag_engine.storage.catalog import Catalog, open_catalog
from tests.harness.page_visitor import PageVisitor, visiting
from tests.harness.tally import Effort, Tally

_ASKING, _UPLOADING = {"short": 6, "whole": 50}, {"short": 2, "whole": 10}
_SECONDS = 240.0
# What takes a model more than the encoder would measure the machine.
_SETTINGS = {"SEXTANT_READER": "none", "SEXTANT_RERANKER": "none", "SEXTANT_OLLAMA_URL": "http://127.0.0.1:9"}


def visitors(effort: Effort) -> Iterator[Tally]:
    """Let people ask and upload at the same moment."""
    asking, uploading = _ASKING[effort], _UPLOADING[effort]
    with tempfile.TemporaryDirectory(prefix="sextant-harness-") as home:
        workspace = Path(home) / "workspace"
        documents = _plans(workspace, Path(home) / "in", asking)
        with (
            serving(ROOT / "app.py", Path(home) / "log", SEXTANT_WORKSPACE=str(workspace), **_SETTINGS) as address,
            closing(open_catalog(workspace)) as catalog,
            ThreadPoolExecutor(asking + uploading) as pool,
        ):
            start = threading.Barrier(asking + uploading)
            ask = partial(_ask, address, start, workspace, documents)
            upload = partial(_upload, address, start, JobQueue(catalog))
            asked = [pool.submit(ask, number) for number in range(asking)]
            uploaded = [pool.submit(upload, number) for number in range(uploading)]
            answers = [found for one in asked if (found := _wrong(one))]
            lost = [found for one in uploaded if (found := _wrong(one))] or list(_missing(catalog, uploading))
    yield Tally(f"answers to {asking} people who ask at once while {uploading} upload", asking, tuple(answers))
    yield Tally(f"files of {uploading} people who upload at once while {asking} ask", uploading, tuple(lost))


def _wrong(visit: Future[str]) -> str:
    """Return what was wrong with a visit, also where it ended with an error; "" for nothing."""
    error = visit.exception()
    return f"{type(error).__name__}: {error}" if error else visit.result()


def _town(number: int) -> str:
    return "Ort" + "".join(chr(97 + int(digit)) for digit in str(number)) + "heim"


def _plans(workspace: Path, folder: Path, count: int) -> list[str]:
    """Add a plan for each asker; return the ids of the documents in their order."""
    folder.mkdir()
    for number in range(count):
        sentence = f"The dyke of {_town(number)} was raised by two metres in {1900 + number}. "
        (folder / f"{number:03}.txt").write_text(f"Plan of {_town(number)}\n\n{sentence}The mayor inspects it.\n")
    with closing(open_engine(read_config(workspace))) as engine:
        added = add_paths([folder], engine)
    assert {one.status for one in added} == {"indexed"}, added
    return [one.document_id for one in added]


@contextmanager
def _ready(address: str, page: str, start: threading.Barrier) -> Iterator[PageVisitor]:
    """Yield a visitor whose page is drawn, when those of all others are drawn too."""
    try:
        with visiting(address, page) as visitor:
            assert visitor.wait(lambda: visitor.idle, _SECONDS), "the page was not drawn"
            start.wait(_SECONDS)
            yield visitor
    except BaseException:
        # Nobody waits for one who has left.
        start.abort()
        raise


def _ask(address: str, start: threading.Barrier, workspace: Path, documents: Sequence[str], number: int) -> str:
    """Ask on the page, and return what is wrong with what it shows then or with what is kept, or ""."""
    question = f"When was the dyke of {_town(number)} raised?"
    with _ready(address, "", start) as visitor:
        visitor.ask(question)
        answered = visitor.wait(
            lambda: f"dyke of {_town(number)} was raised" in visitor.shown and visitor.idle, _SECONDS
        )
        asked = set(re.findall(r"When was the dyke of (Ort[a-j]+heim) raised", visitor.shown))
        [id] = visitor.in_address.get("conversation", [""])
    if not answered or asked != {_town(number)}:
        return f"{question} answered: {answered}, shown are the questions of {sorted(asked)}"
    conversation = read_conversation(workspace, id)
    turns = conversation.turns if conversation else ()
    if [one.question for one in turns] != [question] or turns[0].reply is None:
        return f"{question} kept are {[one.question for one in turns]}"
    cited = {one.document_id for one in turns[0].reply.citations}
    return "" if documents[number] in cited else f"{question} cites {cited}: {turns[0].reply.text[:200]}"


def _upload(address: str, start: threading.Barrier, jobs: JobQueue, number: int) -> str:
    """Upload a file of a name that all of them have, and look on until nothing waits to be added."""
    content = f"Report {number}\n\nThe harbour of {_town(number)} was deepened in {2000 + number}.\n"
    with _ready(address, "library", start) as visitor:
        visitor.open("Add documents", _SECONDS)
        visitor.upload("report.txt", content.encode(), "Add to the collection", _SECONDS)
        shown = visitor.wait(lambda: "Result for each file" in visitor.shown, _SECONDS)
        added = visitor.wait(lambda: not jobs.waiting(), _SECONDS)
    return "" if shown and added else f"file {number}: shown {shown}, added {added}"


def _missing(catalog: Catalog, count: int) -> Iterator[str]:
    texts = [catalog.text(one.key) for one in catalog.active_documents() if one.file == "report.txt"]
    for number in range(count):
        found = sum(f"harbour of {_town(number)} " in text for text in texts)
        if found != 1:
            yield f"the report of {_town(number)} is there {found} times"
