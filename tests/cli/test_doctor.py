import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.doctor import examine
from cli.main import app as terminal
from ingestion.records.people import give_role
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.processes.serving import announce, new_serving
from rag_engine.types.finding import Finding


class Heartbeat(BaseHTTPRequestHandler):
    """As much of a server as the doctor asks for."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/api/v2/heartbeat" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    """Address of something that answers like a Chroma server and listens like a page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Heartbeat) as opened:
        thread = threading.Thread(target=opened.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{opened.server_port}"
        opened.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def broken_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the encoder away; loading the real one would take most of these tests' time."""
    monkeypatch.setenv("SEXTANT_ENCODER", "/nowhere")


def checks(workspace: Path) -> dict[str, Finding]:
    """Return what the doctor finds, with the settings of the environment."""
    engine = open_engine(read_config(workspace))
    try:
        return {check.name: check for check in examine(engine)}
    finally:
        engine.close()


def test_an_encoder_that_cannot_be_loaded_is_one_finding_among_the_others(workspace: Path) -> None:
    found = checks(workspace)
    assert found["Encoder"].state == "bad"
    assert "/nowhere" in found["Encoder"].found
    assert [name for name, check in found.items() if check.state == "bad"] == ["Encoder"]
    assert found["Vectors"].found == "3 of 3 passages have theirs"
    assert {"Collection", "Keyword index (tantivy)", "Dense index (Chroma)", "Disk"} <= found.keys()


def test_the_model_that_reads_the_best_passages_is_named(workspace: Path) -> None:
    found = checks(workspace)["Reranker"]
    assert (found.state, found.remedy) == ("good", "")
    assert re.match(r"reader@\w+ reads the best passages, computed by \w+", found.found)


def test_where_neither_reader_nor_reranker_is_wanted_the_doctor_says_so(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_READER", "none")
    found = checks(workspace)["Reranker"]
    assert (found.state, found.found) == ("good", "none is wanted")


def test_a_reranker_that_was_chosen_and_is_missing_is_bad(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_RERANKER", "/nowhere")
    found = checks(workspace)["Reranker"]
    assert (found.state, "/nowhere" in found.found) == ("bad", True)


def test_a_new_workspace_with_a_broken_encoder_is_examined_too(tmp_path: Path) -> None:
    found = checks(tmp_path / "new")
    assert [name for name, check in found.items() if check.state == "bad"] == ["Encoder"]
    assert "Vectors" not in found


def test_lost_vectors_are_counted_with_their_cure(workspace: Path) -> None:
    shutil.rmtree(workspace / "vectors")
    found = checks(workspace)["Vectors"]
    assert (found.state, found.found) == ("bad", "0 of 3 passages have theirs")
    assert "sextant rebuild --encode" in found.remedy


def test_a_running_server_is_named_with_its_address_and_where_there_is_none_the_command(
    tmp_path: Path, server: str
) -> None:
    alone = checks(tmp_path)["Servers"]
    assert (alone.state, "sextant serve" in alone.remedy) == ("note", True)
    announce(tmp_path, new_serving(tmp_path, server))
    found = checks(tmp_path)["Servers"]
    assert found.state == "good"
    assert f"`sextant serve` runs at {server} (process {os.getpid()}" in found.found


def test_a_configured_chroma_that_answers_is_good(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_CHROMA_URL", server)
    found = checks(tmp_path)["Servers"]
    assert found.state == "good"
    assert server in found.found


def test_a_configured_chroma_that_is_away_is_bad_and_the_rest_is_examined(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_CHROMA_URL", "http://127.0.0.1:9")
    found = checks(workspace)
    assert found["Servers"].state == "bad"
    assert "http://127.0.0.1:9" in found["Servers"].found
    assert "SEXTANT_CHROMA_URL" in found["Servers"].remedy
    assert found["Dense index (Chroma)"].state != "good"
    assert found["Keyword index (tantivy)"].state == "good"


@pytest.mark.parametrize("model", ["ollama", "openai"])
def test_no_finding_and_no_announcement_shows_the_password_of_an_address(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    there = server.replace("http://", "http://ada:opensesame@")
    monkeypatch.setenv("SEXTANT_CHROMA_URL", there)
    monkeypatch.setenv(f"SEXTANT_{model.upper()}_URL", there)
    found = checks(tmp_path)
    assert server in found["Language model"].found
    monkeypatch.setenv("SEXTANT_CHROMA_URL", "http://ada:opensesame@127.0.0.1:9")
    away = checks(tmp_path)
    announce(tmp_path, new_serving(tmp_path, server))
    assert "opensesame" not in f"{found}{away}" + "".join(path.read_text() for path in tmp_path.glob("*.json"))


def test_a_judge_that_is_set_and_missing_is_wrong(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    assert "Judge" not in checks(workspace)
    monkeypatch.setenv("SEXTANT_JUDGE_MODEL", "second")
    judge = checks(workspace)["Judge"]
    assert (judge.state, "127.0.0.1:9" in judge.found) == ("bad", True)


def test_an_index_that_waits_is_named_with_both_decisions(workspace: Path) -> None:
    engine = open_engine(read_config(workspace))
    engine.generations.rebuild(check=lambda _: False)
    engine.close()
    waiting = checks(workspace)["Waiting index"]
    assert (waiting.state, "was held back" in waiting.found) == ("note", True)
    assert "--accept" in waiting.remedy
    assert "--discard" in waiting.remedy


def test_a_damaged_database_is_a_finding_with_its_cure_and_nothing_is_opened(workspace: Path) -> None:
    catalog = workspace / "catalog.sqlite"
    with catalog.open("r+b") as file:
        file.seek(catalog.stat().st_size - 4096)
        file.write(b"\xff" * 4096)
    before = catalog.read_bytes()
    result = CliRunner().invoke(terminal, ["doctor", "--workspace", str(workspace), "--json"])
    assert result.exit_code == 1
    found = {one["name"]: one for one in json.loads(result.output)["checks"]}
    assert found["Catalog"]["state"] == "bad"
    assert "sextant restore" in found["Catalog"]["remedy"]
    assert catalog.read_bytes() == before


def test_damaged_records_are_a_finding_with_the_cure(workspace: Path) -> None:
    give_role(workspace, "ada@example.org", "admin")
    with (workspace / "records.sqlite").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 8)
    result = CliRunner().invoke(terminal, ["doctor", "--workspace", str(workspace), "--json"])
    [found] = [one for one in json.loads(result.output)["checks"] if one["state"] == "bad"]
    assert (result.exit_code, found["name"]) == (1, "Records")
    assert "sextant restore" in found["remedy"]
    assert "sextant doctor --repair" in found["remedy"]
    assert "example" not in result.output
