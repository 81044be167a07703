"""Commands of the terminal, each in a separate process, on a damaged workspace or a full disk.

As everywhere in the harness, the encoder counts words. The doctor does not look at programs of the machine. The
process that asks for a run also carries it out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from typer.testing import CliRunner

import ingestion.jobs.process
import rag_engine.engine
from cli.main import app as terminal
from ingestion.extraction.ocr import choose
from ingestion.jobs.queue import Job, JobQueue
from ingestion.web import browser
from ingestion.worker import work
from rag_engine.backends.office import program
from rag_engine.confinement import probe
from rag_engine.engine import Engine
from rag_engine.models import Models
from rag_engine.types.finding import Finding
from tests.harness.killing.acts import SETTINGS, Scene
from tests.rag_engine.conftest import CountingEmbedder

SEARCH = ("search", "authority measure", "--sort", "relevance", "--json")
DOCTOR, REPAIR = ("doctor", "--json"), ("doctor", "--repair", "--json")


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a command: its exit code, what it printed, and the error that no command should end with."""

    code: int
    said: str
    error: str = ""

    @property
    def passages(self) -> list[str]:
        """Passages that a search found."""
        found = json.loads(self.said) if self.code == 0 else {}
        return sorted(str(one.get("text")) for one in found.get("passages", ()))


def commands(scene: Scene, *several: Sequence[str]) -> list[Ended]:
    """Carry commands out one after the other."""
    os.environ |= SETTINGS | {"SEXTANT_INTRANET": scene.intranet}
    ingestion.jobs.process.follow = _worked
    rag_engine.engine.open_engine = lambda config: Engine(config, embedder=CountingEmbedder())
    # No other process is begun for what waits.
    ingestion.jobs.process._may_start = lambda workspace: False
    for room, name in ((Models, "_check_judge"), (choose, "check"), (browser, "check")):
        setattr(room, name, lambda *_: ())
    for room, name in ((program, "check"), (probe, "check"), (Models, "_check_language_model")):
        setattr(room, name, lambda *_: Finding("Left out", "good", ""))
    return [_command(scene, arguments) for arguments in several]


def _worked(engine: Engine, id: int, seen: Callable[[Job], None] = lambda _: None) -> Job:
    """Carry out what waits, this run among it, and return it as it ended."""
    jobs = JobQueue(engine.catalog)
    jobs.take_over()
    work(engine)
    ended = jobs.find(id)
    assert ended is not None
    return ended


def _command(scene: Scene, arguments: Sequence[str]) -> Ended:
    result = CliRunner().invoke(terminal, [*arguments, "--workspace", str(scene.workspace)])
    crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
    return Ended(result.exit_code, result.output, repr(result.exception) if crashed else "")
