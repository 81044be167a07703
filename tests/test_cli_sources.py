"""The list of sources in the terminal: from a folder to a dataset and back, as a person would do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner, Result

from cli import app
from tests.ingestion.backends.web_server import page, serving
from tests.portal.texts import DROUGHT, FLOOD, HEAT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    for name, text in {"flood": FLOOD, "heat": HEAT, "drought": DROUGHT}.items():
        (folder / f"{name}.md").write_text(f"# {text.plain}", encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    return folder


@pytest.fixture(scope="module")
def workspace(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose list is that folder, taken through all phases by a real worker."""
    workspace = tmp_path_factory.mktemp("terminal") / "workspace"
    added = run("seeds", "add", folder, "-w", workspace)
    assert added.exit_code == 0, added.output
    assert "4 added, 0 known already, 0 rows not usable." in added.output
    done = run("run", "-w", workspace)
    assert done.exit_code == 0, done.output
    assert "indexing       3 done" in done.output
    return workspace


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def run_json(*words: object) -> Any:
    return json.loads(run(*words, "--json").stdout)


def test_status_shows_the_funnel_and_why_a_source_was_stopped(workspace: Path) -> None:
    told = run("status", "-w", workspace)
    assert "raw             4" in told.output
    assert "indexed         3" in told.output
    assert "broken.pdf is a damaged PDF" in told.output.replace("\n", " ")


def test_a_sources_history_is_told(workspace: Path) -> None:
    code = next(one["code"] for one in run_json("status", "-w", workspace)["stopped"])
    history = run_json("status", code, "-w", workspace)["history"]
    assert history[0]["event"] == "added"
    assert {"damaged"} & {event["reason"] for event in history}


def test_adding_the_same_list_again_adds_nothing(workspace: Path, folder: Path) -> None:
    assert "0 added, 4 known already" in run("seeds", "add", folder, "-w", workspace).output
    again = run_json("run", "-w", workspace)
    assert (again["status"], again["phases"]) == ("done", [])


def test_an_edited_dataset_comes_back_as_corrections_that_are_found(workspace: Path, tmp_path: Path) -> None:
    path = tmp_path / "dataset.xlsx"
    assert "3 documents" in " ".join(run("export", path, "-w", workspace).output.split())
    book = load_workbook(path)
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    row = next(cells for cells in sheet.iter_rows(min_row=2) if cells[header.index("Policy Title")].value == HEAT.title)
    row[header.index("Hazard")].value = "Wildfire"
    book.save(path)
    taken = run("import", path, "-w", workspace, "--by", "Ada")
    assert "hazards: Wildfire" in taken.output
    assert run("run", "indexing", "-w", workspace).exit_code == 0
    listed = run_json("list", "--filter", "hazard=Wildfire", "-w", workspace)["documents"]
    assert [one["metadata"]["title"] for one in listed] == [HEAT.title]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "cooking"), "There is no phase cooking. Phases are licence, acquisition"),
        (("status", "NOPE"), "No source has the code 'NOPE'."),
        (("review", "NOPE", "GREEN"), "No source has the code 'NOPE'."),
        (("export", "dataset.docx"), ".xlsx"),
        (("import", "nothing.xlsx"), "nothing.xlsx"),
        (("seeds", "add", "nothing.xlsx"), "nothing.xlsx"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_cure(workspace: Path, words: tuple[str, ...], said: str) -> None:
    result = run(*words, "-w", workspace)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_licence_waits_for_a_persons_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_HOST_SECONDS", "0")
    workspace, seeds = tmp_path / "workspace", tmp_path / "seeds.csv"
    paragraphs = "".join(f"<p>{part}</p>" for part in FLOOD.paragraphs)
    body = f"<html><body><main><h1>{FLOOD.title}</h1>{paragraphs}</main></body></html>"
    with serving({"/plan": page(body)}) as site:
        monkeypatch.setenv("SEXTANT_INTRANET", f"127.0.0.1:{site.port}")
        seeds.write_text(f"code,url\nA1,{site.url('/plan')}\n", encoding="utf-8")
        run("seeds", "add", seeds, "-w", workspace)
        run("run", "-w", workspace)
        assert "1 wait." in run("review", "-w", workspace).output
        decided = run("review", "A1", "GREEN", "--note", "Asked by letter.", "--by", "Ada", "-w", workspace)
        assert "0 wait." in decided.output
        run("run", "-w", workspace)
        refreshed = run_json("run", "acquisition", "--refresh", "-w", workspace)
        assert refreshed["phases"][0]["done"] == 1
    assert [one["file"] for one in run_json("list", "-w", workspace)["documents"]] != []
    evidence = [event["author"] for event in run_json("status", "A1", "-w", workspace)["history"]]
    assert "Ada" in evidence


def test_a_feed_proposes_sources_and_adds_them_only_when_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_HOST_SECONDS", "0")
    items = "".join(f"<item><title>Plan {n}</title><link>https://example.org/{n}</link></item>" for n in range(3))
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Plans</title>{items}</channel></rss>'
    with serving({"/feed": page(feed, "application/rss+xml")}) as site:
        monkeypatch.setenv("SEXTANT_INTRANET", f"127.0.0.1:{site.port}")
        address = site.url("/feed")
        assert "3 proposed" in run("seeds", "discover", address, "-w", tmp_path).output
        assert run_json("status", "-w", tmp_path)["funnel"][0]["reached"] == 0
        run("seeds", "discover", address, "--accept", "-w", tmp_path)
        assert run_json("status", "-w", tmp_path)["funnel"][0]["reached"] == 3
