"""Definitions: the term that a question asks for, and the texts that say what it means."""

import pytest

from rag_engine.answering.quotations.definitions import asked_term, defines, row_defines

ASKED = [
    ("How does the Act define “flood plan”?", "en", "(c) “flood plan” means a plan under section 5;"),
    ("What is a flood zone under the Act?", "en", "A flood zone is land that is under water once a century."),
    ("Was versteht man unter Führung in der FwDV 100?", "de", "Führung ist die Einflussnahme auf andere Menschen."),
    ("Was gilt bei der Förderung als Vorführfahrzeug?", "de", "Als Vorführfahrzeuge gelten solche ohne Zulassung."),
    ("Qu'est-ce que la pleine terre ?", "fr", "Par espace de pleine terre, on entend les espaces libres."),
    ("Comment la loi définit-elle le risque ?", "fr", "3° « Risque » : combinaison d'un aléa et d'un enjeu ;"),
    ("¿Qué es un conflicto de intereses?", "es", "a) Por “conflicto de intereses” se entiende un interés."),
    ("Que significa riesgo?", "es", "El riesgo es la probabilidad de un daño."),
    ("Che cos'è la protezione civile?", "it", "Per protezione civile si intende l'insieme delle attività."),
    ("Como a LGPD define controlador?", "pt", "VI - controlador: pessoa a quem competem as decisões;"),
    ("O que é um dado pessoal?", "pt", "Considera-se dado pessoal a informação sobre alguém."),
    ("Kat mülkiyetinde arsa payı ne demektir?", "tr", "d) Arsanın bölümlere tahsis edilen paylarına (Arsa payı);"),
    ("What does “operator” mean?", "en", "For the purposes of this Article, “operator” means the person who runs it."),
    ("Was ist ein Betreiber?", "de", "Im Sinne dieses Gesetzes ist Betreiber, wer die Anlage führt."),
    (
        "Qu'est-ce qu'un exploitant ?",
        "fr",
        "Au sens de la présente loi, on entend par exploitant la personne qui agit.",
    ),
    ("¿Qué es un operador?", "es", "A los efectos de esta Ley, se entiende por operador la persona que actúa."),
    ("Che cos'è un gestore?", "it", "Ai fini della presente legge si intende per gestore la persona che agisce."),
    ("O que é um operador?", "pt", "Para os fins desta Lei, considera-se operador a pessoa que trata os dados."),
    ("İşletmeci nedir?", "tr", "İşletmeci ifadesi, tesisi yöneten ve ondan sorumlu olan kişiyi ifade eder."),
    ("Wie definiert das Gesetz den Begriff Anlage?", "de", "Anlage ist jedes Bauwerk im Fluss."),
    ("Come definisce la legge il custode?", "it", "Per custode si intende la persona che agisce."),
    ("Qual è la definizione di trattamento all'articolo 4?", "it", "Per trattamento si intende ogni operazione."),
    ("¿Cuál es la definición del término pérdidas?", "es", "Las pérdidas son daños que no se pueden reparar."),
    (
        "Kanunda anagayrimenkulün tanımı nedir?",
        "tr",
        "a) Kat mülkiyetine konu olan taşınmazın bütününe (Anagayrimenkul);",
    ),
    ("Afet nedir?", "tr", "a) Afet: Toplumun tamamı için kayıp doğuran olay,"),
]


@pytest.mark.parametrize(("question", "language", "text"), ASKED)
def test_a_text_that_says_what_the_asked_term_means_is_known(question: str, language: str, text: str) -> None:
    term = asked_term(question, language)
    assert term
    assert defines(text, language, term, [])
    others = [other for _, other_language, other in ASKED if other_language == language and other != text]
    assert not any(defines(other, language, term, []) for other in others)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Who keeps the flood plan?", "en"),
        ("Wie lange gilt der Plan?", "de"),
        ("Combien coûte le plan ?", "fr"),
        ("Planı kim hazırlar?", "tr"),
    ],
)
def test_a_question_for_something_else_asks_for_no_term(question: str, language: str) -> None:
    assert asked_term(question, language) == ""


def test_a_text_that_only_uses_the_term_does_not_define_it() -> None:
    assert not defines("The flood plan of the county shall be published.", "en", "flood plan", [])
    assert not defines("The authority is bound by the flood plan.", "en", "flood plan", [])


def test_a_row_of_a_glossary_defines_the_term_of_its_first_cell() -> None:
    row = "Begriff: Hochwasserplan; Bedeutung: der Plan, den ein Kreis führt"
    assert row_defines(row, "de", "Hochwasserpläne")
    assert not row_defines(row, "de", "Plan")
    assert not row_defines("Country: Sweden; Domestic (%): 30.2", "en", "Sweden")
