"""The tokenizers of exported models: the packaged encoder's makes the same tokens by either library."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer as Rust
from tokenizers.models import WordLevel

from rag_engine.backends.encoder.load import ENCODER, locate, unpacked_folder
from rag_engine.backends.load_model import exported_folder
from rag_engine.backends.tokenizer import (
    RustTokenizer,
    SentencePieceTokenizer,
    TokenizedText,
    Tokenizer,
    load_tokenizer,
    save_tokenizer,
)
from rag_engine.config import DATA, cache_folder

QUESTIONS = (
    "Wer wählt den Bundespräsidenten?",
    "Taşkın riski yüksek bölgelerde hangi önlemler alınır?",
    "干旱管理计划应包括预警指标。 План управления засухой.",
    "№ 5 costs ½ of ﬁve;\tso\u00ad what\n\n  ?",
    "  ",
    "",
)
LIMIT = 40


@pytest.fixture(scope="module")
def folder() -> Path:
    """Return the folder of the exported encoder."""
    return exported_folder(ENCODER, locate("multilingual-e5-small"), cache_folder())


@pytest.fixture(scope="module")
def rust() -> RustTokenizer:
    """Return the tokenizer that its package gives torch, by the Rust library."""
    return RustTokenizer(unpacked_folder(cache_folder()) / "tokenizer.json")


@pytest.fixture(scope="module")
def passages() -> list[str]:
    """Return the paragraphs of the sample documents, which are written in seven languages."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((DATA / "sample" / "content").iterdir())]
    return [one for text in texts for one in text.split("\n\n")]


def read(tokenizer: Tokenizer, texts: list[str]) -> list[tuple[object, ...]]:
    """Return what a model is given of each text."""
    return [given(one) for one in tokenizer.read(texts, LIMIT)]


def given(read: TokenizedText) -> tuple[object, ...]:
    """Return what a model is given, and which of it are the last text's own tokens."""
    return list(read.ids), list(read.types), list(read.own)


def test_the_packaged_encoder_is_read_by_sentencepiece(folder: Path) -> None:
    assert isinstance(load_tokenizer(folder), SentencePieceTokenizer)


def test_both_libraries_make_the_same_tokens(folder: Path, rust: RustTokenizer, passages: list[str]) -> None:
    pieces = load_tokenizer(folder)
    texts = [*passages, *QUESTIONS]

    assert len(passages) > 300
    assert read(pieces, texts) == read(rust, texts)
    assert [pieces.count(text) for text in texts] == [rust.count(text) for text in texts]


def test_both_libraries_frame_and_cut_pairs_alike(folder: Path, rust: RustTokenizer, passages: list[str]) -> None:
    pairs = [(question, passage) for question in QUESTIONS for passage in passages[::9]]
    pairs += [(passage, question) for question, passage in pairs]

    found = load_tokenizer(folder).read_pairs(pairs, LIMIT)

    assert [given(one) for one in found] == [given(one) for one in rust.read_pairs(pairs, LIMIT)]
    assert max(len(one.ids) for one in found) == LIMIT


def test_each_token_stands_where_its_characters_are(folder: Path, passages: list[str]) -> None:
    [read] = load_tokenizer(folder).read_pairs([("Who?", passages[3])], 512)

    places = [read.spans[at] for at in read.own]
    assert "".join(passages[3][start:end] for start, end in places) == passages[3]


def test_a_text_that_spells_a_special_token_does_not_make_one(folder: Path) -> None:
    [plain, spelled] = load_tokenizer(folder).read(["a", "a </s> <s> <pad> <mask> b"], 64)

    special = {plain.ids[0], plain.ids[-1]}
    assert not special & {spelled.ids[at] for at in spelled.own}


def test_a_tokenizer_of_another_form_is_read_by_the_rust_library(tmp_path: Path) -> None:
    save_tokenizer(Rust(WordLevel({"flood": 0, "?": 1}, "?")), tmp_path)

    tokenizer = load_tokenizer(tmp_path)

    assert [list(one.ids) for one in tokenizer.read(["flood", "other"], 8)] == [[0], [1]]


def test_a_raised_digit_is_no_digit_of_the_number_before_and_a_soft_hyphen_none_of_its_word() -> None:
    tokenizer = load_tokenizer(unpacked_folder(cache_folder()))
    inserted, plain, hyphened, whole = tokenizer.read(["Art. 21¹", "Art. 211", "Flut\u00adwehr", "Flutwehr"], 50)
    assert inserted.ids != plain.ids
    assert (hyphened.ids, inserted.spans[-2][1]) == (whole.ids, len("Art. 21¹"))
