"""Sentences that are known again by their templates, with any values."""

import time

import pytest

from pages._shared.interface_language import error_templates
from rag_engine.text.templates import KnownSentence, known_sentences, template_patterns

PATTERNS = template_patterns(error_templates("fr"))


def test_a_sentence_is_known_with_its_values_before_one_that_is_not() -> None:
    damaged, other = known_sentences("plan.pdf is damaged: no pages. Nobody knows this.", PATTERNS)

    assert other == KnownSentence("Nobody knows this.")
    assert damaged.template == "{file} is damaged: {cause}."
    assert damaged.values == {"file": "plan.pdf", "cause": "no pages"}


@pytest.mark.parametrize("piece", ["A. ", "word ", "x is damaged: ", "The file x has 1 bytes; ", "a", "`A` "])
@pytest.mark.parametrize("length", [999, 100_000])
def test_a_text_of_whatever_takes_no_time(piece: str, length: int) -> None:
    text = (piece * length)[:length]
    started = time.process_time()

    found = list(known_sentences(text, PATTERNS))

    assert time.process_time() - started < 1.0
    assert sum(len(one.text) for one in found) > length / 2


def test_a_long_text_is_left_as_it_is() -> None:
    text = "plan.pdf is damaged: no pages. " * 100

    assert list(known_sentences(text, PATTERNS)) == [KnownSentence(text)]
