"""Corrections of documents: they count at once, survive what is run again, and can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.acts import corrections, documents, runs
from ingestion.acts.context import ActContext, open_context
from ingestion.status.document_fields import unchecked_fields
from ingestion.types.description import FieldName
from ingestion.types.run import RunRequest
from ingestion.types.source import ListedSource
from ingestion.worker import work
from rag_engine.answering.reference_list import limits_of, references_of
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.processes.writer_lock import write_lock
from rag_engine.types.answer import Answer
from rag_engine.types.document import DocumentRecord
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
        context = replace(open_context(engine, LOCAL), start_worker=lambda _: None)
        context.store.add([ListedSource("A1", path=str(folder / "plan.md"), origin=Message("by hand"))])
        documents.add_files(context, [folder / "own.md"])
        runs.run(context, RunRequest())
        work(engine)
    return folder


@pytest.fixture
def context(folder: Path, embedder: CountingEmbedder) -> Iterator[ActContext]:
    with closing(Engine(unread(folder / "workspace"), embedder=embedder)) as engine:
        yield replace(open_context(engine, LOCAL), start_worker=lambda _: None)


def of(context: ActContext, name: str) -> DocumentRecord:
    return next(
        one for one in context.engine.collection.documents() if one.file == name or one.source == f"list:{name}"
    )


@pytest.mark.parametrize("name", ["own.md", "A1"])
def test_a_correction_counts_at_once_without_encoding_anything(
    context: ActContext, embedder: CountingEmbedder, name: str
) -> None:
    encoded = embedder.encoded
    given = {"title": ["Quayside charter"], "date": ["2019-05"], "hazards": ["Wildfire"], "countries": ["Malta"]}
    corrections.correct(context, {name: given}, ADA)  # type: ignore[dict-item]
    record = of(context, name)
    assert record.metadata.title == "Quayside charter"
    assert (record.metadata.year, record.metadata.hazards) == (2019, ("Wildfire",))
    wanted = {"country": ("Malta",), "hazard": ("Wildfire",), "year": ("2019",)}
    assert [one.key for one in context.engine.collection.documents(wanted)] == [record.key]
    found = context.engine.collection.sparse().search("Quayside charter", record.metadata.language, 5)
    assert {context.engine.collection.snapshot().owner_of(key) for key, _ in found} == {record.key}
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
    context: ActContext, said: str, kept: str, limits: tuple[str, ...]
) -> None:
    corrections.correct(context, {"own.md": {"licence": [said]}}, ADA)
    metadata = of(context, "own.md").metadata
    assert (metadata.licence, limits_of(metadata.licence)) == (kept, limits)
    corrections.undo(context, ["own.md"], ADA)
    assert of(context, "own.md").metadata.licence == ""


def test_a_stated_licence_and_address_stay_when_the_file_changes(context: ActContext, folder: Path) -> None:
    given = {"licence": ["CC BY-NC 4.0"], "source_url": ["https://port.example/rules"]}
    corrections.correct(context, {"own.md": given}, ADA)  # type: ignore[dict-item]
    (folder / "own.md").write_text(HARBOUR + "And one more.", encoding="utf-8")
    documents.add_files(context, [folder / "own.md"])
    metadata = of(context, "own.md").metadata
    assert (metadata.licence, metadata.source_url) == ("CC BY-NC 4.0", "https://port.example/rules")


def test_a_former_version_keeps_its_licence_and_goes_back_to_what_it_said(context: ActContext, folder: Path) -> None:
    corrections.correct(context, {"own.md": {"licence": ["CC BY 4.0"]}}, ADA)
    (folder / "own.md").write_text(HARBOUR + "And one more.", encoding="utf-8")
    documents.add_files(context, [folder / "own.md"])
    [former] = [one for one in context.engine.collection.documents() if one.is_former]
    corrections.correct(context, {former.source: {"title": ["The old rules"], "date": ["2001"]}}, ADA)
    [corrected] = [one.metadata for one in context.engine.collection.documents() if one.is_former]
    assert (corrected.title, corrected.year, corrected.licence) == ("The old rules", 2001, "CC BY 4.0")
    corrections.undo(context, [former.source], ADA)
    assert [one for one in context.engine.collection.documents() if one.is_former] == [former]


def test_an_answer_refers_to_a_document_with_the_licence_that_was_stated(context: ActContext) -> None:
    corrections.correct(context, {"own.md": {"licence": ["CC BY-NC-ND 4.0"]}}, ADA)
    *_, answer = context.engine.ask("Who keeps the rules of the harbour?")
    assert isinstance(answer, Answer)
    [reference] = [one for one in references_of(answer.citations) if one.file == "own.md"]
    assert reference.text.endswith("CC BY-NC-ND 4.0 (no commercial use, no changes)")


@pytest.mark.parametrize("field", ["licence", "source_url"])
def test_the_list_alone_decides_the_licence_and_the_address_of_its_sources(
    context: ActContext, field: FieldName
) -> None:
    before = of(context, "A1").metadata
    with pytest.raises(InputError, match="A1 is on the list of sources"):
        corrections.correct(context, {"A1": {"title": ["T"], field: ["https://port.example"]}}, ADA)
    assert of(context, "A1").metadata == before


@pytest.mark.parametrize("address", ["port rules", "ftp://port.example", "https://a.example https://b.example"])
def test_what_is_no_web_address_is_refused(context: ActContext, address: str) -> None:
    with pytest.raises(InputError, match="source_url"):
        corrections.correct(context, {"own.md": {"source_url": [address]}}, ADA)


@pytest.mark.parametrize("name", ["own.md", "A1"])
def test_a_correction_survives_what_is_run_again(context: ActContext, folder: Path, name: str) -> None:
    corrections.correct(context, {name: {"title": ["Quayside charter"], "tags": ["Gender"]}}, ADA)
    context.engine.rebuild(encode=True)
    (folder / "own.md").write_text(HARBOUR + "And one more.", encoding="utf-8")
    (folder / "plan.md").write_text(f"# {FLOOD.plain}\n\nAnd one more.", encoding="utf-8")
    documents.add_files(context, [folder / "own.md"])
    runs.run(context, RunRequest(which="all", refresh=True))
    work(context.engine)
    metadata = of(context, name).metadata
    assert (metadata.title, metadata.tags) == ("Quayside charter", ("Gender",))


def test_a_run_leaves_a_corrected_document_as_it_is(context: ActContext, embedder: CountingEmbedder) -> None:
    corrections.correct(context, {"A1": {"title": ["Quayside charter"]}}, ADA)
    before, encoded = of(context, "A1"), embedder.encoded
    runs.run(context, RunRequest(phases=("indexing",)))
    work(context.engine)
    assert (of(context, "A1"), embedder.encoded) == (before, encoded)


@pytest.mark.parametrize("name", ["own.md", "A1"])
def test_undo_goes_back_step_by_step_to_what_was_extracted(context: ActContext, name: str) -> None:
    extracted = of(context, name).metadata
    corrections.correct(context, {name: {"title": ["One"], "date": ["2019"]}}, ADA)
    corrections.correct(context, {name: {"title": ["Two"]}}, "Bob", "It says so.")
    corrections.undo(context, [name], ADA)
    assert of(context, name).metadata.title == "One"
    corrections.undo(context, [name], ADA)
    assert of(context, name).metadata == extracted
    acts = [(one.act, one.field, one.author) for one in corrections.correction_history(context, name)]
    assert acts == [
        ("correct", "title", ADA), ("correct", "date", ADA), ("correct", "title", "Bob"),
        ("undo", "title", ADA), ("undo", "title", ADA), ("undo", "date", ADA),
    ]  # fmt: skip
    with pytest.raises(InputError, match="Nothing was corrected"):
        corrections.undo(context, [name], ADA)


def test_the_undoing_of_an_act_leaves_what_others_did_since(context: ActContext) -> None:
    mine = corrections.correct(context, {"own.md": {"title": ["One"], "date": ["2019"]}}, ADA)
    corrections.correct(context, {"own.md": {"title": ["Two"]}}, "Bob")
    corrections.undo(context, ["own.md"], ADA, batch=mine[0].batch)
    metadata = of(context, "own.md").metadata
    assert (metadata.title, metadata.date) == ("Two", "")
    with pytest.raises(InputError, match="could be undone"):
        corrections.undo(context, ["own.md"], ADA, batch=mine[0].batch)


def test_agreement_keeps_the_value_and_ends_the_mark(context: ActContext, folder: Path) -> None:
    before = of(context, "own.md").metadata
    assert "title" in unchecked_fields(corrections.find_described(context, "own.md"))
    corrections.agree(context, ["own.md"], ADA, ["title"])
    described = corrections.find_described(context, "own.md")
    assert "title" not in unchecked_fields(described)
    assert "language" in unchecked_fields(described)
    assert of(context, "own.md").metadata == before
    (folder / "own.md").write_text(HARBOUR.replace("Rules of", "Laws of", 1), encoding="utf-8")
    documents.add_files(context, [folder / "own.md"])
    assert of(context, "own.md").metadata.title == before.title
    corrections.agree(context, ["own.md", "A1"], ADA)
    assert [unchecked_fields(corrections.find_described(context, name)) for name in ("own.md", "A1")] == [[], []]


def test_what_was_given_with_a_file_needs_no_agreement(context: ActContext, folder: Path) -> None:
    (folder / "given").mkdir()
    (folder / "given" / "rules.md").write_text(HARBOUR + "Of another harbour.", encoding="utf-8")
    (folder / "given" / "metadata.jsonl").write_text('{"file": "rules.md", "title": "Port law"}', encoding="utf-8")
    documents.add_files(context, [folder / "given"])
    unchecked = unchecked_fields(corrections.find_described(context, "Port law"))
    assert "title" not in unchecked
    assert "language" in unchecked


def test_one_wrong_value_keeps_all_from_being_recorded(context: ActContext) -> None:
    with pytest.raises(InputError, match="Floods"):
        corrections.correct(context, {"own.md": {"title": ["T"]}, "A1": {"hazards": ["Floods"]}}, ADA)
    with pytest.raises(InputError, match="name of who decides"):
        corrections.correct(context, {"own.md": {"title": ["T"]}}, " ")
    assert corrections.correction_history(context, "own.md") == []


def test_while_another_process_writes_the_title_is_shown_and_the_worker_makes_it_found(context: ActContext) -> None:
    with write_lock(context.workspace):
        corrections.correct(context, {"own.md": {"title": ["Quayside charter"]}}, ADA)
        assert of(context, "own.md").metadata.title == "Quayside charter"
        assert context.engine.collection.sparse().search("Quayside", "", 5) == []
    work(context.engine)
    assert context.engine.collection.sparse().search("Quayside", "", 5)


@pytest.mark.parametrize("name", ["own.md", "list:A1"])
def test_erasing_a_document_forgets_what_was_corrected_of_it(context: ActContext, name: str) -> None:
    corrections.agree(context, [name], ADA)
    documents.erase(context, name, ADA, "Not ours.")
    assert context.store.entered_corrections() == []
