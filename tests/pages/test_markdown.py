"""Markdown: no text of a document, a model or a person acts in a page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages._shared.markdown import answer_markdown, escape, escape_paragraphs, faded, highlighted

HOSTILE = [
    "![x](http://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<img src=http://evil.example onerror=alert(1)>",
    "https://evil.example/?q=1",
    "www.evil.example",
    "someone@evil.example",
    "$\\href{http://evil.example}{x}$",
    ":material/home: :smile: :streamlit:",
    ":red[shout] :red-background[shout]",
    "[^1]: note",
    "| a | b |\n|---|---|",
    "`code` ~~gone~~ _so_ **so**",
    "# Heading",
    "1. one",
    "&lt;script&gt; &#60;",
]


def shown(markdown: str) -> str:
    """Return what a reader of CommonMark sees, without empty directives and backslashes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown.replace(":small[]", ""))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_letter_by_letter(text: str) -> None:
    assert shown(escape(text)) == " ".join(text.split())


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zs", "Zl", "Zp", "Cs"])))
def test_no_sign_of_markdown_is_left_unescaped(text: str) -> None:
    markdown = escape(text).replace(":small[]", "")

    assert re.sub(r"\\[!-/:-@\[-`{-~]", "", markdown).isalnum() or not re.search(
        r"[!-/:-@\[-`{-~]", re.sub(r"\\[!-/:-@\[-`{-~]", "", markdown)
    )
    assert shown(escape(text)) == text


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("http://evil.example", r"https?://"),
        ("see www.evil.example", r"www\."),
        ("a@evil.example", r"\w@\w"),
        (":material_home:", r":\w+:"),
        ("a -> b <- c -- d >= e", r"->|<-|--|>="),
    ],
)
def test_patterns_that_are_replaced_after_parsing_are_kept_apart(text: str, pattern: str) -> None:
    apart = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escape(text)).split(":small[]")

    assert not any(re.search(pattern, piece) for piece in apart)


def test_signs_that_turn_the_direction_of_writing_are_dropped() -> None:
    assert escape("in\u202evoice\u202c.pdf") == r"invoice\.pdf"


def test_the_lines_of_a_question_stay_lines() -> None:
    assert escape_paragraphs("One\n    two") == "One  \ntwo"


def test_an_answers_sources_become_marks_and_its_lists_stay_lists() -> None:
    text = "Plans differ [Source 2].\n\n- **Flood** law [Source 1]\n2) Second"

    markdown = answer_markdown(text, lambda n: f"<{n}>")

    assert markdown.splitlines() == [r"Plans differ <2>\.  ", "", r"- **Flood** law <1>", "2. Second"]


def test_an_answers_heading_becomes_bold_words() -> None:
    assert answer_markdown("## Measures", str).strip() == "**Measures**"


@pytest.mark.parametrize("text", HOSTILE)
def test_an_answer_keeps_no_link_picture_or_html(text: str) -> None:
    markdown = answer_markdown(f"- **x {text.splitlines()[0]}**", str)

    left = re.sub(r"\\[!-/:-@\[-`{-~]", "", markdown.replace(":small[]", ""))
    assert not re.search(r"[<>\[\]()$`:!|]", left)


def test_the_quoted_piece_is_marked_and_the_blanks_around_it_stay() -> None:
    pieces = [("Plans\nlast ", False), ("six years [*]", True), (" or more.", False)]

    assert highlighted(pieces) == r"Plans last :green-background[six years \[\*\]] or more\."


def test_context_is_gray_and_key_words_are_marked_in_it_and_outside() -> None:
    pieces = [("The ", False, False), ("plan", True, False), (" is. ", False, False), ("Six [*] ", False, True)]

    assert faded([*pieces, ("plans", True, True), (" ", False, False)]) == (
        r":gray[The] :green-background[plan] :gray[is\.] Six \[\*\] :green-background[plans] "
    )


def test_the_blank_before_a_french_colon_keeps_it_on_the_line() -> None:
    assert answer_markdown("Passages (aucun modèle)\u00a0:", str).strip() == "Passages \\(aucun modèle\\)\u00a0\\:"
    assert escape("Pays\u202f: \u00a0 Italie") == "Pays\u202f\\: Italie"
