"""The list of sources in the terminal: from a folder to a dataset and back, as a person would do it."""

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner, Result

from cli.main import app
from ingestion.acts.context import local_person
from ingestion.jobs.queue import JobQueue
from ingestion.records.source_store import SourceStore
from ingestion.types.outcome import Outcome
from ingestion.types.source import ListedSource, PortalFindings
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.messages import Message
from tests.ingestion.web_server import page, serving
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
    """Return a workspace whose list is that folder, taken through all phases by a real worker."""
    workspace = tmp_path_factory.mktemp("terminal") / "workspace"
    added = run("sources", "add", folder, "-w", workspace)
    assert added.exit_code == 0, added.output
    assert "4 added, 0 known already, 0 rows not usable." in added.output
    done = run("run", "-w", workspace)
    assert done.exit_code == 0, done.output
    assert "indexing\t3 done" in done.output
    return workspace


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def run_json(*words: object) -> Any:
    return json.loads(run(*words, "--json").stdout)


def _code(workspace: Path, title: str) -> str:
    sources = run_json("sources", "list", "-w", workspace)["sources"]
    return str(next(one["code"] for one in sources if one["title"] == title))


def test_status_shows_the_funnel_and_why_a_source_was_stopped(workspace: Path) -> None:
    told = run("status", "-w", workspace)
    stations = [line.split()[:2] for line in told.output.splitlines()]
    assert ["raw", "4"] in stations
    assert ["indexed", "3"] in stations
    assert "Licences of the documents: 3 YELLOW" in told.output
    message = next(line for line in told.output.splitlines() if "is damaged" in line)
    assert message.startswith("  ")
    assert "broken.pdf" in message


def test_a_sources_history_is_told(workspace: Path) -> None:
    code = next(one["code"] for one in run_json("status", "-w", workspace)["stopped"])
    history = run_json("status", code, "-w", workspace)["history"]
    assert history[0]["event"] == "added"
    assert {"damaged"} & {event["reason"] for event in history}


def test_a_source_is_told_as_it_stands_before_its_history(workspace: Path) -> None:
    code = _code(workspace, HEAT.title)
    told = run("status", code, "-w", workspace).output
    now, _, history = told.partition("History")
    assert f"title\t{HEAT.title}" in now
    assert "indexing: indexed" in now
    assert "of 100 (length " in now
    assert "language\tit" in now
    assert "hazards: Heatwaves\n  rule 0." in now
    assert "added" in history


def test_the_list_has_a_line_for_each_source(workspace: Path) -> None:
    lines = run("sources", "list", "-w", workspace).output.splitlines()
    assert len(lines) == 5
    line = next(line for line in lines if HEAT.title in line)
    assert "indexing/indexed" in line
    assert line.rstrip().endswith("heat.md")
    assert [one["status"] for one in run_json("sources", "list", "-w", workspace)["sources"]].count("indexed") == 3


def test_adding_the_same_list_again_adds_nothing(workspace: Path, folder: Path) -> None:
    assert "0 added, 4 known already" in run("sources", "add", folder, "-w", workspace).output
    again = run_json("run", "-w", workspace)
    assert (again["status"], again["phases"]) == ("done", [])
    assert run("run", "-w", workspace).stdout == "Nothing was due.\n"


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
    assert "\n1 correction.\n" in taken.output
    assert run("import", path, "-w", workspace, "--by", "Ada").output == "0 corrections.\n"
    # They count at once, without a run.
    listed = run_json("list", "--filter", "hazard=Wildfire", "-w", workspace)["documents"]
    assert [one["metadata"]["title"] for one in listed] == [HEAT.title]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "cooking"), "There is no phase cooking. Phases are licence, acquisition"),
        (("status", "NOPE"), "No source has the code 'NOPE'."),
        (("status", "NOPE"), "`sextant sources list` lists the codes."),
        (("review", "NOPE", "GREEN", "--note", "Why."), "No source has the code NOPE."),
        (("review", "NOPE", "GREEN"), "GREEN on NOPE needs a reason. Give a note"),
        (("run", "--code", "NOPE", "-c", "NADA"), "No source has the code NOPE, NADA. `sextant sources list` lists"),
        (("sources", "remove", "NOPE"), "No source has the code NOPE."),
        (("pause",), "No job is running or queued. `sextant jobs` lists them."),
        (("resume", "99"), "There is no job 99."),
        (("resume", "9" * 30), f"There is no job {'9' * 30}."),
        (("cancel", "1"), "Job 1 is done, not running or queued or paused."),
        (("do", "what is the weather?"), "was not understood"),
        (("export", "dataset.docx"), ".xlsx"),
        (("import", "nothing.xlsx"), "nothing.xlsx"),
        (("sources", "add", "nothing.xlsx"), "nothing.xlsx"),
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
        run("sources", "add", seeds, "-w", workspace)
        run("run", "-w", workspace)
        assert "1 to decide." in run("review", "-w", workspace).output
        decided = run("review", "A1", "GREEN", "--note", "Asked by letter.", "--by", "Ada", "-w", workspace)
        assert decided.output == "A1: GREEN by Ada; run `sextant run` to continue.\n"
        assert "0 to decide." in run("review", "-w", workspace).output
        run("run", "-w", workspace)
        refreshed = run_json("run", "acquisition", "--refresh", "-w", workspace)
        assert refreshed["phases"][0]["done"] == 1
    assert [one["file"] for one in run_json("list", "-w", workspace)["documents"]] != []
    evidence = [event["author"] for event in run_json("status", "A1", "-w", workspace)["history"]]
    assert "Ada" in evidence
    refused = run("review", "A1", "RED", "--note", "They wrote back.", "--by", "Ada", "-w", workspace)
    assert refused.stdout == "A1: RED by Ada; it was taken out of the index.\n"
    assert run_json("list", "-w", workspace)["documents"] == []


def test_a_feed_proposes_sources_and_adds_them_only_when_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_HOST_SECONDS", "0")
    items = "".join(f"<item><title>Plan {n}</title><link>https://example.org/{n}</link></item>" for n in range(3))
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Plans</title>{items}</channel></rss>'
    with serving({"/feed": page(feed, "application/rss+xml")}) as site:
        monkeypatch.setenv("SEXTANT_INTRANET", f"127.0.0.1:{site.port}")
        address = site.url("/feed")
        assert "3 proposed" in run("sources", "discover", address, "-w", tmp_path).output
        assert run_json("status", "-w", tmp_path)["funnel"][0]["reached"] == 0
        run("sources", "discover", address, "--accept", "-w", tmp_path)
        assert run_json("status", "-w", tmp_path)["funnel"][0]["reached"] == 3


def test_a_page_that_leads_to_no_list_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_HOST_SECONDS", "0")
    with serving({"/plan": page("<html><body><p>A plan.</p></body></html>")}) as site:
        monkeypatch.setenv("SEXTANT_INTRANET", f"127.0.0.1:{site.port}")
        found = run("sources", "discover", site.url("/plan"), "-w", tmp_path)
    assert found.exit_code == 2
    assert "leads to no sitemap and no feed" in found.output


def test_a_site_whose_lists_hold_the_page_alone_proposes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_HOST_SECONDS", "0")
    feed = '<rss version="2.0"><channel><title>Plans</title><item><link>/plan</link></item></channel></rss>'
    body = (
        '<html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head><body>A plan.</body></html>'
    )
    with serving({"/plan": page(body), "/feed": page(feed, "application/rss+xml")}) as site:
        monkeypatch.setenv("SEXTANT_INTRANET", f"127.0.0.1:{site.port}")
        (tmp_path / "seeds.csv").write_text(f"code,url\nA1,{site.url('/plan')}\n", encoding="utf-8")
        for _ in range(2):
            found = run("sources", "discover", site.url("/plan"), "-w", tmp_path)
            assert found.exit_code == 2
            assert "nothing but this address" in " ".join(found.output.split())
            run("sources", "add", tmp_path / "seeds.csv", "-w", tmp_path)


def test_a_run_tells_each_phase_as_it_ends_where_nobody_watches_a_bar(tmp_path: Path, folder: Path) -> None:
    run("sources", "add", folder, "-w", tmp_path)
    done = run("run", "licence", "acquisition", "-w", tmp_path)
    assert "acquisition: 4 sources, " in done.stderr
    assert "acquisition\t4 done" in done.stdout


def test_what_is_removed_leaves_the_index(workspace: Path, tmp_path: Path) -> None:
    copy = tmp_path / "workspace"
    shutil.copytree(workspace, copy)
    code = _code(copy, FLOOD.title)
    gone = run("sources", "remove", code, "--by", "Ada", "-w", copy)
    assert "1 removed." in gone.stdout
    assert FLOOD.title not in [one["metadata"]["title"] for one in run_json("list", "-w", copy)["documents"]]
    assert "is off the list" in run("status", code, "-w", copy).output


def test_runs_are_listed_laid_aside_resumed_and_cancelled(tmp_path: Path) -> None:
    with closing(open_engine(read_config(tmp_path))) as engine:
        asked = {"phases": ["licence"]}
        first, second = (JobQueue(engine.catalog).queue("run", asked, local_person("Ada")) for _ in range(2))
    assert f"Job {first} is paused." in run("pause", first, "-w", tmp_path).output
    assert f"Job {second} is cancelled." in run("cancel", "-w", tmp_path).output
    listed = run("jobs", "-w", tmp_path).output
    assert "Ada" in listed
    assert "Run the phase licence for everything new or changed." in listed
    assert [one["status"] for one in run_json("jobs", "-w", tmp_path)["jobs"]] == ["cancelled", "paused"]
    resumed = run("resume", "-w", tmp_path)
    assert (resumed.exit_code, resumed.stdout) == (0, "Nothing was due.\n")


def test_a_portal_says_what_it_offers_that_was_not_taken(tmp_path: Path) -> None:
    said = "Links not followed, below 2 levels: 7."
    with closing(open_engine(read_config(tmp_path))) as engine:
        store = SourceStore(engine.catalog)
        store.add([ListedSource("P1", "https://portal.example/plans")])
        store.record(
            "P1", "portals", Outcome("done", "", Message(), PortalFindings((), (), (Message(said),))), fingerprint="f"
        )
    assert f"left out\t{said}" in run("status", "P1", "-w", tmp_path).output
    assert run_json("status", "P1", "-w", tmp_path)["present"]["left_out"] == [said]


def test_a_number_picks_from_the_menu_of_phases(tmp_path: Path, folder: Path) -> None:
    run("sources", "add", folder, "-w", tmp_path)
    picked = CliRunner().invoke(app, ["do", "-w", str(tmp_path)], input="1\ny\n")
    assert picked.exit_code == 0
    assert "1 licence\n2 acquisition\n3 portals\n" in picked.output
    assert "Run the phase licence for everything new or changed." in picked.output
    assert [one["status"] for one in run_json("jobs", "-w", tmp_path)["jobs"]] == ["done"]


def test_words_are_said_back_and_run_when_a_person_agrees(tmp_path: Path, folder: Path) -> None:
    run("sources", "add", folder, "-w", tmp_path)
    words = ("do", "check the licences of the new rows", "-w", tmp_path)
    declined = CliRunner().invoke(app, [str(word) for word in words], input="n\n")
    assert "Run the phase licence for everything new or changed." in declined.output
    assert run_json("jobs", "-w", tmp_path)["jobs"] == []
    assert run(*words, "--yes").exit_code == 0
    assert [one["status"] for one in run_json("jobs", "-w", tmp_path)["jobs"]] == ["done"]
