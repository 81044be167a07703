"""Questions are drawn from headings and definitions, in the document's own language."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.passage_search import example_questions
from rag_engine.passage_search.example_questions import ExampleQuestion, candidates, forget_examples
from tests.rag_engine.conftest import CountingEmbedder

FOUND = ExampleQuestion("Who keeps the dyke?", "en", "d1")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with closing(Engine(read_config(tmp_path / "workspace"), embedder=CountingEmbedder())) as engine:
        yield engine


def test_a_heading_that_asks_comes_first_then_a_term_then_a_topic() -> None:
    text = "For the purpose of this Agreement “Convention” means the Framework Convention."
    headings = ("3.1 Reporting of national plans", "Article 2", "II. Who pays for the maps?", "ALL ABOUT MONEY")
    assert list(candidates(text, headings, "en")) == [
        "Who pays for the maps?",
        "What does “Convention” mean?",
        "What do the documents say about “Reporting of national plans”?",
    ]


def test_a_topic_is_asked_about_in_the_language_of_its_document() -> None:
    assert list(candidates("", ("§ 5 Schutz der Bevölkerung",), "de")) == [
        "Was steht in den Dokumenten über „Schutz der Bevölkerung“?"
    ]


@pytest.mark.parametrize(
    ("heading", "topic"),
    [
        ("Erster Abschnitt Schutz der Bevölkerung", "Schutz der Bevölkerung"),
        ("Seção II Do Tratamento de Dados Pessoais", "Do Tratamento de Dados Pessoais"),
        ("Chapter 3: Keepers of the maps", "Keepers of the maps"),
        ("Part of the national plan", "Part of the national plan"),
    ],
)
def test_the_label_of_a_section_is_no_part_of_its_topic(heading: str, topic: str) -> None:
    assert list(candidates("", (heading,), "en")) == [f"What do the documents say about “{topic}”?"]


@pytest.mark.parametrize(
    ("heading", "language"),
    [("Why a plan for a cool country", "en"), ("Wie gewarnt wird", "de"), ("Cómo avisar", "es")],
)
def test_half_a_question_is_no_topic(heading: str, language: str) -> None:
    assert list(candidates("", (heading,), language)) == []


def test_a_language_without_patterns_offers_only_what_is_a_question_already() -> None:
    assert list(candidates("", ("Kto płaci za mapy?", "Mapy powodziowe gminy"), "pl")) == ["Kto płaci za mapy?"]


def test_examples_are_looked_for_once_until_the_collection_changes_or_a_document_is_erased(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def find(_engine: Engine, language: str) -> tuple[ExampleQuestion, ...]:
        looked.append(language)
        return (FOUND,)

    monkeypatch.setattr(example_questions, "find_examples", find)

    assert example_questions.example_questions(engine, "en") == (FOUND,)
    assert example_questions.example_questions(engine, "en") == (FOUND,)
    assert looked == ["en"]
    example_questions.example_questions(engine, "it")
    example_questions.example_questions(engine, "en")
    assert looked == ["en", "it"]
    (tmp_path / "dyke.md").write_text("# Dyke\n\n" + "The warden keeps the dyke. " * 30)
    add_paths([tmp_path / "dyke.md"], engine)
    example_questions.example_questions(engine, "en")
    assert len(looked) == 3
    forget_examples(engine)
    assert FOUND.question not in engine.catalog.state("example questions")
    example_questions.example_questions(engine, "en")
    assert len(looked) == 4
