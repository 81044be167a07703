"""One question in many languages finds the decision and its page in real documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.passage_search.example_questions import find_examples
from rag_engine.types.answer import Answer

FILES = (
    "en_unfccc_cop19_warsaw_loss_damage.pdf",
    "en_unfccc_cop21_decision1_paris.pdf",
    "en_paris_agreement.pdf",
    "de_zskg_zivilschutz_katastrophenhilfe.pdf",
    "it_dpc_rilevamento_effetti_territorio.pdf",
)
# Decision 2/CP.19 begins at the foot of page 5 and ends on page 8.
DECISION = range(5, 9)

# No document is in most of the languages in which it is asked.
FOUR = (
    FILES[0],
    "en_unfccc_cop16_cancun.pdf",
    "de_zskg_zivilschutz_katastrophenhilfe.pdf",
    "tr_yangin_yonetmeligi_excerpt.pdf",
)


@pytest.fixture(scope="module")
def engine(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = open_engine(read_config(tmp_path_factory.mktemp("corpus") / "workspace"))
    added = add_paths([shared / "data" / "corpus" / name for name in FILES], engine)
    assert [one.status for one in added] == ["indexed"] * len(FILES), added
    return engine


@pytest.mark.parametrize(
    "question",
    [
        "What did Parties decide on loss and damage at Warsaw?",
        "Che cosa hanno deciso le Parti a Varsavia su perdite e danni?",
        "¿Qué decidieron las Partes en Varsovia sobre pérdidas y daños?",
        "Was haben die Vertragsparteien in Warschau zu Verlusten und Schäden beschlossen?",
    ],
)
def test_the_warsaw_decision_is_cited_with_its_page_in_every_language(engine: Engine, question: str) -> None:
    answer = list(engine.ask(question))[-1]
    assert isinstance(answer, Answer)
    assert answer.status == "answered"
    pages = {citation.page for citation in answer.citations if citation.file == FILES[0]}
    assert pages & set(DECISION), answer.text
    for citation in answer.citations:
        document = engine.catalog.find_document(citation.document_id)
        assert engine.catalog.text(document.key)[citation.start : citation.end] == citation.quote


def test_real_documents_suggest_questions_that_their_own_words_answer(engine: Engine) -> None:
    suggested = find_examples(engine, "de")
    assert len(suggested) >= 2
    for one in suggested:
        assert "„" not in one.question
        *_, answer = engine.ask(one.question)
        assert isinstance(answer, Answer)
        assert answer.citations[0].document_id == one.document_id


@pytest.fixture(scope="module")
def four(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = open_engine(read_config(tmp_path_factory.mktemp("four") / "workspace"))
    added = add_paths([shared / "data" / "corpus" / name for name in FOUR], engine)
    assert [one.status for one in added] == ["indexed"] * len(FOUR), added
    return engine


@pytest.mark.parametrize(
    "question",
    [
        "Which mechanism did Parties establish at Warsaw for loss and damage?",
        "Quale meccanismo per perdite e danni è stato istituito a Varsavia?",
        "¿Qué mecanismo para pérdidas y daños se estableció en Varsovia?",
        "Welcher Mechanismus für Verluste und Schäden wurde in Warschau eingerichtet?",
        "Quel mécanisme pour les pertes et préjudices a été créé à Varsovie ?",
        "Que mecanismo para perdas e danos foi criado em Varsóvia?",
        "Varşova'da kayıp ve zarar için hangi mekanizma kuruldu?",
        "Welk mechanisme voor verlies en schade werd in Warschau opgericht?",
    ],
)
def test_what_the_documents_answer_in_their_language_is_answered_in_another(four: Engine, question: str) -> None:
    answer = list(four.ask(question))[-1]
    assert isinstance(answer, Answer)
    assert answer.status == "answered"
    assert answer.citations[0].file == FOUR[0]
    assert answer.citations[0].page in DECISION


@pytest.mark.parametrize(
    "question",
    [
        "Quando è stata fondata l'università di Varsavia?",
        "Wie hoch ist der Kulturpalast in Warschau?",
        "Quanto è lungo un campo da calcio?",
        "Kopenhag'da kaç bisiklet var?",
    ],
)
def test_a_place_that_the_documents_name_answers_nothing_by_itself(four: Engine, question: str) -> None:
    answer = list(four.ask(question))[-1]
    assert isinstance(answer, Answer)
    assert answer.status == "insufficient_evidence"
