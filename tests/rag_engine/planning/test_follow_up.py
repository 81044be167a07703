"""Questions that lean on the one before are rewritten by rules; others are left as they are."""

import csv
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA, Config
from rag_engine.geography import load_gazetteer
from rag_engine.planning.ellipsis import Leaning, find_ellipsis, load_follow_up_patterns
from rag_engine.planning.follow_up import Exchange, FollowUp, rewrite

GAZETTEER = load_gazetteer()
CONFIG = Config(workspace=Path("unused"))
LANGUAGES = ("en", "it", "fr", "de", "es", "pt", "tr")
with (DATA / "eval" / "follow_ups.tsv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file, delimiter="\t"))
DEV = [row for row in TABLE if row["split"] == "dev"]
CIVIL_PROTECTION = "Who is responsible for civil protection in Germany?"


def asked_after(previous: list[str], question: str, language: str = "en") -> FollowUp | None:
    return rewrite(question, list(map(Exchange, previous)), language=language, generator=None, config=CONFIG)


def rewritten(before: str, question: str, language: str = "en") -> str | None:
    made = asked_after([before], question, language)
    return made.question if made else None


def made_of(row: dict[str, str]) -> str:
    language = identify_language(row["question"], {row["language"]: 1.0})
    return rewritten(row["before"], row["question"], language) or ""


def leaning(question: str, language: str) -> Leaning | None:
    return find_ellipsis(question, identify_language(question, {language: 1.0}), GAZETTEER)


def of_place(row: dict[str, str]) -> bool:
    found = leaning(row["question"], row["language"])
    return found is not None and found.place is not None


def test_at_most_a_tenth_of_the_questions_of_each_half_is_mistaken() -> None:
    for split in ("dev", "heldout"):
        for kind in ("follow-up", "stands alone"):
            rows = [row for row in TABLE if row["split"] == split and row["kind"] == kind]
            found = [leaning(row["question"], row["language"]) for row in rows]
            mistaken = [one is None if kind == "follow-up" else one is not None and one.sure for one in found]
            assert len(rows) >= 30
            assert sum(mistaken) <= len(rows) / 10, f"{kind}, {split}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_question_that_stands_alone_is_changed(language: str) -> None:
    rows = [row for row in DEV if row["kind"] == "stands alone" and row["language"] == language]
    assert len(rows) >= 6
    assert {row["question"]: made_of(row) for row in rows if made_of(row)} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_follow_up_takes_its_subject_from_the_question_before(language: str) -> None:
    rows = [row for row in DEV if row["kind"] == "follow-up" and row["language"] == language]
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
    assert asked_after([], "And in Spain?") is None


def test_a_question_leans_on_the_latest_that_stands_alone() -> None:
    made = asked_after(["What is a dyke?", CIVIL_PROTECTION, "And in Spain?"], "Italy?")
    assert made is not None
    assert made.question == "Who is responsible for civil protection in Italy?"


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
    ("question", "language"),
    [
        ("Thanks!", "en"),
        ("And thanks!", "en"),
        ("Flood insurance", "en"),
        ("What is resilience?", "en"),
        ("And what does the Sendai Framework say about early warning?", "en"),
        ("What happens to a tenant who loses his home?", "en"),
        ("Le maire peut-il fermer une plage ?", "fr"),
        ("Come si spegne un incendio?", "it"),
        ("¿Cómo apagar un incendio?", "es"),
        ("O que é a resiliência?", "pt"),
        ("Wie löscht man einen Brand?", "de"),
        ("Bu yıl kaç orman yangını çıktı?", "tr"),
    ],
)
def test_what_names_its_own_subject_is_left_alone(question: str, language: str) -> None:
    assert rewritten(CIVIL_PROTECTION, question, language) is None


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("And who pays for it?", "en"),
        ("How many of them work there?", "en"),
        ("Tell me about its history.", "en"),
        ("Is the same true for hospitals?", "en"),
        ("E chi la paga?", "it"),
        ("Vale anche in Francia?", "it"),
        ("Quando entra in vigore?", "it"),
        ("Qui l'a signé ?", "fr"),
        ("Combien ça coûte ?", "fr"),
        ("Wer ist dafür zuständig?", "de"),
        ("Wer arbeitet dort?", "de"),
        ("¿Dónde puedo encontrarlo?", "es"),
        ("¿Cómo se calcula?", "es"),
        ("Quem é responsável por isso?", "pt"),
        ("Quanto custa?", "pt"),
        ("Bunu kim ödüyor?", "tr"),
        ("Ne zaman yürürlüğe girdi?", "tr"),
    ],
)
def test_what_stands_for_another_or_has_no_subject_leans(question: str, language: str) -> None:
    found = leaning(question, language)
    assert found is not None
    assert found.sure


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Are there any exceptions?", "en"),
        ("And who pays the costs?", "en"),
        ("Ci sono sanzioni?", "it"),
        ("Quelles sont les sanctions ?", "fr"),
        ("Was sind die Voraussetzungen?", "de"),
        ("¿Hay excepciones?", "es"),
        ("Há exceções?", "pt"),
        ("İstisnalar var mı?", "tr"),
    ],
)
def test_what_may_be_complete_as_well_is_not_sure_to_lean(question: str, language: str) -> None:
    found = leaning(question, language)
    assert found is not None
    assert not found.sure


def test_a_follow_up_is_searched_for_behind_the_subject_of_the_question_before() -> None:
    made = asked_after(["What is a local flood plan?"], "And who pays for it?")
    assert made is not None
    assert made.question == "What is a local flood plan? And who pays for it?"
    assert made.searched == "local flood plan: who pays for it?"


def test_a_question_that_may_be_complete_can_be_leant_on() -> None:
    assert rewritten("Are there shelters?", "Who pays for them?") == "Are there shelters? Who pays for them?"


@given(st.text(max_size=60), st.text(max_size=200), st.sampled_from(("", *LANGUAGES)))
def test_a_question_of_any_letters_is_rewritten_or_left(question: str, before: str, language: str) -> None:
    made = rewritten(before, question, language)
    assert made is None or any(character.isalnum() for character in made)
