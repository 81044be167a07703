"""Training samples of the reader: paragraphs stay on one side, and answers keep their place."""

import random
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from rag_engine.backends.encoder.load import unpacked_folder
from rag_engine.config import cache_folder
from training.corpus import of_corpus
from training.measured import measured_texts, word_runs
from training.own_questions import translated, written
from training.samples import LICENSED, Sample, counts, read_set, split
from training.train import TOKENS, encode

LONG = "The dyke is old. " * 150 + "The district inspects it twice a year. " + "The garden is green. " * 150


@pytest.fixture(scope="module")
def tokenizer() -> object:
    return AutoTokenizer.from_pretrained(unpacked_folder(cache_folder()))


def test_no_paragraph_is_on_both_sides() -> None:
    samples = [Sample("q", f"p{n}", -1, -1, 0.0, f"family {n % 20}") for n in range(200)]
    trained, checked = split(samples, 0.2, 1)
    assert len(trained) + len(checked) == 200
    assert len({one.family for one in checked}) == 4
    assert not {one.family for one in trained} & {one.family for one in checked}


def test_an_answer_far_into_a_long_passage_is_kept_and_stands_where_its_tokens_are(tokenizer: object) -> None:
    start = LONG.index("twice a year")
    [one] = encode([Sample("How often?", LONG, start, start + len("twice a year"), 1.0, "f")], tokenizer)
    assert len(one.ids) <= TOKENS
    assert tokenizer.decode(one.ids[one.first : one.last + 1]).strip().startswith("twice a year")  # type: ignore[attr-defined]
    [none] = encode([Sample("How often?", LONG, -1, -1, 0.25, "f")], tokenizer)
    assert (none.first, none.last) == (0, 0)


def test_answers_of_the_sets_are_where_they_are_said_to_be(shared: Path) -> None:
    for name in LICENSED:
        passages, questions = read_set(shared / "data" / "reading", name)
        answers = [(one, one["answer"]) for one in questions if one.get("answer")]
        assert all(answer["text"] for _, answer in answers), "an answer that a translation lost is none"
        for one, answer in answers:
            text = passages[one["passage"]]
            assert text[answer["start"] : answer["start"] + len(answer["text"])] == answer["text"]


@pytest.mark.long
def test_written_questions_are_answered_by_words_of_passages_that_nothing_measures(shared: Path) -> None:
    samples, quoted = list(written(shared)), measured_texts().quoted
    assert len({one.passage for one in samples}) > 2000
    assert {one.language for one in samples} == {"en", "de", "es", "fr", "it", "pt", "tr"}
    assert counts(samples)["answered"] > 2 * counts(samples)["near misses"] > 4000
    assert all(0 <= one.start < one.end <= len(one.passage) for one in samples if one.relevance == 1.0)
    assert [one.passage for one in samples if not quoted.isdisjoint(word_runs(one.passage))] == []
    asked_again = list(translated(shared / "data" / "reading"))
    assert counts(asked_again)["answered"] > 1000
    assert all(one.passage[one.start : one.end].strip() for one in asked_again if one.relevance == 1.0)


def test_questions_are_made_of_headings_definitions_and_tables(shared: Path, tmp_path: Path) -> None:
    for name in ("pt_lgpd_lei_13709.pdf", "en_unfccc_cop13_bali.pdf"):
        (tmp_path / name).symlink_to(shared / "data" / "corpus" / name)
    samples = of_corpus(tmp_path, random.Random(1))
    assert min(counts(samples).values()) > 5
    answered = [one for one in samples if one.start >= 0]
    assert all(0 <= one.start < one.end <= len(one.passage) for one in answered)
    assert any(one.question.startswith("O que") and "dado" in one.passage for one in answered)
