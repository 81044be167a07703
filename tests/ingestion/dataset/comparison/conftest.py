"""Plans of three countries, and an engine whose language model is a test's or none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingestion.add_files import add_paths
from rag_engine.config import Config, read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.messages import Message
from rag_engine.models import Models
from rag_engine.protocols import PassageReader
from rag_engine.types.language_model import Prompt
from tests.rag_engine.conftest import CountingEmbedder, unread

_HEAT = (
    "# Heat plan of {place}\n\nThe {payer} of {place} pays for the heat plan. The plan is reviewed every {years} years."
)
_CENTRES = "# {place}\n\nIn {place} the {who} open the cooling centres at noon. {rest}\n\n"
# So much that the two countries are not read as one passage.
_REST = "Volunteers of the associations bring water to whoever asks for it, and write down how much they brought. " * 40
PLANS = {
    "spain.md": (("Spain",), _HEAT.format(place="Spain", payer="health ministry", years="two")),
    "france.md": (("France",), _HEAT.format(place="France", payer="prefecture", years="three")),
    # Of two countries: what is said of each is its own.
    "both.md": (
        ("Spain", "Italy"),
        _CENTRES.format(place="Italy", who="regions", rest=_REST)
        + _CENTRES.format(place="Spain", who="municipalities", rest=_REST),
    ),
}


class WritingModel:
    """A model that writes one sentence, and fails when it is told to; `reading` is called first."""

    name = "writing model"
    context_window = 8192

    def __init__(self) -> None:
        self.read: list[str] = []
        self.reply = "The ministry pays for the heat plan [Source 1]."
        self.failing: dict[str, BaseException] = {}
        self.reading: Callable[[], None] = lambda: None

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.read.append(prompt.user)
        self.reading()
        for word, failure in self.failing.items():
            if word in prompt.user:
                raise failure
        yield self.reply

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        raise BackendError("no plan")


class ModelsByHand(Models):
    """The models, with the language model and the reader of a test, or none."""

    writing: WritingModel | None = None
    reading: PassageReader | None = None

    def language_model(self) -> tuple[WritingModel | None, Message]:
        return self.writing, Message()

    def reader(self) -> PassageReader | None:
        return self.reading


class ComparingEngine(Engine):
    """An engine with the models of a test."""

    models: ModelsByHand

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.models = ModelsByHand(config, CountingEmbedder())


@pytest.fixture(scope="session")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of the three plans."""
    folder = tmp_path_factory.mktemp("plans")
    lines = []
    for name, (countries, text) in PLANS.items():
        (folder / name).write_text(text, encoding="utf-8")
        known = {"file": name, "countries": countries, "geographical_level": "National", "language": "en"}
        lines.append(json.dumps(known | {"year": 2020, "licence": "CC BY-NC 4.0", "authority": "=Ministry"}))
    (folder / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")
    workspace = tmp_path_factory.mktemp("compared") / "workspace"
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    assert [one.status for one in add_paths([folder], engine)] == ["indexed"] * len(PLANS)
    engine.close()
    return workspace


@pytest.fixture
def engine(plans: Path, tmp_path: Path) -> Iterator[ComparingEngine]:
    copy = shutil.copytree(plans, tmp_path / "workspace")
    engine = ComparingEngine(unread(copy))
    yield engine
    engine.close()


@pytest.fixture
def model(engine: ComparingEngine) -> WritingModel:
    engine.models.writing = WritingModel()
    return engine.models.writing
