"""A workspace with a small network, on which sources are acquired."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ingestion.acquisition.acquire import acquire
from ingestion.config import IngestionConfig
from ingestion.file_reading import FileReading, PrintedPages
from ingestion.protocols import Browser, LanguageModel, Web
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome
from ingestion.types.source import Download, ListedSource
from rag_engine.messages import Message
from tests.ingestion.small_web import Answer, SmallBrowser, SmallWeb

AT = "https://water.example/"


TODAY = "2026-11-22T10:00:00+00:00"


def tools_of(
    workspace: Path,
    web: Web,
    config: IngestionConfig | None = None,
    browser: Browser | None = None,
    language_model: LanguageModel | None = None,
) -> Tools:
    """Return tools for phases that ask the web; none of them reads a file."""
    return Tools(
        workspace=workspace,
        config=config or IngestionConfig(),
        web=web,
        open_browser=lambda: browser,
        forget=lambda _url: None,
        abort=lambda: None,
        reader="",
        extractor=NoReader(),
        language_model=language_model,
        language_model_error=Message(),
        encode=None,
    )


class NoReader:
    """An Extractor that must not be asked."""

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        raise AssertionError(path)

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        raise AssertionError(path)

    def abort(self) -> None:
        """Do nothing: nothing is read."""


class ActContext:
    """A workspace with a network, on which sources are acquired."""

    def __init__(self, workspace: Path, answers: dict[str, Answer]) -> None:
        self.workspace = workspace
        self.web = SmallWeb(answers)
        self.browser: SmallBrowser | None = None
        self.language_model: LanguageModel | None = None
        self.config = IngestionConfig()

    def acquire(self, source: ListedSource, before: Download | None = None, now: str = TODAY) -> Outcome:
        tools = tools_of(self.workspace, self.web, self.config, self.browser, self.language_model)
        return acquire(source, tools, before=before, now=now)

    def files(self) -> list[str]:
        return sorted(path.name for path in (self.workspace / "downloads").iterdir())

    def text(self, download: Download) -> str:
        return (self.workspace / download.path).read_text(encoding="utf-8")


def context(tmp_path: Path, **answers: Answer) -> ActContext:
    """Answers by the last part of their address, in which __ stands for a dot."""
    return ActContext(tmp_path, {AT + name.replace("__", "."): answer for name, answer in answers.items()})


def got(outcome: Outcome) -> Download:
    assert isinstance(outcome.evidence, Download), outcome
    return outcome.evidence


FLOOD = ListedSource("ADM001", f"{AT}flood", title="National flood strategy")
