"""A fresh server over a small real collection, and a browser that must not speak to anybody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks import page_server
from tests.e2e.slow_model import CITING_TWO, slow_model
from tests.pages.collection import build_collection

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with three documents, for the server alone."""
    folder = tmp_path_factory.mktemp("e2e")
    build_collection(folder / "workspace", folder / "documents")
    return folder / "workspace"


@pytest.fixture(scope="session")
def address(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server answers that the tests share."""
    with serving(workspace, tmp_path_factory.mktemp("server") / "log") as address:
        yield address


@pytest.fixture
def fresh_address(workspace: Path, tmp_path: Path) -> Iterator[str]:
    """Where a server answers that has seen nobody yet."""
    with serving(workspace, tmp_path / "log") as address:
        yield address


@pytest.fixture(scope="session")
def model_server(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, threading.Event]]:
    """Where a server answers that has a language model, and the event that lets the model end its answers."""
    with slow_model() as (url, go_on):
        settings = {"SEXTANT_OPENAI_URL": url, "SEXTANT_OPENAI_MODEL": "slow"}
        with serving(workspace, tmp_path_factory.mktemp("server") / "log", **settings) as address:
            yield address, go_on
            go_on.set()


@pytest.fixture
def model_address(model_server: tuple[str, threading.Event]) -> Iterator[tuple[str, threading.Event]]:
    """Yield the same with the event not set: what a test asks waits for it, and ends with the test."""
    model_server[1].clear()
    yield model_server
    model_server[1].set()


@pytest.fixture
def silent_address(workspace: Path, tmp_path: Path) -> Iterator[tuple[str, threading.Event]]:
    """Yield a page server whose language model is silent, and the event that lets it cite two sources."""
    with slow_model(CITING_TWO, silent=True) as (url, go_on):
        settings = {"SEXTANT_OPENAI_URL": url, "SEXTANT_OPENAI_MODEL": "slow"}
        with serving(workspace, tmp_path / "log", **settings) as address:
            yield address, go_on
            go_on.set()


@pytest.fixture
def misled_address(workspace: Path, tmp_path: Path) -> Iterator[str]:
    """Where a server answers that was given a setting that there is not."""
    with serving(workspace, tmp_path / "log", SEXTANT_EXECUTION="abacus") as address:
        yield address


def serving(workspace: Path, log: Path, **settings: str) -> AbstractContextManager[str]:
    """Return a block in which a server over the workspace answers at the address that it yields."""
    return page_server.serving(ROOT / "app.py", log, SEXTANT_WORKSPACE=str(workspace), **settings)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page of 1280 x 800.

    The test fails if a request leaves this machine, or if the page's policy stops one.
    """
    expect.set_options(timeout=60_000)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    elsewhere: list[str] = []
    context.on("request", lambda request: elsewhere.append(request.url) if leaves(request.url) else None)
    context.on("console", lambda line: elsewhere.append(line.text) if "Content Security Policy" in line.text else None)
    yield context.new_page()
    context.close()
    assert elsewhere == []


def leaves(url: str) -> bool:
    """Return whether a request would leave this machine."""
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1"
