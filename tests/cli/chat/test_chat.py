"""`sextant chat` with its lines from a pipe, through the real engine."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from cli.main import app
from rag_engine.answering.support import support_accuracy
from tests.cli.test_ask import PLAN, QUESTION, model, said
from tests.rag_engine.backends.scripted_server import Reply, Script
from tests.rag_engine.backends.test_openai import CHAT, words

# A fixture of the tests of answers.
__all__ = ["model"]


def chat(workspace: Path, *lines: str, filters: tuple[str, ...] = ()) -> Result:
    options = [word for one in filters for word in ("-f", one)]
    return CliRunner().invoke(app, ["chat", "-w", str(workspace), *options], input="\n".join(lines))


def test_a_scripted_session_answers_and_ends_with_its_lines(workspace: Path) -> None:
    result = chat(workspace, "When do residents near the dyke have to leave?", "", "/sources", "/exit", "/dance")
    assert result.exit_code == 0
    assert "4.5 metres" in result.stdout
    assert "1. Flood plan of the Sample River Authority" in result.stdout
    assert "/dance" not in result.output


def test_words_and_the_menu_start_runs_after_a_confirmation(workspace: Path) -> None:
    result = chat(workspace, "/do check the licences of the new rows", "n", "/menu", "1", "y", "/do dance", "/history")
    assert result.exit_code == 0
    assert result.stdout.count("Run the phase licence for everything new or changed.") == 2
    assert "1 licence\n2 acquisition\n" in result.stdout
    listed = CliRunner().invoke(app, ["jobs", "-w", str(workspace), "--json"])
    assert [one["status"] for one in json.loads(listed.stdout)["jobs"]] == ["done"]
    assert "'dance' was not understood." in " ".join(result.stderr.split())
    assert result.stdout.endswith("Nothing has been asked yet.\n")


def test_a_filter_that_no_document_has_ends_the_command(workspace: Path) -> None:
    result = chat(workspace, "/help", filters=("hazard=Volcano",))
    assert result.exit_code == 2
    assert "Flood, Heatwaves" in " ".join(result.stderr.split())


def test_how_far_what_a_model_writes_is_supported_is_said_with_how_often_that_is_right(
    workspace: Path, model: Script
) -> None:
    written = "Residents leave their homes within 90 days of the order [Source 1]."
    model.replies[CHAT] = [said(PLAN), Reply(words(written))]
    result = chat(workspace, QUESTION)
    assert "0 of 1 sentence supported by the cited passages" in " ".join(result.stdout.split())
    assert support_accuracy() in " ".join(result.stdout.split())
    assert "number 90 is not in the passage" in " ".join(result.stderr.split())


def test_what_a_model_writes_without_a_source_is_said_to_be_no_answer(workspace: Path, model: Script) -> None:
    model.replies[CHAT] = [said(PLAN), Reply(words("Residents leave when they like."))]
    result = chat(workspace, QUESTION)
    assert "named no source" in " ".join(result.stderr.split())


def test_a_refusal_says_nothing_of_our_tests(workspace: Path) -> None:
    result = chat(workspace, "What is the best recipe for carbonara?")
    assert "No answer found in these documents." in result.stdout
    assert "In our tests" not in result.stdout
