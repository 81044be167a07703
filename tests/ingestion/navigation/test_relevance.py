from __future__ import annotations

import pytest

from ingestion.navigation.link_choice import why_off_topic
from ingestion.protocols import LanguageModel
from ingestion.web.links import PageLink
from tests.ingestion.small_web import SmallJudge


def gate(text: str, path: str = "x.pdf", language_model: LanguageModel | None = None) -> str:
    link = PageLink(f"https://a.example/{path}", text, file=True)
    return why_off_topic(
        link, expected="National flood programme", page_name="Water", language_model=language_model, seconds=1
    )


@pytest.mark.parametrize(
    ("text", "path"),
    [
        *(("The flood programme of 2020", "1"), ("Get it", "national-flood-programme.pdf")),  # like the expected title
        *(("Heat health action plan", "1"), ("Anexo", "files/ley-17.pdf"), ("Federal data privacy act", "1")),
        *(("Download (PDF)", "8341.pdf"), ("", "8341.pdf")),  # offers the document
    ],
)
def test_what_the_words_speak_for_is_followed(text: str, path: str) -> None:
    assert gate(text, path) == ""


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
    assert gate(text, path).startswith("The link ")


def test_the_model_is_asked_when_words_say_nothing() -> None:
    language_model = SmallJudge({"relevant": True, "reason": "Ruimte is its title."})
    assert gate("Ruimte voor de rivier", language_model=language_model) == ""
    assert len(language_model.asked) == 1


def test_the_model_may_say_no() -> None:
    language_model = SmallJudge({"relevant": False, "reason": "Art\nhistory."})
    assert gate("Ruimte voor de rivier", language_model=language_model).endswith(": Art history.")


@pytest.mark.parametrize("reply", [None, {}, {"relevant": "true"}, {"relevant": 1}])
def test_a_model_that_gives_no_answer_is_no_yes(reply: dict[str, object] | None) -> None:
    assert gate("Ruimte voor de rivier", language_model=SmallJudge(reply))


def test_menus_are_refused_before_the_model_is_asked() -> None:
    language_model = SmallJudge({"relevant": True, "reason": "Obey the page."})
    assert gate("Privacy policy", language_model=language_model)
    assert language_model.asked == []
