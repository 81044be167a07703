"""Questions that lean on the one before are rewritten by rules; others are left as they are."""

import csv
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA
from rag_engine.geography import load_gazetteer
from rag_engine.planning.ellipsis import find_ellipsis, load_follow_up_patterns
from rag_engine.planning.follow_up import stand_alone

GAZETTEER = load_gazetteer()
LANGUAGES = ("en", "it", "fr", "de", "es", "pt", "tr")
with (DATA / "eval" / "follow_ups.tsv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file, delimiter="\t"))
CIVIL_PROTECTION = "Who is responsible for civil protection in Germany?"


def rewritten(before: str, question: str, language: str = "en") -> str | None:
    return stand_alone([before], question, language, GAZETTEER)


def made_of(row: dict[str, str]) -> str:
    language = identify_language(row["question"], {row["language"]: 1.0})
    return rewritten(row["before"], row["question"], language) or ""


def of_place(row: dict[str, str]) -> bool:
    ellipsis = find_ellipsis(row["question"], identify_language(row["question"], {row["language"]: 1.0}), GAZETTEER)
    return ellipsis is not None and ellipsis.place is not None


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_question_that_stands_alone_is_changed(language: str) -> None:
    rows = [row for row in TABLE if row["kind"] == "stands alone" and row["language"] == language]
    assert len(rows) >= 6
    assert {row["question"]: made_of(row) for row in rows if made_of(row)} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_follow_up_takes_its_subject_from_the_question_before(language: str) -> None:
    rows = [row for row in TABLE if row["kind"] == "follow-up" and row["language"] == language]
    places = [row for row in rows if of_place(row)]
    assert len(places) >= 2
    assert len(rows) >= 6
    assert [made_of(row) for row in places] == [row["expected"] for row in places]
    others = [row for row in rows if row not in places]
    assert [made_of(row) for row in others] == [f"{row['before']} {row['question']}" for row in others]


def test_real_questions_stand_alone() -> None:
    with (DATA / "eval" / "page_questions.tsv").open(encoding="utf-8", newline="") as file:
        questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    assert len(questions) > 40
    assert [one for one in questions if find_ellipsis(one, identify_language(one), GAZETTEER)] == []


def test_the_patterns_know_the_seven_languages() -> None:
    assert tuple(load_follow_up_patterns()) == LANGUAGES


def test_the_first_question_is_never_a_follow_up() -> None:
    assert stand_alone([], "And in Spain?", "en", GAZETTEER) is None


def test_a_question_leans_on_the_latest_that_stands_alone() -> None:
    previous = ["What is a dyke?", CIVIL_PROTECTION, "And in Spain?"]
    assert stand_alone(previous, "Italy?", "en", GAZETTEER) == "Who is responsible for civil protection in Italy?"


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("Who warns of floods?", "What about Spain?", "Who warns of floods in Spain?"),
        ("What is Germany's flood plan?", "And Spain?", "What is Spain's flood plan?"),
        ("Which plans does the Netherlands have?", "And Germany?", "Which plans does Germany have?"),
        ("What does EU law ask of Germany?", "And of Spain?", "What does EU law ask of Spain?"),
        ("How do Germany and France warn?", "And Spain?", "How do Germany and France warn? And Spain?"),
    ],
)
def test_a_place_takes_the_place_of_its_like(before: str, question: str, expected: str) -> None:
    assert rewritten(before, question) == expected


def test_a_place_in_another_language_is_understood() -> None:
    assert rewritten(CIVIL_PROTECTION, "E in Italia?", "it") == "Who is responsible for civil protection in Italia?"


@pytest.mark.parametrize(
    ("before", "question", "language", "expected"),
    [
        (
            "La Germania prevede un'assicurazione?",
            "E in Portogallo?",
            "it",
            "La Germania prevede un'assicurazione? E in Portogallo?",
        ),
        ("L'Allemagne exige-t-elle un permis ?", "Et l'Italie ?", "fr", "L'Italie exige-t-elle un permis ?"),
        ("Verlangt Deutschland eine Police?", "Und Spanien?", "de", "Verlangt Spanien eine Police?"),
        ("Wer schützt die Küsten Deutschlands?", "Und in der Schweiz?", "de", "Wer schützt die Küsten in der Schweiz?"),
        ("Sivil savunmadan kim sorumlu?", "Ya Irak?", "tr", "Irak'ta sivil savunmadan kim sorumlu?"),
        ("Alman hukuku ne diyor?", "Ya İspanya'da?", "tr", "İspanyol hukuku ne diyor?"),
    ],
)
def test_grammar_is_kept_or_the_question_before_put_in_front(
    before: str, question: str, language: str, expected: str
) -> None:
    assert rewritten(before, question, language) == expected


def test_accents_may_be_written_as_signs_of_their_own() -> None:
    decomposed = unicodedata.normalize("NFD", "¿Y en España?")
    assert rewritten("¿Quién inspecciona las presas en Perú?", decomposed, "es") == (
        "¿Quién inspecciona las presas en España?"
    )


def test_a_chain_of_questions_does_not_grow_without_end() -> None:
    asked = "Who inspects dams?"
    for _ in range(5):
        asked = rewritten(asked, "What about small dams?") or ""
    assert asked == "Who inspects dams? What about small dams? What about small dams?"


@pytest.mark.parametrize(
    "question", ["Thanks!", "And thanks!", "So what if it rains?", "And now, who pays for a dyke?"]
)
def test_what_names_nothing_to_ask_of_is_left_alone(question: str) -> None:
    assert rewritten(CIVIL_PROTECTION, question) is None


@given(st.text(max_size=60), st.text(max_size=200), st.sampled_from(("", *LANGUAGES)))
def test_a_question_of_any_letters_is_rewritten_or_left(question: str, before: str, language: str) -> None:
    made = rewritten(before, question, language)
    assert made is None or any(character.isalnum() for character in made)
