"""The engine over real stores, with an encoder of counted words so that every score can be foreseen."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.backends.chroma import lock_indexes
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import WorkspaceError
from rag_engine.planning.follow_up import Exchange
from rag_engine.retrieval import search as retrievers
from rag_engine.settings import keep_setting
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import ControllerStep, Evidence
from rag_engine.workspace import index
from tests.rag_engine.conftest import AwayEmbedder, CountingEmbedder, OtherEmbedder

QUESTION = "When do residents within 300 metres of the dyke leave their homes?"


@pytest.fixture
def engine(counted_workspace: Path, tmp_path: Path) -> Iterator[Engine]:
    own = shutil.copytree(counted_workspace, tmp_path / "workspace")
    engine = Engine(read_config(own), embedder=CountingEmbedder())
    yield engine
    engine.close()


def test_both_retrievers_find_the_passage_and_say_so(engine: Engine) -> None:
    evidence = engine.search(QUESTION)
    best = evidence.hits[0]
    assert best.document.file == "flood.md"
    assert (best.dense_rank, best.sparse_rank) == (1, 1)
    assert best.bm25 is not None
    assert best.bm25 > 0
    assert evidence.sources[0].text.startswith("Flood plan")
    assert {"plan", "encode", "dense", "sparse", "fuse", "parents"} <= set(evidence.seconds)


def test_the_papers_configuration_searches_chroma_and_keeps_to_the_filter(engine: Engine) -> None:
    paper = engine.retrieval(profile="paper", similarity_floor=0.0)
    found = engine.search(QUESTION, {"language": ("it",)}, paper)
    assert {hit.document.file for hit in found.hits} <= {"caldo.md"}
    assert engine.search(QUESTION, None, paper).hits[0].document.file == "flood.md"
    assert engine.search(QUESTION, {"language": ("it",), "year": ("1999-2000",)}, paper).hits == ()


def test_a_large_collection_is_searched_through_chroma_with_the_same_result(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = engine.search(QUESTION)
    monkeypatch.setattr(retrievers, "EXACT_UP_TO", 0)
    approximate = engine.search(QUESTION)
    assert [hit.child_id for hit in approximate.hits] == [hit.child_id for hit in exact.hits]
    assert approximate.warnings == ()


def test_a_locked_chroma_is_reported_and_every_vector_compared_instead(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrievers, "EXACT_UP_TO", 0)
    lock = lock_indexes(index(engine.config.workspace))
    evidence = engine.search(QUESTION)
    lock.release()
    assert evidence.hits[0].document.file == "flood.md"
    assert any("in use by process" in warning for warning in evidence.warnings)


def test_without_the_encoder_keywords_still_find_the_passage(counted_workspace: Path) -> None:
    engine = Engine(read_config(counted_workspace), embedder=AwayEmbedder())
    evidence = engine.search(QUESTION)
    engine.close()
    assert evidence.hits[0].document.file == "flood.md"
    assert evidence.hits[0].dense_rank is None
    assert any("keywords only" in warning for warning in evidence.warnings)


def test_an_index_of_another_model_is_refused_with_the_cure_and_can_be_encoded_anew(engine: Engine) -> None:
    other = Engine(engine.config, embedder=OtherEmbedder())
    with pytest.raises(WorkspaceError, match=r"indexed with counting.*rebuild --encode"):
        other.search(QUESTION)
    before = [hit.child_id for hit in engine.search(QUESTION).hits]
    engine.close()
    seen: list[str] = []
    other.rebuild(encode=True, progress=lambda _done, _total, now: seen.append(now))
    assert [hit.child_id for hit in other.search(QUESTION).hits] == before
    assert seen[:3] == ["caldo.md", "duerre.md", "flood.md"]
    kept = {path.name for path in (engine.config.workspace / "vectors").iterdir()}
    assert kept == {"another-256.f32", "another-256.crc"}
    assert (
        other.collection.dense().filter()
        == other.collection.sparse().keys()
        == set(other.collection.snapshot().keys.tolist())
    )
    other.close()


def test_a_chroma_folder_has_one_owner(tmp_path: Path) -> None:
    lock = lock_indexes(tmp_path)
    with pytest.raises(WorkspaceError, match="in use by process"):
        lock_indexes(tmp_path)
    lock.release()
    lock_indexes(tmp_path).release()


def test_asking_gives_evidence_then_words_then_the_checked_answer(engine: Engine) -> None:
    parts = list(engine.ask(QUESTION))
    assert isinstance(parts[0], Evidence)
    answer = parts[-1]
    assert isinstance(answer, Answer)
    assert answer.status == "answered"
    assert answer.generator == "extractive"
    document = next(d for d in engine.collection.documents() if d.document_id == answer.citations[0].document_id)
    first = answer.citations[0]
    assert engine.catalog.text(document.key)[first.start : first.end] == first.quote


def test_a_question_that_stands_alone_is_asked_as_it_is(engine: Engine) -> None:
    before = (Exchange("When do residents near the dyke have to leave in Ireland?"),)
    first, *_ = engine.ask_next("Who publishes flood hazard maps?", before)
    assert isinstance(first, Evidence)
    assert first.plan.question == "Who publishes flood hazard maps?"


def test_a_document_without_page_geometry_is_drawn_as_a_sheet(engine: Engine) -> None:
    hit = engine.search(QUESTION).hits[0]
    assert engine.drawings.page_image(hit.document, hit.start, hit.end).result().startswith(b"\x89PNG")


def test_statistics_and_facets_count_what_is_there(engine: Engine) -> None:
    assert engine.collection.statistics().documents == 3
    assert engine.collection.statistics().languages == {"en": 1, "it": 1, "de": 1}
    assert set(engine.collection.facets()["country"]) == {"Ireland", "Italy"}
    assert [record.file for record in engine.collection.documents({"hazard": ("Flood",)})] == ["flood.md"]


def test_a_question_in_a_language_without_a_stemmer_says_how_its_keywords_are_matched(engine: Engine) -> None:
    assert not any("keywords" in warning for warning in engine.search(QUESTION).warnings)
    evidence = engine.search("Какие меры предусмотрены при наводнении и каковы права жителей?")
    assert evidence.plan.language == "ru"
    assert not any("no stemmer" in warning for warning in evidence.warnings)
    unknown = engine.search("洪水の避難計画はどうなっていますか")
    assert any("no stemmer" in warning for warning in unknown.warnings)


def test_every_part_of_a_question_is_searched_for_within_the_filter(engine: Engine) -> None:
    asked = "When do residents near the dyke leave their homes, and who repairs the lighthouses of Atlantis?"
    parts = list(engine.ask(asked, {"language": ("en",)}))
    steps = [part for part in parts if isinstance(part, ControllerStep)]
    [evidence] = [part for part in parts if isinstance(part, Evidence)]
    assert parts[: len(steps)] == steps
    assert [step.subject for step in steps] == [
        "When do residents near the dyke leave their homes?",
        "Who repairs the lighthouses of Atlantis?",
    ]
    assert evidence.steps == tuple(steps)
    assert {source.document.metadata.language for source in evidence.sources} == {"en"}
    assert "Who repairs the lighthouses of Atlantis?" in [gap.question for gap in evidence.gaps]
    answer = parts[-1]
    assert isinstance(answer, Answer)
    assert answer.text.endswith("“Who repairs the lighthouses of Atlantis?”")


def test_a_simple_question_takes_no_step_and_the_controller_can_be_switched_off(engine: Engine) -> None:
    assert not any(isinstance(part, ControllerStep) for part in engine.ask(QUESTION))
    off = replace(engine.config, controller=replace(engine.config.controller, mode="off"))
    engine.config = off
    asked = "When do residents near the dyke leave their homes, and who repairs the lighthouses of Atlantis?"
    assert not any(isinstance(part, ControllerStep) for part in engine.ask(asked))


def test_a_changed_setting_counts_from_the_next_question(engine: Engine) -> None:
    assert not engine.follow_settings()
    keep_setting(engine.config.workspace, "controller", "off", "Ada")
    keep_setting(engine.config.workspace, "execution", "torch", "Ada")
    assert engine.follow_settings()
    assert (engine.config.controller.mode, engine.config.execution) == ("off", "auto")
    assert not engine.follow_settings()
    assert engine.search(QUESTION).hits


def test_another_encoder_counts_when_an_index_made_by_it_answers(engine: Engine) -> None:
    keep_setting(engine.config.workspace, "encoder", "another", "Ada")
    assert engine.follow_settings()
    assert engine.config.encoder == "multilingual-e5-small"
    assert engine.search(QUESTION).hits
    keep_setting(engine.config.workspace, "encoder", CountingEmbedder.name, "Ada")
    assert engine.follow_settings()
    assert engine.config.encoder == CountingEmbedder.name
