"""Acts of a person: what they demand, what follows from them, and what is reported of sources."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.jobs.queue import JobQueue
from ingestion.operations import runs, sources
from ingestion.operations.decisions import decide
from ingestion.operations.desk import Desk
from ingestion.operations.runs import describe_request
from ingestion.operations.sources import add_own_files, add_sources
from ingestion.records.source_record import Decision, SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.seeds.merge import SeedReport
from ingestion.status.views import review_report, source_rows, status_report
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, Phase, RunRequest
from ingestion.types.source import SeedSource
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import open_engine
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.storage.catalog import open_catalog
from tests.ingestion.source_records import source_record


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A1 is indexed."""
    engine = open_engine(read_config(tmp_path))
    store = SourceStore(engine.catalog)
    _add(store, "A1")
    yield Desk(engine, store, JobQueue(engine.catalog), LOCAL, lambda _: None)
    engine.close()


@pytest.fixture
def store(desk: Desk) -> SourceStore:
    return desk.store


def _add(
    store: SourceStore, code: str, *, at: Phase = "indexing", ended: Outcome | None = None, path: str = ""
) -> None:
    """Store a source that came through the phases up to one, which ended so."""
    one = source_record(code)
    url = "" if path else one.source.url
    store.add([SeedSource(code, url, path, title="" if path else "Plan")])
    for phase in PHASES[: PHASES.index(at) + 1]:
        outcome = ended if ended is not None and phase == at else one.outcomes[phase]
        store.record(code, phase, outcome, fingerprint="f")


def test_the_list_shows_the_status_of_each_source(store: SourceStore) -> None:
    _add(store, "A2", at="licence", ended=Outcome("failed", "timed_out", Message("No answer."), None, True))
    rows = {one.code: one for one in source_rows(store.records().values())}
    assert (rows["A1"].phase, rows["A1"].status, rows["A1"].title) == ("indexing", "indexed", "Piano caldo")
    assert (rows["A2"].phase, rows["A2"].status, rows["A2"].reason) == ("licence", "failed", "timed_out")


@pytest.mark.parametrize("choice", ["GREEN", "red", "restore"])
def test_a_decision_needs_a_note_and_a_name(desk: Desk, choice: str) -> None:
    with pytest.raises(InputError, match="needs a reason"):
        decide(desk, ["A1"], choice, "Ada", "  ")
    with pytest.raises(InputError, match="name of who decides"):
        decide(desk, ["A1"], choice, " ", "They wrote to us.")
    with pytest.raises(InputError, match=r"needs a reason|name of who decides"):
        decide(desk, ["A1"], choice, "", "")
    assert desk.store.decisions() == []


def test_of_several_sources_all_are_decided_or_none(desk: Desk) -> None:
    with pytest.raises(InputError, match="No source has the code B1"):
        decide(desk, ["A1", "B1"], "RED", "Ada", "No.")
    _add(desk.store, "A2", at="quality", ended=Outcome("rejected", "too_few_pages"))
    with pytest.raises(InputError, match="A1 is not rejected"):
        decide(desk, ["A2", "A1"], "restore", "Ada", "It is the law.")
    assert desk.store.decisions() == []


def test_red_on_a_document_of_the_index_has_it_leave_the_index(desk: Desk) -> None:
    decided = decide(desk, ["A1"], "red", "Ada", "The ministry said no.")
    assert decided.run is not None
    assert decided.run.request == RunRequest(("indexing",), ("A1",))
    assert decide(desk, ["A1"], "GREEN", "Ada", "They changed their mind.").run is None


def test_a_decision_on_what_is_not_in_the_index_leaves_it_alone(desk: Desk) -> None:
    unclear = Outcome("skipped", "licence_unclear", Message("It says nothing."), LicenceVerdict("YELLOW", "", ()))
    _add(desk.store, "A2", at="licence", ended=unclear)
    assert decide(desk, ["A2"], "RED", "Ada", "No.").run is None


def test_undoing_green_takes_the_document_out(desk: Desk) -> None:
    conflict = Outcome("skipped", "licence_conflict", Message(), LicenceVerdict("YELLOW", "", (), conflict=True))
    desk.store.record("A1", "licence", conflict, fingerprint="f")
    desk.store.decide(Decision("A1", "licence", "GREEN", "Ada", "Asked.", "2026-01-01"))
    assert decide(desk, ["A1"], "undo", "Ada").run is not None


def test_what_was_rejected_before_there_was_a_file_cannot_be_restored(desk: Desk) -> None:
    _add(desk.store, "A2", at="acquisition", ended=Outcome("rejected", "not_found", Message("404.")))
    with pytest.raises(InputError, match=r"there is no file to restore\. Run `sextant retry`"):
        decide(desk, ["A2"], "restore", "Ada", "It is there.")


@pytest.mark.parametrize("choice", ["undo", "restore"])
def test_an_erasure_that_is_undone_has_the_file_fetched_again(desk: Desk, choice: str) -> None:
    desk.store.decide(Decision("A1", "indexing", "withdraw", "Ada", "", "2026-01-01"))
    decide(desk, ["A1"], choice, "Ada", "It was a mistake.")
    found = desk.store.records()["A1"]
    assert (found.decisions, "acquisition" in found.outcomes) == ((), False)


def test_what_a_person_has_decided_no_longer_waits_although_its_outcome_still_says_so(desk: Desk) -> None:
    behind = Outcome("skipped", "licence_conflict", Message("Its page said otherwise."))
    _add(desk.store, "A2", at="extraction", ended=behind)
    assert [one.code for one in review_report(_records(desk), ()).waiting] == ["A2"]
    decide(desk, ["A2"], "GREEN", "Ada", "Asked by letter.")
    assert review_report(_records(desk), ()).waiting == []


def test_local_files_pass_whatever_their_licence_and_are_listed(desk: Desk, tmp_path: Path) -> None:
    reserved = Outcome(
        "done", "licence_reserved", Message("It passes."), LicenceVerdict("RED", "All rights reserved", ())
    )
    _add(desk.store, "A2", path=str(tmp_path / "a.pdf"))
    desk.store.record("A2", "licence", reserved, fingerprint="f")
    listed = review_report(_records(desk), ()).local_files
    assert [(one.code, one.light, one.reason) for one in listed] == [("A2", "RED", "licence_reserved")]
    assert status_report(_records(desk)).lights == {"GREEN": 1, "RED": 1}


def test_rows_whose_codes_were_given_to_others_meanwhile_are_not_lost_in_silence(desk: Desk) -> None:
    mine = (SeedSource("S1", "https://mine.example/1"), SeedSource("S2", "https://mine.example/2"))
    desk.store.add([SeedSource("S1", "https://theirs.example/1")])
    with pytest.raises(InputError, match="1 of 2 sources were not added"):
        add_sources(desk, mine)


def test_two_lists_that_are_added_at_the_same_instant_both_keep_every_row(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "theirs"):
        rows = "".join(f"Plan {n},https://{name}.example/{n},Environment Agency\n" for n in range(3))
        (tmp_path / f"{name}.csv").write_text(f"Title,URL,Authority\n{rows}", encoding="utf-8")
    read, meanwhile = sources.read_list, [tmp_path / "theirs.csv"]

    def read_list(desk: Desk, file: Path) -> SeedReport:
        report = read(desk, file)
        if meanwhile:
            sources.add_list(desk, meanwhile.pop())
        return report

    monkeypatch.setattr(sources, "read_list", read_list)
    report = sources.add_list(desk, tmp_path / "mine.csv")
    added = [one for one in desk.store.sources() if one.authority]
    assert len({one.code for one in added}) == len(added) == 6
    assert {one.url for one in report.new} == {f"https://mine.example/{n}" for n in range(3)}


def test_own_files_are_put_on_the_list_without_those_that_others_add_meanwhile(desk: Desk) -> None:
    theirs = desk.workspace / "sources" / "ab12" / "theirs.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("# A plan of somebody else")
    report = add_own_files(desk, [("plan.md", io.BytesIO(b"# A plan")), ("plan.md", io.BytesIO(b"# Another plan"))])
    assert [Path(one.path).name for one in report.new] == ["plan.md", "plan.md"]
    assert {source.path for source in desk.store.sources()} == {"", *(one.path for one in report.new)}


def test_a_request_survives_the_queue_and_is_described_in_a_short_sentence(desk: Desk) -> None:
    codes = tuple(f"A{n}" for n in range(50))
    desk.store.add([SeedSource(code, f"https://example.org/{code}") for code in codes])
    request = RunRequest(("quality",), codes, "all", True)
    assert runs.run(desk, request).request == request
    assert "of 50 sources" in describe_request(request)
    assert describe_request(RunRequest(codes=("A1",))).endswith("of A1.")


def _records(desk: Desk) -> list[SourceRecord]:
    return list(desk.store.records().values())


def test_a_list_corrects_an_address_and_drops_the_decision_on_the_former_one(desk: Desk, tmp_path: Path) -> None:
    add_sources(desk, [SeedSource("B1", "https://a.example/wrong", title="Plan")])
    decide(desk, ["B1"], "GREEN", "Ada", "seen")
    (tmp_path / "list.csv").write_text("Code,URL\nB1,https://a.example/right\n", encoding="utf-8")
    report = sources.add_list(desk, tmp_path / "list.csv")
    assert [one.url for one in report.corrected] == ["https://a.example/right"]
    record = desk.store.records()["B1"]
    assert (record.source.url, record.source.title, record.decisions) == ("https://a.example/right", "Plan", ())


def test_a_person_corrects_an_address(desk: Desk) -> None:
    add_sources(desk, [SeedSource("B1", "https://a.example/wrong"), SeedSource("B2", "https://a.example/other")])
    decide(desk, ["B1"], "GREEN", "Ada", "seen")
    record = sources.correct_address(desk, "B1", " www.a.example/right ", "Ada")
    assert (record.source.url, record.decisions) == ("http://www.a.example/right", ())
    [event] = [one for one in desk.store.history("B1") if one.event == "address"]
    assert (event.message, event.author) == ("http://www.a.example/right", "Ada")
    for address, why in (
        ("https://a.example/other", "is the address of B2"),
        ("ftp://a.example/x", "only http and https are read"),
        ("nothing", "is not one web address"),
        ("https://a.example/1; https://a.example/2", "is not one web address"),
    ):
        with pytest.raises(InputError, match=why):
            sources.correct_address(desk, "B1", address, "Ada")
    assert desk.store.records()["B1"].source.url == "http://www.a.example/right"


def test_what_a_portal_offers_has_no_address_to_be_corrected(desk: Desk) -> None:
    add_sources(desk, [SeedSource("B1.1", "https://a.example/found", parent="B1")])
    with pytest.raises(InputError, match="it was found under B1"):
        sources.correct_address(desk, "B1.1", "https://a.example/right", "Ada")


def test_a_repeated_run_joins_an_equal_one_that_is_queued(desk: Desk) -> None:
    asked = runs.run(desk, RunRequest(("licence",)))
    assert runs.run(desk, RunRequest(("licence",))).id == asked.id
    assert runs.run(desk, RunRequest(("quality",))).id != asked.id
    desk.jobs.cancel(asked.id)
    assert runs.run(desk, RunRequest(("licence",))).id != asked.id


def test_a_run_under_way_serves_until_a_person_changes_something(desk: Desk) -> None:
    asked = runs.run(desk, RunRequest(("licence",)))
    desk.jobs.next()
    # In the second in which the run began, or later.
    desk.store.add([SeedSource("LATE", "https://late.example/plan.pdf")])
    assert desk.store.changed_since(desk.jobs.runs()[0].started)
    assert runs.run(desk, RunRequest(("licence",))).id != asked.id


def test_what_a_run_finds_itself_is_no_change_by_a_person(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path / "other")
    store = SourceStore(catalog)
    store.add([SeedSource("P1.1", "https://a.example/1", parent="P1")])
    store.record("P1.1", "licence", Outcome("done", ""), fingerprint="f")
    assert not store.changed_since("2000")
    store.add([SeedSource("P2", "https://a.example/2")])
    assert store.changed_since("2000")
    catalog.close()
