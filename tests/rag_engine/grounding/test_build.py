"""The knowledge base of a small collection: written, kept, and gone with its documents."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.book_index.anchors import IndexRecord
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.grounding.build import GroundingSummary, build_knowledge_base
from rag_engine.grounding.knowledge import GroundedEntry, KnowledgeBase, index_entries
from rag_engine.storage.catalog import describe_document
from rag_engine.storage.index_entries import IndexedEntry, replace_index
from rag_engine.types.language_model import Prompt
from tests.rag_engine.conftest import CountingEmbedder, unread
from tests.rag_engine.model_by_hand import ModelByHand
from tests.rag_engine.small_collection import GUIDE, NOTICE, REPORT, Written, document_of, indexed, weighed

FLOODS = Written(
    "Flood handbook",
    (
        "A levee is a wall of earth along a river. It is inspected every spring. Cracks are filled with clay. "
        + "Boats lie in the harbour of the town, and the ferry leaves at noon on working days. " * 20,
        "The warden of a levee lives beside it. He closes the gate when the gauge shows four metres. "
        + "Museums and schools stay open in summer, and the library lends its books for weeks. " * 20,
        "Index. Levee, 1, 2. Levee, warden of, 2. Harbour, 1. Museums, 2. Schools, 2. Ferry, 1.",
    ),
    records=(IndexRecord("levee", pages=(1, 2)), IndexRecord("levee", "warden of", pages=(2,))),
)


WRITTEN = ("The warden lives beside the levee [Source 1].",)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("made") / "workspace"
    indexed(workspace, CountingEmbedder(), (FLOODS, NOTICE)).close()
    return workspace


@pytest.fixture
def engine(made: Path, tmp_path: Path) -> Iterator[Engine]:
    copy = shutil.copytree(made, tmp_path / "workspace")
    with closing(Engine(weighed(unread(copy)), embedder=CountingEmbedder())) as engine:
        yield engine


def build(
    engine: Engine, writer: ModelByHand | None = None, *, again: bool = False, entries: int | None = None
) -> GroundingSummary:
    """Build the knowledge base, up to a number of entries."""
    seen: list[str] = []
    return build_knowledge_base(
        engine,
        writer,
        lambda record: (3,) if record.file == "Flood handbook.txt" else (),
        again=again,
        progress=lambda done, total, name: seen.append(name),
        stopped=lambda: entries is not None and len(seen) >= entries,
    )


def grounded(engine: Engine) -> dict[str, GroundedEntry]:
    return {one.name: one for one in KnowledgeBase(engine.catalog).entries(engine.collection.snapshot().documents)}


def counts(summary: GroundingSummary) -> tuple[int, int, int, int]:
    return summary.written, summary.kept, summary.failed, summary.waiting


def test_an_entry_has_its_three_nearest_passages_and_the_sentences_to_which_the_index_leads(engine: Engine) -> None:
    assert counts(build(engine)) == (2, 0, 0, 0)

    levee = grounded(engine)["levee"]
    [document] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]
    passages = [one for one in levee.sources if one.cosine is not None]
    assert len(passages) == 3
    assert [one.cosine for one in passages] == sorted((one.cosine or 0.0 for one in passages), reverse=True)
    assert {one.document_id for one in levee.sources} == {document.document_id}, "of the work that the index is of"
    text = engine.catalog.text(document.key)
    assert all(one.text == text[one.start : one.end] for one in levee.sources)
    assert [(one.page, one.text.partition(".")[0]) for one in levee.contexts] == [
        (1, "A levee is a wall of earth along a river"),
        (2, "The warden of a levee lives beside it"),
    ]
    sources = {one.n: " ".join(one.text.split()) for one in levee.sources}
    assert all(one.text in sources[one.n] for one in levee.contexts)


def test_a_corrected_licence_is_in_the_references_and_nothing_is_written_again(engine: Engine) -> None:
    writer = ModelByHand(WRITTEN, name="writer")
    build(engine, writer)
    asked = len(writer.prompts)
    [document] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]
    with engine.catalog.begin() as connection:
        describe_document(
            connection,
            document.key,
            replace(document.metadata, authority="River Office", year=2021, licence="CC BY-ND 4.0"),
        )

    build(engine, writer)

    [reference] = grounded(engine)["levee, warden of"].references
    assert reference.text.startswith("River Office, Flood handbook, 2021, ")
    assert reference.text.endswith("CC BY-ND 4.0 (no changes)")
    assert len(writer.prompts) == asked


def test_pages_of_the_index_itself_are_no_passages(engine: Engine) -> None:
    build(engine)
    assert all(one.page < 3 for entry in grounded(engine).values() for one in entry.sources)


def test_without_a_language_model_the_text_consists_of_quotations_with_their_pages(engine: Engine) -> None:
    build(engine)

    levee = grounded(engine)["levee"]
    assert (levee.generator, levee.status) == ("extractive", "answered")
    assert levee.text == "\n".join(f"“{one.quote}” [Source {one.n}]" for one in levee.quotes)
    assert 1 <= len(levee.quotes) <= 3
    sources = {one.n: " ".join(one.text.split()) for one in levee.sources}
    assert all(one.quote in sources[one.n] for one in levee.quotes)


def test_a_language_model_writes_from_the_passages_and_its_sentences_are_checked(engine: Engine) -> None:
    writer = ModelByHand(WRITTEN, name="writer")
    build(engine, writer)

    levee = grounded(engine)["levee"]
    assert (levee.text, levee.generator) == ("The warden lives beside the levee [Source 1].", "writer")
    assert [(one.n, one.quote) for one in levee.quotes] == [(1, "The warden of a levee lives beside it.")]
    assert len(levee.support) == 1
    assert "What do the documents say about “levee”?" in writer.prompts[0].user
    assert "At most three sentences, in English." in writer.prompts[0].user


@pytest.mark.parametrize("writer", [None, ModelByHand(("A wall [Source 3]. The warden lives beside it [Source 2].",))])
def test_each_mark_of_an_entry_leads_to_the_passage_that_is_quoted(engine: Engine, writer: ModelByHand | None) -> None:
    build(engine, writer)
    for entry in grounded(engine).values():
        passages = {one.n: " ".join(one.text.split()) for one in entry.sources}
        assert entry.quotes
        named = list(dict.fromkeys(one.n for one in entry.quotes))
        assert named == list(range(1, len(named) + 1))
        assert all(one.quote in passages[one.n] for one in entry.quotes)
        assert all(one.text in passages[one.n] for one in entry.contexts)


def test_what_is_done_is_not_done_again(engine: Engine) -> None:
    build(engine)
    before = grounded(engine)

    assert counts(build(engine)) == (0, 2, 0, 0)
    assert grounded(engine) == before
    assert counts(build(engine, again=True)) == (2, 0, 0, 0)


def test_a_build_that_was_stopped_goes_on_where_it_was(engine: Engine) -> None:
    assert counts(build(engine, entries=1)) == (1, 0, 0, 1)
    assert list(grounded(engine)) == ["levee"]
    assert counts(build(engine)) == (1, 1, 0, 0)


def test_what_was_quoted_for_want_of_a_model_is_written_when_one_answers_and_stays_when_it_is_gone(
    engine: Engine,
) -> None:
    build(engine)
    assert counts(build(engine, ModelByHand(WRITTEN, name="writer"))) == (2, 0, 0, 0)
    assert counts(build(engine)) == (0, 2, 0, 0)
    assert {one.generator for one in grounded(engine).values()} == {"writer"}


def test_another_document_of_the_collection_changes_nothing(engine: Engine) -> None:
    build(engine)
    with engine.indexer() as indexer:
        indexer.add(document_of(REPORT), "1")
        indexer.finish()
    assert counts(build(engine)) == (0, 2, 0, 0)


def test_an_entry_whose_passages_have_changed_is_done_again(engine: Engine) -> None:
    build(engine)
    [document] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]
    start = engine.catalog.text(document.key).index("Museums and schools")
    replace_index(engine.catalog, "table.csv", {document.key: [IndexedEntry("opening", "", "table.csv", 2, 0, 40)]})
    assert counts(build(engine)) == (1, 2, 0, 0)

    moved = IndexedEntry("opening", "", "table.csv", 2, start, start + 80)
    replace_index(engine.catalog, "table.csv", {document.key: [moved]})
    assert counts(build(engine)) == (1, 2, 0, 0)
    assert grounded(engine)["opening"].contexts[0].text.startswith("Museums and schools stay open in summer")


def test_an_entry_that_an_index_no_longer_has_is_removed(engine: Engine) -> None:
    [document] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]
    replace_index(engine.catalog, "table.csv", {document.key: [IndexedEntry("harbour", "", "table.csv", 1, 0, 40)]})
    build(engine)
    replace_index(engine.catalog, "table.csv", {})
    assert "harbour" not in grounded(engine)

    assert build(engine).removed == 1
    assert len(KnowledgeBase(engine.catalog).groundings()) == 2


def test_what_was_written_from_a_document_goes_with_it(engine: Engine) -> None:
    with engine.indexer() as indexer:
        indexer.add(document_of(GUIDE), "1", GUIDE.records)
        indexer.finish()
    build(engine)
    [handbook] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]

    assert engine.writer.erase(handbook).left_behind == ()

    assert {one.entry.name for one in KnowledgeBase(engine.catalog).groundings().values()} == {
        "alarm, acoustic",
        "freeboard",
    }


def test_what_is_being_written_from_a_document_while_it_is_erased_is_not_kept(engine: Engine) -> None:
    [handbook] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]

    class Erasing(ModelByHand):
        def stream(self, prompt: Prompt) -> Iterator[str]:
            if not self.prompts:
                engine.writer.erase(handbook)
            yield from super().stream(prompt)

    build(engine, Erasing(WRITTEN), entries=1)
    assert KnowledgeBase(engine.catalog).groundings() == {}


def test_a_document_that_is_encoded_again_keeps_what_was_written_from_it(engine: Engine) -> None:
    build(engine)
    engine.rebuild(encode=True)
    assert counts(build(engine)) == (0, 2, 0, 0)


def test_an_entry_at_which_the_model_fails_is_left_for_the_next_build_with_the_reason(engine: Engine) -> None:
    summary = build(engine, ModelByHand(failure=BackendError("The model is away.")))
    assert counts(summary) == (0, 0, 2, 0)
    assert summary.failure == "The model is away."
    assert grounded(engine) == {}
    assert counts(build(engine, ModelByHand(WRITTEN, name="writer"))) == (2, 0, 0, 0)


def test_a_model_that_is_away_ends_the_build(engine: Engine) -> None:
    [document] = [one for one in engine.collection.documents() if one.file == "Flood handbook.txt"]
    listed = [IndexedEntry(term, "", "table.csv", 1, 0, 40) for term in ("boats", "clay", "cracks")]
    replace_index(engine.catalog, "table.csv", {document.key: listed})
    writer = ModelByHand(failure=BackendError("The model is away."))
    with pytest.raises(BackendError, match="away"):
        build(engine, writer)
    assert len(writer.prompts) == 3


def test_entries_of_one_name_in_two_indexes_are_two(engine: Engine) -> None:
    with engine.indexer() as indexer:
        indexer.add(document_of(GUIDE), "1", (IndexRecord("levee", pages=(1,)),))
        indexer.finish()
    found = index_entries(engine.catalog, engine.collection.snapshot().documents)
    assert sorted((one.name, one.index) for one in found) == [
        ("levee", "Flood handbook.txt"),
        ("levee", "Guide to small dams.txt"),
        ("levee, warden of", "Flood handbook.txt"),
    ]
    assert len({one.id for one in found}) == 3


def test_the_figures_of_a_build_are_told_in_words() -> None:
    assert GroundingSummary(12, 10, 2, 0, 1, 0, "extractive").describe() == (
        "12 entries: 10 written, 2 unchanged, 1 removed"
    )
