"""A file that is added and a file of the list: the phases find the same of both, and refuse neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion import workspace as paths
from ingestion.acts import documents, runs
from ingestion.acts.context import ActContext, open_context
from ingestion.acts.corrections import correct, find_described
from ingestion.add_files import FileOutcome
from ingestion.records.source_record import SourceRecord
from ingestion.types.run import RunRequest
from ingestion.types.source import ListedSource
from ingestion.worker import work
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.messages import Message
from rag_engine.protocols import Embedder
from tests.ingestion.left_behind import files_holding, forms
from tests.portal.texts import FLOOD, HEAT
from tests.rag_engine.conftest import unread

PLAN = f"# {FLOOD.plain}\n"
FREE = f"{PLAN}\nThis plan is licensed under a Creative Commons Attribution 4.0 International licence (CC BY 4.0).\n"
RESERVED = f"{PLAN}\n© 2019 Arden River Authority. All rights reserved.\n"
SHORT = "# Rules of the quay\n\nNobody swims off the quay.\n"
TAXES = "# What to declare\n\n" + "Income tax is paid by the end of March. Married couples may declare together. " * 30


@pytest.fixture
def context(tmp_path: Path, meaning: Embedder) -> Iterator[ActContext]:
    with closing(Engine(unread(tmp_path / "workspace"), embedder=meaning)) as engine:
        yield open_context(engine, LOCAL)


def _add(context: ActContext, folder: Path, name: str, text: str) -> FileOutcome:
    (folder / name).write_text(text, encoding="utf-8")
    [added] = documents.add_files(context, [folder / name])
    assert added.status == "indexed", added
    return added


def _listed(folder: Path, text: str, embedder: Embedder) -> SourceRecord:
    (folder / "plan.md").write_text(text, encoding="utf-8")
    with closing(Engine(unread(folder / "listed"), embedder=embedder)) as engine:
        listed = open_context(engine, LOCAL)
        listed.store.add([ListedSource("A1", path=str(folder / "plan.md"), origin=Message("by hand"))])
        runs.run(listed, RunRequest())
        work(engine)
        assert [one.source for one in engine.collection.documents()] == ["list:A1"]
        return listed.store.records()["A1"]


@pytest.mark.parametrize("text", [FREE, RESERVED, SHORT, TAXES], ids=["free", "reserved", "short", "off topic"])
def test_an_added_file_and_one_of_the_list_end_alike(
    context: ActContext, tmp_path: Path, meaning: Embedder, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("SEXTANT_SCOPE", "protection of towns from floods")
    _add(context, tmp_path, "plan.md", text)
    added, listed = find_described(context, "plan.md"), _listed(tmp_path, text, meaning)
    for phase in ("licence", "extraction", "quality"):
        assert added.outcomes[phase] == listed.outcomes[phase]
    assert added.metadata.licence == listed.metadata.licence
    assert added.metadata.quality_score == listed.metadata.quality_score is not None
    [record] = context.engine.collection.documents()
    assert (record.metadata.licence, record.metadata.quality_score) == (
        added.metadata.licence,
        added.metadata.quality_score,
    )


def test_the_licence_that_an_added_file_states_is_recorded_with_its_words(context: ActContext, tmp_path: Path) -> None:
    _add(context, tmp_path, "plan.md", FREE)
    described = find_described(context, "plan.md")
    assert described.verdict is not None
    assert (described.verdict.light, described.verdict.licence) == ("GREEN", "CC BY 4.0")
    assert any("Creative Commons Attribution 4.0" in mark.quote for mark in described.verdict.marks)
    [record] = context.engine.collection.documents()
    assert record.metadata.licence == "CC BY 4.0"


def test_the_word_of_a_person_on_the_licence_of_an_added_file_wins(context: ActContext, tmp_path: Path) -> None:
    (tmp_path / "metadata.jsonl").write_text('{"file": "given.md", "licence": "OGL 3.0"}')
    _add(context, tmp_path, "given.md", FREE)
    _add(context, tmp_path, "plan.md", RESERVED)
    correct(context, {"plan.md": {"licence": []}}, "Ada")
    _add(context, tmp_path, "plan.md", f"{RESERVED}\nSecond edition.\n")
    licences = {one.file: one.metadata.licence for one in context.engine.collection.documents() if not one.is_former}
    assert licences == {"given.md": "OGL 3.0", "plan.md": ""}


def test_an_addition_says_what_is_too_short_or_off_the_topic(
    context: ActContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_SCOPE", "protection of towns from floods")
    assert "characters of text; the least is 400" in _add(context, tmp_path, "quay.md", SHORT).reason
    assert "rather than “protection of towns from floods”" in _add(context, tmp_path, "taxes.md", TAXES).reason
    assert _add(context, tmp_path, "flood.md", PLAN).reason == ""


def test_files_are_judged_again_when_the_topic_has_changed(
    context: ActContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _add(context, tmp_path, "taxes.md", TAXES).reason == ""
    monkeypatch.setenv("SEXTANT_SCOPE", "protection of towns from floods")
    assert "rather than" in _add(context, tmp_path, "taxes.md", TAXES).reason


def test_an_added_copy_is_indexed_and_what_it_copies_is_named(context: ActContext, tmp_path: Path) -> None:
    (tmp_path / "listed.md").write_text(f"# {HEAT.plain}", encoding="utf-8")
    context.store.add([ListedSource("A1", path=str(tmp_path / "listed.md"), origin=Message("by hand"))])
    runs.run(context, RunRequest())
    work(context.engine)
    _add(context, tmp_path, "flood.md", PLAN)
    assert "nearly the same text as A1" in _add(context, tmp_path, "heat.md", f"# {HEAT.plain}\n\nBozza.").reason
    assert "nearly the same text as flood.md" in _add(context, tmp_path, "arden.md", f"{PLAN}\nMilltown.").reason
    # Its own former text is no copy.
    assert "text as flood.md" not in _add(context, tmp_path, "flood.md", f"{PLAN}\nBridgeford.").reason


def test_a_document_says_no_longer_that_it_copies_one_that_was_erased(context: ActContext, tmp_path: Path) -> None:
    for name, text in (("flood.md", PLAN), ("arden.md", f"{PLAN}\nMilltown.")):
        _add(context, tmp_path, name, text)
    assert documents.erase(context, "flood.md").left_behind == ()
    [copy] = context.store.describe(context.engine.collection.documents())
    assert "deduplication" not in copy.outcomes
    assert copy.outcomes["quality"].passes


def test_an_addition_leaves_what_a_run_is_fetching_and_a_run_removes_what_a_killed_one_left(
    context: ActContext, tmp_path: Path
) -> None:
    half = [paths.downloads(context.workspace) / ".half", paths.licence_checks(context.workspace) / "page.pdf"]
    for file in half:
        file.parent.mkdir(parents=True)
        file.write_bytes(b"%PDF")
    _add(context, tmp_path, "plan.md", PLAN)
    assert [file.exists() for file in half] == [True, True]
    runs.run(context, RunRequest())
    work(context.engine)
    assert [file.exists() for file in half] == [False, False]


def test_nothing_that_the_phases_found_outlives_an_added_document(context: ActContext, tmp_path: Path) -> None:
    _add(context, tmp_path, "plan.md", FREE.replace("This plan", "This zanzibar plan").replace("Milltown", "Zanzibar"))
    assert list(files_holding(context.workspace, forms("zanzibar")))
    assert documents.erase(context, "plan.md").left_behind == ()
    context.engine.close()
    assert list(files_holding(context.workspace, forms("zanzibar"))) == []
