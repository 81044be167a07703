"""A page over a damaged catalog: one sentence with the cure, and no traceback."""

import shutil
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT


@pytest.mark.parametrize("begin", [0, 100])
def test_a_damaged_database_is_told_in_place_of_the_page(
    small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: int
) -> None:
    workspace = Path(shutil.copytree(small_workspace, tmp_path / "workspace"))
    with (workspace / "catalog.sqlite").open("r+b") as catalog:
        catalog.seek(begin)
        catalog.write(b"\xff" * 512)
    monkeypatch.setenv("SEXTANT_WORKSPACE", str(workspace))
    st.cache_resource.clear()
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    st.cache_resource.clear()
    assert not page.exception
    [error] = page.error
    assert "is damaged" in error.value
    assert "The server's administrator can repair it, or restore the latest backup" in error.value.replace("\\", "")
