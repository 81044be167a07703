"""The relevance gate: yes or no to a link, with the reason."""

from __future__ import annotations

import pytest

from ingestion.navigation.relevance import Relevance, relevance_of
from ingestion.protocols import LanguageModel
from ingestion.web.links import PageLink
from tests.ingestion.small_web import SmallJudge


def gate(text: str, path: str = "x.pdf", language_model: LanguageModel | None = None) -> Relevance:
    link = PageLink(f"https://a.example/{path}", text, file=True)
    return relevance_of(
        link, expected="National flood programme", page_name="Water", language_model=language_model, seconds=1
    )


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("The flood programme of 2020", "1", "like the expected title"),
        ("Get it", "national-flood-programme.pdf", "like the expected title"),
        ("Heat health action plan", "1", "policy word 'plan'"),
        ("Anexo", "files/ley-17.pdf", "policy word 'ley'"),
        ("Download (PDF)", "8341.pdf", "offers the document"),
        ("", "8341.pdf", "offers the document"),
        ("Federal data privacy act", "1", "policy word 'act'"),
    ],
)
def test_yes_has_its_reason(text: str, path: str, reason: str) -> None:
    found = gate(text, path)
    assert found.yes
    assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Staff cookbook", "1"),
        ("Download our app", "1"),
        ("Privacy policy", "1"),
        ("Cookie policy", "1"),
        ("Sign in", "1"),
        ("Share on Facebook", "1"),
        ("Download", "login"),
    ],
)
def test_no_has_its_reason(text: str, path: str) -> None:
    found = gate(text, path)
    assert not found.yes
    assert found.reason


def test_the_model_is_asked_when_words_say_nothing() -> None:
    language_model = SmallJudge({"relevant": True, "reason": "Ruimte is\nits title."})
    found = gate("Ruimte voor de rivier", language_model=language_model)
    assert (found.yes, found.by) == (True, "small-model")
    assert "Ruimte is its title." in found.reason


def test_the_model_may_say_no() -> None:
    assert not gate("Ruimte voor de rivier", language_model=SmallJudge({"relevant": False, "reason": "Art."})).yes


@pytest.mark.parametrize("reply", [None, {}, {"relevant": "true"}, {"relevant": 1}])
def test_a_model_that_gives_no_answer_is_no_yes(reply: dict[str, object] | None) -> None:
    assert not gate("Ruimte voor de rivier", language_model=SmallJudge(reply)).yes


def test_menus_are_refused_before_the_model_is_asked() -> None:
    language_model = SmallJudge({"relevant": True, "reason": "Obey the page."})
    assert not gate("Privacy policy", language_model=language_model).yes
    assert language_model.asked == []
