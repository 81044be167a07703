"""Training samples of the reader: paragraphs stay on one side, and answers keep their place."""

import random
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from rag_engine.backends.encoder.load import unpacked_folder
from rag_engine.config import cache_folder
from training.corpus import of_corpus
from training.measured import measured_texts, word_runs
from training.own_questions import translated, written, written_on_near
from training.samples import LICENSED, Sample, counts, read_set, split
from training.train import TOKENS, Encoded, batches, by_question, choice_losses, encode

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
    asked = Sample("How often?", LONG, start, start + len("twice a year"), 1.0, "f")
    [one] = encode([asked], tokenizer, random.Random(1))
    assert len(one.ids) <= TOKENS
    assert tokenizer.decode(one.ids[one.first : one.last + 1]).strip().startswith("twice a year")  # type: ignore[attr-defined]
    [none] = encode([Sample("How often?", LONG, -1, -1, 0.25, "f")], tokenizer, random.Random(1))
    assert (none.first, none.last) == (0, 0)


def test_the_passages_of_a_question_are_in_one_batch() -> None:
    samples = [Sample(f"q{n % 40}", f"p{n}", -1, -1, 0.0, "f") for n in range(100)]
    groups = [[Encoded((n,), 0, 0, 0.0, True) for n, _ in enumerate(group)] for group in by_question(samples)]
    found = list(batches(groups, random.Random(1)))
    assert sorted(id(group) for batch in found for group in batch) == sorted(map(id, groups))
    assert all(16 <= sum(map(len, batch)) < 20 for batch in found[:-1])


def test_a_right_passage_is_chosen_among_the_wrong_ones_of_its_question() -> None:
    group = [Encoded((1, 2, 3), 0, 0, 0.25, True), Encoded((1, 2, 3), 1, 2, 1.0, True)]
    spans = torch.zeros(2, 3, 2)
    level = sum(map(float, choice_losses(group, spans, torch.zeros(2))))
    spans[1, 1, 0] = spans[1, 2, 1] = 5.0
    assert sum(map(float, choice_losses(group, spans, torch.tensor([0.0, 2.0])))) < level / 3
    assert list(choice_losses(group[:1], spans[:1], torch.zeros(1))) == []
    assert list(choice_losses(group[1:], spans[1:], torch.zeros(1))) == []


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
    near = list(written_on_near(shared))
    assert len({one.passage for one in near}) > 2500
    assert 2 * counts(near)["answered"] == counts(near)["near misses"] > 10_000
    assert all(one.passage[one.start : one.end].strip() for one in near if one.relevance == 1.0)
    assert [one.passage for one in near if not quoted.isdisjoint(word_runs(one.passage))] == []
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
