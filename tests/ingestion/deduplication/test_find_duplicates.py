from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ingestion.config import DeduplicationConfig
from ingestion.deduplication.find_duplicates import relate
from ingestion.deduplication.signatures import ComparedSource, candidate_of
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Outcome, Refusal
from ingestion.types.source import Extraction, ListedSource, Relation
from rag_engine.backends.identify_language import identify_language
from rag_engine.protocols import Embedder
from rag_engine.types.document import Block, ExtractedText

CONFIG = DeduplicationConfig()
TITLE = "Flood plan of the Sample River Authority"


def _text(seed: int, words: int = 600) -> str:
    chance = random.Random(seed)
    return " ".join("".join(chance.choices("aeinorst", k=5)) for _ in range(words))


def _changed(text: str, share: float, seed: int = 1) -> str:
    """Return the text with runs of its words replaced, so that about a share of it is another text."""
    words = text.split()
    chance = random.Random(seed)
    start = chance.randrange(len(words) - int(len(words) * share))
    return " ".join([*words[:start], *_text(seed + 99, int(len(words) * share)).split(), *words[start:]])


def candidate(
    code: str,
    text: str,
    title: str = TITLE,
    language: str = "en",
    *,
    url: str = "",
    date: str = "",
    parent: str = "",
    score: float = 50,
    paragraphs: Sequence[int] = (),
) -> ComparedSource:
    blocks, start = [], 0
    for length in paragraphs:
        blocks.append(Block(start, start + length, 1, "text"))
        start += length
    extracted = ExtractedText(text, 1, (), tuple(blocks), "text/plain", title)
    extraction = Extraction(f"hash {text}", "text/plain", 1, 0, 0, len(text), len(text), title, language, len(text))
    source = ListedSource(code, url=url, parent=parent)
    return candidate_of(source, extraction, extracted, text, score=score, date=date, sha256=f"f{text}")


def _relate(*candidates: ComparedSource, config: DeduplicationConfig = CONFIG) -> dict[str, Outcome]:
    return relate(candidates, config, None)


def relation_of(outcome: Outcome) -> Relation:
    assert isinstance(outcome.evidence, Relation)
    return outcome.evidence


def test_a_candidate_goes_through_json_as_it_is() -> None:
    one = candidate("A", _text(1), url="https://example.org/a")
    assert ComparedSource(**json.loads(json.dumps(asdict(one)))) == one


def test_sources_that_have_nothing_in_common_are_all_done() -> None:
    outcomes = _relate(candidate("A", _text(1)), candidate("B", _text(2)), candidate("C", _text(3)))
    assert {outcome.status for outcome in outcomes.values()} == {"done"}
    assert [relation_of(outcomes[code]).work for code in "ABC"] == ["A", "B", "C"]


def test_the_same_content_is_kept_once() -> None:
    outcomes = _relate(candidate("B", _text(1)), candidate("A", _text(1)), candidate("C", _text(1), score=80))
    assert outcomes["C"].status == "done"
    for code in "AB":
        assert (outcomes[code].status, outcomes[code].reason) == ("refused", "same_content")
        assert relation_of(outcomes[code]).duplicate_of == relation_of(outcomes[code]).work == "C"
        assert "C" in outcomes[code].message


def test_the_same_address_is_kept_once() -> None:
    one = candidate("A", _text(1, 500), url="https://www.example.org/plan?utm_source=x")
    other = candidate("B", _text(2, 600), url="http://example.org/plan/")
    outcomes = _relate(one, other)
    assert outcomes["A"].reason == "same_address"
    assert relation_of(outcomes["A"]).duplicate_of == "B"


def test_nearly_the_same_text_is_kept_once_with_the_figure() -> None:
    text = _text(1, 2000)
    outcomes = _relate(candidate("A", text), candidate("B", _changed(text, 0.03), "A plan without a name"))
    assert outcomes["A"].reason == "same_text"
    assert relation_of(outcomes["A"]).duplicate_of == "B"
    assert 0.85 <= relation_of(outcomes["A"]).similarity < 1


@pytest.mark.parametrize("title", [TITLE, "Fl0od plan of the Sampie River Authority"], ids=["as it is", "misread"])
def test_one_title_with_most_of_the_text_is_one_work(title: str) -> None:
    text = _text(1, 2000)
    outcomes = _relate(candidate("A", text), candidate("B", _changed(text, 0.3), title))
    assert outcomes["A"].reason == "same_work"
    assert relation_of(outcomes["A"]).how == "title"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Annual report on floods 2019", "Annual report on floods 2020"),
        ("Flood atlas, volume 1", "Flood atlas, volume 2"),
        ("Flood directive, part I", "Flood directive, part II"),
        ("Decision 5/CP.21 on floods", "Decision 6/CP.21 on floods"),
        ("Flood plan, annex A", "Flood plan, annex B"),
        (TITLE, TITLE),
    ],
)
def test_one_title_with_other_text_is_another_work(one: str, other: str) -> None:
    frame = _text(9, 60)
    outcomes = _relate(candidate("A", f"{frame} {_text(1)}", one), candidate("B", f"{frame} {_text(2)}", other))
    assert [outcomes[code].status for code in "AB"] == ["done", "done"]


def test_the_newest_version_is_active_and_the_others_say_from_when() -> None:
    text = _text(1, 2000)
    outcomes = _relate(
        candidate("NEW", _changed(text, 0.4, 3), "National adaptation plan 2021", date="2021-06-01"),
        candidate("MID", _changed(text, 0.1, 2), "National adaptation plan, final version", date="2016-09"),
        candidate("OLD", text, "National adaptation plan (draft)", date="2016-03"),
    )
    assert outcomes["NEW"].status == "done"
    assert (outcomes["OLD"].status, outcomes["OLD"].reason) == ("skipped", "superseded")
    assert outcomes["OLD"].passes
    assert relation_of(outcomes["OLD"]).superseded == "2016-09"
    assert relation_of(outcomes["MID"]).superseded == "2021-06-01"
    assert relation_of(outcomes["NEW"]).superseded == ""
    assert {relation_of(outcome).work for outcome in outcomes.values()} == {"NEW"}
    assert relation_of(outcomes["OLD"]).version == "draft"


def test_a_draft_is_a_version_even_where_its_text_is_nearly_the_same() -> None:
    text = _text(1, 2000)
    outcomes = _relate(candidate("A", text, "Heat plan"), candidate("B", _changed(text, 0.02), "Heat plan (draft)"))
    assert outcomes["A"].status == "done"
    assert outcomes["B"].reason == "superseded"
    assert relation_of(outcomes["B"]).superseded == "unknown"


def test_when_the_kept_one_is_gone_the_next_takes_its_place() -> None:
    text = _text(1)
    kept, copy, third = (candidate(code, text, score=score) for code, score in (("A", 90), ("B", 50), ("C", 10)))
    assert _relate(kept, copy, third)["B"].reason == "same_content"
    left = _relate(copy, third)
    assert left["B"].status == "done"
    assert relation_of(left["C"]).duplicate_of == "B"


NUMBERS = " ".join(f"{7 * n % 89 + 10} of {n * 31 % 997 + 10}" for n in range(60))


def test_language_variants_of_an_address_are_translations() -> None:
    english = candidate("Z", f"{_text(1)} {NUMBERS}", url="https://example.org/en/plan")
    spanish = candidate("A", f"{_text(2, 700)} {NUMBERS}", "Plan", "es", url="https://example.org/es/plan")
    outcomes = _relate(english, spanish)
    assert outcomes["Z"].status == "done"
    assert (outcomes["A"].status, outcomes["A"].reason) == ("skipped", "translation")
    assert outcomes["A"].passes
    assert relation_of(outcomes["A"]).translation_of == "Z"
    first = _relate(english, spanish, config=replace(CONFIG, preferred_languages=("es", "en")))
    assert relation_of(first["Z"]).translation_of == "A"


def test_a_shared_symbol_makes_translations_only_where_the_numbers_agree() -> None:
    english = candidate("A", f"FCCC/PA/CMA/2022/10/Add.2 {_text(1)} {NUMBERS}")
    spanish = candidate("B", f"FCCC/PA/CMA/2022/10/Add.2 {_text(2)} {NUMBERS}", "Informe", "es")
    other_numbers = " ".join(f"{11 * n % 83 + 10} a {n * 37 % 991 + 10}" for n in range(60))
    french = candidate("C", f"FCCC/PA/CMA/2022/10/Add.2 {_text(3)} {other_numbers}", "Rapport", "fr")
    outcomes = _relate(english, spanish, french)
    assert relation_of(outcomes["B"]).translation_of == "A"
    assert relation_of(outcomes["B"]).how == "symbol"
    assert outcomes["C"].status == "done"


def test_a_summary_is_no_translation_of_the_whole() -> None:
    whole = candidate("A", f"{_text(1, 2000)} {NUMBERS}", url="https://example.org/en/plan")
    summary = candidate("B", f"{_text(2, 200)} {NUMBERS}", "Resumen", "es", url="https://example.org/es/plan")
    assert _relate(whole, summary)["B"].status == "done"


def test_the_newest_versions_are_twins_and_the_old_ones_belong_to_their_work() -> None:
    text, texto = _text(1, 2000), _text(2, 2000)
    outcomes = _relate(
        candidate("E1", f"{text} {NUMBERS}", "Heat plan 2016", url="https://example.org/en/plan16"),
        candidate("E2", f"{_changed(text, 0.3)} {NUMBERS}", "Heat plan 2021", url="https://example.org/en/plan21"),
        candidate("S1", f"{texto} {NUMBERS}", "Plan de calor 2016", "es", url="https://example.org/es/plan16"),
        candidate(
            "S2", f"{_changed(texto, 0.3)} {NUMBERS}", "Plan de calor 2021", "es", url="https://example.org/es/plan21"
        ),
    )
    assert {code: outcome.reason for code, outcome in outcomes.items()} == {
        "E1": "superseded", "E2": "", "S1": "superseded", "S2": "translation",
    }  # fmt: skip
    assert {relation_of(outcome).work for outcome in outcomes.values()} == {"E2"}


def _mixed() -> list[ComparedSource]:
    """Candidates that stand to each other in every way."""
    text, other = _text(1, 1500), _text(2, 1500)
    return [
        candidate("A", text, "Heat plan 2016", url="https://example.org/en/plan"),
        candidate("B", text, "Heat plan 2016"),
        candidate("C", _changed(text, 0.02), "Heat plan"),
        candidate("D", _changed(text, 0.3), "Heat plan 2021", date="2021"),
        candidate("E", _changed(text, 0.25, 5), "Heat plan, rev. 1"),
        candidate("F", f"{other} {NUMBERS}", "Flood law", url="https://example.org/en/law"),
        candidate("G", f"{_text(3, 1500)} {NUMBERS}", "Ley", "es", url="https://example.org/es/law"),
        candidate("H", f"{_text(4, 1500)} {NUMBERS}", "Loi", "fr", url="https://example.org/fr/law"),
        candidate("I", f"{_changed(other, 0.01)} {NUMBERS}", "Flood law"),
        candidate("J", _text(6), "Heat plan", url="https://example.org/en/plan/#top"),
        candidate("K", "", ""),
        candidate("L", "three words only", "Heat plan"),
    ]


@settings(max_examples=40, deadline=None)
@given(st.permutations(_mixed()), st.sets(st.integers(0, 11)))
def test_the_order_of_candidates_changes_nothing(shuffled: list[ComparedSource], left_out: set[int]) -> None:
    gone = {_mixed_codes[place] for place in left_out}
    there = [one for one in shuffled if one.code not in gone]
    outcomes = relate(there, CONFIG, None)
    assert outcomes == relate(sorted(there, key=lambda one: one.code), CONFIG, None)
    assert set(outcomes) == {one.code for one in there}
    for outcome in outcomes.values():
        relation = relation_of(outcome)
        assert relation.work in outcomes
        if outcome.status == "refused":
            assert outcomes[relation.duplicate_of].passes
        if relation.translation_of:
            assert outcomes[relation.translation_of].status == "done"


_mixed_codes = [one.code for one in _mixed()]


def test_two_thousand_candidates_take_seconds() -> None:
    chance = random.Random(3)
    candidates = []
    for n in range(1000):
        text = f"{_text(n, 150)} {' '.join(str(chance.randrange(10, 9999)) for _ in range(30))}"
        title = f"Flood risk management plan of municipality {chance.choice('ABCDEFGH')}{n}"
        candidates.append(candidate(f"A{n}", text, title, url=f"https://example.org/en/{n}"))
        language = chance.choice(["en", "es", "fr"])
        changed = _changed(text, chance.choice([0.02, 0.3, 0.9]), n)
        candidates.append(candidate(f"B{n}", changed, title, language, url=f"https://example.org/{n}"))

    def encode(texts: list[str]) -> NDArray[np.float32]:
        vectors = np.array([[len(one), len(one.split()), one.count("1")] for one in texts], dtype=np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    # Of this thread alone: models that a test before this one began to load may still be loading in another.
    started = time.thread_time()
    outcomes = relate(candidates, CONFIG, encode)
    assert time.thread_time() - started < 5
    assert len(outcomes) == 2000
    assert len({outcome.reason for outcome in outcomes.values()}) > 2


@pytest.mark.long
def test_the_corpus_has_one_pair_of_translations_and_no_copies(corpus: Path, meaning: Embedder) -> None:
    candidates = []
    for path in sorted(corpus.iterdir()):
        try:
            extracted = extract(path, ExtractionLimits(), None)
        except Refusal:  # scans, which only OCR reads
            continue
        size = len(extracted.text)
        language = identify_language(extracted.text)
        extraction = Extraction(
            path.name, extracted.media_type, extracted.pages, 0, 0, size, size, extracted.title, language, 1
        )
        source = ListedSource(path.name, path=str(path))
        candidates.append(candidate_of(source, extraction, extracted, extracted.text, score=50, date=""))
    assert len(candidates) > 30
    # With its document symbol, and by meaning and numbers alone.
    for seen, how in ((candidates, "symbol"), ([replace(one, symbols="") for one in candidates], "meaning")):
        outcomes = relate(seen, CONFIG, meaning.encode_passages)
        others = {code: outcome for code, outcome in outcomes.items() if outcome.status != "done"}
        assert list(others) == ["es_unfccc_cma4_decisions6-11.pdf"]
        (found,) = map(relation_of, others.values())
        assert (found.translation_of, found.how) == ("en_unfccc_cma4_decisions6-11.pdf", how)


def test_a_text_without_numbers_is_known_in_seven_languages(shared: Path, meaning: Embedder) -> None:
    candidates = []
    for path in sorted((shared / "data" / "benchmarks" / "udhr_parallel").glob("*.jsonl")):
        articles = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        lengths = [len(article) for article in articles]
        candidates.append(candidate(path.stem, "\n".join(articles), "", path.stem, paragraphs=lengths))
    outcomes = relate(candidates, CONFIG, meaning.encode_passages)
    works = {code: relation_of(outcome).work for code, outcome in outcomes.items()}
    assert works == dict.fromkeys(works, "en")


def test_parts_of_a_text_with_other_mastheads_are_translations_of_the_same_part_alone(
    shared: Path, meaning: Embedder
) -> None:
    mastheads = {"en": "Ministry of Justice\nA reprint.", "es": "Boletín oficial\nEdición para bibliotecas."}
    candidates = []
    for language, masthead in mastheads.items():
        path = shared / "data" / "benchmarks" / "udhr_parallel" / f"{language}.jsonl"
        articles = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        for part in range(3):
            text = "\n".join([masthead, *articles[10 * part : 10 * part + 10]])
            candidates.append(candidate(f"{language}{part}", text, "", language))
    outcomes = relate(candidates, CONFIG, meaning.encode_passages)
    works = {code: relation_of(outcome).work for code, outcome in outcomes.items()}
    assert works == {code: f"en{code[-1]}" for code in works}


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("Emergency plan of the municipality of Aix", "Emergency plan of the municipality of Pau", 0.3),
        ("Action plan on bridges", "Action plan on geese", 0.3),
        ("Airworthiness notice 17", "Airworthiness notice 18", 0.02),
    ],
)
def test_documents_made_after_one_pattern_are_works_of_their_own(one: str, other: str, share: float) -> None:
    text = _text(1, 2000)
    outcomes = _relate(candidate("A", text, one), candidate("B", _changed(text, share), other))
    assert [outcomes[code].status for code in "AB"] == ["done", "done"]


def test_a_listed_work_is_known_by_its_identifier_and_a_corrigendum_stays_apart() -> None:
    act = replace(candidate("ACT", _text(1), "Data Regulation", date="2016-04-27"), identifiers="32016R0679")
    consolidated = replace(
        candidate("CONS", _text(2), "Text of 2018"), identifiers="02016R0679-20180504", as_of="2018-05-04"
    )
    corrigendum = replace(candidate("CORR", _text(1), "Data Regulation"), identifiers="32016R0679R(02)")
    corrigendum = replace(corrigendum, sha256="other", text_hash="other")
    outcomes = _relate(act, consolidated, corrigendum)
    assert (outcomes["ACT"].reason, relation_of(outcomes["ACT"]).superseded) == ("superseded", "2018-05-04")
    assert relation_of(outcomes["CONS"]).work == relation_of(outcomes["ACT"]).work == "CONS"
    assert (outcomes["CORR"].status, relation_of(outcomes["CORR"]).work) == ("done", "CORR")
