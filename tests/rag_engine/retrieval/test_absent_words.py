"""That a word does not occur in a named document is said only where no form of it does."""

from collections.abc import Iterator

import pytest

from rag_engine.answer_sentences import absent_sections
from rag_engine.engine import Engine
from rag_engine.retrieval.absent_words import occurs
from rag_engine.types.answer import Answer
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import COLLECTION, Written, indexed, statute

CODE = statute(
    "Deichschutzverordnung",
    {
        "Artikel 1\nBegriffe": "Deich ist ein Erdwall, der das Hochwasser vom Land fernhält und Häuser schützt. ",
        "Artikel 2\nPläne": "Die Behörde zeichnet jährlich einen Plan der Deiche und der Schutzräume hinter ihnen. ",
    },
    "de",
)
HALVES = Written("Siren Act", ("The siren warns the village and is tested on the first Monday. " * 8, ""))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield an engine over acts in English and German."""
    workspace = tmp_path_factory.mktemp("absent") / "workspace"
    engine = indexed(workspace, CountingEmbedder(), (*COLLECTION, CODE, HALVES))
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("word", "text", "language"),
    [
        ("Kraftwerke", "Ein Kernkraftwerk wird abgeschaltet.", "de"),
        ("Häuser", "Das Haus brennt.", "de"),
        ("Städte", "Die Großstadt wächst.", "de"),
        ("Katastrophe", "Im Kata-\nstrophenfall hilft der Bund.", "de"),
        ("nuclear", "N u c l e a r  power", "en"),
        ("women", "every woman", "en"),
        ("children", "each child", "en"),
        ("feet", "on foot", "en"),
        ("taxes", "taxation of fuel", "en"),
        ("sulfur", "sulphur dioxide", "en"),
        ("organisation", "the organization", "en"),
        ("adapting", "measures of adaptation", "en"),
        ("animali", "tutela dell'animale", "it"),
        ("uomini", "ogni uomo", "it"),
        ("travaux", "le travail", "fr"),
        ("limões", "o limão", "pt"),
        ("asansörlerden", "asansörü olan bina", "tr"),
        ("kitaplar", "kitabı", "tr"),
        ("leyes", "la ley", "es"),
        ("energies", "clean energy", "en"),
    ],
)
def test_a_word_occurs_in_any_of_its_forms(word: str, text: str, language: str) -> None:
    assert occurs(word, text, language)


@pytest.mark.parametrize(
    ("word", "text", "language"),
    [
        ("Kernkraftwerke", "Windräder dürfen gebaut werden.", "de"),
        ("nuclear", "It is unclear who pays.", "en"),
        ("tourism", "The treaty covers forests.", "en"),
        ("vaccini", "La Repubblica tutela la salute.", "it"),
        ("helikopter", "Kat malikleri öder.", "tr"),
    ],
)
def test_a_word_of_which_no_form_is_there_does_not_occur(word: str, text: str, language: str) -> None:
    assert not occurs(word, text, language)


def said(engine: Engine, question: str) -> str:
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    return absent_sections(answer.evidence.absent, answer.evidence.plan.language)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            "Does the Dyke Protection Act mention tourism?",
            "“tourism” does not occur in the Dyke Protection Act (whole text searched).",
        ),
        (
            "What does the Flood Insurance Act say about nuclear accidents?",
            "“nuclear” does not occur in the Flood Insurance Act (whole text searched).",
        ),
        (
            "Is there anything about tourism in the Dyke Protection Act?",
            "“tourism” does not occur in the Dyke Protection Act (whole text searched).",
        ),
        (
            "Erwähnt die Deichschutzverordnung Hubschrauber?",
            "„Hubschrauber“ kommt in „Deichschutzverordnung“ nicht vor (gesamter Text durchsucht).",
        ),
        (
            "Kommt „ombudsman“ im Dyke Protection Act vor?",
            "„ombudsman“ kommt in „Dyke Protection Act“ nicht vor (gesamter Text durchsucht).",
        ),
    ],
)
def test_the_document_and_the_word_are_named_as_the_question_does(engine: Engine, question: str, sentence: str) -> None:
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    assert (answer.status, answer.text) == ("insufficient_evidence", sentence)


@pytest.mark.parametrize(
    "question",
    [
        "Does the Dyke Protection Act mention wardens?",
        "Does the Dyke Protection Act mention maps of dykes?",
        "Erwähnt die Deichschutzverordnung den Schutzraum?",
        "Was sagt die Deichschutzverordnung zum Haus?",
        # Of another language than the document, the word is not known to be one of its language.
        "Erwähnt der Dyke Protection Act Hubschrauber?",
        "Kommt „Hubschrauber“ im Dyke Protection Act vor?",
        # No list of words is asked for, and no single document.
        "What does the Dyke Protection Act say about who repairs helicopters?",
        "Does any document mention helicopters?",
        "How many helicopters does the Dyke Protection Act pay for?",
        # A page without text may hold the word.
        "Does the Siren Act mention helicopters?",
    ],
)
def test_in_doubt_nothing_is_said_to_be_absent(engine: Engine, question: str) -> None:
    assert said(engine, question) == ""


def test_a_greeting_gets_one_line_of_help(engine: Engine) -> None:
    *_, answer = engine.ask("Hello!")
    assert isinstance(answer, Answer)
    assert answer.text == "Ask a question about your documents: who does what, by when, how much."
    assert answer.evidence.sources == ()
