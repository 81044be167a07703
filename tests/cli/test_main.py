"""The command line as a person or a program uses it; its JSON is held to data/contract.schema.json."""

import json
import shutil
import subprocess
import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.collection import how_far
from cli.main import app
from ingestion.add_files import add_paths
from ingestion.types.run import Progress
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from tests.cli.conftest import fixed
from tests.conftest import ROOT


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def run_json(kind: str, *words: object) -> Any:
    """Return the JSON that a command printed, checked against its shape."""
    return fixed(kind, run(*words, "--json").stdout)


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").output == f"sextant {version('sextant')}\n"


def test_a_search_finds_the_passage_with_every_score(small_workspace: Path) -> None:
    reply = run_json("search", "search", "When do residents near the dyke have to leave?", "-w", small_workspace)
    best = reply["hits"][0]
    assert best["file"] == "flood.md"
    assert "4.5 metres" in best["text"]
    assert best["dense_rank"] == 1
    assert best["sparse_rank"] == 1
    assert best["cosine"] > 0.8


def test_a_question_in_another_language_finds_the_passage(small_workspace: Path) -> None:
    reply = run_json("search", "search", "A che livello del fiume si evacua Milltown?", "-w", small_workspace)
    assert reply["plan"]["language"] == "it"
    assert reply["hits"][0]["file"] == "flood.md"


def test_an_answer_quotes_the_document_and_cites_the_page(small_workspace: Path) -> None:
    reply = run_json("ask", "ask", "A quale temperatura scatta il livello rosso?", "-w", small_workspace)
    assert reply["status"] == "answered"
    assert "[Source 1]" in reply["text"]
    quoted = [one for one in reply["citations"] if "38 gradi" in one["quote"]]
    assert quoted
    assert quoted[0]["file"] == "caldo.md"
    assert quoted[0]["page"] == 1


def test_a_question_that_no_document_bears_on_is_not_answered(small_workspace: Path) -> None:
    reply = run_json("ask", "ask", "How long should sourdough bread rise before baking?", "-w", small_workspace)
    assert reply["status"] == "insufficient_evidence"
    assert reply["citations"] == []


def test_a_filter_keeps_other_documents_out(small_workspace: Path) -> None:
    reply = run_json("search", "search", "plan", "-f", "language=it", "-w", small_workspace)
    assert {hit["file"] for hit in reply["hits"]} == {"caldo.md"}
    reply = run_json("search", "search", "plan", "-f", "country=Italy", "-f", "year=2000-2016", "-w", small_workspace)
    assert reply["hits"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", ""], "question"),
        (["search", "?!"], "question"),
        (["search", "a" * 50_000], "50,000|50000"),
        (["search", "plan", "-f", "colour=red"], "colour"),
        (["search", "plan", "-f", "hazard=Volcano"], "Flood, Heatwaves"),
        (["show", "nothing.pdf"], "nothing.pdf"),
        (["erase", "nothing.pdf"], "nothing.pdf"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_cure(small_workspace: Path, words: list[str], said: str) -> None:
    result = run(*words, "-w", small_workspace, "--json")
    assert result.exit_code == 2
    assert any(part in json.loads(result.stdout)["error"] for part in said.split("|"))


def test_an_impossible_question_is_an_answer_with_status_error(small_workspace: Path) -> None:
    assert run_json("ask", "ask", " ", "-w", small_workspace)["status"] == "error"


def test_an_empty_collection_says_so(tmp_path: Path) -> None:
    reply = run_json("search", "search", "flood", "-w", tmp_path)
    assert reply["hits"] == []
    assert any("empty" in warning for warning in reply["warnings"])


def test_the_same_content_under_another_name_is_not_indexed_twice(workspace: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy of flood.md"
    copy.write_bytes(next((workspace / "files").glob("*/flood.md")).read_bytes())
    [added] = run_json("add", "add", copy, "-w", workspace)["documents"]
    assert added["status"] == "unchanged"
    assert "flood.md" in added["reason"]


def test_one_bad_file_does_not_stop_the_others(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a_empty.pdf").write_bytes(b"")
    (folder / "b_latin.txt").write_bytes("Überschwemmung in Köln".encode("latin-1"))
    (folder / "c_good.txt").write_text("Sandbags are kept in the depot at the harbour. " * 10)
    result = run("add", folder, folder / "missing.txt", "-w", workspace, "--json")
    outcomes = {Path(one["path"]).name: one for one in json.loads(result.stdout)["documents"]}
    assert {name: one["status"] for name, one in outcomes.items()} == {
        "a_empty.pdf": "refused",
        "b_latin.txt": "indexed",
        "c_good.txt": "indexed",
        "missing.txt": "failed",
    }
    assert "a_empty.pdf" in outcomes["a_empty.pdf"]["reason"]
    assert "UTF-8" in outcomes["b_latin.txt"]["reason"]
    assert result.exit_code == 1


def test_a_rebuilt_index_answers_as_before(workspace: Path) -> None:
    question = ("search", "Wann ist die Bewässerung untersagt?", "-w", workspace)
    before = run_json("search", *question)["hits"]
    shutil.rmtree(workspace / "index")
    assert run("search", "flood", "-w", workspace).exit_code == 0
    assert run("rebuild", "-w", workspace).exit_code == 0
    assert run_json("search", *question)["hits"] == before


def test_an_index_that_was_held_back_is_accepted_once(workspace: Path) -> None:
    engine = open_engine(read_config(workspace))
    engine.generations.rebuild(check=lambda _: False)
    engine.close()
    assert "Give one of them alone" in run("rebuild", "--accept", "--encode", "-w", workspace).output
    assert run("rebuild", "--accept", "-w", workspace).exit_code == 0
    again = run("rebuild", "--discard", "-w", workspace)
    assert (again.exit_code, "No index waits" in again.output) == (2, True)


def test_a_lost_keyword_index_is_reported_and_the_dense_leg_goes_on(workspace: Path) -> None:
    shutil.rmtree(workspace / "index")
    reply = run_json("search", "search", "When do residents near the dyke have to leave?", "-w", workspace)
    assert reply["hits"][0]["file"] == "flood.md"
    assert any("sextant rebuild" in warning for warning in reply["warnings"])


def test_the_doctor_finds_a_lost_index_and_names_the_cure(workspace: Path) -> None:
    healthy = json.loads(run("doctor", "-w", workspace, "--json").stdout)["checks"]
    assert not [check for check in healthy if check["state"] == "bad"]
    shutil.rmtree(workspace / "index" / "1")
    result = run("doctor", "-w", workspace, "--json")
    bad = [check for check in json.loads(result.stdout)["checks"] if check["state"] == "bad"]
    assert [check["name"] for check in bad] == ["Dense index (Chroma)", "Keyword index (tantivy)"]
    assert not [check for check in bad if "sextant rebuild" not in check["found"] + check["remedy"]]
    assert result.exit_code == 1


def test_the_installed_command_prints_readable_text(small_workspace: Path) -> None:
    command = [sys.executable, "-m", "cli", "search", "heat alert", "-w", str(small_workspace)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert "caldo.md" in done.stdout


def test_a_page_is_listed_once_however_often_it_is_quoted(small_workspace: Path) -> None:
    command = [sys.executable, "-m", "cli", "ask", "What happens during a heat alert?", "-w", str(small_workspace)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    answer, _, sources = done.stdout.partition("\n[Source ")
    assert answer.count("[Source 1]") > 1
    assert f"[Source {sources}".count("[Source 1]") == 1


def test_help_is_printed_without_loading_the_engine() -> None:
    loaded = "import sys, cli.main; print(*sorted({'numpy', 'sqlalchemy', 'httpx', 'ingestion'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "", done.stdout


def test_a_question_is_searched_by_a_papers_recipe_that_is_named(small_workspace: Path) -> None:
    question = ("search", "When do residents near the dyke have to leave?", "-w", small_workspace)
    published = run_json("search", *question, "--profile", "paper")["hits"]
    assert published[0]["file"] == "flood.md"
    assert published[0]["fused"] == pytest.approx(0.6 / 61 + 0.6 / 61, abs=1e-6)
    assert run_json("search", *question)["hits"][0]["fused"] != published[0]["fused"]
    assert len(run_json("search", *question, "--profile", "statutes", "-k", "1")["hits"]) == 1


def test_a_recipe_that_there_is_not_is_named_with_those_there_are(small_workspace: Path) -> None:
    refused = run("search", "Who warns?", "-w", str(small_workspace), "--profile", "letter")
    assert refused.exit_code == 2
    assert "There is no profile 'letter'. Use default, rrf, paper, statutes." in refused.output


def test_an_addition_says_files_pages_a_second_and_the_file_at_hand() -> None:
    assert how_far(Progress(3, 12, 100, 900, "plan.pdf", pages=24), 10.0) == "3 of 12 files, 2.4 pages/s  plan.pdf"
    assert how_far(Progress(0, 12, 0, 900, "plan.pdf"), 0.0) == "0 of 12 files  plan.pdf"


def test_pages_of_unchanged_files_do_not_count_for_the_pace(
    workspace: Path, small_documents: Path, tmp_path: Path
) -> None:
    told: list[Progress] = []
    notice = tmp_path / "notice.md"
    notice.write_text("# Notice\n\nThe dyke is closed to walkers until the end of May.")
    with closing(open_engine(read_config(workspace))) as engine:
        add_paths([small_documents, notice], engine, progress=told.append)
    assert (told[-1].done, told[-1].total, told[-1].pages) == (4, 4, 1)
    assert told[-1].done_bytes == told[-1].total_bytes


def test_the_steps_of_a_question_of_several_parts_are_told_beside_the_answer(small_workspace: Path) -> None:
    question = "When do residents near the dyke have to leave, and who repairs the lighthouses of Atlantis?"
    command = [sys.executable, "-m", "cli", "ask", question, "-w", str(small_workspace)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    searched = "Searching for: Who repairs the lighthouses of Atlantis?"
    assert searched in done.stderr
    assert searched not in done.stdout
    reply = run_json("ask", "ask", question, "-w", small_workspace)
    assert "Who repairs the lighthouses of Atlantis?" in [step["subject"] for step in reply["steps"]]
