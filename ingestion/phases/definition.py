"""Definition of a phase: how it runs, what its outcomes are made from, when it is repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

from ingestion.config import IngestionConfig
from ingestion.disk_full import raise_of_own_disk
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import PhaseEntry, SourceStore
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome, Refusal
from ingestion.types.run import ControlSignal, Phase, Progress, RunRequest
from rag_engine.engine import Engine
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.messages import Message, message_of
from rag_engine.storage.indexer import IndexingStopped

_Done = TypeVar("_Done")
# So many of the sources that come next are named.
_NAMED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePhase:
    """Phase that looks at one source at a time.

    `inputs` are the inputs of an outcome besides the `tables` (files of data/) and the `version`. The version is raised
    when the phase gives another result for the same input. Phases `on_the_web` are repeated while they find new
    sources, and take the hosts by turns. `parallel` is the number of sources worked on at a time. `is_stale` says that
    a source must be run again though its inputs are the same. `asks_model` says of an outcome that a language model is
    wanted for it, `used_model` that one had a part in it. `follow_up` runs before the outcome is recorded.
    """

    run: Callable[[SourceRecord, Tools], Outcome]
    inputs: Callable[[SourceRecord, Tools], Mapping[str, object]]
    tables: tuple[str, ...] = ()
    version: int = 1
    on_the_web: bool = False
    parallel: Callable[[IngestionConfig], int] = field(default=lambda _: 1)
    is_stale: Callable[[SourceRecord, Tools, RunRequest], bool] = field(default=lambda _record, _tools, _request: False)
    asks_model: Callable[[Outcome], bool] = field(default=lambda _: False)
    used_model: Callable[[Outcome], bool] = field(default=lambda _: False)
    follow_up: Callable[[SourceRecord, Outcome, SourceStore], None] = field(default=lambda *_: None)


def said_of(error: Exception) -> Message:
    """Return the message of an error, with its kind if it is unforeseen.

    >>> str(said_of(ValueError("no such month"))), str(said_of(OSError("no space left")))
    ('ValueError: no such month', 'no space left')
    """
    foreseen = isinstance(error, SextantError | OSError | UnicodeError)
    return message_of(error) if foreseen else Message("{what}: {error}", what=type(error).__name__, error=str(error))


def attempt(
    work: Callable[[], _Done],
    said: Callable[[Exception], Message] = said_of,
    at: AbstractContextManager[None] | None = None,
) -> _Done | Outcome:
    """Return what comes of a step of one file or source, or the outcome that is its failure.

    It never stops the others, unless the workspace itself fails or somebody stops them. `said` makes the message of an
    error that is no refusal; `at` marks the source that the worker is at.
    """
    try:
        with at or nullcontext():
            return work()
    except Refusal as refusal:
        raise_of_own_disk(refusal)
        return refusal.outcome()
    except (IndexingStopped, WorkspaceError):
        raise
    except Exception as error:
        raise_of_own_disk(error)
        retryable = error.retryable if isinstance(error, SextantError) else True
        return Outcome("failed", "unexpected", said(error), retryable=retryable)


def source_progress(
    phase: Phase, total: int, now: Sequence[SourceRecord], waiting: Sequence[SourceRecord], current: str = ""
) -> Progress:
    """Return the progress of a phase that has done all but those it is at `now` and those still `waiting`."""
    done = total - len(now) - len(waiting)
    codes, following = ([record.source.code for record in some] for some in (now, waiting[:_NAMED]))
    return Progress(done, total, 0, 0, current, phase, now=tuple(codes), waiting=tuple(following))


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """Input of a phase over the whole collection.

    `ready` are the sources that passed the phases before, `stopped` all others; `chosen` are the codes asked for,
    None for all. `again` asks for a run though nothing has changed.
    """

    ready: Sequence[SourceRecord]
    stopped: Sequence[SourceRecord]
    chosen: frozenset[str] | None
    again: bool
    entries: Mapping[tuple[str, Phase], PhaseEntry]
    store: SourceStore
    engine: Engine
    tools: Tools
    progress: Callable[[Progress], None]
    signal: Callable[[], ControlSignal]


# Outcome and fingerprint by code; each batch is recorded before the next is asked for.
Batch = Mapping[str, tuple[Outcome, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionPhase:
    """Phase that looks at all sources together and gives the outcomes that have changed, in batches."""

    run_all: Callable[[CollectionRun], Iterator[Batch]]
    on_the_web: bool = False
