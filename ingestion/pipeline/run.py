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

from ingestion.add_files import Progress
from ingestion.deduplication.phase import keep_compared, relate_sources
from ingestion.jobs.queue import Wish
from ingestion.pipeline import phases as steps
from ingestion.pipeline.indexing_phase import index_sources
from ingestion.pipeline.phases import Tools, children_of, take
from ingestion.pipeline.scheduling import VERSIONS, fingerprint_of, is_due, is_ready, model_of
from ingestion.records.quarantine import settle
from ingestion.records.source_record import Dossier, decided
from ingestion.records.source_store import Register
from ingestion.types import ON_THE_WEB, PHASES, Outcome, Phase, PortalFindings, Request, Tally
from ingestion.web.urls import normal_url
from rag_engine.engine import Engine

# How often it is looked whether the run shall end, while something is being worked on.
_LISTEN_SECONDS = 0.5


def run_phases(
    register: Register,
    engine: Engine,
    tools: Tools,
    request: Request,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    wish: Callable[[], Wish] = lambda: "",
) -> list[Tally]:
    """What each phase did, in order.

    A wish to pause ends the run after the sources that are being worked on; a wish to cancel breaks these off.
    """
    phases = tuple(phase for phase in PHASES if phase in request.phases)
    run = _Run(register, engine, tools, request, progress, wish)
    while True:
        before = len(register.sources())
        for phase in phases:
            if phase in ON_THE_WEB and not wish():
                run.per_source(phase)
        # What portals offer are sources themselves.
        if wish() or len(register.sources()) == before:
            break
    for phase in phases:
        if phase not in ON_THE_WEB and not wish():
            run.whole(phase)
    return run.tallies()


class _Run:
    """One run of the phases and its figures."""

    def __init__(
        self,
        register: Register,
        engine: Engine,
        tools: Tools,
        request: Request,
        progress: Callable[[Progress], None],
        wish: Callable[[], Wish],
    ) -> None:
        self._register = register
        self._engine = engine
        self._tools = tools
        self._request = request
        self._progress = progress
        self._wish = wish
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
        dossiers = self._register.dossiers()
        due = self._due(phase, dossiers)
        model = self._tools.judge.name if self._tools.judge and self._tools.config.use_model else ""
        listed = {normal_url(one.source.url): one.source.parent for one in dossiers.values()} if due else {}
        tools = replace(self._tools, listed=listed)
        ended = 0
        todo = _by_turns(list(due), dossiers) if phase in ON_THE_WEB else _longest_first(list(due), dossiers)
        with closing(self._work(phase, [dossiers[code] for code in todo], tools)) as working:
            for code, found, seconds in working:
                dossier, outcome = dossiers[code], found
                if phase == "licence" and dossier.source.parent in dossiers:
                    outcome = steps.inherited(found, dossier.source, dossiers[dossier.source.parent])
                if isinstance(outcome.evidence, PortalFindings):
                    self._adopt(dossier, outcome.evidence)
                self._register.record(
                    code,
                    phase,
                    outcome,
                    fingerprint=due[code],
                    model=model_of(outcome, model),
                    seconds=round(seconds, 3),
                )
                self._count(phase, code, outcome)
                settle(self._tools.workspace, _after(dossier, phase, outcome))
                ended += 1
                self._progress(Progress(ended, len(due), 0, 0, _named(dossier), phase))
        self._seconds[phase] += time.monotonic() - started

    def tallies(self) -> list[Tally]:
        """The figures of the phases that ran."""
        return [
            Tally(
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

    def _due(self, phase: Phase, dossiers: Mapping[str, Dossier]) -> dict[str, str]:
        """The sources that the phase is to be run for, with the fingerprint of what it is run on."""
        entries, chosen = self._register.entries(), _chosen(self._request.codes, dossiers)
        due: dict[str, str] = {}
        for code, dossier in dossiers.items():
            if code not in chosen or (phase, code) in self._taken or not is_ready(phase, dossier):
                continue
            print_ = fingerprint_of(phase, dossier, self._tools, dossiers.get(dossier.source.parent))
            mended = any((earlier, code) in self._taken for earlier in PHASES)
            entry = entries.get((code, phase))
            if is_due(phase, dossier, entry, print_, self._request, self._tools, mended=mended):
                due[code] = print_
        return due

    def _work(
        self, phase: Phase, todo: Sequence[Dossier], tools: Tools
    ) -> Generator[tuple[str, Outcome, float], None, None]:
        """Each source's outcome as it comes; no more are begun than can be worked on, so that a wish is heard soon.

        What a cancelled run breaks off has no outcome: it is as if it had not been begun.
        """
        workers = self._workers(phase)
        queue, working = deque(todo), dict[Future[tuple[Outcome, float]], str]()
        pool = ThreadPoolExecutor(workers)
        try:
            while queue or working:
                while queue and len(working) < workers and not self._wish():
                    dossier = queue.popleft()
                    begun = len(todo) - len(queue) - 1 - len(working)
                    self._progress(Progress(begun, len(todo), 0, 0, _named(dossier), phase))
                    working[pool.submit(_timed, phase, dossier, tools)] = dossier.source.code
                if not working:
                    return
                ended = wait(working, timeout=_LISTEN_SECONDS, return_when=FIRST_COMPLETED).done
                cancelled = self._wish() == "cancel"
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

    def _adopt(self, portal: Dossier, findings: PortalFindings) -> None:
        """Nothing; puts what a portal offers on the list, unless its address stands there already."""
        present = self._register.sources()
        own = [one for one in present if one.parent == portal.source.code]
        elsewhere = {normal_url(one.url) for one in present if one.parent != portal.source.code}
        found = [one for one in findings.found if normal_url(one.url) not in elsewhere]
        self._register.add(children_of(portal.source, found, own, self._register.last_child(portal.source.code)))

    def _relate(self) -> None:
        dossiers = self._register.dossiers()
        ready = [dossier for dossier in dossiers.values() if is_ready("deduplication", dossier)]
        self._progress(Progress(0, len(ready), 0, 0, "", "deduplication"))
        entries = self._register.entries()
        again = self._request.which == "all" or any((one.source.code, "deduplication") not in entries for one in ready)
        version = str(VERSIONS["deduplication"])
        related, compared = relate_sources(ready, self._register, self._tools, version=version, again=again)
        prints = dict.fromkeys(related, compared)
        changed = [
            (code, outcome)
            for code, outcome in related.items()
            if (entry := entries.get((code, "deduplication"))) is None or entry.outcome != outcome
        ]
        self._register.record_all(changed, "deduplication", prints)
        keep_compared(self._register, compared)
        for code, outcome in changed:
            self._count("deduplication", code, outcome)
        for dossier in self._register.dossiers().values():
            settle(self._tools.workspace, dossier)
        self._progress(Progress(len(ready), len(ready), 0, 0, "", "deduplication"))

    def _index(self) -> None:
        dossiers = self._register.dossiers()
        ready = [dossier for dossier in dossiers.values() if is_ready("indexing", dossier)]
        stopped = [dossier for dossier in dossiers.values() if not is_ready("indexing", dossier)]
        chosen = _chosen(self._request.codes, dossiers) if self._request.codes else None
        for code, outcome, print_ in index_sources(
            ready,
            stopped,
            chosen,
            self._engine,
            self._register,
            self._tools,
            again=self._request.which == "all",
            progress=self._progress,
            wish=self._wish,
        ):
            if code in dossiers:
                self._register.record(code, "indexing", outcome, fingerprint=print_)
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


def _timed(phase: Phase, dossier: Dossier, tools: Tools) -> tuple[Outcome, float]:
    started = time.monotonic()
    return take(phase, dossier, tools), time.monotonic() - started


def _chosen(codes: Sequence[str], dossiers: Mapping[str, Dossier]) -> frozenset[str]:
    """The codes asked for with the documents found under them; all where none is asked for."""
    if not codes:
        return frozenset(dossiers)
    return frozenset(code for code, one in dossiers.items() if code in codes or one.source.parent in codes)


def _by_turns(codes: Sequence[str], dossiers: Mapping[str, Dossier]) -> list[str]:
    """The codes so that hosts take turns: one slow host holds nobody up."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int, str]] = []
    for position, code in enumerate(codes):
        host = urlsplit(dossiers[code].source.url).hostname or ""
        turns.append((seen[host], position, code))
        seen[host] += 1
    return [code for _, _, code in sorted(turns)]


def _longest_first(codes: Sequence[str], dossiers: Mapping[str, Dossier]) -> list[str]:
    """The codes so that no long file is left to one worker at the end."""
    return sorted(codes, key=lambda code: -(download.size if (download := dossiers[code].download) else 0))


def _after(dossier: Dossier, phase: Phase, outcome: Outcome) -> Dossier:
    """The dossier with the phase's outcome, as people's decisions on the phase leave it."""
    words = tuple(one for one in dossier.decisions if one.phase == phase)
    return decided(replace(dossier, outcomes={**dossier.outcomes, phase: outcome}, decisions=words))


def _named(dossier: Dossier) -> str:
    return f"{dossier.source.code} {dossier.source.title or dossier.source.url or dossier.source.path}".strip()
