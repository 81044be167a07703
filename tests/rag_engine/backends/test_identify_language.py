"""Languages are told from questions and from documents."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag_engine.backends.identify_language import identify_language, other_languages

QUESTIONS = {
    "en": "Who pays for the damage?",
    "it": "Chi paga i danni?",
    "fr": "Qui paie les dommages ?",
    "es": "¿Quién paga los daños?",
    "de": "Wer zahlt für die Schäden?",
    "pt": "Quem paga os danos?",
    "tr": "Hasarı kim öder?",
}
ENGLISH = "The council opens the schools to the people of the town when the river rises above the second mark."
SPANISH = (
    "El ayuntamiento abre las escuelas a los vecinos del pueblo cuando el río sube por encima de la segunda marca."
)
NEIGHBOURS = {
    "sk": "Aké sú opatrenia proti povodniam?",
    "cs": "Které zákony upravují ochranu před povodněmi?",
    "hr": "Koje su mjere zaštite od poplava?",
    "uk": "Які заходи проти повеней?",
    "bg": "Какви са мерките срещу наводнения?",
    "no": "Hvilke tiltak finnes mot flom?",
    "ar": "ما هي تدابير الحماية من الفيضانات؟",
    "ja": "洪水への対策は何ですか？",
    "zh": "防洪措施有哪些？",
}


@pytest.mark.parametrize(("language", "question"), (QUESTIONS | NEIGHBOURS).items())
def test_a_short_question_has_its_language(language: str, question: str) -> None:
    assert identify_language(question) == language


@pytest.mark.parametrize("text", ["", "  \n", "2021/1119", "§ 5 (2)", "DRR", "EU"])
def test_what_is_the_same_in_every_language_has_none(text: str) -> None:
    assert identify_language(text) == ""


@pytest.mark.parametrize(
    ("language", "queries"),
    [
        ("en", "xquad/en"),
        ("es", "xquad/es"),
        ("de", "xquad/de"),
        ("tr", "xquad/tr"),
        ("pt", "faquad_pt"),
        ("it", "squad_it"),
    ],
)
def test_ninety_seven_of_a_hundred_benchmark_questions_have_their_language(
    language: str, queries: str, shared: Path
) -> None:
    lines = (shared / "data/benchmarks" / queries / "queries.dev.jsonl").read_text(encoding="utf-8").splitlines()
    right = [identify_language(json.loads(line)["text"]) == language for line in lines]
    assert sum(right) >= 0.97 * len(right)


def test_a_document_is_judged_by_more_than_its_first_page() -> None:
    foreword = "This translation has been prepared for the convenience of the reader. " * 8
    law = "Die zuständigen Behörden der Länder erstellen Pläne für das Management von Hochwasserrisiken. " * 400
    assert identify_language(foreword + law) == "de"


def test_starting_up_takes_little_memory() -> None:
    program = (
        "import psutil; from rag_engine.backends.identify_language import identify_language;"
        "identify_language('What is a flood?');"
        "print(psutil.Process().memory_info().rss // 2**20)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    ).stdout
    assert int(printed) < 150


def test_of_two_languages_in_a_text_the_one_that_fills_more_of_it_wins() -> None:
    english = "All human beings are born free and equal in dignity and rights and act in a spirit of brotherhood. "
    spanish = "Todos los seres humanos nacen libres e iguales en dignidad y derechos y dotados de razón. "
    assert identify_language(english * 20 + spanish * 8 + english * 6) == "en"
    assert identify_language(spanish * 20 + english * 8 + spanish * 6) == "es"


def test_a_short_question_is_rather_in_a_language_of_the_collection() -> None:
    question = "Quais são os cursos?"
    assert identify_language("Cursos de verano", likely={"pt": 1.0}) in ("es", "pt")
    assert identify_language(question, likely={"pt": 1.0}) == "pt"
    assert identify_language("How are losses and damages financed?", likely={"pt": 1.0}) == "en"


COLLECTION = {"en": 0.6, "fr": 0.1, "de": 0.12, "it": 0.06, "es": 0.06, "tr": 0.06}


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("CrPC 173 final report", "en"),
        ("article 226", "en"),
        ("IPCC report on oceans", "en"),
        ("flood risk maps", "en"),
        ("StGB 211 Mord", "de"),
        ("BGB 823 Schadensersatz", "de"),
        ("KMK madde 12 kapıcı", "tr"),
        ("art. 2043 c.c. danno", "it"),
        ("L. 125-1 code de l'environnement", "fr"),
        ("Mapa inundaciones", "es"),
    ],
)
def test_a_short_citation_is_in_no_language_that_its_abbreviations_look_like(question: str, language: str) -> None:
    assert identify_language(question, COLLECTION) == language


@pytest.mark.parametrize(("spanish", "found"), [(0, ()), (1, ()), (4, ("es",))])
def test_a_language_of_a_good_part_of_a_document_is_one_of_its_languages(spanish: int, found: tuple[str, ...]) -> None:
    assert other_languages([ENGLISH] * 8 + [SPANISH] * spanish, "en") == found


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sr", "Opština otvara škole stanovnicima kada reka poraste. Predlog uslova donosi sednica."),
        ("sr", "Општина отвара школе становницима када река порасте изнад друге ознаке."),
        ("hr", "Općina otvara škole stanovnicima kada rijeka naraste. Prijedlog uvjeta donosi sjednica."),
        ("fa", "شهرداری مدارس را برای مردم باز می‌کند وقتی رودخانه بالا می‌آید."),
        ("vi", "Thành phố mở cửa các trường học cho người dân khi nước sông dâng cao."),
        ("id", "Pemerintah kota membuka sekolah bagi warga ketika air sungai naik di atas tanda kedua."),
    ],
)
def test_a_language_is_not_taken_for_its_neighbour(language: str, text: str) -> None:
    assert identify_language(text) == language
