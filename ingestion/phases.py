"""The ordered phases over all sources; the only loop.

A phase takes the sources that passed the one before and whose input, settings or version differ from those of its
last outcome there. Nothing else is remembered, so that a run can be broken off at any instant and begun again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from ingestion import steps
from ingestion.adding import Progress
from ingestion.dossier import Dossier, decided
from ingestion.indexing import index_sources
from ingestion.ledger import Wish
from ingestion.outcomes import PHASES, Download, Outcome, Phase, PortalFindings
from ingestion.quarantine import settle
from ingestion.register import Entry, Register
from ingestion.relating import keep_compared, relate_sources
from ingestion.request import Request, Tally
from ingestion.steps import Tools, children_of, take
from rag_engine.config import DATA
from rag_engine.engine import Engine

# Raised when a phase gives something else for the same input, so that it is run again.
_VERSIONS: Mapping[Phase, int] = dict.fromkeys(PHASES, 1)
# The tables that a phase reads; another table, another outcome.
_TABLES: Mapping[Phase, tuple[str, ...]] = {
    "licence": ("licences.toml",),
    "acquisition": ("pages.toml",),
    "portals": ("pages.toml",),
    "extraction": ("boilerplate.toml",),
    "quality": ("quality.toml",),
    "metadata": ("taxonomy.toml", "authorities.toml", "geography.toml"),
}
_ON_THE_WEB: tuple[Phase, ...] = ("licence", "acquisition", "portals")
_FIRST_RETRY = timedelta(minutes=2)
_LAST_RETRY = timedelta(days=1)


def run_phases(
    register: Register,
    engine: Engine,
    tools: Tools,
    request: Request,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    wish: Callable[[], Wish] = lambda: "",
) -> list[Tally]:
    """What each phase did, in order. A wish to pause or cancel ends it after the sources that are being worked on."""
    phases = tuple(phase for phase in PHASES if phase in request.phases)
    run = _Run(register, engine, tools, request, progress, wish)
    while True:
        before = len(register.sources())
        for phase in phases:
            if phase in _ON_THE_WEB and not wish():
                run.per_source(phase)
        # What portals offer are sources themselves.
        if wish() or len(register.sources()) == before:
            break
    for phase in phases:
        if phase not in _ON_THE_WEB and not wish():
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
        dossiers, entries = self._register.dossiers(), self._register.entries()
        prints = {
            code: fingerprint(phase, dossier, self._tools, dossiers.get(dossier.source.parent))
            for code, dossier in self._ready(phase, dossiers)
        }
        due = [
            code
            for code in prints
            if (phase, code) not in self._taken and self._is_due(phase, code, entries.get((code, phase)), prints[code])
        ]
        model = self._tools.judge.name if self._tools.judge and self._tools.config.use_model else ""
        ended = 0
        with closing(self._work(phase, [dossiers[code] for code in _by_turns(due, dossiers)])) as working:
            for code, outcome, seconds in working:
                dossier = dossiers[code]
                if phase == "licence" and dossier.source.parent in dossiers:
                    outcome = steps.inherited(outcome, dossier.source, dossiers[dossier.source.parent])
                if isinstance(outcome.evidence, PortalFindings):
                    self._adopt(dossier, outcome.evidence)
                self._register.record(
                    code, phase, outcome, fingerprint=prints[code], model=model, seconds=round(seconds, 3)
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

    def _work(self, phase: Phase, todo: Sequence[Dossier]) -> Generator[tuple[str, Outcome, float], None, None]:
        """Each source's outcome as it comes; no more are begun than can be worked on, so that a wish is heard soon."""
        workers = self._workers(phase)
        queue, working = deque(todo), dict[Future[tuple[Outcome, float]], str]()
        pool = ThreadPoolExecutor(workers)
        try:
            while queue or working:
                while queue and len(working) < workers and not self._wish():
                    dossier = queue.popleft()
                    self._progress(Progress(len(todo) - len(queue) - 1 - len(working), len(todo), 0, 0,
                                            _named(dossier), phase))  # fmt: skip
                    working[pool.submit(_timed, phase, dossier, self._tools)] = dossier.source.code
                if not working:
                    return
                for future in wait(working, return_when=FIRST_COMPLETED).done:
                    yield working.pop(future), *future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _workers(self, phase: Phase) -> int:
        if phase in _ON_THE_WEB:
            return self._tools.config.web.parallel
        return self._tools.config.extraction_processes if phase == "extraction" else 1

    def _ready(self, phase: Phase, dossiers: Mapping[str, Dossier]) -> Iterable[tuple[str, Dossier]]:
        """The selected sources that the phases before have let pass."""
        chosen = _chosen(self._request.codes, dossiers)
        return ((code, dossier) for code, dossier in dossiers.items() if code in chosen and is_ready(phase, dossier))

    def _is_due(self, phase: Phase, code: str, entry: Entry | None, print_: str) -> bool:
        if self._request.which == "failed":
            # What comes after a failure that is mended now is due as well.
            mended = any(taken == code for _, taken in self._taken)
            return (entry is not None and entry.outcome.status == "failed") or (
                mended and (entry is None or entry.fingerprint != print_)
            )
        if entry is None or self._request.which == "all" or entry.fingerprint != print_:
            return True
        if phase == "acquisition" and self._request.refresh:
            return True
        asks_model = phase == "metadata" or (phase == "licence" and entry.outcome.reason == "licence_unclear")
        if asks_model and self._tools.judge is not None and self._tools.config.use_model and not entry.model:
            # There was no model then, and there is one now.
            return True
        return entry.outcome.status == "failed" and entry.outcome.retryable and _may_retry(entry)

    def _adopt(self, portal: Dossier, findings: PortalFindings) -> None:
        existing = [one for one in self._register.sources() if one.parent == portal.source.code]
        self._register.add(children_of(portal.source, findings.found, existing))

    def _relate(self) -> None:
        dossiers = self._register.dossiers()
        ready = [dossier for dossier in dossiers.values() if is_ready("deduplication", dossier)]
        self._progress(Progress(0, len(ready), 0, 0, "", "deduplication"))
        entries = self._register.entries()
        related, compared = relate_sources(ready, self._register, self._tools)
        prints = {code: _hash(_facts(outcome.evidence)) for code, outcome in related.items()}
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
        chosen = _chosen(self._request.codes, dossiers) if self._request.codes else None
        for code, outcome, print_ in index_sources(
            ready,
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


def is_ready(phase: Phase, dossier: Dossier) -> bool:
    """Whether every earlier phase has let the source pass; a directory goes to the portals and no further.

    What a person has withdrawn is in no phase until it is restored.
    """
    if any(decision.choice == "withdraw" for decision in dossier.decisions):
        return False
    for earlier in PHASES[: PHASES.index(phase)]:
        outcome = dossier.outcomes.get(earlier)
        directory = phase == "portals" and outcome is not None and outcome.reason == "directory"
        if outcome is None or not (outcome.passes or directory):
            return False
    return not (phase not in _ON_THE_WEB and dossier.download is not None and dossier.download.kind == "directory")


def fingerprint(phase: Phase, dossier: Dossier, tools: Tools, portal: Dossier | None = None) -> str:
    """A hash of what decides the phase's outcome: its input, its settings, its tables and its version."""
    config, source = tools.config, dossier.source
    inputs: dict[str, object] = {"phase": phase, "version": _VERSIONS[phase], "tables": _tables_hash(phase)}
    match phase:
        case "licence":
            inputs |= {"source": [source.url, source.licence, *_file_state(source.path)]}
            verdict = portal.verdict if portal else None
            inputs |= {"portal": [verdict.light, verdict.licence] if verdict else []}
        case "acquisition":
            inputs |= {"source": [source.url, source.title, *_file_state(source.path)], "browser": config.web.browser}
        case "portals":
            inputs |= {"page": _page(dossier.download), "bounds": asdict(config.portals)}
        case "extraction":
            decided = any(one.phase == "licence" for one in dossier.decisions)
            inputs |= {"file": dossier.download.sha256 if dossier.download else "", "decided": decided}
            inputs |= {"licence": dossier.verdict.licence if dossier.verdict else ""}
        case "quality":
            inputs |= {"text": _facts(dossier.extraction), "thresholds": asdict(config.quality), "title": source.title}
        case "metadata":
            inputs |= {"text": _facts(dossier.extraction), "list": [source.title, source.authority, source.url]}
    return _hash(inputs)


def _timed(phase: Phase, dossier: Dossier, tools: Tools) -> tuple[Outcome, float]:
    started = time.monotonic()
    return take(phase, dossier, tools), time.monotonic() - started


def _page(download: Download | None) -> object:
    return (download.urls, download.sha256, download.kind) if download else None


def _facts(evidence: object) -> object:
    return asdict(evidence) if evidence is not None else None  # type: ignore[call-overload]


def _file_state(path: str) -> list[object]:
    """A local file's path, size and time: it is read again when it was saved again."""
    if not path:
        return []
    try:
        state = Path(path).stat()
    except OSError:
        return [path, "gone"]
    return [path, state.st_size, state.st_mtime_ns]


def _tables_hash(phase: Phase) -> list[str]:
    return [_file_hash(DATA / name, (DATA / name).stat().st_mtime_ns) for name in _TABLES.get(phase, ())]


@cache
def _file_hash(path: Path, _saved: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _may_retry(entry: Entry) -> bool:
    pause: timedelta = min(_FIRST_RETRY * 2 ** min(entry.attempts - 1, 12), _LAST_RETRY)
    return datetime.now(UTC) >= datetime.fromisoformat(entry.when) + pause


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


def _after(dossier: Dossier, phase: Phase, outcome: Outcome) -> Dossier:
    """The dossier with the phase's outcome, as people's decisions on the phase leave it."""
    words = tuple(one for one in dossier.decisions if one.phase == phase)
    return decided(replace(dossier, outcomes={**dossier.outcomes, phase: outcome}, decisions=words))


def _named(dossier: Dossier) -> str:
    return f"{dossier.source.code} {dossier.source.title or dossier.source.url or dossier.source.path}".strip()
