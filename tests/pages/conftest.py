"""A small real collection, indexed once, and the program run over it without a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._shared import frame
from tests.conftest import ROOT
from tests.pages.collection import build_collection
from tests.pages.sources import build_sources

Start = Callable[..., AppTest]


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
