import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.repetition import repetition_start
from tests.present import present

BEFORE = "The lead authority prepares a local flood plan [Source 1]. "
SENTENCE = "It must publish the plan and keep it up to date [Source 1]. "


@pytest.mark.parametrize(
    "loop",
    [
        SENTENCE * 6,
        (SENTENCE + "A copy is kept where the public can read it. ") * 4,
        "the plan " * 40,
        SENTENCE * 6 + SENTENCE[:17],
    ],
    ids=["one sentence", "two in turn", "two words", "broken off in a sentence"],
)
def test_a_text_that_goes_round_is_cut_after_the_first_round(loop: str) -> None:
    start = present(repetition_start(BEFORE + loop))
    kept = (BEFORE + loop)[:start]
    assert kept.startswith(BEFORE.rstrip())
    assert len(kept) - len(BEFORE) <= 110


def test_a_numbered_list_of_one_item_is_a_repetition() -> None:
    listed = "".join(f"{number}. {SENTENCE}\n" for number in range(1, 8))
    start = present(repetition_start(listed))
    assert listed[:start].strip() == f"1. {SENTENCE}".strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        BEFORE + SENTENCE * 2,
        "In 2019 the fund paid 5 million euros to the cities. In 2020 the fund paid 6 million euros to the cities. "
        "In 2021 the fund paid 7 million euros to the cities. In 2022 the fund paid 8 million euros to the cities.",
        "| Country | Year |\n" + "| --- " * 80 + "|\n",
        "No. " * 12,
    ],
    ids=["empty", "said twice", "figures by year", "line of a table", "short"],
)
def test_what_only_resembles_a_repetition_is_kept(text: str) -> None:
    assert repetition_start(text) is None


@given(
    before=st.text(max_size=80), unit=st.text(alphabet="abcd e.", min_size=3, max_size=60), times=st.integers(70, 90)
)
def test_whatever_is_repeated_at_length_is_found_and_kept_twice_at_most(before: str, unit: str, times: int) -> None:
    text = before + unit * times
    start = repetition_start(text)
    if any(character.isalpha() for character in unit):
        assert start is not None
        assert start <= max(len(before), len(text) - 4000) + 2 * len(unit)
