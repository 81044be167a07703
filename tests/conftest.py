"""Shared fixtures: the folder of real documents, and a small collection indexed by the real encoder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from rag_engine.protocols import Embedder

# How long an example takes says more of the machine than of the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["ANONYMIZED_TELEMETRY"] = "False"

ROOT = Path(__file__).resolve().parents[1]

FLOOD_EN = """# Flood plan of the Sample River Authority

The River Authority publishes flood hazard maps every six years and reviews them after every flood.

Residents within 300 metres of the dyke leave their homes when the gauge at Milltown passes 4.5 metres. The mayor
orders the evacuation and the fire service carries it out. Museums move their collections to the upper floors twelve
hours before the forecast peak, as the DRR strategy of 2015 asks.
"""
HEAT_IT = """# Piano caldo della Regione Esempio

Il piano prevede tre livelli di allerta. Il livello rosso scatta quando la temperatura percepita supera i 38 gradi per
tre giorni consecutivi. L'azienda sanitaria chiama ogni giorno le persone anziane che vivono sole e apre i centri
climatizzati dalle ore 9 alle ore 21.
"""
DROUGHT_DE = """# Dürreplan des Musterlandes

Bei einem Füllstand der Talsperren unter 40 Prozent gilt Stufe 2. Die Wasserbehörde untersagt dann die Bewässerung von
Rasenflächen zwischen 8 und 20 Uhr. Für Betriebe der Landwirtschaft gelten Ausnahmen nach Art. 7 Abs. 2.
"""
DESCRIPTIONS = """{"file": "flood.md", "hazards": ["Flood"], "geographical_level": "National", \
"countries": ["Ireland"], "authority": "Sample River Authority", "year": 2015, \
"document_type": "Guidelines", "language": "en"}
{"file": "caldo.md", "hazards": ["Heatwaves"], "geographical_level": "National", \
"countries": ["Italia"], "authority": "Regione Esempio", "year": 2021, "document_type": "Framework", "language": "it"}
"""


CHROMIUM = Path("/usr/bin/chromium")
BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SHARED = Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared"))

# What a test may need beyond the packages, whether it is here, and how to get it.
_NEEDS = {
    "chromium": (CHROMIUM.exists(), "apt-get install chromium"),
    "authlib": (find_spec("authlib") is not None, "pip install -e .[login]"),
    "soffice": (
        shutil.which("soffice") is not None,
        "apt-get install --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui ...",
    ),
    "tesseract": (shutil.which("tesseract") is not None, "apt-get install tesseract-ocr tesseract-ocr-ita ..."),
    "linux": (sys.platform == "linux", "other kernels do not kill a process when a pipe closes"),
    "bert score": (find_spec("bert_score") is not None, "pip install -e .[text-metrics]"),
    "text metrics": (find_spec("sacrebleu") is not None, "pip install -e .[text-metrics]"),
    "shared": (SHARED.is_dir(), "set SEXTANT_SHARED to the folder of real documents"),
}


# Whole programs, pages, browsers, real documents, exports of models and what takes as long: `make test` leaves them to
# `make test WHOLE=1`.
_LONG = (
    "tests/cli/",
    "tests/data/test_corpus_",
    "tests/data/test_passages.py",
    "tests/e2e/",
    "tests/harness/",
    "tests/ingestion/backup/",
    "tests/ingestion/dataset/test_corrections.py",
    "tests/ingestion/deduplication/test_find_duplicates.py::test_the_corpus",
    "tests/ingestion/extraction/test_extract.py::test_every_file_of_the_corpus",
    "tests/ingestion/test_worker.py",
    "tests/ingestion/test_add_files.py",
    "tests/ingestion/test_doors.py",
    "tests/ingestion/test_erasing.py",
    "tests/ingestion/web/test_browser.py",
    "tests/ingestion/pipeline/test_run",
    "tests/ingestion/pipeline/test_toy_phase.py",
    "tests/pages/",
    "tests/portal/",
    "tests/rag_engine/backends/encoder/",
    "tests/rag_engine/backends/test_reader.py",
    "tests/test_corpus.py",
    "tests/test_examples.py",
    "tests/test_linear_time.py",
)
# Begun last, they would keep one processor waiting for the other.
_EARLY = ("tests/harness/", "tests/pages/", "tests/ingestion/test_", "tests/ingestion/jobs/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long files and put what takes longest first; leave out what needs a missing program.

    A test that is left out says so on a bare machine; in CI it runs and fails.
    """
    for item in items:
        if item.nodeid.startswith(_LONG):
            item.add_marker("long")
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, not item.nodeid.startswith(_EARLY)))
    if os.environ.get("CI"):
        return
    for item in items:
        wanted = {str(name) for marker in item.iter_markers("needs") for name in marker.args}
        wanted |= {"shared"} if {"shared", "corpus"} & set(getattr(item, "fixturenames", ())) else set()
        for name in sorted(wanted):
            present, cure = _NEEDS[name]
            if not present:
                item.add_marker(pytest.mark.skip(reason=f"no {name} here: {cure}"))


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give processes that a test forks an empty main module, without the script of a page's test."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield Debian's Chromium, one for a worker: Playwright cannot start twice in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(BROWSER_FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the real documents and benchmark halves."""
    return SHARED


@pytest.fixture(scope="session")
def meaning() -> Embedder:
    """Return the packaged encoder, by which what a test asks about meaning is judged."""
    from rag_engine.backends.encoder.load import load_encoder

    return load_encoder("multilingual-e5-small")


@pytest.fixture(scope="session")
def small_documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three short plans in three languages; two of them are described in metadata.jsonl."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "flood.md").write_text(FLOOD_EN, encoding="utf-8")
    (folder / "caldo.md").write_text(HEAT_IT, encoding="utf-8")
    (folder / "duerre.md").write_text(DROUGHT_DE, encoding="utf-8")
    (folder / "metadata.jsonl").write_text(DESCRIPTIONS, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def small_workspace(small_documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace that holds the three plans. Tests read it; those that write copy it."""
    from ingestion.add_files import add_paths
    from rag_engine.config import read_config
    from rag_engine.engine import open_engine

    workspace = tmp_path_factory.mktemp("small") / "workspace"
    engine = open_engine(read_config(workspace))
    assert [one.status for one in add_paths([small_documents], engine)] == ["indexed"] * 3
    engine.close()
    return workspace
