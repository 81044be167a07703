"""Acts of a person: what they demand, what follows from them, and what is reported of sources."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.acts import runs, sources
from ingestion.acts.context import ActContext
from ingestion.acts.decisions import decide
from ingestion.acts.sources import add_own_files, add_sources
from ingestion.jobs.queue import JobQueue
from ingestion.records.source_record import Decision, SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.merge import SourceListReport
from ingestion.status.views import review_report, source_rows, status_report
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, Phase, RunRequest, describe_request
from ingestion.types.source import ListedSource
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import open_engine
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.storage.catalog import open_catalog
from tests.ingestion.source_records import source_record


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ActContext]:
    """A1 is indexed."""
    engine = open_engine(read_config(tmp_path))
    store = SourceStore(engine.catalog)
    _add(store, "A1")
    yield ActContext(engine, store, JobQueue(engine.catalog), LOCAL, lambda _: None)
    engine.close()


@pytest.fixture
def store(context: ActContext) -> SourceStore:
    return context.store


def _add(
    store: SourceStore, code: str, *, at: Phase = "indexing", ended: Outcome | None = None, path: str = ""
) -> None:
    """Store a source that came through the phases up to one, which ended so."""
    one = source_record(code)
    url = "" if path else one.source.url
    store.add([ListedSource(code, url, path, title="" if path else "Plan")])
    for phase in PHASES[: PHASES.index(at) + 1]:
        outcome = ended if ended is not None and phase == at else one.outcomes[phase]
        store.record(code, phase, outcome, fingerprint="f")


def test_the_list_shows_the_status_of_each_source(store: SourceStore) -> None:
    _add(store, "A2", at="licence", ended=Outcome("failed", "timed_out", Message("No answer."), None, True))
    rows = {one.code: one for one in source_rows(store.records().values())}
    assert (rows["A1"].phase, rows["A1"].status, rows["A1"].title) == ("indexing", "indexed", "Piano caldo")
    assert (rows["A2"].phase, rows["A2"].status, rows["A2"].reason) == ("licence", "failed", "timed_out")


@pytest.mark.parametrize("choice", ["GREEN", "red", "restore"])
def test_a_decision_needs_a_note_and_a_name(context: ActContext, choice: str) -> None:
    with pytest.raises(InputError, match="needs a reason"):
        decide(context, ["A1"], choice, "Ada", "  ")
    with pytest.raises(InputError, match="name of who decides"):
        decide(context, ["A1"], choice, " ", "They wrote to us.")
    with pytest.raises(InputError, match=r"needs a reason|name of who decides"):
        decide(context, ["A1"], choice, "", "")
    assert context.store.decisions() == []


def test_of_several_sources_all_are_decided_or_none(context: ActContext) -> None:
    with pytest.raises(InputError, match="No source has the code B1"):
        decide(context, ["A1", "B1"], "RED", "Ada", "No.")
    _add(context.store, "A2", at="quality", ended=Outcome("refused", "too_few_pages"))
    with pytest.raises(InputError, match="A1 is not refused"):
        decide(context, ["A2", "A1"], "restore", "Ada", "It is the law.")
    assert context.store.decisions() == []


def test_red_on_a_document_of_the_index_has_it_leave_the_index(context: ActContext) -> None:
    decided = decide(context, ["A1"], "red", "Ada", "The ministry said no.")
    assert decided.job is not None
    assert decided.job.request == RunRequest(("indexing",), ("A1",))
    assert decide(context, ["A1"], "GREEN", "Ada", "They changed their mind.").job is None


def test_a_decision_on_what_is_not_in_the_index_leaves_it_alone(context: ActContext) -> None:
    unclear = Outcome("skipped", "licence_unclear", Message("It says nothing."), LicenceVerdict("YELLOW", "", ()))
    _add(context.store, "A2", at="licence", ended=unclear)
    assert decide(context, ["A2"], "RED", "Ada", "No.").job is None


def test_undoing_green_takes_the_document_out(context: ActContext) -> None:
    conflict = Outcome("skipped", "licence_conflict", Message(), LicenceVerdict("YELLOW", "", (), conflict=True))
    context.store.record("A1", "licence", conflict, fingerprint="f")
    context.store.decide(Decision("A1", "licence", "GREEN", "Ada", "Asked.", "2026-01-01"))
    assert decide(context, ["A1"], "undo", "Ada").job is not None


def test_what_was_rejected_before_there_was_a_file_cannot_be_restored(context: ActContext) -> None:
    _add(context.store, "A2", at="acquisition", ended=Outcome("refused", "not_found", Message("404.")))
    with pytest.raises(InputError, match=r"there is no file to restore\. Run `sextant retry`"):
        decide(context, ["A2"], "restore", "Ada", "It is there.")


@pytest.mark.parametrize("choice", ["undo", "restore"])
def test_an_erasure_that_is_undone_has_the_file_fetched_again(context: ActContext, choice: str) -> None:
    context.store.decide(Decision("A1", "indexing", "withdraw", "Ada", "", "2026-01-01"))
    decide(context, ["A1"], choice, "Ada", "It was a mistake.")
    found = context.store.records()["A1"]
    assert (found.decisions, "acquisition" in found.outcomes) == ((), False)


def test_what_a_person_has_decided_no_longer_waits_although_its_outcome_still_says_so(context: ActContext) -> None:
    behind = Outcome("skipped", "licence_conflict", Message("Its page said otherwise."))
    _add(context.store, "A2", at="extraction", ended=behind)
    assert [one.code for one in review_report(_records(context), ()).waiting] == ["A2"]
    decide(context, ["A2"], "GREEN", "Ada", "Asked by letter.")
    assert review_report(_records(context), ()).waiting == []


def test_local_files_pass_whatever_their_licence_and_are_listed(context: ActContext, tmp_path: Path) -> None:
    reserved = Outcome(
        "done", "licence_reserved", Message("It passes."), LicenceVerdict("RED", "All rights reserved", ())
    )
    _add(context.store, "A2", path=str(tmp_path / "a.pdf"))
    context.store.record("A2", "licence", reserved, fingerprint="f")
    listed = review_report(_records(context), ()).local_files
    assert [(one.code, one.light, one.reason) for one in listed] == [("A2", "RED", "licence_reserved")]
    assert status_report(_records(context)).lights == {"GREEN": 1, "RED": 1}


def test_rows_whose_codes_were_given_to_others_meanwhile_are_not_lost_in_silence(context: ActContext) -> None:
    mine = (ListedSource("S1", "https://mine.example/1"), ListedSource("S2", "https://mine.example/2"))
    context.store.add([ListedSource("S1", "https://theirs.example/1")])
    with pytest.raises(InputError, match="1 of 2 sources were not added"):
        add_sources(context, mine)


def test_two_lists_that_are_added_at_the_same_instant_both_keep_every_row(
    context: ActContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "theirs"):
        rows = "".join(f"Plan {n},https://{name}.example/{n},Environment Agency\n" for n in range(3))
        (tmp_path / f"{name}.csv").write_text(f"Title,URL,Authority\n{rows}", encoding="utf-8")
    read, meanwhile = sources.read_list, [tmp_path / "theirs.csv"]

    def read_list(context: ActContext, file: Path) -> SourceListReport:
        report = read(context, file)
        if meanwhile:
            sources.add_list(context, meanwhile.pop())
        return report

    monkeypatch.setattr(sources, "read_list", read_list)
    report = sources.add_list(context, tmp_path / "mine.csv")
    added = [one for one in context.store.sources() if one.authority]
    assert len({one.code for one in added}) == len(added) == 6
    assert {one.url for one in report.new} == {f"https://mine.example/{n}" for n in range(3)}


def test_own_files_are_put_on_the_list_without_those_that_others_add_meanwhile(context: ActContext) -> None:
    theirs = context.workspace / "sources" / "ab12" / "theirs.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("# A plan of somebody else")
    report = add_own_files(context, [("plan.md", io.BytesIO(b"# A plan")), ("plan.md", io.BytesIO(b"# Another plan"))])
    assert [Path(one.path).name for one in report.new] == ["plan.md", "plan.md"]
    assert {source.path for source in context.store.sources()} == {"", *(one.path for one in report.new)}


def test_a_request_survives_the_queue_and_is_described_in_a_short_sentence(context: ActContext) -> None:
    codes = tuple(f"A{n}" for n in range(50))
    context.store.add([ListedSource(code, f"https://example.org/{code}") for code in codes])
    request = RunRequest(("quality",), codes, "all", True)
    assert runs.run(context, request).request == request
    assert "of 50 sources" in describe_request(request)
    assert describe_request(RunRequest(codes=("A1",))).endswith("of A1.")


def _records(context: ActContext) -> list[SourceRecord]:
    return list(context.store.records().values())


def test_a_list_corrects_an_address_and_drops_the_decision_on_the_former_one(
    context: ActContext, tmp_path: Path
) -> None:
    add_sources(context, [ListedSource("B1", "https://a.example/wrong", title="Plan")])
    decide(context, ["B1"], "GREEN", "Ada", "seen")
    (tmp_path / "list.csv").write_text("Code,URL\nB1,https://a.example/right\n", encoding="utf-8")
    report = sources.add_list(context, tmp_path / "list.csv")
    assert [one.url for one in report.corrected] == ["https://a.example/right"]
    record = context.store.records()["B1"]
    assert (record.source.url, record.source.title, record.decisions) == ("https://a.example/right", "Plan", ())


def test_a_person_corrects_an_address(context: ActContext) -> None:
    add_sources(context, [ListedSource("B1", "https://a.example/wrong"), ListedSource("B2", "https://a.example/other")])
    decide(context, ["B1"], "GREEN", "Ada", "seen")
    record = sources.correct_address(context, "B1", " www.a.example/right ", "Ada")
    assert (record.source.url, record.decisions) == ("http://www.a.example/right", ())
    [event] = [one for one in context.store.history("B1") if one.event == "address"]
    assert (event.message, event.author) == ("http://www.a.example/right", "Ada")
    for address, why in (
        ("https://a.example/other", "is the address of B2"),
        ("ftp://a.example/x", "only http and https are read"),
        ("nothing", "is not one web address"),
        ("https://a.example/1; https://a.example/2", "is not one web address"),
    ):
        with pytest.raises(InputError, match=why):
            sources.correct_address(context, "B1", address, "Ada")
    assert context.store.records()["B1"].source.url == "http://www.a.example/right"


def test_what_a_portal_offers_has_no_address_to_be_corrected(context: ActContext) -> None:
    add_sources(context, [ListedSource("B1.1", "https://a.example/found", parent="B1")])
    with pytest.raises(InputError, match="it was found under B1"):
        sources.correct_address(context, "B1.1", "https://a.example/right", "Ada")


def test_a_repeated_run_joins_an_equal_one_that_is_queued(context: ActContext) -> None:
    asked = runs.run(context, RunRequest(("licence",)))
    assert runs.run(context, RunRequest(("licence",))).id == asked.id
    assert runs.run(context, RunRequest(("quality",))).id != asked.id
    context.jobs.cancel(asked.id)
    assert runs.run(context, RunRequest(("licence",))).id != asked.id


def test_a_run_under_way_serves_until_a_person_changes_something(context: ActContext) -> None:
    asked = runs.run(context, RunRequest(("licence",)))
    context.jobs.next()
    # In the second in which the run began, or later.
    context.store.add([ListedSource("LATE", "https://late.example/plan.pdf")])
    assert context.store.changed_since(context.jobs.latest()[0].started)
    assert runs.run(context, RunRequest(("licence",))).id != asked.id


def test_what_a_run_finds_itself_is_no_change_by_a_person(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path / "other")
    store = SourceStore(catalog)
    store.add([ListedSource("P1.1", "https://a.example/1", parent="P1")])
    store.record("P1.1", "licence", Outcome("done", ""), fingerprint="f")
    assert not store.changed_since("2000")
    store.add([ListedSource("P2", "https://a.example/2")])
    assert store.changed_since("2000")
    catalog.close()
