"""What is told of the sources, and what a person's word does to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.operations import (
    add_sources,
    check_codes,
    decide,
    index_request,
    list_json,
    review_json,
    source_json,
    status_json,
)
from ingestion.records.source_record import Decision
from ingestion.records.source_store import SourceStore
from ingestion.types import PHASES, LicenceVerdict, Outcome, Phase, SeedSource
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.errors import InputError
from tests.ingestion.source_records import source_record


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SourceStore]:
    """A1 is indexed."""
    engine = open_engine(read_config(tmp_path))
    store = SourceStore(engine.catalog)
    _add(store, "A1")
    yield store
    engine.close()


def _add(
    store: SourceStore, code: str, *, at: Phase = "indexing", ended: Outcome | None = None, path: str = ""
) -> None:
    """A source that came through the phases up to one, which ended so."""
    one = source_record(code)
    url = "" if path else one.source.url
    store.add([SeedSource(code, url, path, title="" if path else "Plan")])
    for phase in PHASES[: PHASES.index(at) + 1]:
        outcome = ended if ended is not None and phase == at else one.outcomes[phase]
        store.record(code, phase, outcome, fingerprint="f")


def test_unknown_codes_are_named_with_the_cure(store: SourceStore) -> None:
    assert check_codes(store, ["A1", "A1"]) == ("A1",)
    with pytest.raises(InputError, match=r"No source has the code B1, C1\. `sextant seeds list` lists the codes"):
        check_codes(store, ["A1", "B1", "C1"])


def test_the_list_says_where_each_source_stands(store: SourceStore) -> None:
    _add(store, "A2", at="licence", ended=Outcome("failed", "timed_out", "No answer.", None, True))
    told = {one["code"]: one for one in list_json(store)["sources"]}
    assert (told["A1"]["phase"], told["A1"]["status"], told["A1"]["title"]) == ("indexing", "indexed", "Piano caldo")
    assert (told["A2"]["phase"], told["A2"]["status"], told["A2"]["reason"]) == ("licence", "failed", "timed_out")


def test_red_on_a_document_of_the_index_asks_for_the_index_to_change(store: SourceStore) -> None:
    assert decide(store, "A1", "red", "Ada", "The ministry said no.")
    assert index_request("A1").phases == ("indexing",)
    assert not decide(store, "A1", "GREEN", "Ada", "They changed their mind.")


def test_a_word_on_what_is_not_in_the_index_leaves_it_alone(store: SourceStore) -> None:
    unclear = Outcome("skipped", "licence_unclear", "It says nothing.", LicenceVerdict("YELLOW", "", ()))
    _add(store, "A2", at="licence", ended=unclear)
    assert not decide(store, "A2", "RED", "Ada", "No.")


def test_taking_back_green_takes_the_document_out(store: SourceStore) -> None:
    conflict = Outcome("skipped", "licence_conflict", "", LicenceVerdict("YELLOW", "", (), conflict=True))
    store.record("A1", "licence", conflict, fingerprint="f")
    store.decide(Decision("A1", "licence", "GREEN", "Ada", "Asked.", "2026-01-01"))
    assert decide(store, "A1", "undo", "Ada", "")


def test_what_was_rejected_before_there_was_a_file_cannot_be_restored(store: SourceStore) -> None:
    _add(store, "A2", at="acquisition", ended=Outcome("rejected", "not_found", "404."))
    with pytest.raises(InputError, match=r"there is no file to restore\. Run `sextant retry`"):
        decide(store, "A2", "restore", "Ada", "It is there.")


@pytest.mark.parametrize("word", ["undo", "restore"])
def test_a_withdrawal_that_is_taken_back_has_the_file_fetched_again(store: SourceStore, word: str) -> None:
    store.decide(Decision("A1", "indexing", "withdraw", "Ada", "", "2026-01-01"))
    decide(store, "A1", word, "Ada", "It was a mistake.")
    found = store.records()["A1"]
    assert (found.decisions, "acquisition" in found.outcomes) == ((), False)


def test_what_a_person_has_decided_no_longer_waits_although_its_outcome_still_says_so(store: SourceStore) -> None:
    behind = Outcome("skipped", "licence_conflict", "Its page said otherwise.")
    _add(store, "A2", at="extraction", ended=behind)
    assert [one["code"] for one in review_json(store)["waiting"]] == ["A2"]
    decide(store, "A2", "GREEN", "Ada", "Asked by letter.")
    assert review_json(store)["waiting"] == []


def test_files_at_hand_go_on_whatever_their_licence_and_are_listed(store: SourceStore, tmp_path: Path) -> None:
    said = Outcome("done", "licence_reserved", "It goes on.", LicenceVerdict("RED", "All rights reserved", ()))
    _add(store, "A2", path=str(tmp_path / "a.pdf"))
    store.record("A2", "licence", said, fingerprint="f")
    listed = review_json(store)["at_hand"]
    assert [(one["code"], one["light"], one["reason"]) for one in listed] == [("A2", "RED", "licence_reserved")]
    assert status_json(store)["lights"] == {"GREEN": 1, "RED": 1}


def test_a_source_is_told_as_it_stands_before_what_happened_to_it(store: SourceStore) -> None:
    told = source_json(store, "A1")
    now = told["present"]
    assert (now["title"], now["phase"], now["light"], now["licence"]) == (
        "Piano caldo",
        "indexing",
        "GREEN",
        "CC BY 4.0",
    )
    assert now["quality"] == {"score": 73.5, "length": 40, "chunks": 15, "sections": 10, "cleaning": 8.5}
    language = next(one for one in now["values"] if one["field"] == "language")
    assert {"field": "language", "value": "it", "source": "rule", "confidence": 0.9}.items() <= language.items()
    assert told["history"][0]["event"] == "added"
    store.remove(["A1"], "Ada")
    assert source_json(store, "A1")["present"] is None


def test_rows_whose_codes_were_given_to_others_meanwhile_are_not_lost_in_silence(store: SourceStore) -> None:
    mine = (SeedSource("S1", "https://mine.example/1"), SeedSource("S2", "https://mine.example/2"))
    store.add([SeedSource("S1", "https://theirs.example/1")])
    with pytest.raises(InputError, match="1 of 2 sources were not added"):
        add_sources(store, mine)
