"""Sections that a question names: looked up in the catalog, or known not to exist."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_engine.engine import Engine
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import AbsentSection
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import COLLECTION, Written, indexed, statute

RULE = "Der Bund unterhält Lager mit Decken und Betten, und die Länder verteilen sie nach einer Flut. "
GERMAN_ACT = statute(
    "Flutvorsorgegesetz (FVG)", {f"§ {n} Vorrat {n}": f"{RULE}Vorrat {n} gehört dazu. " for n in range(1, 5)}, "de"
)
PACT = statute(
    "Geneva Agreement",
    {
        f"Article {n}\nTopic": f"What the parties owe each other along every river is settled here, item {n}. "
        for n in (1, 2, 3, 5)
    },
)
# The heading is there, but in a form that no section was made of.
PACT = Written(PACT.title, (PACT.pages[0] + "\n\nThe parties met again.\n\nArticle 7 was struck out by them in May.",))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    workspace: Path = tmp_path_factory.mktemp("named")
    engine = indexed(workspace, CountingEmbedder(), (*COLLECTION, GERMAN_ACT, PACT))
    yield engine
    engine.close()


def first(engine: Engine, question: str) -> tuple[str, str]:
    best = engine.search(question).hits[0]
    return (best.document.metadata.title, best.section) if best.named else ("", "")


@pytest.mark.parametrize(
    ("question", "title", "section"),
    [
        ("articolo 3 dell'Accordo di Ginevra", "Geneva Agreement", "Article 3"),
        ("Cenevre Anlaşması'nın 5. maddesi ne diyor?", "Geneva Agreement", "Article 5"),
        ("Was regelt § 3 FVG?", "Flutvorsorgegesetz (FVG)", "§ 3"),
        ("fvg § 3", "Flutvorsorgegesetz (FVG)", "§ 3"),
        ("Article 3 of the FVG", "Flutvorsorgegesetz (FVG)", "§ 3"),
        ("Article 3.2 of the Geneva Agreement", "Geneva Agreement", "Article 3"),
    ],
)
def test_a_section_is_met_in_any_language_and_whatever_its_act_calls_its_sections(
    engine: Engine, question: str, title: str, section: str
) -> None:
    assert first(engine, question) == (title, section)


def test_each_section_is_that_of_the_act_beside_it(engine: Engine) -> None:
    found = engine.search("Compare § 2 FVG with Article 5 of the Geneva Agreement")
    assert [source.section for source in found.sources][:2] == ["§ 2", "Article 5"]
    found = engine.search("Article 1 of the Geneva Agreement and of the Dyke Protection Act")
    assert {source.document.metadata.title for source in found.sources[:2]} == {
        "Geneva Agreement", "Dyke Protection Act",
    }  # fmt: skip


def test_a_section_without_its_act_is_the_only_one_of_that_label(engine: Engine) -> None:
    assert first(engine, "What does article 5 say?") == ("Geneva Agreement", "Article 5")
    assert first(engine, "What does article 1 say?") == ("", "")


@pytest.mark.parametrize("question", ["Article 3 of the Montreal Protocol", "Article 5 of the Warsaw Agreement"])
def test_a_section_of_an_act_that_is_not_there_is_none_of_those_that_are(engine: Engine, question: str) -> None:
    assert first(engine, question) == ("", "")


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does Article 9 of the Geneva Agreement say?", "Article 9 does not exist in “Geneva Agreement”"),
        ("Was steht in Artikel 9 des Genfer Abkommens?", "Artikel 9 gibt es in „Geneva Agreement“"),
        ("Cosa dice l'articolo 9 dell'Accordo di Ginevra sui fiumi?", "Articolo 9 non esiste in “Geneva Agreement”"),
    ],
)
def test_a_section_that_its_act_does_not_have_is_said_not_to_exist(
    engine: Engine, question: str, sentence: str
) -> None:
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    assert answer.status == "insufficient_evidence"
    assert answer.text.startswith(sentence)
    assert not answer.citations
    [absent] = answer.evidence.absent
    assert isinstance(absent, AbsentSection)
    assert (absent.act, absent.first, absent.last) == ("Geneva Agreement", "1", "5")


def test_what_does_exist_is_answered_beside_it(engine: Engine) -> None:
    *_, answer = engine.ask("What do Articles 3 and 9 of the Geneva Agreement say?")
    assert isinstance(answer, Answer)
    assert answer.status == "answered"
    assert answer.text.startswith("Article 9 does not exist")
    assert answer.evidence.absent == (AbsentSection("Article 9", "Geneva Agreement", "1", "5"),)


def test_only_what_is_named_is_quoted(engine: Engine) -> None:
    *_, answer = engine.ask("What does Article 3 of the Geneva Agreement say about grass on the slope?")
    assert isinstance(answer, Answer)
    named = {source.n for source in answer.evidence.sources if any(hit.named for hit in source.hits)}
    assert {citation.n for citation in answer.citations} == named
    assert "item 3" in answer.text


def test_nothing_is_claimed_of_a_section_whose_heading_the_pages_print(engine: Engine) -> None:
    assert engine.search("Article 7 of the Geneva Agreement").absent == ()


def test_a_section_outside_the_filter_is_not_said_to_be_missing(engine: Engine) -> None:
    found = engine.search("Article 3 of the Geneva Agreement", {"language": ("de",)})
    assert found.absent == ()
    assert not any(hit.named for hit in found.hits)
