"""Decisions on many licences at once in the terminal."""

from contextlib import closing
from pathlib import Path

from typer.testing import CliRunner

from cli.main import app
from ingestion.records.source_store import SourceStore
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.source import ListedSource
from rag_engine.messages import Message
from rag_engine.storage.catalog import open_catalog

_HOSTS = {"A1": "www.example.org", "A2": "docs.example.org", "B1": "example.com", "C1": "notexample.org"}


def test_all_of_a_host_are_decided_at_once_and_addresses_are_shown(tmp_path: Path) -> None:
    with closing(open_catalog(tmp_path)) as catalog:
        store = SourceStore(catalog)
        store.add([ListedSource(code, f"https://{host}/plan", title="Plan") for code, host in _HOSTS.items()])
        unclear = Outcome("skipped", "licence_unclear", Message("No statement."), LicenceVerdict("YELLOW", "", ()))
        for code in _HOSTS:
            store.record(code, "licence", unclear, fingerprint="f")
    listed = _run(tmp_path, "review", "--host", "example.org")
    assert "https://docs.example.org/plan" in listed
    assert "2 to decide." in listed
    decided = ("review", "--status", "yellow", "--host", "example.org", "GREEN", "--note", "Asked.", "--by", "Ada")
    assert _run(tmp_path, *decided).startswith("A1, A2: GREEN by Ada")
    assert "2 to decide." in _run(tmp_path, "review")
    assert "No source to decide matches." in " ".join(_run(tmp_path, *decided).split())


def _run(workspace: Path, *words: str) -> str:
    return CliRunner().invoke(app, [*words, "-w", str(workspace)]).output
