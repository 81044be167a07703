from dataclasses import replace

import pytest

from rag_engine.evaluation.answers.scoring import (
    METRICS,
    answer_match,
    average_precision,
    best_match,
    citation_scores,
    context_recall,
    score,
)
from rag_engine.evaluation.gold import Quote
from rag_engine.types.answer import SentenceSupport, SupportLabel
from tests.rag_engine.evaluation.answers.conftest import QUESTION, QUOTE, UNANSWERABLE, make_answer


def test_a_right_answer_has_every_figure() -> None:
    answer = replace(make_answer(f"{QUOTE} [Source 1]"), support=(SentenceSupport(0, len(QUOTE), "supported"),))
    assert score(QUESTION, answer) == dict.fromkeys(METRICS, 1.0)


def test_the_share_of_supported_claims_is_that_of_the_labels() -> None:
    labels: tuple[SupportLabel, ...] = ("supported", "partly supported", "unsupported", "no claim", "supported")
    answer = replace(make_answer(), support=tuple(SentenceSupport(0, 5, label) for label in labels))
    assert score(QUESTION, answer)["support"] == 0.5


def test_quotations_refusals_and_answers_without_a_claim_have_no_support() -> None:
    assert score(QUESTION, make_answer(f"“{QUOTE}” [Source 1]"))["support"] is None
    empty = replace(make_answer(), support=(SentenceSupport(0, 5, "no claim"),))
    assert score(QUESTION, empty)["support"] is None
    refused = replace(make_answer("No.", status="insufficient_evidence"), support=(SentenceSupport(0, 3, "supported"),))
    assert score(QUESTION, refused)["support"] is None


def test_a_refusal_of_what_is_answered_has_no_word_and_no_citation_that_is_right() -> None:
    figures = score(QUESTION, make_answer("No answer found.", status="insufficient_evidence"))
    assert figures["context_recall"] == 1
    assert [figures[one] for one in METRICS[:4]] == [0, 0, 0, 0]


def test_a_refusal_is_right_where_nothing_answers_and_nothing_else_is_measured() -> None:
    figures = score(UNANSWERABLE, make_answer("No answer found.", status="insufficient_evidence"))
    assert figures == {**dict.fromkeys(METRICS), "abstention": 1.0}
    assert score(UNANSWERABLE, make_answer())["abstention"] == 0


def test_an_answer_that_failed_has_no_figures() -> None:
    assert score(QUESTION, make_answer(status="error")) == dict.fromkeys(METRICS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The MAYOR orders the evac-\nuation and the fire service carries it out!", 1.0),
        ("The mayors order evacuations.", 0.5),
        ("Evacuation is for the mayor.", 1.0),
        ("The mayor.", 0.5),
        ("The governor.", 0.0),
    ],
)
def test_an_answer_matches_by_its_gold_sentence_or_by_its_key_words(text: str, expected: float) -> None:
    assert answer_match(text, QUESTION) == expected


def test_the_number_of_a_source_is_no_word_of_the_answer() -> None:
    asked = replace(QUESTION, keywords=("3 days",))
    assert answer_match("Some days. [Source 3]", asked) == 0
    assert answer_match("After 3 days. [Source 1]", asked) == 1


def test_a_key_word_of_several_words_is_not_found_scattered_over_the_answer() -> None:
    asked = replace(QUESTION, keywords=("no more than two",))
    assert answer_match("Of its members, two at most, that is no more than two, are of one state.", asked) == 1
    assert (
        answer_match("No state has more. " + "It is so decided by all. " * 3 + "Two are fewer than three.", asked) == 0
    )


def test_the_words_of_a_key_word_may_be_in_another_order() -> None:
    assert answer_match("At 65 to 70 percent.", replace(QUESTION, keywords=("65 percent",))) == 1


def test_a_citation_of_a_document_without_pages_is_right_where_its_passage_answers() -> None:
    right, wrong = make_answer(), make_answer(contexts=("The cook makes the soup.",))
    for answer, expected in ((right, 1.0), (wrong, 0.0)):
        sources = tuple(
            replace(one, document=replace(one.document, media_type="text/markdown")) for one in answer.evidence.sources
        )
        unpaged = replace(answer, evidence=replace(answer.evidence, sources=sources))
        figures = score(QUESTION, unpaged)
        assert (figures["citation_precision"], figures["citation_recall"]) == (expected, expected)


def test_a_citation_of_a_page_is_right_whichever_passage_of_it_is_cited() -> None:
    figures = score(QUESTION, make_answer(contexts=("The cook makes the soup.",)))
    assert figures["citation_precision"] == 1


def test_a_key_word_is_no_part_of_a_longer_number() -> None:
    assert answer_match("135 people.", replace(QUESTION, keywords=("35",))) == 0


# Two pages of a.pdf answer together; one of b.pdf answers alone.
PASSAGES = (Quote("a.pdf", 1, "x"), Quote("a.pdf", 2, "x"), Quote("b.pdf", 7, "x"))


@pytest.mark.parametrize(
    ("cited", "precision", "recall"),
    [
        ([("a.pdf", 1)], 1.0, 0.5),
        ([("a.pdf", 1), ("a.pdf", 1), ("a.pdf", 9)], 0.5, 0.5),
        ([("b.pdf", 7), ("c.pdf", 7), ("c.pdf", 8)], 1 / 3, 1.0),
        ([("b.pdf", 1)], 0.0, 0.0),
        ([], 0.0, 0.0),
    ],
)
def test_cited_pages_are_held_against_those_that_answer(
    cited: list[tuple[str, int]], precision: float, recall: float
) -> None:
    assert citation_scores(cited, PASSAGES) == pytest.approx((precision, recall))


@pytest.mark.parametrize(
    ("relevances", "expected"),
    [
        ([1, 0, 0], 1.0),
        ([0, 1], 0.5),
        # At rank 1: 1/1, at rank 3: 2/3.
        ([1, 0, 1], (1 + 2 / 3) / 2),
        # At rank 1: .5 * .5/1, at rank 2: 1 * 1.5/2.
        ([0.5, 1], (0.25 + 0.75) / 1.5),
        ([0, 0], 0.0),
        ([], 0.0),
    ],
)
def test_context_precision_weighs_each_rank_by_its_relevance(relevances: list[float], expected: float) -> None:
    assert average_precision(relevances) == pytest.approx(expected)


def test_a_context_matches_in_part() -> None:
    quote = Quote("a.pdf", 1, "one two three four five six")
    # Of four runs of three words it holds two.
    assert best_match("zero one two three four and six", (quote,)) == 0.5
    assert best_match("Two, ONE, three", (quote,)) == 0


def test_a_short_quote_is_found_whole_or_not_at_all() -> None:
    assert best_match("604 people", (Quote("a.pdf", 1, "604 people"),)) == 1


def test_contexts_together_recall_what_each_has_a_part_of() -> None:
    quotes = (Quote("a.pdf", 1, "one two three four"), Quote("a.pdf", 2, "five six seven"))
    # The first quote has two runs, of which one is there; the second is whole.
    assert context_recall(["one two three", "five six seven"], quotes) == 0.75
    assert context_recall(["five six seven"], (*quotes, Quote("b.pdf", 1, "five six seven"))) == 1
    assert context_recall([], quotes) == 0


def test_the_first_quotation_may_be_a_part_of_the_gold_sentence_or_hold_it() -> None:
    answer = make_answer()
    for quote, file, expected in (
        ("The mayor orders the evacuation and the fire service", "1.pdf", 1.0),
        (f"When the gauge passes 4.5 metres: {QUOTE} It is announced by radio.", "1.pdf", 1.0),
        ("The cook makes the soup for the fire service.", "1.pdf", 0.0),
        (QUOTE, "2.pdf", 0.0),
    ):
        cited = replace(answer, citations=(replace(answer.citations[0], quote=quote, file=file),))
        assert score(QUESTION, cited)["first_quotation"] == expected
    assert score(QUESTION, replace(answer, citations=()))["first_quotation"] == 0


def test_without_key_words_the_words_of_an_answer_are_not_measured() -> None:
    figures = score(replace(QUESTION, answer="", keywords=()), make_answer())
    assert figures["answer_match"] is None
    assert figures["citation_recall"] == 1
