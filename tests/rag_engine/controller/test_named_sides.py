"""Documents, countries and years that a question names beside each other, in seven languages."""

import pytest

from rag_engine.controller.named_sides import named_sides
from rag_engine.geography import load_gazetteer
from rag_engine.types.document import DocumentRecord, Metadata
from rag_engine.types.evidence import Side

CANCUN, WARSAW, GERMAN_LAW, ITALIAN_LAW = 1, 2, 3, 4


def record(key: int, file: str, pages: int, metadata: Metadata) -> DocumentRecord:
    return DocumentRecord(key, "", "", file, "", "", pages, 0, 1, 1, 1, "", metadata)


RECORDS = {
    CANCUN: record(CANCUN, "cop16.pdf", 31, Metadata("Report of the Conference held in Cancun", "en")),
    WARSAW: record(WARSAW, "cop19.pdf", 43, Metadata("Report of the Conference held in Warsaw", "en")),
    GERMAN_LAW: record(GERMAN_LAW, "zs.pdf", 9, Metadata("Zivilschutzgesetz", "de", countries=("Germany",))),
    ITALIAN_LAW: record(ITALIAN_LAW, "pc.pdf", 4, Metadata("Protezione civile", "it", countries=("Italy",))),
}


def sides(question: str, language: str) -> tuple[Side, ...]:
    return named_sides(question, language, (), RECORDS, load_gazetteer())


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "How did finance develop from Cancún to Warsaw?"),
        ("en", "Compare Cancún with Warsaw on finance"),
        ("en", "What do COP16 and COP19 say about finance?"),
        ("it", "Come è cambiata la finanza da Cancún a Varsavia?"),
        ("fr", "Que décident Cancún et Varsovie sur le financement ?"),
        ("es", "¿Qué decidieron Cancún y Varsovia sobre finanzas?"),
        ("de", "Wie hat sich die Finanzierung von Cancún bis Warschau entwickelt?"),
        ("pt", "Como evoluiu o financiamento de Cancún a Varsóvia?"),
        ("tr", "Cancún'dan Varşova'ya finansman nasıl değişti?"),
        ("tr", "Finansman Cancún'dan Varşova'ya nasıl değişti?"),
    ],
)
def test_two_documents_that_a_question_names_by_the_place_of_a_meeting_are_its_sides(
    language: str, question: str
) -> None:
    assert [side.documents for side in sides(question, language)] == [{CANCUN}, {WARSAW}]
    assert [side.pages for side in sides(question, language)] == [31, 43]


@pytest.mark.parametrize(
    ("language", "question", "names"),
    [
        ("en", "Who pays for shelters in Germany and in Italy?", ["Germany", "Italy"]),
        ("it", "Chi paga i rifugi in Germania e in Italia?", ["Germania", "Italia"]),
        ("fr", "Qui paie les abris en Allemagne et en Italie ?", ["Allemagne", "Italie"]),
        ("es", "¿Quién paga los refugios en Alemania y en Italia?", ["Alemania", "Italia"]),
        ("de", "Wer zahlt Schutzräume in Deutschland und in Italien?", ["Deutschland", "Italien"]),
        ("pt", "Quem paga os abrigos na Alemanha e na Itália?", ["Alemanha", "Itália"]),
        ("tr", "Almanya ve İtalya sığınakları nasıl öder?", ["Almanya", "İtalya"]),
    ],
)
def test_countries_are_sides_with_their_documents_and_are_called_by_their_names(
    language: str, question: str, names: list[str]
) -> None:
    found = sides(question, language)
    assert [side.name for side in found] == names
    assert [side.documents for side in found] == [{GERMAN_LAW}, {ITALIAN_LAW}]


def test_each_side_is_asked_without_the_names_of_all_of_them() -> None:
    first, second = sides("How long is a term in Germany and how is it paid in Italy?", "en")
    assert (first.question, first.query) == ("How long is a term in Germany?", "How long is a term?")
    assert (second.question, second.query) == ("How is it paid in Italy?", "How is it paid?")


@pytest.mark.parametrize(
    ("language", "question", "asked"),
    [
        ("en", "Who pays for shelters in Germany and who in Italy?", "Who pays for shelters?"),
        ("it", "Chi paga i rifugi in Germania e chi in Italia?", "Chi paga i rifugi?"),
        ("de", "Wer zahlt Schutzräume in Deutschland und wer in Italien?", "Wer zahlt Schutzräume?"),
        ("fr", "Qui paie les abris en Allemagne et qui en Italie ?", "Qui paie les abris?"),
        ("es", "¿Quién paga los refugios en Alemania y quién en Italia?", "¿Quién paga los refugios?"),
        ("pt", "Quem paga os abrigos na Alemanha e quem na Itália?", "Quem paga os abrigos?"),
    ],
)
def test_a_side_that_only_repeats_who_is_asked_the_same(language: str, question: str, asked: str) -> None:
    assert [side.query.replace(" ?", "?") for side in sides(question, language)] == [asked, asked]


def test_what_is_attached_to_a_country_is_no_word_of_what_is_asked() -> None:
    for question in (
        "Almanya'da ve İtalya'da sığınaklar nasıl ödenir?",
        "Almanya’da ve İtalya’da sığınaklar nasıl ödenir?",
    ):
        first, second = sides(question, "tr")
        assert first.query == second.query == "Sığınaklar nasıl ödenir?"
        assert (first.name, second.name) == ("Almanya", "İtalya")


def test_two_years_are_sides_whose_passages_have_to_name_them() -> None:
    assert [(side.name, side.year) for side in sides("How many homes were flooded in 2007 and in 2009?", "en")] == [
        ("2007", "2007"),
        ("2009", "2009"),
    ]


def test_a_country_in_a_named_document_is_searched_in_that_document() -> None:
    found = sides("What does Warsaw say on Italy and on Germany?", "en")
    assert [side.country for side in found] == ["Italy", "Germany"]
    assert [side.documents for side in found] == [{WARSAW}, {WARSAW}]


@pytest.mark.parametrize(
    ("language", "question"),
    [
        pytest.param("en", "What was decided in Cancún?", id="one document"),
        pytest.param("en", "What did Germany give to the flooded towns of Italy?", id="names that nothing joins"),
        pytest.param("en", "What are the duties of the Board and the Committee?", id="capitals that name no document"),
        pytest.param("de", "Welche Aufgaben haben Bundestag und Bundesrat?", id="German nouns"),
    ],
)
def test_a_question_without_two_names_beside_each_other_has_no_sides(language: str, question: str) -> None:
    assert sides(question, language) == ()
