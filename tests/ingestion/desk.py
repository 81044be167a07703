"""A workspace with a small network, on which sources are acquired."""

from __future__ import annotations

from pathlib import Path

from ingestion.acquisition.acquire import acquire
from ingestion.config import IngestionConfig
from ingestion.protocols import LanguageModel
from ingestion.types import Download, Outcome, SeedSource
from tests.ingestion.small_web import Answer, SmallBrowser, SmallWeb

AT = "https://water.example/"


TODAY = "2026-11-22T10:00:00+00:00"


class Desk:
    """A workspace with a network, on which sources are acquired."""

    def __init__(self, workspace: Path, answers: dict[str, Answer]) -> None:
        self.workspace = workspace
        self.web = SmallWeb(answers)
        self.browser: SmallBrowser | None = None
        self.language_model: LanguageModel | None = None
        self.config = IngestionConfig()

    def acquire(self, source: SeedSource, before: Download | None = None, now: str = TODAY) -> Outcome:
        return acquire(
            source,
            self.web,
            lambda: self.browser,
            self.language_model,
            folder=self.workspace / "downloads",
            workspace=self.workspace,
            before=before,
            config=self.config,
            now=now,
        )

    def files(self) -> list[str]:
        return sorted(path.name for path in (self.workspace / "downloads").iterdir())

    def text(self, download: Download) -> str:
        return (self.workspace / download.path).read_text(encoding="utf-8")


def desk(tmp_path: Path, **answers: Answer) -> Desk:
    """Answers by the last part of their address, in which __ stands for a dot."""
    return Desk(tmp_path, {AT + name.replace("__", "."): answer for name, answer in answers.items()})


def got(outcome: Outcome) -> Download:
    assert isinstance(outcome.evidence, Download), outcome
    return outcome.evidence


FLOOD = SeedSource("ADM001", f"{AT}flood", title="National flood strategy")
