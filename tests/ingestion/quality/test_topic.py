"""Whether a document is about what the analyst collects; meaning is judged by the real encoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.quality.topic import Scope, TopicVerdict, judge_topic, read_scope
from rag_engine.messages import Message
from rag_engine.protocols import Embedder
from tests.ingestion.small_web import SmallJudge

FLOODS = "Dykes are raised before winter, sirens are tested, and volunteers learn how to fill bags with sand. " * 30
TAXES = "Income tax is paid by the end of March. Married couples may declare together what they earned. " * 30


@pytest.fixture
def judged(meaning: Embedder) -> Callable[..., TopicVerdict]:
    def judge(scope: Scope, title: str, text: str, model: SmallJudge | None = None) -> TopicVerdict:
        return judge_topic(scope, title, text, encode=meaning.encode_passages, model=model, seconds=5.0)

    return judge


def test_a_word_of_the_scope_in_the_title_is_enough(judged: Callable[..., TopicVerdict]) -> None:
    verdict = judged(read_scope("floods and droughts"), "Flooding in Milltown", TAXES)
    assert verdict == TopicVerdict(True, Message("Its title holds “{word}”.", word="flooding"))


def test_ones_own_words_are_compared_by_meaning(judged: Callable[..., TopicVerdict]) -> None:
    scope = read_scope("protection of towns from high water")
    assert judged(scope, "Before winter", FLOODS).within
    out = judged(scope, "What to declare", TAXES)
    assert not out.within
    assert "rather than “protection of towns from high water”; 0.0 words" in out.why


def test_a_scope_in_one_language_finds_documents_in_another(judged: Callable[..., TopicVerdict]) -> None:
    italian = "Gli argini vengono rialzati, le sirene provate e i volontari preparano i sacchi di sabbia. " * 30
    assert judged(read_scope("protection of towns from high water"), "Prima dell'inverno", italian).within


def test_a_model_is_asked_only_in_doubt_and_what_stays_in_doubt_is_kept(judged: Callable[..., TopicVerdict]) -> None:
    scope, text = read_scope("protection of towns from high water"), f"{FLOODS} {TAXES[:600]}"
    model = SmallJudge({"relevant": False, "reason": "It is about taxes."})
    verdict = judged(scope, "The year in review", text, model)
    assert (verdict.within, len(model.asked)) == (False, 1)
    assert verdict.why.endswith("small-model: It is about taxes.")
    assert judged(scope, "The year in review", text).why.endswith("It is kept.")
    assert judged(scope, "The year in review", text, SmallJudge({"relevant": "perhaps"})).within
    assert model.asked[0].count("protection of towns") == 1
    judged(scope, "Towns before winter", FLOODS, model)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("file", "within"),
    [
        ("de_zskg_zivilschutz_katastrophenhilfe.pdf", True),
        ("it_dpc_rilevamento_effetti_territorio.pdf", True),
        ("tr_yangin_yonetmeligi_excerpt.pdf", True),
        ("en_unfccc_cop16_cancun.pdf", True),
        ("tr_kat_mulkiyeti_kanunu.pdf", False),
        ("en_eu_cedefop_finland_vet.pdf", False),
        ("en_us_census_disability_table.pdf", False),
        ("de_grundgesetz.pdf", False),
    ],
)
def test_the_preset_of_disaster_risk_tells_real_documents_apart(
    judged: Callable[..., TopicVerdict], corpus: Path, file: str, within: bool
) -> None:
    extracted = extract(corpus / file, ExtractionLimits(), None)
    assert judged(read_scope("drr"), extracted.title, extracted.text).within is within


def test_what_names_the_scope_in_its_opening_is_in_doubt_and_kept(judged: Callable[..., TopicVerdict]) -> None:
    scope = read_scope("protection of towns from high water")
    opening = "Service regulation of the water protection brigade. "
    assert not judged(scope, "Regulation 100", TAXES * 4).within
    assert "leave open" in judged(scope, "Regulation 100", opening + TAXES * 4).why
