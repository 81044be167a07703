"""The ordered phases over all sources; the only loop.

A phase takes the sources that passed the one before and whose input, settings or version differ from those of its
last outcome there. Nothing else is remembered, so that a run can be broken off at any instant and begun again.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

from ingestion.deduplication.phase import keep_compared, relate_sources
from ingestion.pipeline import phases as steps
from ingestion.pipeline.indexing_phase import index_sources
from ingestion.pipeline.phases import Tools, children_of, take
from ingestion.pipeline.scheduling import VERSIONS, fingerprint_of, is_due, is_ready, model_of
from ingestion.records.quarantine import settle
from ingestion.records.source_record import SourceRecord, decided
from ingestion.records.source_store import SourceStore
from ingestion.types import (
    ON_THE_WEB,
    PHASES,
    ControlSignal,
    Outcome,
    Phase,
    PhaseSummary,
    PortalFindings,
    Progress,
    RunRequest,
)
from ingestion.web.urls import normal_url
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
    """What each phase did, in order.

    A wish to pause ends the run after the sources that are being worked on; a wish to cancel breaks these off.
    """
    phases = tuple(phase for phase in PHASES if phase in request.phases)
    run = _Run(store, engine, tools, request, progress, signal)
    while True:
        before = len(store.sources())
        for phase in phases:
            if phase in ON_THE_WEB and not signal():
                run.per_source(phase)
        # What portals offer are sources themselves.
        if signal() or len(store.sources()) == before:
            break
    for phase in phases:
        if phase not in ON_THE_WEB and not signal():
            run.whole(phase)
    return run.summaries()


class _Run:
    """One run of the phases and its figures."""

    def __init__(
        self,
        store: SourceStore,
        engine: Engine,
        tools: Tools,
        request: RunRequest,
        progress: Callable[[Progress], None],
        signal: Callable[[], ControlSignal],
    ) -> None:
        self._store = store
        self._engine = engine
        self._tools = tools
        self._request = request
        self._progress = progress
        self._signal = signal
        self._counts: dict[Phase, Counter[tuple[str, str]]] = {}
        self._seconds: dict[Phase, float] = defaultdict(float)
        self._taken: set[tuple[Phase, str]] = set()

    def whole(self, phase: Phase) -> None:
        """Nothing; runs a phase after the last source has come."""
        started = time.monotonic()
        if phase == "deduplication":
            self._relate()
        elif phase == "indexing":
            self._index()
        else:
            self.per_source(phase)
            return
        self._seconds[phase] += time.monotonic() - started

    def per_source(self, phase: Phase) -> None:
        """Nothing; runs a phase that looks at one source at a time."""
        started = time.monotonic()
        source_records = self._store.records()
        due = self._due(phase, source_records)
        model = self._tools.language_model.name if self._tools.language_model and self._tools.config.use_model else ""
        listed = {normal_url(one.source.url): one.source.parent for one in source_records.values()} if due else {}
        tools = replace(self._tools, listed=listed)
        ended = 0
        todo = (
            _by_turns(list(due), source_records) if phase in ON_THE_WEB else _longest_first(list(due), source_records)
        )
        with closing(self._work(phase, [source_records[code] for code in todo], tools)) as working:
            for code, found, seconds in working:
                source_record, outcome = source_records[code], found
                if phase == "licence" and source_record.source.parent in source_records:
                    outcome = steps.inherited(found, source_record.source, source_records[source_record.source.parent])
                if isinstance(outcome.evidence, PortalFindings):
                    self._adopt(source_record, outcome.evidence)
                self._store.record(
                    code,
                    phase,
                    outcome,
                    fingerprint=due[code],
                    model=model_of(outcome, model),
                    seconds=round(seconds, 3),
                )
                self._count(phase, code, outcome)
                settle(self._tools.workspace, _after(source_record, phase, outcome))
                ended += 1
                self._progress(Progress(ended, len(due), 0, 0, _named(source_record), phase))
        self._seconds[phase] += time.monotonic() - started

    def summaries(self) -> list[PhaseSummary]:
        """The figures of the phases that ran."""
        return [
            PhaseSummary(
                phase,
                done=_count_of(counts, "done"),
                skipped=_count_of(counts, "skipped"),
                rejected=_count_of(counts, "rejected"),
                failed=_count_of(counts, "failed"),
                reasons=_by_reason(counts),
                seconds=round(self._seconds[phase], 2),
            )
            for phase, counts in self._counts.items()
        ]

    def _due(self, phase: Phase, source_records: Mapping[str, SourceRecord]) -> dict[str, str]:
        """The sources that the phase is to be run for, with the fingerprint of what it is run on."""
        entries, chosen = self._store.entries(), _chosen(self._request.codes, source_records)
        due: dict[str, str] = {}
        for code, source_record in source_records.items():
            if code not in chosen or (phase, code) in self._taken or not is_ready(phase, source_record):
                continue
            print_ = fingerprint_of(phase, source_record, self._tools, source_records.get(source_record.source.parent))
            upstream_rerun = any((earlier, code) in self._taken for earlier in PHASES)
            entry = entries.get((code, phase))
            if is_due(phase, source_record, entry, print_, self._request, self._tools, upstream_rerun=upstream_rerun):
                due[code] = print_
        return due

    def _work(
        self, phase: Phase, todo: Sequence[SourceRecord], tools: Tools
    ) -> Generator[tuple[str, Outcome, float], None, None]:
        """Each source's outcome as it comes; no more are begun than can be worked on, so that a wish is heard soon.

        What a cancelled run breaks off has no outcome: it is as if it had not been begun.
        """
        workers = self._workers(phase)
        queue, working = deque(todo), dict[Future[tuple[Outcome, float]], str]()
        pool = ThreadPoolExecutor(workers)
        try:
            while queue or working:
                while queue and len(working) < workers and not self._signal():
                    source_record = queue.popleft()
                    begun = len(todo) - len(queue) - 1 - len(working)
                    self._progress(Progress(begun, len(todo), 0, 0, _named(source_record), phase))
                    working[pool.submit(_timed, phase, source_record, tools)] = source_record.source.code
                if not working:
                    return
                ended = wait(working, timeout=_LISTEN_SECONDS, return_when=FIRST_COMPLETED).done
                cancelled = self._signal() == "cancel"
                if cancelled:
                    tools.abort()
                for future in ended:
                    code, (outcome, seconds) = working.pop(future), future.result()
                    if not (cancelled and outcome.status == "failed"):
                        yield code, outcome, seconds
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _workers(self, phase: Phase) -> int:
        if phase in ON_THE_WEB:
            return self._tools.config.web.parallel
        return self._tools.config.extraction_processes if phase == "extraction" else 1

    def _adopt(self, portal: SourceRecord, findings: PortalFindings) -> None:
        """Nothing; puts what a portal offers on the list, unless its address stands there already."""
        present = self._store.sources()
        own = [one for one in present if one.parent == portal.source.code]
        elsewhere = {normal_url(one.url) for one in present if one.parent != portal.source.code}
        found = [one for one in findings.found if normal_url(one.url) not in elsewhere]
        self._store.add(children_of(portal.source, found, own, self._store.last_child(portal.source.code)))

    def _relate(self) -> None:
        source_records = self._store.records()
        ready = [source_record for source_record in source_records.values() if is_ready("deduplication", source_record)]
        self._progress(Progress(0, len(ready), 0, 0, "", "deduplication"))
        entries = self._store.entries()
        again = self._request.which == "all" or any((one.source.code, "deduplication") not in entries for one in ready)
        version = str(VERSIONS["deduplication"])
        related, compared = relate_sources(ready, self._store, self._tools, version=version, again=again)
        prints = dict.fromkeys(related, compared)
        changed = [
            (code, outcome)
            for code, outcome in related.items()
            if (entry := entries.get((code, "deduplication"))) is None or entry.outcome != outcome
        ]
        self._store.record_all(changed, "deduplication", prints)
        keep_compared(self._store, compared)
        for code, outcome in changed:
            self._count("deduplication", code, outcome)
        for source_record in self._store.records().values():
            settle(self._tools.workspace, source_record)
        self._progress(Progress(len(ready), len(ready), 0, 0, "", "deduplication"))

    def _index(self) -> None:
        source_records = self._store.records()
        ready = [source_record for source_record in source_records.values() if is_ready("indexing", source_record)]
        stopped = [
            source_record for source_record in source_records.values() if not is_ready("indexing", source_record)
        ]
        chosen = _chosen(self._request.codes, source_records) if self._request.codes else None
        for code, outcome, print_ in index_sources(
            ready,
            stopped,
            chosen,
            self._engine,
            self._store,
            self._tools,
            again=self._request.which == "all",
            progress=self._progress,
            signal=self._signal,
        ):
            if code in source_records:
                self._store.record(code, "indexing", outcome, fingerprint=print_)
            self._count("indexing", code, outcome)

    def _count(self, phase: Phase, code: str, outcome: Outcome) -> None:
        self._taken.add((phase, code))
        self._counts.setdefault(phase, Counter())[outcome.status, outcome.reason] += 1


def _count_of(counts: Counter[tuple[str, str]], status: str) -> int:
    return sum(count for (found, _), count in counts.items() if found == status)


def _by_reason(counts: Counter[tuple[str, str]]) -> dict[str, int]:
    reasons: Counter[str] = Counter()
    for (_, reason), count in counts.items():
        if reason:
            reasons[reason] += count
    return dict(reasons.most_common())


def _timed(phase: Phase, source_record: SourceRecord, tools: Tools) -> tuple[Outcome, float]:
    started = time.monotonic()
    return take(phase, source_record, tools), time.monotonic() - started


def _chosen(codes: Sequence[str], source_records: Mapping[str, SourceRecord]) -> frozenset[str]:
    """The codes asked for with the documents found under them; all where none is asked for."""
    if not codes:
        return frozenset(source_records)
    return frozenset(code for code, one in source_records.items() if code in codes or one.source.parent in codes)


def _by_turns(codes: Sequence[str], source_records: Mapping[str, SourceRecord]) -> list[str]:
    """The codes so that hosts take turns: one slow host holds nobody up."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int, str]] = []
    for position, code in enumerate(codes):
        host = urlsplit(source_records[code].source.url).hostname or ""
        turns.append((seen[host], position, code))
        seen[host] += 1
    return [code for _, _, code in sorted(turns)]


def _longest_first(codes: Sequence[str], source_records: Mapping[str, SourceRecord]) -> list[str]:
    """The codes so that no long file is left to one worker at the end."""
    return sorted(codes, key=lambda code: -(download.size if (download := source_records[code].download) else 0))


def _after(source_record: SourceRecord, phase: Phase, outcome: Outcome) -> SourceRecord:
    """The source record with the phase's outcome, as people's decisions on the phase leave it."""
    words = tuple(one for one in source_record.decisions if one.phase == phase)
    return decided(replace(source_record, outcomes={**source_record.outcomes, phase: outcome}, decisions=words))


def _named(source_record: SourceRecord) -> str:
    source = source_record.source
    return f"{source.code} {source.title or source.url or source.path}".strip()
