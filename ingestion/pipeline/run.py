"""The ordered phases over all sources; the only loop.

A phase takes the sources that passed the one before, if their input, settings or version have changed since their last
outcome. Nothing else is remembered, so that a run can be broken off at any instant and begun again.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from ingestion.phases.definition import CollectionPhase, CollectionRun, SourcePhase, attempt, source_progress
from ingestion.pipeline.scheduling import find_phase, fingerprint_of, is_ready, needs_run
from ingestion.records.quarantine import sort_file
from ingestion.records.refused_files import WorkerStops
from ingestion.records.source_record import SourceRecord, decided
from ingestion.records.source_store import SourceStore
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, ControlSignal, Phase, PhaseSummary, Progress, RunRequest
from ingestion.web.urls import normal_url
from ingestion.workspace import downloads, licence_checks, refused
from rag_engine.engine import Engine

# How often it is looked whether the run shall end, while something is being worked on.
_LISTEN_SECONDS = 0.5


def run_phases(
    store: SourceStore,
    engine: Engine,
    tools: Tools,
    request: RunRequest,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    signal: Callable[[], ControlSignal] = lambda: "",
) -> list[PhaseSummary]:
    """Run the phases of a request and return a summary of each, in order.

    A signal to pause ends the run after the sources that are being worked on; one to cancel breaks these off.
    """
    chosen = tuple(phase for phase in PHASES if phase in request.phases)
    _remove_half_fetched(tools.workspace)
    run = _Run(store, engine, tools, request, progress, signal)
    on_the_web = {phase for phase in PHASES if find_phase(phase).on_the_web}
    while True:
        before = len(store.sources())
        for phase in chosen:
            if phase in on_the_web and not signal():
                run.run_phase(phase)
        # What portals offer are sources themselves.
        if signal() or len(store.sources()) == before:
            break
    for phase in chosen:
        if phase not in on_the_web and not signal():
            run.run_phase(phase)
    return run.summaries()


def _remove_half_fetched(workspace: Path) -> None:
    """Remove what a killed run was fetching; there is one run at a time, and no other job fetches."""
    shutil.rmtree(licence_checks(workspace), ignore_errors=True)
    if downloads(workspace).is_dir():
        for path in downloads(workspace).glob(".*"):
            path.unlink()


def pass_phases(record: SourceRecord, phases: Sequence[Phase], tools: Tools) -> SourceRecord:
    """Return a source record with what these phases find; each sees the outcomes before it."""
    for name in phases:
        phase = find_phase(name)
        assert isinstance(phase, SourcePhase), f"{name} looks at one source at a time"
        record = record.having(name, attempt(partial(phase.run, record, tools)))
    return record


@dataclass(frozen=True, slots=True)
class _Run:
    """Run of the phases with its figures."""

    _store: SourceStore
    _engine: Engine
    _tools: Tools
    _request: RunRequest
    _progress: Callable[[Progress], None]
    _signal: Callable[[], ControlSignal]
    _counts: dict[Phase, Counter[tuple[str, str]]] = field(default_factory=dict)
    _seconds: dict[Phase, float] = field(default_factory=lambda: defaultdict(float))
    _taken: set[tuple[Phase, str]] = field(default_factory=set)

    def run_phase(self, name: Phase) -> None:
        """Run a phase for the sources that are pending there."""
        started, phase = time.monotonic(), find_phase(name)
        if isinstance(phase, CollectionPhase):
            self._run_together(name, phase)
        else:
            self._run_each(name, phase)
        self._seconds[name] += time.monotonic() - started

    def _run_each(self, name: Phase, phase: SourcePhase) -> None:
        records = self._store.records()
        listed = (
            {normal_url(record.source.url): record.source.parent for record in records.values()}
            if phase.on_the_web
            else {}
        )
        tools = replace(self._tools, listed=listed, records=records)
        pending = self._pending(name, phase, tools)
        order = _by_turns if phase.on_the_web else _longest_first
        todo = [records[code] for code in order(list(pending), records)]
        model = tools.language_model.name if tools.language_model else ""
        with closing(self._work(name, phase, todo, tools)) as working:
            for code, outcome, seconds in working:
                phase.follow_up(records[code], outcome, self._store)
                self._store.record(
                    code,
                    name,
                    outcome,
                    fingerprint=pending[code],
                    model=model if phase.used_model(outcome) else "",
                    seconds=round(seconds, 3),
                )
                self._count(name, code, outcome)
                sort_file(tools.workspace, _after(records[code], name, outcome))

    def _run_together(self, name: Phase, phase: CollectionPhase) -> None:
        records = self._store.records()
        run = CollectionRun(
            ready=[record for record in records.values() if is_ready(name, record)],
            stopped=[record for record in records.values() if not is_ready(name, record)],
            chosen=_chosen(self._request, records) if self._request.codes or self._request.without else None,
            again=self._request.which == "all",
            entries=self._store.entries(),
            store=self._store,
            engine=self._engine,
            tools=self._tools,
            progress=self._progress,
            signal=self._signal,
        )
        for batch in phase.run_all(run):
            listed = [(code, outcome) for code, (outcome, _) in batch.items() if code in records]
            self._store.record_all(listed, name, {code: print_ for code, (_, print_) in batch.items()})
            for code, (outcome, _) in batch.items():
                self._count(name, code, outcome)
        for record in self._store.records().values():
            sort_file(self._tools.workspace, record)

    def summaries(self) -> list[PhaseSummary]:
        """Return the figures of the phases that ran."""
        return [
            PhaseSummary(
                phase,
                **{status: _counted(counts, 0)[status] for status in ("done", "skipped", "refused", "failed")},
                reasons=dict(_counted(counts, 1).most_common()),
                seconds=round(self._seconds[phase], 2),
            )
            for phase, counts in self._counts.items()
        ]

    def _pending(self, name: Phase, phase: SourcePhase, tools: Tools) -> dict[str, str]:
        """Return the sources that the phase must run for, with the fingerprint of their inputs."""
        entries, chosen = self._store.entries(), _chosen(self._request, tools.records)
        pending: dict[str, str] = {}
        for code, record in tools.records.items():
            if code not in chosen or (name, code) in self._taken or not is_ready(name, record):
                continue
            print_, entry = fingerprint_of(name, phase, record, tools), entries.get((code, name))
            upstream_rerun = any((earlier, code) in self._taken for earlier in PHASES)
            if needs_run(phase, record, entry, print_, self._request, tools, upstream_rerun=upstream_rerun):
                pending[code] = print_
        return pending

    def _work(
        self, name: Phase, phase: SourcePhase, todo: Sequence[SourceRecord], tools: Tools
    ) -> Generator[tuple[str, Outcome, float], None, None]:
        """Yield outcomes as they come.

        No more sources are begun than can be worked on, so that a signal counts soon. A source that a cancelled run
        breaks off has no outcome, as if it had not begun.
        """
        stops = WorkerStops(refused(tools.workspace), again=tools.again)
        workers = 1 if stops.one_at_a_time else phase.parallel(tools.config)
        queue, working = list(todo), dict[Future[tuple[Outcome, float]], SourceRecord]()
        pool = ThreadPoolExecutor(workers)
        try:
            while queue or working:
                while queue and len(working) < workers and not self._signal():
                    record = queue.pop(_next_in_turn(queue, working.values()))
                    working[pool.submit(_timed, name, phase, record, tools, stops)] = record
                    self._progress(source_progress(name, len(todo), [*working.values()], queue, _named(record)))
                if not working:
                    return
                ended = wait(working, timeout=_LISTEN_SECONDS, return_when=FIRST_COMPLETED).done
                cancelled = self._signal() == "cancel"
                if cancelled:
                    tools.abort()
                for future in ended:
                    record, (outcome, seconds) = working.pop(future), future.result()
                    if not (cancelled and outcome.status == "failed"):
                        yield record.source.code, outcome, seconds
                        # Only now is it recorded.
                        self._progress(source_progress(name, len(todo), [*working.values()], queue, _named(record)))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _count(self, phase: Phase, code: str, outcome: Outcome) -> None:
        self._taken.add((phase, code))
        self._counts.setdefault(phase, Counter())[outcome.status, outcome.reason] += 1


def _counted(counts: Counter[tuple[str, str]], place: int) -> Counter[str]:
    """Return the counts by status (place 0) or by reason (place 1)."""
    return Counter(key[place] for key in counts.elements() if key[place])


def _timed(
    name: Phase, phase: SourcePhase, record: SourceRecord, tools: Tools, stops: WorkerStops
) -> tuple[Outcome, float]:
    started, content = time.monotonic(), record.download.sha256 if record.download else ""
    at = stops.at(f"{name} {record.code} {content}", record.code)
    return attempt(lambda: phase.run(record, tools), at=at), time.monotonic() - started


def _chosen(request: RunRequest, records: Mapping[str, SourceRecord]) -> frozenset[str]:
    """Return the codes asked for with the documents found under them; all where none is asked for."""

    def is_under(codes: Sequence[str], code: str) -> bool:
        return code in codes or records[code].source.parent in codes

    asked = (code for code in records if not request.codes or is_under(request.codes, code))
    return frozenset(code for code in asked if not is_under(request.without, code))


def _by_turns(codes: Sequence[str], records: Mapping[str, SourceRecord]) -> list[str]:
    """Return the codes so that hosts take turns."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int, str]] = []
    for position, code in enumerate(codes):
        host = _host(records[code])
        turns.append((seen[host], position, code))
        seen[host] += 1
    return [code for _, _, code in sorted(turns)]


def _next_in_turn(queue: Sequence[SourceRecord], working: Collection[SourceRecord]) -> int:
    """Return the place of the source to begin: a slow host has one worker as long as others wait for one."""
    busy = {host for record in working if (host := _host(record))}
    return next((place for place, record in enumerate(queue) if _host(record) not in busy), 0)


def _host(record: SourceRecord) -> str:
    return urlsplit(record.source.url).netloc.lower()


def _longest_first(codes: Sequence[str], records: Mapping[str, SourceRecord]) -> list[str]:
    """Return the codes so that no long file is left to one worker at the end."""
    return sorted(codes, key=lambda code: -(download.size if (download := records[code].download) else 0))


def _after(record: SourceRecord, phase: Phase, outcome: Outcome) -> SourceRecord:
    """Return the source record with the phase's outcome, as people's decisions on the phase leave it."""
    words = tuple(decision for decision in record.decisions if decision.phase == phase)
    return decided(replace(record.having(phase, outcome), decisions=words))


def _named(record: SourceRecord) -> str:
    source = record.source
    return f"{source.code} {source.shown_title}".strip()
