"""First questions on the invented samples without a language model, and the commands of the documents."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from ingestion.add_files import add_paths
from rag_engine.config import GenerationConfig, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.passage_search.example_questions import candidates, find_examples
from rag_engine.types.answer import Answer
from tests.conftest import ROOT

SAMPLE = ROOT / "data" / "sample" / "documents"
EXAMPLES = {
    "When must a local flood plan be replaced and reviewed?": "within five years of its publication",
    "Quali misure prevede il piano caldo per le persone anziane?": "i programmi di visita siano concordati con loro",
    "Quels sont les niveaux de vigilance du plan canicule ?": "Niveau: 3 Alerte canicule; Couleur: orange",
    "¿Qué es un refugio climático?": "es un lugar público y gratuito",
}
MORE = {
    "After how many hours, and in what climate, does mould start to grow on wet objects?": "Mould begins to grow",
    "What share of the water leaks from the pipes in Italy?": "Country: Italy",
    "Who has to open cool rooms in Ireland when a heat warning is orange?": "open cool rooms in libraries",
    "Da quante persone è composta una squadra di recupero dei beni culturali dopo un'alluvione?": "da cinque persone",
    "Combien de décès en excès la canicule d'août 2003 a-t-elle causés en France ?": "15 000 décès en excès",
    "Qu'est-ce que la phase de pré-alerte dans le plan inondations des vallées de l'Est ?": "Pré-alerte",
    "Auf welchen Wasserstand fiel der Rhein am Pegel Kaub im Oktober 2018?": "auf 25 Zentimeter",
    "Was bedeutet Priorität 1 für ein Objekt auf der Notfallkarte?": "in 30 Minuten bergen",
    "¿Qué es la regla 30-30-30 del botón rojo?": "la regla 30-30-30",
    "Que valores são comparados pelo índice Ícaro?": "compara as mortes esperadas",
    "Quem decide a evacuação preventiva num fogo rural?": "decide a evacuação preventiva",
    "2011 Van depreminde kaç kişi öldü?": "604 kişi",
}
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
WITHOUT_ANSWER = (
    "What is the best recipe for carbonara?",
    "Wie backe ich ein Roggenbrot ohne Hefe?",
    "Quem descobriu o caminho marítimo para a Índia?",
    "Quali sono le soglie di temperatura per le allerte caldo in Grecia?",
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    config = read_config(tmp_path_factory.mktemp("sample") / "workspace")
    engine = open_engine(replace(config, generation=GenerationConfig(ollama_url="http://127.0.0.1:9")))
    add_paths([SAMPLE], engine)
    return engine


def ask(engine: Engine, question: str) -> Answer:
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize("language", ["en", "it"])
def test_the_first_quotation_answers_each_suggested_question_from_its_own_sentence(
    engine: Engine, language: str
) -> None:
    suggested = find_examples(engine, language)
    assert len(suggested) == 4
    assert [one.language == language for one in suggested] == [True, True, True, False]
    for one in suggested:
        assert "“" not in one.question
        document = engine.catalog.find_document(one.document_id)
        text = engine.catalog.text(document.key)
        [made] = [each for each in candidates(text, (), one.language) if each.question == one.question]
        first = ask(engine, one.question).citations[0]
        assert first.document_id == one.document_id
        assert first.start < made.end
        assert made.start < first.end


def test_most_of_them_are_in_the_language_that_is_wanted_or_else_in_others(engine: Engine) -> None:
    italian = [one.language for one in find_examples(engine, "it")]
    assert italian.count("it") > len(italian) / 2
    assert len(find_examples(engine, "ja")) == 4


def test_those_of_some_documents_are_drawn_from_them_alone(engine: Engine) -> None:
    [turkish] = [one for one in engine.collection.documents() if one.metadata.language == "tr"][:1]
    assert {one.document_id for one in find_examples(engine, "en", (turkish.document_id,))} == {turkish.document_id}


@pytest.mark.parametrize(("question", "words"), [*EXAMPLES.items(), *MORE.items()])
def test_the_sentence_that_answers_is_quoted(engine: Engine, question: str, words: str) -> None:
    answer = ask(engine, question)
    assert answer.status == "answered"
    quotes = [" ".join(citation.quote.split()) for citation in answer.citations]
    assert any(words in quote for quote in quotes), answer.text


def test_what_is_done_is_quoted_where_measures_are_asked_for_and_no_definition(engine: Engine) -> None:
    answer = ask(engine, "Taşkın riski yüksek bölgelerde hangi önlemler alınır?")
    quotes = [one.quote for one in answer.citations]
    assert any("acil önlemler için izin aranmaz" in quote for quote in quotes)
    assert not any("yatağından çıkarak" in quote for quote in quotes)
    # The documents set out measures for drought and for heritage, none for areas at risk of floods.
    assert not any(one.fit == "answers" for one in answer.quoted)


@pytest.mark.parametrize("question", WITHOUT_ANSWER)
def test_what_the_documents_do_not_answer_is_refused(engine: Engine, question: str) -> None:
    answer = ask(engine, question)
    assert (answer.status, answer.citations) == ("insufficient_evidence", ())


def _sessions(path: Path) -> list[tuple[str, list[str]]]:
    """Return the commands of a document that are shown with their output, each with its lines."""
    blocks = re.findall(r"^```console\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    commands = [one for block in blocks for one in block.removeprefix("$ ").split("\n$ ")]
    return [(command, lines) for command, *lines in (one.strip().split("\n") for one in commands)]


@pytest.mark.parametrize("name", [path.relative_to(ROOT).as_posix() for path in DOCUMENTS if _sessions(path)])
def test_the_commands_of_a_document_print_what_it_shows(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(engine.config.workspace, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    for command, lines in _sessions(ROOT / name):
        program, *words = shlex.split(command)
        assert program == "sextant"
        done = CliRunner().invoke(app, words)
        said = " ".join(done.output.split())
        assert done.exit_code == 0, f"{command}: {said}"
        assert not [line for line in lines if " ".join(line.split()) not in said], f"{command}: {said}"
