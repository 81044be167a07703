"""A small real collection, indexed once, and the program run over it without a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._shared import accessibility, filter_widgets, frame, interface_language, numbers_and_dates
from rag_engine.conversations import store as conversations
from rag_engine.notebook import store as notebooks
from rag_engine.passage_search import saved
from tests.conftest import ROOT
from tests.pages.collection import build_collection
from tests.pages.sources import build_sources

Start = Callable[..., AppTest]
Speak = Callable[[str], None]


def texts(app: AppTest) -> str:
    """Return what stands on a page as text."""
    notices = (app.info, app.warning, app.success, app.error, app.toast)
    kinds = (app.header, app.subheader, app.markdown, app.caption, *notices)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def plain(app: AppTest) -> str:
    """Return what stands on a page, without the signs that keep words from being read as markup."""
    return texts(app).replace("\\", "").replace(":small[]", "")


def open_page(app: AppTest, page: str, /, **query: object) -> AppTest:
    """Open a page at an address."""
    app.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with three documents, to be copied alone."""
    folder = tmp_path_factory.mktemp("pages")
    build_collection(folder / "workspace", folder / "documents")
    return folder / "workspace"


@pytest.fixture(scope="session")
def collection(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with three documents, whose records the tests share."""
    return Path(shutil.copytree(built, tmp_path_factory.mktemp("shared") / "workspace"))


@pytest.fixture(scope="session")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with sources in every state."""
    workspace = tmp_path_factory.mktemp("listed") / "workspace"
    build_sources(workspace)
    return workspace


@pytest.fixture
def own(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the collection that a test may change, without what other tests keep in theirs."""
    return Path(shutil.copytree(built, tmp_path / "workspace"))


@pytest.fixture
def workspace(collection: Path) -> Iterator[Path]:
    """Yield the small collection, without conversations, notebooks and saved searches before and after."""
    yield collection
    for conversation in conversations.list_conversations(collection):
        conversations.delete_conversation(collection, conversation.id)
    for notebook in notebooks.list_notebooks(collection):
        notebooks.delete_notebook(collection, notebook.id)
    for search in saved.list_searches(collection):
        saved.delete_search(collection, search.id)


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Speak:
    """Have everything speak a language, without a page."""

    def set_language(language: str) -> None:
        for module in (accessibility, filter_widgets, interface_language, numbers_and_dates):
            monkeypatch.setattr(module, "interface_language", lambda: language)

    return set_language


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no worker started: a test carries out the jobs itself."""
    monkeypatch.setattr("ingestion.jobs.process._may_start", lambda _: False)


@pytest.fixture(scope="package")
def start() -> Iterator[Start]:
    """Yield runs the program over a workspace with a query string.

    Sessions on one workspace share what a server would. The environment names that workspace, so it is set back before
    a test of another folder reads its configuration.
    """
    with pytest.MonkeyPatch.context() as patch:
        # No browser is there that draws meanwhile.
        patch.setattr(frame, "rest", lambda _seconds: None)

        def run(workspace: Path, **query: str) -> AppTest:
            if os.environ.get("SEXTANT_WORKSPACE") != str(workspace):
                patch.setenv("SEXTANT_WORKSPACE", str(workspace))
                st.cache_resource.clear()
                st.cache_data.clear()
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
            for name, value in query.items():
                app.query_params[name] = value
            return app.run()

        yield run
    st.cache_resource.clear()
    st.cache_data.clear()
