"""`sextant doctor --repair` makes again what is damaged and can be, and says what cannot."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.main import app as terminal


def run(workspace: Path, *words: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(terminal, [*words, "--workspace", str(workspace), "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.exit_code, json.loads(result.output)


def states(reply: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["state"] for one in reply["checks"]}


def overwrite(path: Path, begin: int) -> None:
    with path.open("r+b") as file:
        file.seek(begin)
        file.write(b"\x5a" * 16)


def found(workspace: Path) -> list[tuple[str, float]]:
    return [(one["child_id"], one["cosine"]) for one in run(workspace, "search", "heat waves")[1]["hits"]]


def test_damaged_vectors_and_indexes_are_made_anew_with_the_same_results(workspace: Path) -> None:
    before = found(workspace)
    overwrite(next((workspace / "vectors").glob("*.f32")), 4096)
    overwrite(next((workspace / "index" / "1" / "keywords").glob("*.idx")), 8)
    overwrite(workspace / "index" / "1" / "chroma" / "chroma.sqlite3", 0)
    damaged = {"Vectors", "Keyword index (tantivy)", "Dense index (Chroma)"}
    code, reply = run(workspace, "doctor")
    assert code == 1
    bad = [one for one in reply["checks"] if one["state"] == "bad"]
    assert {one["name"] for one in bad} == damaged
    assert all("sextant rebuild" in one["found"] + one["remedy"] for one in bad)
    code, reply = run(workspace, "doctor", "--repair")
    assert (code, [name for name, state in states(reply).items() if state == "bad"]) == (0, [])
    assert found(workspace) == before != []
    assert run(workspace, "audit")[1]["entries"][0]["act"] == "rebuild"


def test_a_destroyed_catalog_comes_back_with_the_same_results(workspace: Path) -> None:
    assert run(workspace, "correct", "flood.md", "title=The plan of the river", "--note", "So it says.")[0] == 0
    assert run(workspace, "rebuild", "--encode")[0] == 0
    before, listed = found(workspace), run(workspace, "list")
    overwrite(workspace / "catalog.sqlite", 0)
    damaged = (workspace / "catalog.sqlite").read_bytes()
    code, reply = run(workspace, "doctor")
    [finding] = [one for one in reply["checks"] if one["state"] == "bad"]
    assert (code, finding["name"]) == (1, "Catalog")
    assert "sextant doctor --repair" in finding["remedy"]
    assert "sextant restore" in finding["remedy"]
    code, reply = run(workspace, "doctor", "--repair")
    assert (code, [name for name, state in states(reply).items() if state == "bad"]) == (0, [])
    said = " ".join(one["found"] for one in reply["checks"] if one["name"] == "Repaired")
    assert "the catalog was rebuilt from the log: 3 documents" in said
    assert "lost are applied tables of terms" in said
    assert "3 documents were read again" in said
    [aside] = workspace.glob("damaged/*/catalog.sqlite")
    assert aside.read_bytes() == damaged
    assert (found(workspace), run(workspace, "list")) == (before, listed)


def test_destroyed_records_begin_anew_and_what_is_lost_is_said(workspace: Path) -> None:
    assert run(workspace, "correct", "flood.md", "title=The plan of the river", "--note", "So it says.")[0] == 0
    before, listed = found(workspace), run(workspace, "list")
    overwrite(workspace / "records.sqlite", 0)
    code, reply = run(workspace, "doctor", "--repair")
    assert (code, [name for name, state in states(reply).items() if state == "bad"]) == (0, [])
    said = " ".join(one["found"] for one in reply["checks"] if one["name"] == "Repaired")
    assert "comparisons, test questions, saved searches, people with their roles, corrections and the audit log" in said
    assert (found(workspace), run(workspace, "list")) == (before, listed)
    assert [one["act"] for one in run(workspace, "audit")[1]["entries"]] == ["repair_records"]


def test_a_lost_catalog_whose_log_is_lost_too_says_what_to_do(workspace: Path) -> None:
    (workspace / "records.sqlite").unlink()
    (workspace / "catalog.sqlite").unlink()
    result = CliRunner().invoke(terminal, ["doctor", "--repair", "--workspace", str(workspace), "--json"])
    assert result.exit_code == 2
    assert "The log of" in json.loads(result.output)["error"]
    assert "sextant restore" in json.loads(result.output)["error"]
    assert len(list((workspace / "files").glob("*/*.md"))) == 3


def test_damaged_texts_are_read_again_from_the_originals(workspace: Path) -> None:
    before = found(workspace)
    with closing(sqlite3.connect(workspace / "catalog.sqlite")) as connection:
        connection.execute("UPDATE texts SET text = x'00' WHERE document_key = (SELECT min(document_key) FROM texts)")
        connection.commit()
    code, reply = run(workspace, "doctor")
    assert (code, states(reply)["Catalog"], states(reply)["Contents"]) == (1, "good", "bad")
    [damaged] = [one["found"] for one in reply["checks"] if one["name"] == "Contents"]
    assert "texts of 1 documents are missing or damaged: " in damaged
    code, reply = run(workspace, "doctor", "--repair")
    assert (code, [name for name, state in states(reply).items() if state == "bad"]) == (0, [])
    assert found(workspace) == before
