"""Parents follow the topics of a document; children cover them and keep their place."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.chunking.indexed_text import child_id
from rag_engine.chunking.semantic import semantic_chunks, window_similarities
from rag_engine.config import ChunkSizes
from rag_engine.errors import InputError
from rag_engine.protocols import Vectors
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.passage import Parent
from tests.rag_engine.chunking.covering import CONFIGS, DEFAULT, SMALL, TEXTS, hash_encoder, uncovered

FLOOD = "The river {n} rises and floods the low town near its banks."
FIRE = "Dry forest {n} burns when wildfire spreads through pine and grass."


def chunks(text: str, language: str = "en", config: ChunkSizes = DEFAULT) -> list[Parent]:
    return semantic_chunks(text, language, encode=hash_encoder, config=config)


def naive_turns(text: str, config: ChunkSizes) -> list[int]:
    """Return the definition, sentence by sentence."""
    vectors = hash_encoder([text[start:end] for start, end in sentence_spans(text, "en")]).astype(float)
    window, count = config.window, len(vectors)
    cosines = {}
    for place in range(window, count - window + 1):
        left, right = vectors[place - window : place].mean(axis=0), vectors[place : place + window].mean(axis=0)
        cosines[place] = round(float(left @ right / np.linalg.norm(left) / np.linalg.norm(right)), 6)
    threshold = np.percentile(list(cosines.values()), config.percentile)
    turns = [0, count]
    for place in sorted(cosines, key=lambda place: (cosines[place], place)):
        if cosines[place] < threshold and all(abs(place - turn) >= config.minimum_gap for turn in turns):
            turns.append(place)
    return sorted(turns)[:-1]


def check(text: str, parents: list[Parent], config: ChunkSizes, language: str = "en") -> None:
    sentence_starts = {start for start, _ in sentence_spans(text, language)}
    assert [parent.index for parent in parents] == list(range(len(parents)))
    assert not uncovered(text, [(parent.start, parent.end) for parent in parents]).strip()
    longest_parent = max(config.parent_split * config.parent_size, 1200 + 2 * config.child_minimum)
    for before, parent in zip([None, *parents], parents, strict=False):
        assert parent.text == text[parent.start : parent.end] == parent.text.strip()
        assert len(parent.text) <= longest_parent + config.parent_overlap
        if before:
            assert text[parent.start - 1].isspace() or parent.start in sentence_starts
            assert before.start < parent.start
            assert before.end < parent.end
            assert before.end - parent.start <= config.parent_overlap
        assert not uncovered(parent.text, [(child.start, child.end) for child in parent.children]).strip()
        for previous, child in zip([None, *parent.children], parent.children, strict=False):
            assert child.text == parent.text[child.start : child.end] == child.text.strip()
            assert len(child.text) <= config.child_size + config.child_minimum
            # With the one before it would be too long.
            apart = previous is not None and child.end - previous.start > config.child_size + config.child_minimum
            assert len(child.text) >= config.child_minimum or len(parent.children) == 1 or apart
            if previous:
                assert previous.start < child.start
                assert previous.end < child.end
                assert previous.end - child.start <= config.child_overlap


@given(TEXTS, CONFIGS, st.sampled_from(["en", "de", "tr", "ja"]))
def test_chunks_of_any_text_hold_their_invariants(text: str, config: ChunkSizes, language: str) -> None:
    parents = chunks(text, language, config)
    check(text, parents, config, language)
    assert bool(parents) == bool(text.strip())
    assert parents == chunks(text, language, config)


@given(st.lists(st.integers(0, 400), max_size=12), CONFIGS)
def test_words_of_any_length_between_gaps_of_any_length_hold_the_invariants(
    lengths: list[int], config: ChunkSizes
) -> None:
    text = "".join(("x" if place % 2 else " ") * length * (1 + place % 5) for place, length in enumerate(lengths))
    check(text, chunks(text, config=config), config)


@pytest.mark.parametrize(
    "text",
    [
        "字" * 50_000,
        "洪水は危険です。" * 6_000,
        "x" * 50_000,
        "word " * 10_000,
        ("a" * 3_000 + " ") * 20,
        "a\r\n\r\n" * 5_000,
    ],
)
def test_long_monotonous_texts_hold_the_invariants(text: str) -> None:
    check(text, chunks(text), DEFAULT)


def test_one_word_is_one_parent_with_one_child() -> None:
    (parent,) = chunks("  Flood \n")
    assert (parent.start, parent.end, parent.text) == (2, 7, "Flood")
    assert [(child.start, child.end, child.text) for child in parent.children] == [(0, 5, "Flood")]


def test_a_parent_begins_where_the_topic_turns() -> None:
    text = " ".join([FLOOD.format(n=n) for n in range(12)] + [FIRE.format(n=n) for n in range(12)])
    parents = chunks(text, config=replace(DEFAULT, parent_overlap=0))
    assert text.index("Dry forest") in [parent.start for parent in parents]


@given(st.lists(st.sampled_from("abcdefgh"), min_size=6, max_size=60), CONFIGS)
def test_boundaries_are_those_of_the_definition(topics: list[str], config: ChunkSizes) -> None:
    text = " ".join(
        f"{letter.upper()}{letter} {letter} word{n % 7} {'long ' * 40}end." for n, letter in enumerate(topics)
    )
    whole = replace(config, parent_overlap=0, parent_split=1e9)
    starts = [parent.start for parent in chunks(text, config=whole)]
    spans = sentence_spans(text, "en")
    assert starts == [spans[turn][0] for turn in naive_turns(text, whole)]


def test_at_least_four_sentences_lie_between_boundaries() -> None:
    random = np.random.default_rng(7)
    words = [f"word{n}" for n in range(50)]
    text = " ".join(f"Sentence {' '.join(random.choice(words, 30))} ends." for _ in range(200))
    starts = {start: place for place, (start, _) in enumerate(sentence_spans(text, "en"))}
    places = [
        starts[parent.start] for parent in chunks(text, config=replace(DEFAULT, parent_overlap=0, parent_split=1e9))
    ]
    assert len(places) > 10
    assert np.diff(places).min() >= 4


def test_too_few_sentences_for_the_windows_are_cut_every_five_without_asking_the_encoder() -> None:
    def encode(texts: Sequence[str]) -> Vectors:
        raise AssertionError("there is nothing to compare")

    text = " ".join(f"Sentence number {n} is {'quite ' * 30}long." for n in range(12))
    config = replace(DEFAULT, window=7, parent_overlap=0)
    starts = [parent.start for parent in semantic_chunks(text, "en", encode=encode, config=config)]
    assert starts == [text.index(f"Sentence number {n} ") for n in (0, 5, 10)]


def test_the_encoder_is_asked_once_for_distinct_sentences_without_addresses() -> None:
    asked: list[list[str]] = []

    def encode(texts: Sequence[str]) -> Vectors:
        asked.append(list(texts))
        return hash_encoder(texts)

    text = "Write to a@b.org today.\n\n" * 9 + "The plan\n holds."
    semantic_chunks(text, "en", encode=encode, config=DEFAULT)
    assert asked == [["Write to [email] today.", "The plan holds."]]


def test_similarities_of_many_sentences_match_the_definition_across_blocks() -> None:
    random = np.random.default_rng(1)
    vectors = random.normal(size=(500, 8)).astype(np.float32)
    rows = random.integers(0, 500, 20_000)
    cosines = window_similarities(vectors, rows, 3)
    assert len(cosines) == 20_000 - 5
    for place in (3, 8_193, 8_194, 8_195, 8_196, 16_390, 19_997):
        left, right = vectors[rows[place - 3 : place]].mean(0), vectors[rows[place : place + 3]].mean(0)
        expected = left @ right / np.linalg.norm(left) / np.linalg.norm(right)
        assert cosines[place - 3] == pytest.approx(expected, abs=2e-6)


def test_a_hundred_thousand_equal_sentences_do_not_part_at_rounding_noise() -> None:
    vectors = np.random.default_rng(2).normal(size=(1, 32)).astype(np.float32)
    assert set(window_similarities(vectors, np.zeros(100_000, dtype=np.int64), 3)) == {1.0}


def test_an_oversized_topic_is_filled_into_parents_at_sentence_ends() -> None:
    text = " ".join(["The river rises and floods the low town near its banks."] * 200)
    parents = chunks(text)
    assert len(parents) > 3
    assert all(parent.text.startswith("The") and parent.text.endswith("banks.") for parent in parents)
    assert all(1_800 < len(parent.text) <= 2_500 for parent in parents[:-1])
    assert all(0 < before.end - after.start <= 200 for before, after in pairwise(parents))


def test_a_stub_joins_the_parent_before_it() -> None:
    text = "\n\n".join(
        [FLOOD.format(n=n) for n in range(5)] + ["Annex.", "I.", "A.", "1."] + [FIRE.format(n=n) for n in range(9)]
    )
    assert all(
        len(parent.text) >= DEFAULT.child_minimum for parent in chunks(text, config=replace(DEFAULT, parent_overlap=0))
    )


def test_children_end_with_a_sentence_when_one_ends_nearby() -> None:
    text = " ".join(["The river rises and floods the low town near its banks."] * 38)
    (parent,) = chunks(text)
    assert len(parent.children) == 2
    assert all(child.text.startswith("The") and child.text.endswith("banks.") for child in parent.children)


def test_children_are_cut_between_words_when_no_sentence_ends_nearby() -> None:
    text = "flood " * 500
    for parent in chunks(text):
        for child in parent.children:
            assert set(child.text.split()) == {"flood"}


def test_a_config_without_room_for_a_child_is_refused_with_its_cure() -> None:
    with pytest.raises(InputError, match="child_size=300"):
        chunks("Text.", config=replace(DEFAULT, child_size=300))


@pytest.mark.parametrize("config", [DEFAULT, SMALL])
def test_a_real_law_in_markdown_holds_the_invariants(shared: Path, config: ChunkSizes) -> None:
    text = (shared / "data" / "corpus" / "en_eu_climate_law_2021-1119.md").read_text(encoding="utf-8")
    parents = chunks(text, config=config)
    check(text, parents, config)
    assert any(
        "temperature goal of the Paris Agreement" in child.text for parent in parents for child in parent.children
    )


def test_a_child_id_tells_document_parent_and_child() -> None:
    assert child_id("0123456789abcdef" * 4, 3, 14) == "0123456789ab_p3_c14"
