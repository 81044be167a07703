"""A list of sources through all phases against the local portal, and the same requests alone."""

from __future__ import annotations

import csv
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np

from benchmarks.pipeline.local_portal import Asked, Portal, Seed
from ingestion.config import IngestionConfig, read_ingestion_config
from ingestion.pipeline.run import run_phases
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.tools import open_tools
from ingestion.types.run import Phase, PhaseSummary, Progress, RunRequest
from ingestion.web.browser import open_browser
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.protocols import Embedder, Vectors

ON_THE_WEB: tuple[Phase, ...] = ("licence", "acquisition", "portals")
THREADS = 8


class CountedWords:
    """Vectors of counted words in place of an encoder, so that the phases are measured and not a model."""

    name = "counted words"
    dimension = 384
    prefixes = ("", "")
    execution = "none"

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                vectors[row, zlib.crc32(word.encode()) % self.dimension] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 2


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the phases: seconds by the clock, processor seconds on the web, summaries, requests."""

    seconds: float
    web_processor: float
    summaries: tuple[PhaseSummary, ...]
    asked: tuple[Asked, ...]

    @property
    def web_seconds(self) -> float:
        return sum(summary.seconds for summary in self.summaries if summary.phase in ON_THE_WEB)

    @property
    def plain(self) -> list[str]:
        """The addresses asked for without a browser, in order."""
        return [one.url for one in self.asked if not one.by_browser]


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a list: reading it, two runs over it, and the bare requests of the first."""

    reading: float
    first: Run
    second: Run
    bare: float
    rendering: float
    sources: int
    indexed: int
    children: int


def measure_run(portal: Portal, folder: Path, embedder: Embedder | None) -> Measured:
    """Return the seeds of the portal through all phases twice in a workspace in `folder`.

    `embedder` None is the real one.
    """
    os.environ["SEXTANT_HOST_SECONDS"] = "0"
    os.environ["SEXTANT_INTRANET"] = ",".join(sorted({urlsplit(seed.url).netloc for seed in portal.seeds}))
    # A model that happens to answer on this machine would be what is measured.
    config = replace(read_ingestion_config(), use_model=False)
    started = time.perf_counter()
    sources = read_source_list(_written(portal.seeds, folder / "seeds.csv"), []).new
    reading = time.perf_counter() - started
    with closing(Engine(read_config(folder / "workspace"), embedder=embedder)) as engine:
        engine.embedder().encode_passages(["warm up"])
        store = SourceStore(engine.catalog)
        store.add(sources)
        first = _run(store, engine, config, portal)
        second = _run(store, engine, config, portal)
        bare = _bare(first.plain)
        rendering = _rendered([seed.url for seed in portal.seeds if seed.kind == "script"], config)
        documents = engine.collection.documents()
        return Measured(
            reading,
            first,
            second,
            bare,
            rendering,
            len(store.sources()),
            len(documents),
            sum(one.children for one in documents),
        )


def by_kind(seeds: Sequence[Seed]) -> str:
    """How many seeds there are of each kind, in words."""
    return ", ".join(f"{count} {kind}" for kind, count in Counter(seed.kind for seed in seeds).most_common())


def _written(seeds: Sequence[Seed], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("Code", "Title", "URL"), *((one.code, one.title, one.url) for one in seeds)])
    return path


def _run(store: SourceStore, engine: Engine, config: IngestionConfig, portal: Portal) -> Run:
    processor = time.process_time()
    left_web: list[float] = []

    def progress(now: Progress) -> None:
        if now.phase not in ON_THE_WEB and not left_web:
            left_web.append(time.process_time() - processor)

    started = time.perf_counter()
    with open_tools(engine, config) as tools:
        summaries = run_phases(store, engine, tools, RunRequest(), progress=progress)
    seconds = time.perf_counter() - started
    return Run(seconds, left_web[0] if left_web else 0.0, tuple(summaries), tuple(portal.asked()))


def _bare(urls: Sequence[str]) -> float:
    """Seconds that the requests take without Sextant."""
    limits = httpx.Limits(max_connections=4 * THREADS, max_keepalive_connections=4 * THREADS)
    with httpx.Client(limits=limits, timeout=30.0, trust_env=False) as client, _pool() as each:
        client.get(urls[0])
        started = time.perf_counter()
        each(lambda url: client.get(url).content, urls)
        return time.perf_counter() - started


def _rendered(urls: Sequence[str], config: IngestionConfig) -> float:
    """Seconds that the browser takes for the pages alone, its start included."""
    browser = open_browser(config.web)
    if browser is None:
        return 0.0
    with browser:
        started = time.perf_counter()
        for url in urls:
            browser.render(url)
        return time.perf_counter() - started


@contextmanager
def _pool() -> Iterator[Callable[[Callable[[str], bytes], Sequence[str]], None]]:
    with ThreadPoolExecutor(THREADS) as pool:
        yield lambda call, urls: list(pool.map(call, urls)).clear()
