from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ingestion.metadata.term_matching import build_table, count_usage, cut_words, find_terms


def _labels(text: str, *terms: tuple[str, str]) -> list[str]:
    return [mention.label for mention in find_terms(cut_words(text), build_table(terms))]


def test_a_star_stands_for_any_ending_and_two_for_any_surrounding() -> None:
    assert _labels("Inondazioni e inondazione", ("Flood", "inondazion*")) == ["Flood", "Flood"]
    assert _labels("Jahrhunderthochwasserschutz", ("Flood", "*hochwasser*")) == ["Flood"]
    assert _labels("Klimastrategie", ("Plan", "*strategie")) == ["Plan"]
    assert _labels("strategies", ("Plan", "*strategie")) == []


def test_terms_of_several_words_match_over_line_breaks_hyphens_and_accents() -> None:
    term = ("Climate", "cambiament* climatic*")
    assert _labels("i Cambiamenti\nclimatici", term) == ["Climate"]
    assert _labels("multi-hazard", ("Multi", "multi hazard")) == ["Multi"]
    assert _labels("SÉCHERESSE İKLİM", ("Dry", "secheresse"), ("Climate", "iklim")) == ["Dry", "Climate"]


def test_an_acronym_matches_only_in_capitals() -> None:
    assert _labels("those who ask the WHO", ("Health", "WHO")) == ["Health"]


def test_the_longer_term_of_a_label_hides_the_shorter() -> None:
    assert _labels("risk governance", ("Gov", "governance"), ("Gov", "risk governance")) == ["Gov"]


def test_a_word_inside_another_is_no_mention() -> None:
    assert _labels("a diploma in selling", ("Flood", "sel"), ("X", "plom")) == []


def test_usage_counts_mentions_and_the_parts_of_the_text_that_hold_them() -> None:
    text = "flood " * 5 + "calm " * 90 + "flood " * 5
    words = cut_words(text)
    usage = count_usage(find_terms(words, build_table([("Flood", "flood")])), len(words), len(text))["Flood"]
    assert usage.count == 10
    assert 2 <= usage.places <= 4
    assert usage.per_thousand == 100


@given(st.text(max_size=300))
def test_every_mention_lies_where_it_says(text: str) -> None:
    table = build_table([("Flood", "flood*"), ("Any", "a b"), ("Dry", "*durre*")])
    for mention in find_terms(cut_words(text), table):
        assert 0 <= mention.start < mention.end <= len(text)


def test_accents_written_as_characters_of_their_own_move_no_place() -> None:
    text = unicodedata.normalize("NFD", "Dürre: é è. Sécheresse")
    mention = find_terms(cut_words(text), build_table([("Dry", "secheresse")]))[0]
    assert unicodedata.normalize("NFC", text[mention.start : mention.end]) == "Sécheresse"
