"""`sextant compare` as a person or a program uses it."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner

from cli.main import app
from ingestion.acts.comparisons import decide_cell, list_comparisons
from ingestion.acts.context import ActContext, open_context
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import open_engine
from tests.cli.conftest import fixed
from tests.cli.test_ask import FORM, PLAN, POLICY, said
from tests.rag_engine.backends.test_openai import serving_model

LEAVE = "When do residents leave their homes?"


@pytest.fixture
def compare(small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return the command over a copy of the small collection, whose worker is this process."""

    def work_here(workspace: Path) -> None:
        with closing(open_engine(read_config(workspace))) as engine:
            work(engine)

    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("ingestion.jobs.process.ensure_worker", work_here)
    monkeypatch.setattr(ActContext.__init__, "__defaults__", (work_here,))
    workspace = shutil.copytree(small_workspace, tmp_path / "workspace")
    return lambda *words: CliRunner().invoke(app, ["compare", "-w", str(workspace), *map(str, words)])


def test_every_cell_is_printed_with_its_page_and_the_same_command_asks_nothing_more(
    compare: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "compared.xlsx"
    words = ("-q", LEAVE, "-q", "Who won the chess tournament?", "--by", "country", "--export", path)
    result = compare(*words)
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    assert "Ireland Residents within 300 metres of the dyke leave their homes" in shown
    assert "Flood plan of the Sample River Authority]" in shown
    assert "Italy Closest passages:" in shown
    assert "Ireland Nothing found:" in shown
    assert "Italy Nothing found:" in shown
    sheets = openpyxl.load_workbook(path)
    assert sheets.sheetnames == ["Comparison", "Evidence"]
    asked = [row[16].value for row in sheets["Evidence"].iter_rows(min_row=2)]
    assert compare(*words).exit_code == 0
    again = openpyxl.load_workbook(path)["Evidence"]
    assert [row[16].value for row in again.iter_rows(min_row=2)] == asked


def test_a_form_is_filled_in_by_every_column_into_a_workbook(
    compare: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "forms.xlsx"
    words = ("-q", LEAVE, "-f", "hazard=Flood", "--form", POLICY, "--export", path, "--json")
    refused = compare(*words)
    assert refused.exit_code == 2
    assert "need a language model" in refused.stdout
    with serving_model(monkeypatch, said(PLAN), said(FORM)):
        result = compare(*words)
    assert result.exit_code == 0, result.output
    [cell] = fixed("compare", result.stdout)["cells"]
    assert cell["status"] == "answered"
    assert [record["actor"] for record in cell["records"]] == ["mayor"]
    [row] = openpyxl.load_workbook(path)["Evidence"].iter_rows(min_row=2, values_only=True)
    assert "the mayor orders the evacuation" in row


def test_the_reply_has_the_fixed_shape(compare: Callable[..., Any]) -> None:
    result = compare("-q", LEAVE, "-f", "hazard=Flood", "--name", "Flood", "--json")
    assert result.exit_code == 0, result.output
    reply = fixed("compare", result.stdout)
    assert (reply["name"], reply["by"], len(reply["cells"])) == ("Flood", "document", 1)
    assert reply["cells"][0]["citations"][0]["page"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no question"),
        (("-q", LEAVE, "--export", "compared.csv"), "does not name a workbook"),
        (("-q", LEAVE, "-f", "country=Peru"), "No document has country"),
    ],
)
def test_what_cannot_be_compared_is_refused(compare: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    result = compare(*words)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_decision_by_hand_is_printed_and_in_the_reply(compare: Callable[..., Any], tmp_path: Path) -> None:
    words = ("-q", LEAVE, "-f", "hazard=Flood", "--name", "Flood")
    assert compare(*words).exit_code == 0
    with closing(open_engine(read_config(tmp_path / "workspace"))) as engine:
        context = open_context(engine, LOCAL)
        [begun] = list_comparisons(context)
        place = begun.places[0]
        decide_cell(context, begun.id, place, "corrected", author="Ada", note="short", text="At once.")
    assert "At once. [corrected by Ada]" in " ".join(compare(*words).stdout.split())
    [cell] = fixed("compare", compare(*words, "--json").stdout)["cells"]
    assert (cell["decision"]["choice"], cell["decision"]["author"]) == ("corrected", "Ada")
