from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.ocr.choose import choose_ocr
from ingestion.file_reading import ExtractionLimits
from ingestion.quality.score import readability
from rag_engine.backends.identify_language import identify_language

TEXTS = {
    "nl": "De gemeente stelt iedere zes jaar een plan vast voor de bestrijding van overstromingen. Het plan beschrijft "
    "welke maatregelen worden genomen wanneer het water stijgt en wie daarvoor verantwoordelijk is. ",
    "no": "Kommunen skal hvert sjette år vedta en plan for vern mot flom. Planen beskriver hvilke tiltak som settes i "
    "verk når vannet stiger, og hvem som har ansvar for dem. ",
    "pl": "Gmina co sześć lat uchwala plan ochrony przed powodzią. Plan określa, jakie działania są podejmowane, gdy "
    "poziom wody rośnie, i kto za nie odpowiada. ",
}


def _shuffled(text: str) -> str:
    """Return the text with the letters of each word in another order."""
    chance = random.Random(7)
    return re.sub(r"\w+", lambda match: "".join(chance.sample(match[0], len(match[0]))), text)


@pytest.mark.needs("tesseract")
@pytest.mark.parametrize("name", ["scan_en_linn_typewritten.pdf", "scan_en_skew.pdf", "scan_fr_francais.pdf"])
def test_a_scan_that_was_read_well_is_readable_and_its_scrambled_text_is_not(corpus: Path, name: str) -> None:
    limits = ExtractionLimits()
    text = extract(corpus / name, limits, choose_ocr("tesseract", limits)).text
    language = identify_language(text)
    assert readability(text, language) > 0.75
    assert readability(_shuffled(text), language) < 0.45


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "it", "pt", "tr"])
def test_running_text_is_told_from_scrambled_text(shared: Path, language: str) -> None:
    path = shared / "data" / "benchmarks" / "udhr_parallel" / f"{language}.jsonl"
    text = " ".join(json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines())
    assert readability(text, language) > 0.85
    assert readability(_shuffled(text), language) < 0.45


@pytest.mark.parametrize("language", TEXTS)
def test_a_language_without_letter_pairs_is_judged_by_its_function_words(language: str) -> None:
    assert readability(TEXTS[language] * 5, language) > 0.9
    assert readability(_shuffled(TEXTS["pl"] * 5), language) < 0.5


def test_letters_of_a_wrong_script_are_unreadable() -> None:
    text = "Тне flооd рlаn оf thе municiраlitу dеscribеs wно rеsроnds. " * 5
    assert readability(text, "en") < 0.5
    assert readability("洪水対策計画は六年ごとに見直される。" * 20, "en") < 0.1


@pytest.mark.parametrize(
    ("text", "language"),
    [("洪水対策計画は六年ごとに見直される。" * 20, "ja"), ("qxz vrt lkp " * 50, "et"), ("خطة الفيضانات " * 60, "ar")],
)
def test_a_language_that_nothing_is_known_of_is_not_judged(text: str, language: str) -> None:
    assert readability(text, language) == 1


@pytest.mark.parametrize("text", ["", "12 34 § 5", "xqz"])
def test_too_few_words_are_not_judged(text: str) -> None:
    assert readability(text, "en") == 1
