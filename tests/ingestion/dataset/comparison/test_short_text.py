from __future__ import annotations

import pytest

from ingestion.dataset.comparison.short_text import best_quotation, shortened, without_marks
from rag_engine.types.answer import ShownQuotation

LONG = " ".join(f"Word{n}" for n in range(60)) + "."


def quoted(*texts: str) -> list[ShownQuotation]:
    return [ShownQuotation(text, n, "answers") for n, text in enumerate(texts, 1)]


def test_the_best_quotation_is_the_first_that_does_not_only_open_a_list() -> None:
    shown = quoted(
        "“Special rules:” (Turkish) [Source 1]",
        "“The „council“ pays. **The mayor** orders it.” (German) [Source 2]",
    )
    number, said, answering = best_quotation(shown)
    assert (number, said) == (1, "The „council“ pays. The mayor orders it.")
    assert said[answering:].startswith("The mayor")
    assert best_quotation(quoted("«Special rules:» [Source 1]")) == (0, "Special rules:", 0)
    assert best_quotation([]) == (0, "", 0)


def test_a_quoted_row_is_told_by_the_names_of_its_columns() -> None:
    table = "|  | to air | to water |\n| --- | --- | --- |\n| Mercury | **10** | 1 |\n[Source 1]"
    _, said, answering = best_quotation(quoted(table))
    assert " ".join(said.split()) == "Mercury; to air: 10; to water: 1;"
    assert said[answering:].startswith("10")


def test_whole_sentences_are_shown_from_the_one_that_answers() -> None:
    three = " ".join(["The council of the county pays for the plan every year."] * 3)
    text = f"It is Monday. {three} {LONG}"
    assert shortened(text, "en") == f"It is Monday. {three} …"
    later = shortened(text, "en", text.index("The council"))
    assert later.startswith("… The council")
    assert shortened("It is Monday.", "en") == "It is Monday."
    assert shortened("", "en") == ""


@pytest.mark.parametrize(
    ("place", "first", "last"), [(0, "Word0", "Word39"), (LONG.index("Word50"), "Word42", "Word59.")]
)
def test_a_long_sentence_is_cut_near_what_answers(place: int, first: str, last: str) -> None:
    words = [word for word in shortened(LONG, "en", place).split() if word != "…"]
    assert (words[0], words[-1]) == (first, last)
    assert len(words) <= 40


def test_what_opens_a_list_is_shown_with_its_items() -> None:
    shown = shortened(f"These are forbidden:\n- {LONG}", "en")
    assert shown.startswith("These are forbidden: - Word0")
    assert len(shown.split()) == 41


def test_marks_and_bold_are_left_out() -> None:
    assert without_marks("**The mayor** pays [Source 1].\n\nYes [Source 2].") == "The mayor pays. Yes."
