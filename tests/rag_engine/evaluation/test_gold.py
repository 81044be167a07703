"""Quotes and where they stand."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import InputError
from rag_engine.evaluation.gold import GoldQuestion, Quote, alternatives, locate, read_gold, spread
from rag_engine.types.document import ExtractedText, Line

PAGES = ("The dam-\nage of the “great flood” was\nlarge.", "It rained. It rained. Straße 5 was closed.")


def extracted(*pages: str) -> ExtractedText:
    text = "\n\n".join(pages)
    lines, start = [], 0
    for page, words in enumerate(pages, start=1):
        lines.append(Line(start, start + len(words), page, None))
        start += len(words) + 2
    return ExtractedText(text, len(pages), tuple(lines), (), "text/plain")


def question(*quotes: Quote) -> GoldQuestion:
    return GoldQuestion("q1", "What happened?", "en", quotes, False, "report", "dev")


@pytest.mark.parametrize(
    ("quote", "page", "said"),
    [
        ('damage of the "great flood" was large', 1, "dam-\nage of the “great flood” was\nlarge"),
        ("STRASSE 5", 2, "Straße 5"),
        ("it  rained . it rained", 2, "It rained. It rained"),
    ],
)
def test_white_space_hyphens_quotation_marks_and_case_do_not_hide_a_quote(quote: str, page: int, said: str) -> None:
    text = extracted(*PAGES)
    [found] = locate(Quote("a.pdf", page, quote), text)
    assert text.text[found.start : found.end] == said


@pytest.mark.parametrize(("quote", "page"), [("It rained", 1), ("large. It rained", 1), ("It snowed", 2), ("...", 1)])
def test_a_quote_that_is_not_on_its_page_is_named(quote: str, page: int) -> None:
    with pytest.raises(InputError, match=rf"Page {page} of a\.pdf does not say"):
        locate(Quote("a.pdf", page, quote), extracted(*PAGES))


def test_a_sentence_that_repeats_is_right_wherever_it_is_found() -> None:
    found = alternatives(question(Quote("a.pdf", 2, "It rained.")), {"a.pdf": extracted(*PAGES)})
    assert len(found) == 2
    assert found[0] != found[1]


def test_quotes_of_one_document_are_one_answer_and_another_document_is_another() -> None:
    quotes = (Quote("a.pdf", 1, "great flood"), Quote("a.pdf", 2, "was closed"), Quote("b.pdf", 1, "great flood"))
    texts = {"a.pdf": extracted(*PAGES), "b.pdf": extracted(*PAGES)}
    assert [len(answer) for answer in alternatives(question(*quotes), texts)] == [2, 1]


def test_a_document_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"'q1' quotes c\.pdf"):
        alternatives(question(Quote("c.pdf", 1, "x")), {})


def test_the_committed_questions_are_read_by_split() -> None:
    path = Path(__file__).parents[3] / "data" / "eval" / "passages.jsonl"
    dev, heldout, both = (read_gold(path, split) for split in ("dev", "heldout", "all"))
    assert len(dev) + len(heldout) == len(both) >= 60
    assert sum(one.cross_lingual for one in both) >= 12
    assert not {one.id for one in dev} & {one.id for one in heldout}


@pytest.mark.parametrize(
    ("passages", "said"),
    [
        ([], "line 1: the field 'passages' is missing"),
        ([{"document": "a", "quote": "b"}], "line 1: the page is None"),
        ([{"document": "a", "page": 0, "quote": "b"}], "the page is 0"),
        ([{"document": "a", "page": 1}], "line 1: the field 'quote' is missing"),
        (["a"], "the page is None"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, passages: list[object], said: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "1", "question": "x", "language": "en", "passages": passages}))
    with pytest.raises(InputError, match=said):
        read_gold(path, "all")


def test_a_split_without_questions_is_said(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    passages = [{"document": "a", "page": 1, "quote": "b"}]
    line = {"id": "1", "question": "x", "language": "en", "split": "dev", "passages": passages}
    path.write_text(json.dumps(line))
    with pytest.raises(InputError, match="no question of the split 'heldout'"):
        read_gold(path, "heldout")


@given(st.integers(1, 200), st.integers(1, 100))
def test_some_of_the_questions_are_of_every_part_of_the_file(there: int, wanted: int) -> None:
    questions = [replace(question(), id=f"{place}") for place in range(there)]
    places = [int(one.id) for one in spread(questions, wanted)]
    assert len(places) == min(there, wanted)
    steps = [following - place for place, following in pairwise([*places, there])]
    assert places[0] == 0
    assert 0 < min(steps) <= max(steps) <= min(steps) + 1
