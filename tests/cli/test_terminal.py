"""The sign of a terminal while a model is slow."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from cli import terminal
from cli.terminal import spinner, watched
from rag_engine.types import Evidence, QueryPlan
from rag_engine.waiting import still_waiting


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    shown = io.StringIO()
    monkeypatch.setattr(
        terminal,
        "err",
        Console(file=shown, force_terminal=True, force_interactive=True, width=80, _environ={"TERM": "xterm"}),
    )
    return shown


def test_a_slow_model_is_shown_with_the_seconds_it_has_taken(screen: io.StringIO) -> None:
    with spinner("Filling in the form"):
        still_waiting(73.4)
    assert "Filling in the form (73 s)" in screen.getvalue()


def test_a_pipe_gets_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    with spinner("Filling in the form"):
        still_waiting(73.4)
    assert capsys.readouterr().err == ""


def test_the_sign_says_what_is_done_and_goes_once_words_come(screen: io.StringIO) -> None:
    evidence = Evidence(QueryPlan("Why?", "en", ("why",)), (), ())
    parts = watched(iter([evidence, "Because ", "it is."]))
    assert next(parts) is evidence
    assert "Searching your documents" in screen.getvalue()
    assert next(parts) == "Because "
    assert "Writing the answer" in screen.getvalue()
    before = screen.getvalue()
    assert list(parts) == ["it is."]
    assert screen.getvalue() == before
