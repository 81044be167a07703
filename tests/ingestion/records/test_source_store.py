from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import Decision
from ingestion.records.source_store import SourceStore
from ingestion.types.description import Description, FieldValue
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import Phase
from ingestion.types.source import Download, Extraction, Indexed, ListedSource, PortalFindings, Quality, Relation
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.storage.catalog import open_catalog

MARK = LicenceMark("pattern", "YELLOW", "", 5.0, "© 2020 Ministry", "footer")
EVIDENCE: dict[Phase, object] = {
    "licence": LicenceVerdict("YELLOW", "", (MARK,), ("NC",), "it"),
    "acquisition": Download(
        "downloads/A1_plan.pdf", ("https://a/", "https://a/x"), "ab", 7, "application/pdf", "file", "2026-01-01"
    ),
    "portals": PortalFindings((), ("https://a/",), (Message("2 links were left out"),)),
    "extraction": Extraction("ff", "application/pdf", 3, 0, 0, 900, 800, "Flood plan", "en", 7, (Message("odd"),)),
    "quality": Quality(61.5, 40.0, 10.0, 6.5, 5.0, 1.0, ("scope",), ("flood",)),
    "deduplication": Relation("A1", version="2016", how="title", similarity=0.9),
    "metadata": Description((FieldValue("hazards", "Flood", "rule", "Floods rise.", 2, 0.8),), (Message("no model"),)),
    "indexing": Indexed("0123456789ab", 4, "f.m"),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SourceStore]:
    catalog = open_catalog(tmp_path)
    yield SourceStore(catalog)
    catalog.close()


def _pass(store: SourceStore, code: str, phase: Phase, outcome: Outcome) -> None:
    store.record(code, phase, outcome, fingerprint="f")


def test_a_source_that_is_known_is_left_as_it_is(store: SourceStore) -> None:
    assert store.add([ListedSource("A1", "https://a/", title="Plan"), ListedSource("A2", "https://b/")]) == []
    [left] = store.add([ListedSource("A1", "https://other/"), ListedSource("A3", "https://c/")])
    assert left.url == "https://other/"
    assert [(one.code, one.url) for one in store.sources()] == [
        ("A1", "https://a/"), ("A2", "https://b/"), ("A3", "https://c/"),
    ]  # fmt: skip


@pytest.mark.parametrize("phase", EVIDENCE)
def test_the_evidence_of_every_phase_comes_back_as_it_was(store: SourceStore, phase: Phase) -> None:
    store.add([ListedSource("A1", "https://a/")])
    outcome = Outcome("done", "", Message("A sentence."), EVIDENCE[phase], retryable=True)
    _pass(store, "A1", phase, outcome)
    assert store.records()["A1"].outcomes[phase] == outcome


def test_only_the_latest_outcome_counts_and_the_history_keeps_every_one(store: SourceStore) -> None:
    store.add([ListedSource("A1", "https://a/")])
    for message in ("first", "second"):
        _pass(store, "A1", "licence", Outcome("failed", "timed_out", Message(message), retryable=True))
    entry = store.entries()["A1", "licence"]
    assert (entry.outcome.message, entry.attempts) == ("second", 2)
    assert [event.message for event in store.history("A1") if event.event == "licence"] == ["first", "second"]


@pytest.mark.parametrize(
    ("found", "licence"),
    [("", "Approved in review: Asked by e-mail."), ("Copyright notice", "Approved in review: Asked by e-mail."),
     ("CC BY 4.0", "CC BY 4.0")],
)  # fmt: skip
def test_what_was_approved_in_review_names_its_licence(store: SourceStore, found: str, licence: str) -> None:
    store.add([ListedSource("A1", "https://example.org/a")])
    verdict = LicenceVerdict("YELLOW", found, ())
    _pass(store, "A1", "licence", Outcome("skipped", "licence_unclear", Message("Nothing is said."), verdict))
    store.decide(Decision("A1", "licence", "GREEN", "Ada", "Asked by e-mail.", "2026-01-02"))
    assert store.records()["A1"].metadata.licence == licence


def test_a_persons_word_on_a_licence_outlives_every_run_and_can_be_taken_back(store: SourceStore) -> None:
    store.add([ListedSource("A1", "https://a/")])
    waits = Outcome("skipped", "licence_unclear", Message("Nothing is said."), EVIDENCE["licence"])
    _pass(store, "A1", "licence", waits)
    store.decide(Decision("A1", "licence", "GREEN", "Ada", "Asked by e-mail.", "2026-01-02"))
    _pass(store, "A1", "licence", waits)
    decided = store.records()["A1"]
    assert decided.outcomes["licence"].passes
    assert decided.verdict is not None
    assert decided.verdict.light == "GREEN"
    assert decided.verdict.marks[0].layer == "person"
    assert decided.verdict.marks[1] == MARK
    store.decide(Decision("A1", "licence", "", "Ada", "", "2026-01-03"))
    assert store.records()["A1"].outcomes["licence"] == waits
    assert [event.author for event in store.history("A1") if event.event == "decision"] == ["Ada", "Ada"]


def test_a_restored_source_passes_the_phase_that_rejected_it(store: SourceStore) -> None:
    store.add([ListedSource("A1", "https://a/")])
    _pass(store, "A1", "quality", Outcome("refused", "too_few_pages", Message("2 pages."), EVIDENCE["quality"]))
    assert store.records()["A1"].stopped is not None
    store.decide(Decision("A1", "quality", "restore", "Ada", "It is a law.", "2026-01-02"))
    source_record = store.records()["A1"]
    assert source_record.stopped is None
    assert source_record.quality == EVIDENCE["quality"]


def test_a_persons_values_win_and_can_be_taken_back(store: SourceStore) -> None:
    store.add([ListedSource("A1", "https://a/", authority="Ministry")])
    _pass(store, "A1", "metadata", Outcome("done", "", Message(), EVIDENCE["metadata"]))
    store.enter([Correction("A1", "hazards", ("Wildfire", "Heatwaves"), "Ada"), Correction("A1", "title", ("T",))])
    _pass(store, "A1", "metadata", Outcome("done", "", Message(), EVIDENCE["metadata"]))
    metadata = store.records()["A1"].metadata
    assert (metadata.hazards, metadata.title, metadata.authority) == (("Wildfire", "Heatwaves"), "T", "Ministry")
    store.enter([Correction("A1", "hazards", ())])
    assert store.records()["A1"].metadata.hazards == ()
    store.enter(
        [Correction("A1", "hazards", (), "Ada", act="undo"), Correction("A1", "hazards", (), "Ada", act="undo")]
    )
    assert store.records()["A1"].metadata.hazards == ("Flood",)


def test_a_word_on_a_source_that_is_not_on_the_list_is_refused(store: SourceStore) -> None:
    with pytest.raises(InputError, match="No source has the code B9"):
        store.decide(Decision("B9", "licence", "GREEN", "Ada", "", ""))


def test_a_removed_source_is_gone_and_its_history_stays(store: SourceStore) -> None:
    store.add([ListedSource("A1", "https://a/")])
    _pass(store, "A1", "licence", Outcome("done", "licence_green"))
    store.remove(["A1"], "Ada")
    assert store.records() == {}
    assert [event.event for event in store.history("A1")] == ["added", "licence", "removed"]


def test_the_documents_of_a_portal_stand_behind_it_in_their_order_whenever_they_came(store: SourceStore) -> None:
    store.add([ListedSource("P", "https://p/"), ListedSource("Q", "https://q/"), ListedSource("Z", "https://z/")])
    store.add([ListedSource(f"Q.{n}", f"https://q/{n}", parent="Q") for n in (10, 2)])
    store.add([ListedSource("P.1", "https://p/1", parent="P")])
    assert [one.code for one in store.sources()] == ["P", "P.1", "Q", "Q.2", "Q.10", "Z"]
