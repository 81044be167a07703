"""Journal of what people said: beside the catalog, in the order in which they said it, gone with a document."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.operations.corrections import correct
from ingestion.records.document_corrections import Correction
from ingestion.records.journal import read_journal
from ingestion.records.people import give_role
from ingestion.records.source_record import Decision
from ingestion.records.source_store import SourceStore
from ingestion.types import SeedSource
from rag_engine.storage.catalog import open_catalog
from tests.ingestion.backup.workspaces import add, desk_of, erase, open_engine

GREEN = Decision("A1", "licence", "GREEN", "Ada", "They wrote to us.", "2026-11-25")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SourceStore]:
    with closing(open_catalog(tmp_path)) as catalog:
        opened = SourceStore(catalog)
        opened.add([SeedSource("A1", "https://example.org/a1.pdf"), SeedSource("A2", "https://example.org/a2.pdf")])
        yield opened


def test_decisions_corrections_and_roles_are_entered_as_they_are_said(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    store.correct([Correction("A2", "title", ("Déjà vu",), "Grace", "So it says.", "2026-11-26")])
    store.decide(Decision("A1", "licence", "", "Ada", "", "2026-11-27"))
    give_role(tmp_path, "ada@example.org", "admin")
    lines = read_journal(tmp_path)
    assert [(one.kind, one.said.get("code") or one.said["key"]) for one in lines] == [
        ("decision", "A1"),
        ("correction", "A2"),
        ("decision", "A1"),
        ("role", "ada@example.org"),
    ]
    assert Decision(**lines[0].said) == GREEN
    assert (lines[1].said["values"], lines[3].said["role"]) == (["Déjà vu"], "admin")
    assert (tmp_path / "journal.jsonl").stat().st_mode & 0o777 == 0o600
    assert store.missing_in_journal() == (0, [])


def test_a_new_address_takes_the_decision_back_in_the_journal_too(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    store.correct_addresses([SeedSource("A1", "https://example.org/other.pdf")], "Ada")
    assert [one.said["choice"] for one in read_journal(tmp_path)] == ["GREEN", ""]


def test_a_workspace_without_a_journal_gets_one_of_what_was_said_before(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    (tmp_path / "journal.jsonl").unlink()
    assert store.missing_in_journal() == (1, [])
    with closing(open_catalog(tmp_path)) as catalog:
        assert SourceStore(catalog).missing_in_journal() == (0, [])
    assert len(read_journal(tmp_path)) == 1


def test_a_torn_or_strange_line_hides_no_other(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(b'[1]\n{"kind": "unknown"}\n\xff\n{"kind": "deci')
    store.decide(Decision("A2", "licence", "RED", "Ada", "No.", "2026-11-26"))
    assert [one.kind for one in read_journal(tmp_path)] == ["decision", None, None, None, None, "decision"]
    assert store.missing_in_journal() == (0, [2, 3, 4, 5])


def test_an_erased_document_leaves_its_name_and_nothing_that_it_says(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    add(workspace, "harbour.md", "# Rules of the harbour\n\n" + "The harbourmaster keeps them. " * 20)
    add(workspace, "bay.md", "# Rules of the bay\n\n" + "The warden keeps them. " * 20)
    with closing(open_engine(workspace)) as engine:
        for name in ("harbour.md", "bay.md"):
            correct(desk_of(engine), {name: {"title": [f"The zanzibar statute of {name}"]}}, "Ada", "Page 1.")
    erase(workspace, "harbour.md")
    lines = read_journal(workspace)
    assert [one.kind for one in lines] == ["correction", "erasure"]
    assert lines[1].said["source"].endswith("harbour.md")
    assert b"zanzibar statute of harbour" not in (workspace / "journal.jsonl").read_bytes()
    assert (workspace / "journal.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_people_said_is_read_without_the_catalog(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as connection:
        kept = connection.execute("SELECT code, phase, choice, author, note FROM decisions").fetchall()
    [line] = (tmp_path / "journal.jsonl").read_text().splitlines()
    said = json.loads(line)
    assert [tuple(said[name] for name in ("code", "phase", "choice", "author", "note"))] == kept
