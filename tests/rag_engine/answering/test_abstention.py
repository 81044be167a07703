"""When the passages found are no ground for an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag_engine.answering.abstention import too_far, unnamed
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.types import Evidence, Source

TEXT = "The act of 2008 sets five-yearly budgets for emissions."


@pytest.fixture
def asked(make_evidence: Callable[..., Evidence], make_source: Callable[..., Source]) -> Callable[..., Evidence]:
    """Return what was found for a question: one source, about the given countries or level."""

    def ask(
        question: str, *, text: str = TEXT, language: str = "en", countries: tuple[str, ...] = (), level: str = ""
    ) -> Evidence:
        source = make_source(1, text)
        metadata = replace(source.document.metadata, countries=countries, geographical_level=level)
        source = replace(source, document=replace(source.document, metadata=metadata))
        evidence = make_evidence(question, [source], language=language)
        return replace(evidence, plan=replace(evidence.plan, scope=find_places(question, load_gazetteer(), language)))

    return ask


@pytest.mark.parametrize(
    ("question", "language", "named"),
    [
        ("What does the climate act of New Zealand set?", "en", "New Zealand"),
        ("Que prévoit la loi belge ?", "fr", "belge"),
        ("Azerbaycan'da bütçeler nasıl?", "tr", "Azerbaycan"),
        ("Chi approva i bilanci in Grecia?", "it", "Grecia"),
    ],
)
def test_a_country_that_no_document_is_about_is_said_in_the_questions_words(
    asked: Callable[..., Evidence], question: str, language: str, named: str
) -> None:
    evidence = asked(question, language=language, countries=("United Kingdom",), level="National")
    assert unnamed(evidence, load_gazetteer()) == named


def test_a_document_that_may_be_about_the_country_is_not_held_against_the_question(
    asked: Callable[..., Evidence],
) -> None:
    question, gazetteer = "Which budgets does Greece set?", load_gazetteer()
    assert not unnamed(asked(question), gazetteer)
    assert not unnamed(asked(question, level="Global"), gazetteer)
    assert not unnamed(asked(question, countries=("Greece",), level="National"), gazetteer)
    compared = asked(question, text="Unlike Greece, the act sets budgets.", countries=("United Kingdom",))
    assert not unnamed(compared, gazetteer)
    both = asked("Compare Greece and the United Kingdom.", countries=("United Kingdom",), level="National")
    assert not unnamed(both, gazetteer)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which budgets were set in 1911?", "1911"),
        ("Which budgets does the act of 2008 set?", ""),
        ("Which budgets were set in 1911 and 2008?", ""),
        ("What was published in 2020?", ""),
        ("What does Regulation (EU) 1911/1119 say of budgets?", ""),
    ],
)
def test_a_year_that_no_source_has_is_said(asked: Callable[..., Evidence], question: str, named: str) -> None:
    assert unnamed(asked(question), load_gazetteer()) == named


@pytest.fixture
def found(asked: Callable[..., Evidence]) -> Callable[..., Evidence]:
    """Return what was found for a question, with changes to the one hit."""

    def find(question: str, **changes: Any) -> Evidence:
        evidence = asked(question)
        return replace(evidence, hits=tuple(replace(hit, **changes) for hit in evidence.hits))

    return find


def test_a_passage_may_be_less_alike_where_it_has_the_words_of_the_question(found: Callable[..., Evidence]) -> None:
    assert too_far(found("How are guitars tuned?", similarity=0.55))
    assert not too_far(found("Who sets the budgets?", similarity=0.55))
    assert too_far(found("Who sets the budgets?", similarity=0.2))


def test_the_words_of_a_source_in_another_language_are_not_missed(found: Callable[..., Evidence]) -> None:
    question = "Quem define os orçamentos?"
    evidence = found(question, similarity=0.55)
    assert too_far(evidence)
    assert not too_far(replace(evidence, plan=replace(evidence.plan, language="pt")))


def test_what_is_named_by_number_or_not_compared_is_not_far(found: Callable[..., Evidence]) -> None:
    assert not too_far(found("How are guitars tuned?", similarity=0.1, named=True))
    # Without an encoder nothing is known of the distance.
    assert not too_far(found("How are guitars tuned?", similarity=0.0, dense_rank=None, sparse_rank=1))
    assert too_far(replace(found("How are guitars tuned?"), hits=()))
