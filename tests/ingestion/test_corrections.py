"""Corrections of documents: they count at once, survive what is run again, and can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.operations import corrections, documents, runs
from ingestion.operations.desk import Desk, open_desk
from ingestion.status.document_fields import unchecked_fields
from ingestion.types.description import FieldName
from ingestion.types.run import RunRequest
from ingestion.types.source import SeedSource
from ingestion.worker import work
from rag_engine.answering.reference_list import limits_of, references_of
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.types.answer import Answer
from rag_engine.types.document import DocumentRecord
from rag_engine.workspace import write_lock
from tests.portal.texts import FLOOD
from tests.rag_engine.conftest import CountingEmbedder, unread

ADA = "Ada"
HARBOUR = "# Rules of the harbour\n\n" + "The harbour master keeps the rules of the harbour against floods. " * 20


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a collection of one added file and one document of the list, A1."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "own.md").write_text(HARBOUR, encoding="utf-8")
    (folder / "plan.md").write_text(f"# {FLOOD.plain}", encoding="utf-8")
    with closing(Engine(unread(folder / "workspace"), embedder=CountingEmbedder())) as engine:
        desk = replace(open_desk(engine, LOCAL), start_worker=lambda _: None)
        desk.store.add([SeedSource("A1", path=str(folder / "plan.md"), origin=Message("by hand"))])
        documents.add_files(desk, [folder / "own.md"])
        runs.run(desk, RunRequest())
        work(engine)
    return folder


@pytest.fixture
def desk(folder: Path, embedder: CountingEmbedder) -> Iterator[Desk]:
    with closing(Engine(unread(folder / "workspace"), embedder=embedder)) as engine:
        yield replace(open_desk(engine, LOCAL), start_worker=lambda _: None)


def of(desk: Desk, name: str) -> DocumentRecord:
    return next(one for one in desk.engine.collection.documents() if one.file == name or one.source == f"list:{name}")


@pytest.mark.parametrize("name", ["own.md", "A1"])
def test_a_correction_counts_at_once_without_encoding_anything(
    desk: Desk, embedder: CountingEmbedder, name: str
) -> None:
    encoded = embedder.encoded
    given = {"title": ["Quayside charter"], "date": ["2019-05"], "hazards": ["Wildfire"], "countries": ["Malta"]}
    corrections.correct(desk, {name: given}, ADA)  # type: ignore[dict-item]
    record = of(desk, name)
    assert record.metadata.title == "Quayside charter"
    assert (record.metadata.year, record.metadata.hazards) == (2019, ("Wildfire",))
    wanted = {"country": ("Malta",), "hazard": ("Wildfire",), "year": ("2019",)}
    assert [one.key for one in desk.engine.collection.documents(wanted)] == [record.key]
    found = desk.engine.collection.sparse().search("Quayside charter", record.metadata.language, 5)
    assert {desk.engine.collection.snapshot().owner_of(key) for key, _ in found} == {record.key}
    assert embedder.encoded == encoded


@pytest.mark.parametrize(
    ("said", "kept", "limits"),
    [
        ("CC BY 4.0", "CC BY 4.0", ()),
        ("cc-by-nc 4.0", "CC BY-NC 4.0", ("NC",)),
        ("https://creativecommons.org/licenses/by-nd/4.0/", "CC BY-ND 4.0", ("ND",)),
        ("Creative Commons Attribution-NonCommercial 4.0 International",
         "Creative Commons Attribution-NonCommercial 4.0 International (NC)", ("NC",)),
        ("CC BY 4.0, but for the photographs", "CC BY 4.0, but for the photographs", ()),
        ("By permission of the port, 3 May 2024", "By permission of the port, 3 May 2024", ()),
    ],
)  # fmt: skip
def test_the_licence_that_a_person_states_of_a_file_counts_with_its_limits(
    desk: Desk, said: str, kept: str, limits: tuple[str, ...]
) -> None:
    corrections.correct(desk, {"own.md": {"licence": [said]}}, ADA)
    metadata = of(desk, "own.md").metadata
    assert (metadata.licence, limits_of(metadata.licence)) == (kept, limits)
    corrections.undo(desk, ["own.md"], ADA)
    assert of(desk, "own.md").metadata.licence == ""


def test_a_stated_licence_and_address_stay_when_the_file_changes(desk: Desk, folder: Path) -> None:
    given = {"licence": ["CC BY-NC 4.0"], "source_url": ["https://port.example/rules"]}
    corrections.correct(desk, {"own.md": given}, ADA)  # type: ignore[dict-item]
    (folder / "own.md").write_text(HARBOUR + "And one more.", encoding="utf-8")
    documents.add_files(desk, [folder / "own.md"])
    metadata = of(desk, "own.md").metadata
    assert (metadata.licence, metadata.source_url) == ("CC BY-NC 4.0", "https://port.example/rules")


def test_a_former_version_keeps_its_licence_and_goes_back_to_what_it_said(desk: Desk, folder: Path) -> None:
    corrections.correct(desk, {"own.md": {"licence": ["CC BY 4.0"]}}, ADA)
    (folder / "own.md").write_text(HARBOUR + "And one more.", encoding="utf-8")
    documents.add_files(desk, [folder / "own.md"])
    [former] = [one for one in desk.engine.collection.documents() if one.is_former]
    corrections.correct(desk, {former.source: {"title": ["The old rules"], "date": ["2001"]}}, ADA)
    [corrected] = [one.metadata for one in desk.engine.collection.documents() if one.is_former]
    assert (corrected.title, corrected.year, corrected.licence) == ("The old rules", 2001, "CC BY 4.0")
    corrections.undo(desk, [former.source], ADA)
    assert [one for one in desk.engine.collection.documents() if one.is_former] == [former]


def test_an_answer_refers_to_a_document_with_the_licence_that_was_stated(desk: Desk) -> None:
    corrections.correct(desk, {"own.md": {"licence": ["CC BY-NC-ND 4.0"]}}, ADA)
    *_, answer = desk.engine.ask("Who keeps the rules of the harbour?")
    assert isinstance(answer, Answer)
    [reference] = [one for one in references_of(answer.citations) if one.file == "own.md"]
    assert reference.text.endswith("CC BY-NC-ND 4.0 (no commercial use, no changes)")


@pytest.mark.parametrize("field", ["licence", "source_url"])
def test_the_list_alone_decides_the_licence_and_the_address_of_its_sources(desk: Desk, field: FieldName) -> None:
    before = of(desk, "A1").metadata
    with pytest.raises(InputError, match="A1 is on the list of sources"):
        corrections.correct(desk, {"A1": {"title": ["T"], field: ["https://port.example"]}}, ADA)
    assert of(desk, "A1").metadata == before


@pytest.mark.parametrize("address", ["port rules", "ftp://port.example", "https://a.example https://b.example"])
def test_what_is_no_web_address_is_refused(desk: Desk, address: str) -> None:
    with pytest.raises(InputError, match="source_url"):
        corrections.correct(desk, {"own.md": {"source_url": [address]}}, ADA)


@pytest.mark.parametrize("name", ["own.md", "A1"])
def test_a_correction_survives_what_is_run_again(desk: Desk, folder: Path, name: str) -> None:
    corrections.correct(desk, {name: {"title": ["Quayside charter"], "tags": ["Gender"]}}, ADA)
    desk.engine.rebuild(encode=True)
    (folder / "own.md").write_text(HARBOUR + "And one more.", encoding="utf-8")
    (folder / "plan.md").write_text(f"# {FLOOD.plain}\n\nAnd one more.", encoding="utf-8")
    documents.add_files(desk, [folder / "own.md"])
    runs.run(desk, RunRequest(which="all", refresh=True))
    work(desk.engine)
    metadata = of(desk, name).metadata
    assert (metadata.title, metadata.tags) == ("Quayside charter", ("Gender",))


def test_a_run_leaves_a_corrected_document_as_it_is(desk: Desk, embedder: CountingEmbedder) -> None:
    corrections.correct(desk, {"A1": {"title": ["Quayside charter"]}}, ADA)
    before, encoded = of(desk, "A1"), embedder.encoded
    runs.run(desk, RunRequest(phases=("indexing",)))
    work(desk.engine)
    assert (of(desk, "A1"), embedder.encoded) == (before, encoded)


@pytest.mark.parametrize("name", ["own.md", "A1"])
def test_undo_goes_back_step_by_step_to_what_was_extracted(desk: Desk, name: str) -> None:
    extracted = of(desk, name).metadata
    corrections.correct(desk, {name: {"title": ["One"], "date": ["2019"]}}, ADA)
    corrections.correct(desk, {name: {"title": ["Two"]}}, "Bob", "It says so.")
    corrections.undo(desk, [name], ADA)
    assert of(desk, name).metadata.title == "One"
    corrections.undo(desk, [name], ADA)
    assert of(desk, name).metadata == extracted
    acts = [(one.act, one.field, one.author) for one in corrections.correction_history(desk, name)]
    assert acts == [
        ("correct", "title", ADA), ("correct", "date", ADA), ("correct", "title", "Bob"),
        ("undo", "title", ADA), ("undo", "title", ADA), ("undo", "date", ADA),
    ]  # fmt: skip
    with pytest.raises(InputError, match="Nothing was corrected"):
        corrections.undo(desk, [name], ADA)


def test_the_undoing_of_an_act_leaves_what_others_did_since(desk: Desk) -> None:
    mine = corrections.correct(desk, {"own.md": {"title": ["One"], "date": ["2019"]}}, ADA)
    corrections.correct(desk, {"own.md": {"title": ["Two"]}}, "Bob")
    corrections.undo(desk, ["own.md"], ADA, batch=mine[0].batch)
    metadata = of(desk, "own.md").metadata
    assert (metadata.title, metadata.date) == ("Two", "")
    with pytest.raises(InputError, match="could be undone"):
        corrections.undo(desk, ["own.md"], ADA, batch=mine[0].batch)


def test_agreement_keeps_the_value_and_ends_the_mark(desk: Desk, folder: Path) -> None:
    before = of(desk, "own.md").metadata
    assert "title" in unchecked_fields(corrections.find_described(desk, "own.md"))
    corrections.agree(desk, ["own.md"], ADA, ["title"])
    described = corrections.find_described(desk, "own.md")
    assert "title" not in unchecked_fields(described)
    assert "language" in unchecked_fields(described)
    assert of(desk, "own.md").metadata == before
    (folder / "own.md").write_text(HARBOUR.replace("Rules of", "Laws of", 1), encoding="utf-8")
    documents.add_files(desk, [folder / "own.md"])
    assert of(desk, "own.md").metadata.title == before.title
    corrections.agree(desk, ["own.md", "A1"], ADA)
    assert [unchecked_fields(corrections.find_described(desk, name)) for name in ("own.md", "A1")] == [[], []]


def test_what_was_given_with_a_file_needs_no_agreement(desk: Desk, folder: Path) -> None:
    (folder / "given").mkdir()
    (folder / "given" / "rules.md").write_text(HARBOUR + "Of another harbour.", encoding="utf-8")
    (folder / "given" / "metadata.jsonl").write_text('{"file": "rules.md", "title": "Port law"}', encoding="utf-8")
    documents.add_files(desk, [folder / "given"])
    unchecked = unchecked_fields(corrections.find_described(desk, "Port law"))
    assert "title" not in unchecked
    assert "language" in unchecked


def test_one_wrong_value_keeps_all_from_being_recorded(desk: Desk) -> None:
    with pytest.raises(InputError, match="Floods"):
        corrections.correct(desk, {"own.md": {"title": ["T"]}, "A1": {"hazards": ["Floods"]}}, ADA)
    with pytest.raises(InputError, match="name of who decides"):
        corrections.correct(desk, {"own.md": {"title": ["T"]}}, " ")
    assert corrections.correction_history(desk, "own.md") == []


def test_while_another_process_writes_the_title_is_shown_and_the_worker_makes_it_found(desk: Desk) -> None:
    with write_lock(desk.workspace):
        corrections.correct(desk, {"own.md": {"title": ["Quayside charter"]}}, ADA)
        assert of(desk, "own.md").metadata.title == "Quayside charter"
        assert desk.engine.collection.sparse().search("Quayside", "", 5) == []
    work(desk.engine)
    assert desk.engine.collection.sparse().search("Quayside", "", 5)


def test_the_dense_index_describes_the_document_anew_at_the_next_change(desk: Desk, folder: Path) -> None:
    corrections.correct(desk, {"own.md": {"authority": ["Port of Valletta"]}}, ADA)
    (folder / "more.md").write_text("# Marina\n\n" + "The marina has other rules than the harbour. " * 20, "utf-8")
    documents.add_files(desk, [folder / "more.md"])
    dense = desk.engine.collection.dense()
    kept = dense._collection.get(where={"document": of(desk, "own.md").key})  # type: ignore[attr-defined]
    assert {one["issuing_authority"] for one in kept["metadatas"]} == {"Port of Valletta"}


@pytest.mark.parametrize("name", ["own.md", "list:A1"])
def test_erasing_a_document_forgets_what_was_corrected_of_it(desk: Desk, name: str) -> None:
    corrections.agree(desk, [name], ADA)
    documents.erase(desk, name, ADA, "Not ours.")
    assert desk.store.entered_corrections() == []
