"""The phases over the files of a folder: run again, changed, broken off, decided by people."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.acts.comparisons import begin_comparison
from ingestion.acts.context import ActContext
from ingestion.acts.decisions import decide
from ingestion.acts.documents import add_files, erase, sources_erased_with
from ingestion.acts.sources import add_own_files, remove_sources
from ingestion.config import IngestionConfig, QualityConfig
from ingestion.dataset.comparison.ask_cells import CellsRequest, ask_cells
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.file_names import file_hash
from ingestion.pipeline.run import run_phases
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import Decision
from ingestion.records.source_store import SourceStore, now
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.tools import Tools, open_tools
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, ControlSignal, Phase, PhaseSummary, RunRequest
from ingestion.workspace import refused
from rag_engine.engine import Engine
from rag_engine.errors import InputError, WorkspaceError
from tests.conftest import ROOT
from tests.ingestion.left_behind import files_holding, forms
from tests.portal.texts import DROUGHT, FIRE, FLOOD, FLOOD_REVISED, HEAT
from tests.present import present


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "plans"
    folder.mkdir()
    for name, text in {"flood": FLOOD, "heat": HEAT, "drought": DROUGHT}.items():
        (folder / f"{name}.md").write_text(f"# {text.plain}", encoding="utf-8")
    return folder


@pytest.fixture
def tools(engine: Engine) -> Iterator[Tools]:
    with open_tools(engine, IngestionConfig(use_model=False)) as tools:
        # Counted words do not know what a translation is.
        yield replace(tools, encode=None)


@pytest.fixture
def store(engine: Engine, folder: Path) -> SourceStore:
    store = SourceStore(engine.catalog)
    store.add(read_source_list(folder, ()).new)
    return store


def _run(store: SourceStore, engine: Engine, tools: Tools, **asked: object) -> dict[Phase, PhaseSummary]:
    return {summary.phase: summary for summary in run_phases(store, engine, tools, RunRequest(**asked))}  # type: ignore[arg-type]


def _code(store: SourceStore, name: str) -> str:
    return next(one.code for one in store.sources() if Path(one.path).stem == name)


def _titles(engine: Engine) -> list[str]:
    return sorted(record.metadata.title for record in engine.collection.documents())


def test_the_files_of_a_folder_are_read_described_and_answer(store: SourceStore, engine: Engine, tools: Tools) -> None:
    summaries = _run(store, engine, tools)
    assert [summaries[phase].done for phase in ("extraction", "indexing")] == [3, 3]
    assert _titles(engine) == sorted(text.title for text in (FLOOD, HEAT, DROUGHT))
    assert {record.metadata.language for record in engine.collection.documents()} == {"en", "it", "de"}


def test_equal_files_that_are_read_at_once_are_copies_and_no_failure(
    store: SourceStore, engine: Engine, folder: Path
) -> None:
    for number in range(8):
        shutil.copyfile(folder / "heat.md", folder / f"heat{number}.md")
    store.add(read_source_list(folder, store.sources()).new)
    with open_tools(engine, IngestionConfig(use_model=False, extraction_processes=4)) as tools:
        summaries = _run(store, engine, replace(tools, encode=None))
    assert [summaries[phase].failed for phase in PHASES if phase in summaries] == [0] * len(summaries)
    assert summaries["extraction"].done == 11
    assert summaries["indexing"].done == 3


def test_a_second_run_does_nothing(store: SourceStore, engine: Engine, tools: Tools) -> None:
    _run(store, engine, tools)
    events = store.latest(1)
    assert _run(store, engine, tools) == {}
    assert store.latest(1) == events


def test_a_changed_file_is_read_again_and_what_it_said_stays_as_a_former_version(
    store: SourceStore, engine: Engine, tools: Tools, folder: Path
) -> None:
    _run(store, engine, tools)
    (folder / "heat.md").write_text(f"# {FIRE.plain}", encoding="utf-8")
    summaries = _run(store, engine, tools)
    assert summaries["extraction"].done == summaries["indexing"].done == 1
    assert _titles(engine) == sorted(text.title for text in (FLOOD, FIRE, HEAT, DROUGHT))
    [former] = [one for one in engine.collection.documents() if one.is_former]
    assert (former.metadata.title, bool(former.metadata.superseded)) == (HEAT.title, True)


def test_phases_can_be_run_one_by_one_for_some_sources(store: SourceStore, engine: Engine, tools: Tools) -> None:
    code = _code(store, "heat")
    assert _run(store, engine, tools, phases=("metadata",)) == {}
    for phase in PHASES:
        _run(store, engine, tools, phases=(phase,), codes=(code,))
    assert _titles(engine) == [HEAT.title]


def test_a_pause_ends_the_run_between_two_sources_and_the_next_run_goes_on(
    store: SourceStore, engine: Engine, tools: Tools
) -> None:
    signals: Iterator[ControlSignal] = iter(["", "", "", "", ""])
    first = run_phases(store, engine, tools, RunRequest(), signal=lambda: next(signals, "pause"))
    assert sum(summary.done for summary in first) < 3 * len(PHASES)
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 3


def test_a_local_file_is_indexed_whatever_is_found_and_its_outcome_says_it(
    store: SourceStore, engine: Engine, tools: Tools
) -> None:
    strict = replace(tools, config=replace(tools.config, quality=QualityConfig(minimum_characters=650)))
    assert _run(store, engine, strict)["quality"].reasons == {"too_little_text": 2}
    assert len(_titles(engine)) == 3
    ended = store.records()[_code(store, "heat")].outcomes
    assert (ended["quality"].status, ended["quality"].reason) == ("done", "too_little_text")
    assert "the least is 650" in ended["quality"].message
    assert (ended["licence"].status, ended["licence"].reason) == ("done", "licence_unclear")


def test_corrections_reach_the_index_and_outlive_every_run(store: SourceStore, engine: Engine, tools: Tools) -> None:
    code = _code(store, "heat")
    _run(store, engine, tools)
    store.enter([Correction(code, "countries", ("Malta",), "Ada"), Correction(code, "tags", ("Gender",), "Ada")])
    _run(store, engine, tools)
    _run(store, engine, tools, which="all")
    assert [record.metadata.title for record in engine.collection.documents({"country": ("Malta",)})] == [HEAT.title]


def test_an_erased_document_stays_away_until_a_person_brings_it_back(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools
) -> None:
    _run(store, engine, tools)
    record = next(one for one in engine.collection.documents() if one.metadata.title == HEAT.title)
    erase(context, record.source, "Ada", "Out of date.")
    _run(store, engine, tools, which="all")
    assert _titles(engine) == sorted([FLOOD.title, DROUGHT.title])
    assert not [path for path in (engine.config.workspace / "downloads").iterdir() if "heat" in path.name.lower()]
    decide(context, [_code(store, "heat")], "restore", "Ada", "It is in force.")
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 3


def test_a_source_off_the_list_leaves_the_index(store: SourceStore, engine: Engine, tools: Tools) -> None:
    _run(store, engine, tools)
    store.remove([_code(store, "heat")], "Ada")
    _run(store, engine, tools)
    assert _titles(engine) == sorted([FLOOD.title, DROUGHT.title])


def test_a_cell_asked_while_its_document_leaves_the_index_keeps_no_quotation_of_it(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools
) -> None:
    _run(store, engine, tools)
    begun = begin_comparison(context, ["Who opens the cooling centres?"], "document", {})
    columns, comparisons = tuple(column.key for column in begun.columns), ComparisonStore(engine.catalog)
    ask_cells(engine, comparisons, CellsRequest(begun.id, begun.questions, columns))
    answered = comparisons.require(begun.id).cells
    store.remove([_code(store, "heat")], "Ada")
    _run(store, engine, tools)
    staying = {one.document_id for one in engine.collection.documents()}
    for late in answered.values():
        comparisons.put_cell(begun.id, late)
    assert {column for _, column in comparisons.require(begun.id).cells} == staying


def test_sources_off_the_list_leave_no_file(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools, folder: Path
) -> None:
    shutil.copyfile(folder / "heat.md", folder / "heat-copy.md")
    store.add(read_source_list(folder, store.sources()).new)
    with (folder / "heat.md").open("rb") as file:
        [uploaded] = add_own_files(context, [("heat-too.md", file)]).new
    _run(store, engine, tools)
    words, workspace = forms("temperatura percepita"), engine.config.workspace
    first, *others = (_code(store, "heat"), _code(store, "heat-copy"), uploaded.code)
    remove_sources(context, [first], "Ada")
    assert {path.parts[len(workspace.parts)] for path in files_holding(workspace, words)} >= {"sources", "readings"}
    remove_sources(context, others, "Ada")
    _run(store, engine, tools)
    engine.close()
    assert list(files_holding(workspace, words)) == []


def test_a_file_that_is_gone_fails_alone_and_is_tried_again(
    store: SourceStore, engine: Engine, tools: Tools, folder: Path, tmp_path: Path
) -> None:
    shutil.move(folder / "heat.md", tmp_path / "heat.md")
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 2
    stopped = present(store.records()[_code(store, "heat")].stopped)
    assert "heat.md" in stopped[1].message
    shutil.move(tmp_path / "heat.md", folder / "heat.md")
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 3


def test_a_step_that_breaks_for_one_source_is_told_and_stops_nobody(
    store: SourceStore, engine: Engine, tools: Tools
) -> None:
    class Broken:
        def read(self, path: Path, patience: float = 1.0) -> object:
            if "heat" in path.name.lower():
                raise RuntimeError("out of cheese")
            return tools.extractor.read(path)

    _run(store, engine, replace(tools, extractor=Broken()))  # type: ignore[arg-type]
    outcome = store.records()[_code(store, "heat")].outcomes
    assert any("RuntimeError: out of cheese" in one.message for one in outcome.values())
    assert len(engine.collection.documents()) == 2


@pytest.mark.parametrize(
    "written", ["ingestion.acquisition.acquire.shutil.copyfile", "rag_engine.storage.indexer.Indexer.add"]
)
def test_a_full_disk_ends_the_run_and_no_source_is_blamed(
    store: SourceStore, engine: Engine, tools: Tools, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(written, full)
        with pytest.raises(WorkspaceError, match="No space left"):
            _run(store, engine, tools)
    failed = [one for record in store.records().values() for one in record.outcomes.values() if one.status == "failed"]
    assert failed == []
    _run(store, engine, tools)
    assert len(_titles(engine)) == 3


def test_a_source_that_stopped_the_worker_twice_is_set_aside_until_it_is_asked_for(
    store: SourceStore, engine: Engine, tools: Tools, folder: Path
) -> None:
    code, content = _code(store, "heat"), file_hash(folder / "heat.md")
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom ingestion.records.refused_files import WorkerStops\n"
        "with WorkerStops(Path(sys.argv[1])).at(sys.argv[2], ''):\n    os.kill(os.getpid(), 9)\n"
    )
    for _ in range(2):
        command = [sys.executable, "-c", script, str(refused(tools.workspace)), f"extraction {code} {content}"]
        subprocess.run(command, cwd=ROOT, check=False)
    _run(store, engine, tools)
    stopped = present(store.records()[code].stopped)
    assert (stopped[0], stopped[1].reason) == ("extraction", "crashed")
    assert f"{code} stopped the worker 2 times and is set aside" in stopped[1].message
    assert len(engine.collection.documents()) == 2
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 2
    _run(store, engine, replace(tools, again=True), which="failed")
    assert len(engine.collection.documents()) == 3


def test_a_person_may_refuse_the_licence_of_what_is_already_indexed(
    store: SourceStore, engine: Engine, tools: Tools
) -> None:
    _run(store, engine, tools)
    code = _code(store, "heat")
    store.decide(Decision(code, "licence", "RED", "Ada", "The ministry said no.", now()))
    _run(store, engine, tools)
    assert _titles(engine) == sorted([FLOOD.title, DROUGHT.title])
    assert isinstance(store.records()[code].outcomes["licence"], Outcome)
    assert list((engine.config.workspace / "quarantine").iterdir())


def test_files_that_are_away_for_now_stay_in_the_collection(
    store: SourceStore, engine: Engine, tools: Tools, folder: Path, tmp_path: Path
) -> None:
    _run(store, engine, tools)
    shutil.move(folder, tmp_path / "unmounted")
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 3
    shutil.move(tmp_path / "unmounted", folder)
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 3


def test_a_text_that_breaks_the_indexer_stops_no_other(
    store: SourceStore, engine: Engine, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = engine.embedder()
    encode = embedder.encode_passages

    def break_on_heat(texts: list[str]) -> object:
        if any("ondate di calore" in text for text in texts):
            raise ValueError("no such number")
        return encode(texts)

    monkeypatch.setattr(embedder, "encode_passages", break_on_heat)
    summaries = _run(store, engine, tools)
    assert (summaries["indexing"].done, summaries["indexing"].failed) == (2, 1)
    assert _titles(engine) == sorted([FLOOD.title, DROUGHT.title])


def test_half_a_character_from_a_model_breaks_nothing(store: SourceStore, engine: Engine, tools: Tools) -> None:
    class Odd:
        name = "odd"

        def complete_json(
            self, system: str, user: str, schema: dict[str, object], *, seconds: float
        ) -> dict[str, object]:
            return {"title": {"value": "half \ud83d", "quote": "\ud83d", "confidence": 1.0}, "language": "en\ud83d"}

    config = replace(tools.config, use_model=True)
    _run(store, engine, replace(tools, language_model=Odd(), config=config))
    assert len(engine.collection.documents()) == 3


def test_another_way_to_read_files_reads_them_again(store: SourceStore, engine: Engine, tools: Tools) -> None:
    _run(store, engine, tools)
    again = _run(store, engine, replace(tools, reader="with OCR now"))
    assert again["extraction"].done == 3


def test_a_file_that_was_lost_from_the_workspace_is_acquired_again(
    store: SourceStore, engine: Engine, tools: Tools
) -> None:
    _run(store, engine, tools)
    for path in (engine.config.workspace / "downloads").iterdir():
        path.unlink()
    assert _run(store, engine, tools)["acquisition"].done == 3


def test_a_source_that_is_put_on_the_list_again_comes_back(
    store: SourceStore, engine: Engine, tools: Tools, folder: Path
) -> None:
    _run(store, engine, tools)
    store.remove([_code(store, "heat")], "Ada")
    _run(store, engine, tools)
    store.add(read_source_list(folder, store.sources()).new)
    _run(store, engine, tools)
    assert len(engine.collection.documents()) == 3


def test_erasing_leaves_no_word_of_the_document_in_the_workspace(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools, folder: Path
) -> None:
    _run(store, engine, tools)
    (folder / "heat.md").write_text(f"# {HEAT.plain}\n\nThe zanzibar clause was added.", encoding="utf-8")
    _run(store, engine, tools)
    documents = engine.collection.documents()
    record = next(one for one in documents if one.metadata.title == HEAT.title and not one.is_former)
    erase(context, record.source, "Ada", "Out of date.")
    engine.catalog.checkpoint()
    engine.close()
    # The index has a test of its own; what is looked at here is what the list of sources keeps.
    workspace = engine.config.workspace
    kept = [path for path in workspace.rglob("*") if path.is_file() and workspace / "index" not in path.parents]
    for word in (b"zanzibar", b"temperatura percepita"):
        assert [path for path in kept if word in _bytes(path)] == []


@pytest.mark.parametrize("copy", ["equal", "nearly equal", "no document of the list"])
def test_erasing_a_document_leaves_no_copy_that_a_run_would_bring_back(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools, folder: Path, tmp_path: Path, copy: str
) -> None:
    text = f"# {HEAT.plain}"
    (folder / "heat-copy.md").write_text(text + ("\n\nBozza." if copy == "nearly equal" else ""), encoding="utf-8")
    store.add(read_source_list(folder, store.sources()).new)
    _run(store, engine, tools)
    if copy == "no document of the list":
        for code in (_code(store, "heat"), _code(store, "heat-copy")):
            store.decide(Decision(code, "licence", "RED", "Ada", "Not ours.", now()))
        _run(store, engine, tools)
        (tmp_path / "own.md").write_text(text, encoding="utf-8")
        add_files(context, [tmp_path / "own.md"])
    [record] = [one for one in engine.collection.documents() if one.metadata.title == HEAT.title]
    codes = {_code(store, "heat"), _code(store, "heat-copy")}
    assert set(sources_erased_with(context, [record])) == codes
    with pytest.raises(InputError, match=", ".join(sources_erased_with(context, [record]))):
        erase(context, record.source, "Ada")
    assert erase(context, record.source, "Ada", "Out of date.").left_behind == ()
    _run(store, engine, tools, which="all")
    assert _titles(engine) == sorted([FLOOD.title, DROUGHT.title])
    engine.close()
    assert list(files_holding(engine.config.workspace, forms("temperatura percepita"))) == []


def test_a_copy_that_a_person_restored_is_a_document_of_its_own_and_stays(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools, folder: Path
) -> None:
    shutil.copyfile(folder / "heat.md", folder / "heat-copy.md")
    store.add(read_source_list(folder, store.sources()).new)
    _run(store, engine, tools)
    [record] = [one for one in engine.collection.documents() if one.metadata.title == HEAT.title]
    [other] = {_code(store, "heat"), _code(store, "heat-copy")} - {record.source.removeprefix("list:")}
    decide(context, [other], "restore", "Ada", "Both are in force.")
    _run(store, engine, tools)
    erase(context, record.source, "Ada", "Out of date.")
    _run(store, engine, tools, which="all")
    assert f"list:{other}" in {one.source for one in engine.collection.documents()}


def _bytes(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def test_a_newer_version_supersedes_the_old_one_in_the_index_whatever_was_chosen(
    store: SourceStore, engine: Engine, tools: Tools, folder: Path
) -> None:
    _run(store, engine, tools)
    (folder / "flood-2022.md").write_text(f"# {FLOOD_REVISED.plain}", encoding="utf-8")
    store.add(read_source_list(folder, store.sources()).new)
    _run(store, engine, tools, codes=(_code(store, "flood-2022"),))
    old = next(one for one in engine.collection.documents() if one.metadata.title == FLOOD.title)
    assert old.metadata.superseded == "2022-06-02"


def test_a_version_is_in_force_again_once_the_newer_one_is_erased(
    store: SourceStore, engine: Engine, context: ActContext, tools: Tools, folder: Path
) -> None:
    (folder / "flood-2022.md").write_text(f"# {FLOOD_REVISED.plain}", encoding="utf-8")
    store.add(read_source_list(folder, store.sources()).new)
    _run(store, engine, tools)
    erase(context, f"list:{_code(store, 'flood-2022')}", "Ada", "Withdrawn.")
    for chosen in ("none", "due", "all"):
        if chosen != "none":
            _run(store, engine, tools, which=chosen)
        old = next(one for one in engine.collection.documents() if one.metadata.title == FLOOD.title)
        assert old.metadata.superseded == "", chosen
