"""Uploads are bounded for a session and for all, and discarded when nothing needs them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from benchmarks import page_server
from tests.conftest import ROOT
from tests.harness.page_visitor import PageVisitor, visiting

# Patience with a server on a busy machine.
_SECONDS = 120.0
_KB = 1000


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads") / "workspace"


@pytest.fixture(scope="module")
def address(workspace: Path) -> Iterator[str]:
    """Address of a server with files of a megabyte, and sessions that stay for a second."""
    limits = {"STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "1", "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    log = workspace.with_name("log")
    with page_server.serving(ROOT / "app.py", log, **limits, SEXTANT_WORKSPACE=str(workspace)) as address:
        yield address


@contextmanager
def _at_library(address: str) -> Iterator[PageVisitor]:
    """Yield a visitor who is shown where files are dropped."""
    with visiting(address, "library") as visitor:
        assert visitor.wait(lambda: visitor.idle and "file_uploader" in visitor.shown, _SECONDS)
        yield visitor


def _put(address: str, session: str, length: int, *, in_parts: bool = False) -> int:
    """Upload a file of this size in parts, without a length; return the status."""
    around = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n', b"\r\n--x--\r\n"
    content = around[0] + b"a" * length + around[1]
    parts = iter([content[at : at + 50_000] for at in range(0, len(content), 50_000)])
    with httpx.Client(base_url=address, timeout=_SECONDS) as client:
        client.get("/_stcore/health").raise_for_status()
        headers = {
            "X-Xsrftoken": client.cookies["_streamlit_xsrf"],
            "Content-Type": "multipart/form-data; boundary=x",
        }
        name = f"/_stcore/upload_file/{session}/{time.monotonic_ns()}"
        return client.put(name, content=parts if in_parts else content, headers=headers).status_code


def _until(seen: Callable[[], bool]) -> bool:
    end = time.monotonic() + _SECONDS
    while not seen() and time.monotonic() < end:
        threading.Event().wait(0.2)
    return time.monotonic() < end


def test_a_session_that_was_not_asked_for_a_file_may_send_none(address: str) -> None:
    with visiting(address) as visitor:
        assert visitor.wait(lambda: visitor.idle, _SECONDS)
        assert _put(address, visitor.session, 10) == 403
        assert _put(address, "0" * 32, 10) == 403


def test_files_that_wait_in_one_session_are_no_larger_together_than_one_may_be(address: str) -> None:
    with _at_library(address) as visitor:
        assert _put(address, visitor.session, 600 * _KB) == 204
        assert _put(address, visitor.session, 600 * _KB) == 413
        # What is not announced is counted while it arrives.
        assert _put(address, visitor.session, 600 * _KB, in_parts=True) == 413
        assert visitor.wait(lambda: "may have 1 MB together" in visitor.shown, _SECONDS)
        assert _put(address, visitor.session, 300 * _KB, in_parts=True) == 204


def test_all_sessions_have_room_together_which_those_that_end_give_back(address: str) -> None:
    with _at_library(address) as third:
        with _at_library(address) as first, _at_library(address) as second:
            assert _until(lambda: _put(address, first.session, 900 * _KB) == 204)
            assert _until(lambda: _put(address, second.session, 900 * _KB) == 204)
            assert _put(address, third.session, 900 * _KB, in_parts=True) == 413
            assert third.wait(lambda: "may have 2 MB together" in third.shown, _SECONDS)
        assert _until(lambda: _put(address, third.session, 900 * _KB) == 204)


def test_a_list_that_was_only_looked_at_goes_with_its_session(address: str, workspace: Path) -> None:
    with visiting(address, "admin") as visitor:
        assert visitor.wait(lambda: visitor.idle and "file_uploader" in visitor.shown, _SECONDS)
        visitor.drop("sources.csv", b"url,title\nhttps://example.org/plan.pdf,Plan\n", _SECONDS, "Source list")
        assert visitor.wait(lambda: bool(list(workspace.rglob("sources.csv"))), _SECONDS)
    assert _until(lambda: not list(workspace.rglob("sources.csv")))


# The last: a library with documents has its place for files folded.
def test_a_file_that_was_handed_on_leaves_room_for_the_next(address: str) -> None:
    with _at_library(address) as visitor:
        visitor.upload("rules.txt", b"The harbour master keeps the rules. " * 25_000, "Add to the collection", _SECONDS)
        assert visitor.wait(lambda: visitor.idle, _SECONDS)
        assert _until(lambda: _put(address, visitor.session, 900 * _KB) == 204)
