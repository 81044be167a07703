"""Acts upon a workspace in another process, and what the next makes of one broken off.

The encoder counts words. Where it shall be quick, files are read in the process itself: their reader writes nothing
into a workspace.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import chromadb.api.rust  # imported late by the program, here before the processes are forked
import chromadb.telemetry.product.posthog  # noqa: F401
import lingua  # noqa: F401
import pydantic_settings  # noqa: F401
import scipy.stats  # noqa: F401

import ingestion.extraction.formats.pdf  # noqa: F401
from ingestion.acts import backups, documents, indexes, sources
from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.backup.archive import opened_archive
from ingestion.extraction.extract import extract
from ingestion.extraction.properties import read_properties
from ingestion.file_reading import ExtractionLimits, FileReading
from ingestion.licence.table import load_licences
from ingestion.metadata.sidecar import describe
from ingestion.pipeline.scheduling import find_phase
from ingestion.records.source_record import SourceRecord
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.run import PHASES, RunRequest
from ingestion.web.trusted_domains import domain_mark
from ingestion.web.urls import registered_name, url_of_any_language
from ingestion.worker import work
from rag_engine.backends.identify_language import identify_language
from rag_engine.chunking.chunk import chunk
from rag_engine.config import ChunkingConfig, read_config
from rag_engine.confinement.parent import end_with_parent
from rag_engine.engine import Engine
from rag_engine.errors import InputError, SextantError
from rag_engine.text.analyzer import analyse, surface
from rag_engine.types.document import ExtractedText
from tests.harness.killing.watched_writes import be_watched
from tests.ingestion.left_behind import collection_of, files_holding, forms
from tests.rag_engine.conftest import CountingEmbedder


@dataclass(frozen=True, slots=True)
class Scene:
    """Place of an act: a folder with the workspace, what is made beside it, and what is given.

    `intranet` names the servers that may be asked although they are not public.
    """

    folder: Path
    given: Path
    intranet: str = ""

    @property
    def workspace(self) -> Path:
        """The folder of the workspace."""
        return self.folder / "workspace"

    @property
    def archive(self) -> Path:
        """The file of its backup."""
        return self.folder / "backup.zip"


def _erase(context: ActContext, _: Scene) -> None:
    documents.erase(context, f"{ERASED}.txt", redact=True)


def _list(context: ActContext, scene: Scene) -> None:
    sources.add_list(context, scene.given / "sources.csv")


def _carry_out_run(context: ActContext, *, refresh: bool = False) -> None:
    """Queue a run unless one waits, and be the worker that carries it out."""
    if not context.jobs.waiting():
        context.jobs.queue("run", asdict(RunRequest(refresh=refresh)))
    context.jobs.take_over()
    work(context.engine)


def _back_up(context: ActContext, scene: Scene) -> None:
    # Where one was killed when it was done, the next one has another name.
    backups.backup(context, scene.folder / "another.zip" if scene.archive.exists() else scene.archive)


# Under the names that the report gives them.
ACTS: dict[str, Callable[[ActContext, Scene], object]] = {
    "add": lambda context, scene: documents.add_files(context, [scene.given]),
    "erase": _erase,
    "rebuild": lambda context, _: indexes.rebuild(context),
    "rebuild --encode": lambda context, _: indexes.rebuild(context, encode=True),
    "import": _list,
    "run": lambda context, _: _carry_out_run(context),
    "refresh": lambda context, _: _carry_out_run(context, refresh=True),
    "backup": _back_up,
}

# The document that is erased; its text has this word backwards, and its name has not.
ERASED = "flood"
SETTINGS = {"SEXTANT_HOST_SECONDS": "0", "SEXTANT_WEB_SECONDS": "4"}

State = dict[str, list[Any]]


def warm_up() -> None:
    """Load what every act looks up, so that the processes that are forked from this one have it."""
    text = "The flood plan of 2015 binds the authority. " * 20
    extracted = ExtractedText(text, 1, (), (), "text/plain", "Flood plan")
    describe({}, extracted, identify_language(text))
    chunk(
        text,
        "en",
        title="Flood plan",
        blocks=(),
        lines=(),
        encode=CountingEmbedder().encode_passages,
        config=ChunkingConfig(),
    )
    surface(text)
    analyse(text, "en")
    for phase in PHASES:
        find_phase(phase)
    address = "https://plans.example.org/en/flood.pdf"
    registered_name(address)
    url_of_any_language(address)
    domain_mark(address)
    load_licences()


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that ended an act; `told` where it is one that a person reads as a sentence."""

    words: str
    told: bool


def reported(
    work: Callable[..., object], arguments: Sequence[object], connection: Connection, *, held: bool, quick: bool
) -> None:
    """Send what the work returns, or how it failed; end with the harness, where that is killed.

    Its writes are `held` by who is at the other end; a `quick` one reads files in the process itself.
    """
    parent = parent_process()
    assert parent is not None
    # The end of a pipe that the harness holds open as long as it lives.
    os.dup2(parent.sentinel, 0)
    end_with_parent()
    if wait([parent.sentinel], 0):
        # It was killed before.
        sys.exit(1)
    if quick:
        _read_here()
    if held:
        be_watched(connection)
    try:
        result = work(*arguments)
    except Exception as error:
        result = Failure(f"{type(error).__name__}: {error}", isinstance(error, SextantError))
    connection.send(result)


def carry_out(act: str, scene: Scene) -> None:
    """Carry an act out."""
    with closing(open_scene(scene)) as engine:
        ACTS[act](_context(engine), scene)


def begin_again(act: str, scene: Scene) -> tuple[State, State]:
    """Carry an act out after a process that was killed; return the state before and after."""
    with closing(open_scene(scene)) as engine:
        context = _context(engine)
        documents.finish_erasures(context)
        with engine.indexer():
            # Whoever writes next repairs, whatever it is about to write.
            pass
        found = state_of_scene(engine, scene)
        # What was finished by then has no document of this name any more.
        with suppress(InputError):
            ACTS[act](context, scene)
        last = state_of_scene(engine, scene)
    return found, last | _left_of_what_is_gone(last, scene)


def read_state(scene: Scene) -> State:
    """Return the state of a workspace."""
    with closing(open_scene(scene)) as engine:
        state = state_of_scene(engine, scene)
    return state | _left_of_what_is_gone(state, scene)


def state_of_scene(engine: Engine, scene: Scene) -> State:
    """Return the collection, and what lies in its folder of which nothing may be left."""
    state = collection_of(engine)
    left = [path for path in scene.folder.rglob("*") if path.name.endswith((".part", ".begun"))]
    state["left over"] = sorted(str(path.relative_to(scene.folder)) for path in left)
    context = _context(engine)
    state["list"] = sorted(
        # A run that goes on after a kill asks once more for what it has fetched.
        (
            code,
            record.source.url,
            [(phase, one.status, one.reason.replace("not_modified", "")) for phase, one in record.outcomes.items()],
        )
        for code, record in context.store.records().items()
    )
    # One that was killed when it was done is asked for once more.
    state["jobs"] = sorted({(job.kind, job.status, job.message) for job in context.jobs.latest()})
    state["archive"] = []
    if scene.archive.exists():
        with opened_archive(scene.archive) as (_, manifest):
            state["archive"] = sorted(one.name for one in manifest.files)
    return state


def _left_of_what_is_gone(state: State, scene: Scene) -> State:
    """Return which files hold words of the document that was erased.

    Looked for when the engine is closed: while it is open, Chroma may write memory of this process into its files.
    """
    indexed = any(file == f"{ERASED}.txt" for _, file, *_ in state["documents"])
    gone = [] if indexed else files_holding(scene.workspace, forms(ERASED[::-1]))
    return {"words of what is gone": sorted(str(path.relative_to(scene.workspace)) for path in gone)}


def _outcomes(record: SourceRecord) -> list[tuple[str, str, str]]:
    # A run that goes on after a kill asks once more for what it has fetched.
    reasons = {"not_modified": ""}
    return [(phase, one.status, reasons.get(one.reason, one.reason)) for phase, one in record.outcomes.items()]


def open_scene(scene: Scene) -> Engine:
    """Return the engine of a workspace, with an encoder of counted words."""
    os.environ |= SETTINGS | {"SEXTANT_INTRANET": scene.intranet}
    return Engine(read_config(scene.workspace), embedder=CountingEmbedder())


def _context(engine: Engine) -> ActContext:
    return replace(open_context(engine, local_person("Ada")), start_worker=lambda _: None)


def _read_here() -> None:
    def read(self: Sandbox, path: Path, patience: float = 1.0) -> FileReading:
        return FileReading(extract(path, ExtractionLimits(), None), read_properties(path))

    Sandbox.read = read  # type: ignore[method-assign]


warm_up()
# What is there by now stays, and no collection of a forked process looks through it, or copies its pages.
gc.freeze()
