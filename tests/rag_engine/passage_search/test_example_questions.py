"""Questions are drawn from headings and sentences, in the document's language."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.passage_search import example_questions
from rag_engine.passage_search.example_questions import ExampleQuestion, candidates, forget_examples
from rag_engine.storage.catalog import ParentRecord
from tests.rag_engine.conftest import CountingEmbedder

FOUND = ExampleQuestion("Who keeps the dyke?", "en", "d1")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with closing(Engine(read_config(tmp_path / "workspace"), embedder=CountingEmbedder())) as engine:
        yield engine


def asked(text: str, language: str, *headings: str) -> list[str]:
    parents = [ParentRecord(n, 1, n, 0, len(text), 1, 1, text, "", "", 0, (one,)) for n, one in enumerate(headings)]
    return [one.question for one in candidates(text, parents, language)]


def test_a_heading_that_asks_comes_first_then_sentences_then_terms() -> None:
    text = (
        "For this Agreement “heritage asset” means a listed building.\n\n"
        "(2) The Agency must publish maps of flood zones, with their scale.\n\n"
        "The river flood of 2002 cost the county 40 million euro."
    )
    assert asked(text, "en", "3.1 Reporting of national plans", "Article 2", "II. Who pays for the maps?") == [
        "Who pays for the maps?",
        "How much did the river flood of 2002 cost the county?",
        "Who must publish maps of flood zones?",
        "What does “heritage asset” mean?",
    ]


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        (
            "en",
            "The State pays 500 euro for every trained drone pilot.",
            "How much does the State pay for every trained",
        ),
        (
            "en",
            "The owner must report damage to dykes within 28 days.",
            "Within what time must the owner report damage to",
        ),
        ("en", "The map of flood zones must be reviewed every six years.", "How often must the map of flood zones be"),
        (
            "en",
            "Each county must publish an evacuation map by 30 June 2026.",
            "By when must each county publish an evacuation",
        ),
        ("en", "The mayor orders the evacuation of flooded streets.", "Who orders the evacuation of flooded streets?"),
        ("it", "Il sindaco è responsabile dei luoghi freschi: uno per quartiere.", "Chi è responsabile dei luoghi"),
        ("it", "Entro il 30 aprile ogni comune compila l’elenco delle fontane.", "Entro quando ogni comune compila"),
        ("fr", "Le préfet déclenche le niveau orange dans le département.", "Qui déclenche le niveau orange dans le"),
        (
            "fr",
            "Le budget annuel du plan canicule s’élève à 12 millions d’euros.",
            "À combien s’élève le budget annuel du",
        ),
        (
            "de",
            "Das Land schafft bis zum 31. Dezember 2027 neue Polder im Rheintal.",
            "Bis wann schafft das Land neue Polder",
        ),
        (
            "de",
            "(1) Die obere Wasserbehörde setzt Überschwemmungsgebiete durch Verordnung fest.",
            "Wer setzt Überschwemmungsgebiete durch Verordnung fest?",
        ),
        (
            "de",
            "Die Förderung je geschulte Einsatzkraft beträgt 300 Euro.",
            "Wie hoch ist die Förderung je geschulte Einsatzkraft?",
        ),
        (
            "es",
            "La ayuda por vivienda tradicional es de 120 000 pesos.",
            "¿De cuánto es la ayuda por vivienda tradicional?",
        ),
        (
            "es",
            "El alcalde ordena la evacuación de los barrios inundados.",
            "¿Quién ordena la evacuación de los barrios",
        ),
        (
            "pt",
            "O prefeito decide a evacuação preventiva das encostas.",
            "Quem decide a evacuação preventiva das encostas?",
        ),
        (
            "tr",
            "Muhtar, yaşlı ve engellilerin listesini rızalarıyla tutar.",
            "Yaşlı ve engellilerin listesini rızalarıyla kim",
        ),
        (
            "tr",
            "Deprem sigortasının kapsamı 2012'de yüzde 27'dir.",
            "Deprem sigortasının kapsamı 2012'de yüzde kaçtır?",
        ),
    ],
)
def test_a_sentence_that_states_a_figure_a_duty_a_date_or_a_body_is_asked_for_it(
    language: str, sentence: str, question: str
) -> None:
    [one] = asked(sentence, language)[:1]
    assert one.startswith(question)
    assert one.endswith("?")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Reporting of national plans"),
        ("en", "The council must publish it within the county every spring."),
        ("en", "The council must keep the register under section 12 open for citizens."),
        ("en", "The council must, where possible, comply."),
        ("en", "The register must be updated every year."),
        ("en", "The council must not close libraries during heat warnings."),
        ("it", "Il Presidente della Repubblica nomina il capo del Governo e, su proposta di questo, i ministri."),
        ("de", "Die Gemeinde ist im Sommer über die Gefahren zu unterrichten."),
        ("de", "Die Wasserbehörde wird durch das Ministerium unterstützt."),
        ("tr", "Yönetici her yıl toplantıda kurul kararıyla yeniden atanır."),
    ],
)
def test_what_is_no_topic_without_its_document_is_not_asked(language: str, text: str) -> None:
    assert asked(text, language, text) == []


def test_a_language_without_patterns_offers_only_what_is_a_question_already() -> None:
    assert asked("", "pl", "Kto płaci za nowe mapy?", "Mapy powodziowe gminy") == ["Kto płaci za nowe mapy?"]


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
