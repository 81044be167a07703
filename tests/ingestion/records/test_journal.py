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


def test_decisions_and_corrections_are_entered_as_they_are_said(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    store.correct([Correction("A2", "title", ("Déjà vu",), "Grace", "So it says.", "2026-11-26")])
    store.decide(Decision("A1", "licence", "", "Ada", "", "2026-11-27"))
    lines = read_journal(tmp_path)
    assert [(one.kind, one.said["code"]) for one in lines] == [
        ("decision", "A1"),
        ("correction", "A2"),
        ("decision", "A1"),
    ]
    assert Decision(**lines[0].said) == GREEN
    assert lines[1].said["values"] == ["Déjà vu"]
    assert (tmp_path / "journal.jsonl").stat().st_mode & 0o777 == 0o600
    assert store.missing_in_journal() == ([], [], [])


def test_a_new_address_takes_the_decision_back_in_the_journal_too(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    store.correct_addresses([SeedSource("A1", "https://example.org/other.pdf")], "Ada")
    assert [one.said["choice"] for one in read_journal(tmp_path)] == ["GREEN", ""]


def test_what_the_journal_lacks_is_added_and_what_it_has_stays(store: SourceStore, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    store.decide(GREEN)
    before = journal.read_bytes()
    correction = Correction("A2", "title", ("Déjà vu",), "Grace", "So it says.", "2026-11-26")
    store.correct([correction])
    journal.write_bytes(before)
    assert store.missing_in_journal() == ([], [correction], [])
    assert (store.complete_journal(), store.complete_journal()) == (1, 0)
    assert journal.read_bytes().startswith(before)
    assert [one.kind for one in read_journal(tmp_path)] == ["decision", "correction"]


def test_what_the_catalog_lacks_is_taken_from_the_journal_once(store: SourceStore, tmp_path: Path) -> None:
    store.decide(Decision("A2", "licence", "RED", "Ada", "No.", "2026-11-25"))
    store.correct([Correction("A2", "title", ("Déjà vu",), "Grace", "So it says.", "2026-11-26")])
    said = store.decisions(), store.journal.entries()
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as connection:
        connection.execute("DELETE FROM decisions")
        connection.execute("DELETE FROM document_corrections")
        # Taken back later, as the last line of the journal says.
        connection.execute("INSERT INTO decisions VALUES ('A1', 'licence', 'GREEN', 'Ada', 'Yes.', '2026-11-24')")
        connection.commit()
    store.decide(Decision("A1", "licence", "", "Ada", "", "2026-11-27"))
    assert (store.take_from_journal(), store.take_from_journal()) == (2, 0)
    assert (store.decisions(), store.journal.entries()) == said


def test_a_torn_or_strange_line_hides_no_other(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(b'[1]\n{"kind": "unknown"}\n\xff\n' + b"[" * 100_000 + b'\n{"kind": "deci')
    store.decide(Decision("A2", "licence", "RED", "Ada", "No.", "2026-11-26"))
    assert [one.kind for one in read_journal(tmp_path)] == ["decision", *[None] * 5, "decision"]
    assert store.missing_in_journal() == ([], [], [2, 3, 4, 5, 6])


def test_an_erased_document_leaves_nothing_that_it_says(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    add(workspace, "harbour.md", "# Rules of the harbour\n\n" + "The harbourmaster keeps them. " * 20)
    add(workspace, "bay.md", "# Rules of the bay\n\n" + "The warden keeps them. " * 20)
    with closing(open_engine(workspace)) as engine:
        for name in ("harbour.md", "bay.md"):
            correct(desk_of(engine), {name: {"title": [f"The zanzibar statute of {name}"]}}, "Ada", "Page 1.")
    erase(workspace, "harbour.md")
    lines = read_journal(workspace)
    assert [one.said["code"].rpartition("/")[2] for one in lines] == ["bay.md"]
    assert b"zanzibar statute of harbour" not in (workspace / "journal.jsonl").read_bytes()
    assert (workspace / "journal.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_people_said_is_read_without_the_catalog(store: SourceStore, tmp_path: Path) -> None:
    store.decide(GREEN)
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as connection:
        kept = connection.execute("SELECT code, phase, choice, author, note FROM decisions").fetchall()
    [line] = (tmp_path / "journal.jsonl").read_text().splitlines()
    said = json.loads(line)
    assert [tuple(said[name] for name in ("code", "phase", "choice", "author", "note"))] == kept
