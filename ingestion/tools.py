"""Tools of the phases (web, browser, reader, language model), and the place that opens them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ingestion import workspace as folders
from ingestion.config import IngestionConfig
from ingestion.extraction.extract import EXTRACTION_VERSION
from ingestion.extraction.ocr.easyocr import readable_languages
from ingestion.extraction.ocr.tesseract import installed_languages
from ingestion.extraction.text_cache import CachedReading, cleaned_reading, load_reading, save_reading
from ingestion.file_reading import ExtractionLimits, FileReading
from ingestion.fingerprints import hash_of, table_hash
from ingestion.paced_model import PacedModel
from ingestion.protocols import Browser, Extractor, LanguageModel, OpenBrowser, Web
from ingestion.records.quarantine import file_of
from ingestion.records.refused_files import RefusedFiles
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import HostAndPort, read_target
from ingestion.web.browser import open_browser
from ingestion.web.cache import CachedWeb
from ingestion.web.http import HttpWeb
from rag_engine.backends.identify_language import identify_language
from rag_engine.backends.office.program import office_program
from rag_engine.config import OcrChoice
from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.protocols import Vectors


@dataclass(frozen=True, slots=True)
class Tools:
    """Tools of the phases, made once for a run.

    `web` caches its answers until `forget` is called for the address. The check of a licence and the download are thus
    one request. `language_model_error` says why a configured model is not asked. `abort` ends running requests and
    readers. `reader` names what reads files: the version of extraction, its limits, OCR and tables. With `again` files
    are tried that broke a reader before. `listed` maps the addresses on the list in normal form to the portal they were
    found under, or to "". `records` are the records of all sources by code.
    """

    workspace: Path
    config: IngestionConfig
    web: Web
    open_browser: OpenBrowser
    forget: Callable[[str], None]
    abort: Callable[[], None]
    reader: str
    extractor: Extractor
    language_model: LanguageModel | None
    language_model_error: Message
    encode: Callable[[list[str]], Vectors] | None
    again: bool = False
    listed: Mapping[str, str] = field(default_factory=dict)
    records: Mapping[str, SourceRecord] = field(default_factory=dict)
    reading: CachedReading | None = None

    def read(self, record: SourceRecord) -> CachedReading:
        """Return the text of the source's file, from the text cache where the file was read before."""
        download = record.download
        path = file_of(self.workspace, download) if download else None
        if download is None or path is None:
            raise SextantError(
                "The file is gone from the workspace.", help="Run acquisition again for this source.", retryable=True
            )
        return self.read_file(path, download.sha256)

    def read_file(self, path: Path, sha256: str) -> CachedReading:
        """Return the text of the file with this hash, cached where it was read before; Refusal of it."""
        if self.reading is not None:
            return self.reading
        folder = folders.readings(self.workspace)
        cached = load_reading(folder, sha256, self.reader)
        if cached is None:
            file = self.read_anew(path, sha256)
            cached = cleaned_reading(file, identify_language(file.extracted.text))
            save_reading(folder, sha256, self.reader, cached)
        return cached

    def read_anew(self, path: Path, sha256: str) -> FileReading:
        """Return what a reader reads in the file with this hash; Refusal of it."""
        refused = RefusedFiles(folders.refused(self.workspace), self.reader, again=self.again)
        return refused.read(self.extractor, path, sha256)


@contextmanager
def open_tools(engine: Engine, config: IngestionConfig, *, again: bool = False) -> Iterator[Tools]:
    """Open the tools of a run; the browser is only started when a page needs it."""
    workspace = engine.config.workspace
    with ExitStack() as stack:
        named = named_places(source.url for source in SourceStore(engine.catalog).sources() if not source.parent)
        web = stack.enter_context(open_web(config, named))
        cached = stack.enter_context(closing(CachedWeb(web, folders.pages(workspace))))
        browsers: list[Browser | None] = []
        lock = threading.Lock()

        def browser() -> Browser | None:
            with lock:
                if not browsers:
                    found = open_browser(config.web, politeness=web.politeness, named=named)
                    browsers.append(stack.enter_context(found) if found else None)
            return browsers[0]

        readers = stack.enter_context(Sandbox(config.limits, engine.config.ocr, config.extraction_processes))
        language_model, error = engine.models.language_model() if config.use_model else (None, NO_MESSAGE)

        def abort() -> None:
            web.close()
            readers.abort()
            for found in browsers:
                if found is not None:
                    found.close()

        yield Tools(
            workspace=workspace,
            config=config,
            web=cached,
            open_browser=browser,
            forget=cached.forget,
            abort=abort,
            reader=reader_of(engine.config.ocr, config.limits),
            again=again,
            extractor=readers,
            language_model=PacedModel(language_model) if language_model else None,
            language_model_error=error,
            encode=lambda texts: engine.embedder().encode_passages(texts),
        )


def named_places(urls: Iterable[str]) -> set[HostAndPort]:
    """Return the places of addresses that a person has named, and no page.

    >>> sorted(named_places(["https://example.org/plan", "http://localhost:8080/", "ftp://example.org"]))
    [('example.org', 443), ('localhost', 8080)]
    """
    places: set[HostAndPort] = set()
    for url in urls:
        with suppress(Refusal):
            target = read_target(url)
            places.add((target.host, target.port))
    return places


def open_web(config: IngestionConfig, named: Collection[HostAndPort]) -> HttpWeb:
    """Open the client for plain requests; `named` are the places that a person has named."""
    return HttpWeb(config.web, named=named)


def open_reader(ocr: OcrChoice) -> Sandbox:
    """Open the reader of foreign files, which works in a child process."""
    return Sandbox(ocr=ocr)


def reader_of(ocr: OcrChoice, limits: ExtractionLimits) -> str:
    """Return a hash of what decides how a file is read; a file that another reader read is read again."""
    weights = readable_languages() if ocr == "easyocr" else ()
    made_of = [EXTRACTION_VERSION, ocr, installed_languages(), weights, asdict(limits)]
    return hash_of([*made_of, table_hash("boilerplate.toml"), office_program() or ""])[:16]
