"""The answers to measured questions are not trained on, in any language."""

import gzip
import json
import random
from pathlib import Path

import pytest

from rag_engine.config import DATA
from rag_engine.types.document import ExtractedText, Line
from training.corpus import of_corpus, trained_on
from training.measured import MeasuredTexts, is_version_of_measured, measured_runs, measured_texts, word_runs
from training.samples import LICENSED

FREE = (
    "The archive keeps its maps in flat drawers, away from the pipes. Every drawer has a list of what lies in it, and "
    "the list is compared with the drawer once a year by two people, who sign it and date it and send it to the office."
)


def quotations(name: str) -> list[str]:
    with (DATA / "eval" / name).open(encoding="utf-8") as lines:
        return [place["quote"] for line in lines for place in json.loads(line)["passages"]]


@pytest.mark.parametrize("name", ["passages.jsonl", "gold/fresh.jsonl", "gold/corpus.jsonl"])
def test_a_passage_that_a_question_quotes_gives_no_sample(tmp_path: Path, name: str) -> None:
    quote = max(quotations(name), key=len)
    (tmp_path / "en_made.md").write_text(
        f"# Keeping of maps\n\n{FREE}\n\n# Entry into force\n\n{quote} {FREE[:150]}\n", encoding="utf-8"
    )
    passages = [sample.passage for sample in of_corpus(tmp_path, random.Random(1))]
    assert any("flat drawers" in passage for passage in passages)
    assert not any(word_runs(quote) & word_runs(passage) for passage in passages)


def test_a_page_that_a_question_names_is_left_out_but_for_what_stands_on_other_pages_too() -> None:
    header = "Report of the commission on dykes 1953"
    pages = [f"{header} The dykes are raised by two metres.", f"{header} The sluices are closed at high water."]
    text = ExtractedText("\n\n".join(pages), 2, (), (), "application/pdf")
    second = len(pages[0]) + 2
    lines = (Line(0, second - 2, 1, None), Line(second, len(text.text), 2, None))
    measured = MeasuredTexts(frozenset(), {"en_dykes.pdf": frozenset({2})})
    runs = measured_runs(measured, "en_dykes.pdf", ExtractedText(text.text, 2, lines, (), text.media_type))
    assert not runs.isdisjoint(word_runs("The sluices are closed at high water."))
    assert runs.isdisjoint(word_runs("The dykes are raised by two metres."))
    assert runs.isdisjoint(word_runs(header))
    assert measured_runs(measured, "en_other.pdf", text) == frozenset()


def test_the_places_of_every_file_of_questions_are_known() -> None:
    measured = measured_texts()
    assert word_runs(max(quotations("gold/fresh.jsonl"), key=len)) <= measured.quoted
    # page_questions.tsv, multi_part.tsv and index_questions.jsonl in turn.
    assert {9, 10, 11} <= measured.pages["en_unfccc_cop13_bali.pdf"]
    assert {2, 3} <= measured.pages["en_eu_cedefop_finland_vet.pdf"]
    assert 15 in measured.pages["es_lshort_latex_a4.pdf"]
    asked = json.loads((DATA / "eval" / "cross_language" / "dev.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert word_runs(asked["quote"]) <= measured.quoted
    assert word_runs("Il numero dei deputati è di quattrocento, otto dei quali eletti") <= measured.quoted


def test_another_languages_version_of_what_is_asked_about_is_left_out_whole() -> None:
    measured = MeasuredTexts(frozenset(), {"en_plan.pdf": frozenset()})
    names = ["en_plan.pdf", "es_plan.pdf", "es_other.pdf"]
    assert [name for name in names if is_version_of_measured(measured, name, names)] == ["es_plan.pdf"]


def test_of_the_real_documents_no_version_of_a_measured_one_is_trained_on(shared: Path) -> None:
    names = {file.name for file in trained_on(shared / "data" / "corpus")}
    assert names.isdisjoint({"en_unfccc_cma4_decisions6-11.pdf", "es_unfccc_cma4_decisions6-11.pdf"})
    assert {"en_paris_agreement.pdf", "it_costituzione_repubblica.pdf"} <= names


def test_no_question_of_a_measured_set_is_trained_on_in_another_language(shared: Path) -> None:
    """Questions keep their id in every translation of SQuAD."""
    measured = set[str]()
    for file in (shared / "data" / "benchmarks").rglob("queries*.jsonl"):
        measured |= {json.loads(line)["_id"] for line in file.read_text(encoding="utf-8").splitlines()}
    for name in LICENSED:
        with gzip.open(shared / "data" / "reading" / f"{name}.questions.jsonl.gz", "rt", encoding="utf-8") as lines:
            assert measured.isdisjoint(json.loads(line).get("id") for line in lines), name
