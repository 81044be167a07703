import time

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.url_masking import masked

addresses = st.sampled_from(
    ["https://a.org/b", "http://", "www.", "ftp://x", "a@b.cd", "@", "x%y@z.eu", "]", "[", ".", " ", "é", "-", "a"]
)


def test_addresses_become_masks_and_the_words_around_them_stay() -> None:
    text = "See https://example.org/a?b=1&c (or www.example.org), write to jane.doe@example.org."
    assert masked(text) == "See [link] (or [link]), write to [email]."


@given(st.text().filter(lambda text: "@" not in text and "://" not in text and "www." not in text))
def test_a_text_without_addresses_is_the_very_same(text: str) -> None:
    assert masked(text) is text


def test_a_sign_that_is_no_address_stays() -> None:
    assert masked("3 items @ 5 euros; http:// alone; @handle") == "3 items @ 5 euros; http:// alone; @handle"


@given(st.lists(addresses, max_size=12).map("".join))
def test_masking_twice_changes_nothing(text: str) -> None:
    assert masked(masked(text)) == masked(text)


def test_the_time_grows_with_the_text_and_not_with_its_square() -> None:
    started = time.process_time()
    for hostile in ("a@", "www.", "http://!", "a" * 64 + "@", "a.", "@a.b-", "%"):
        masked(hostile * (1_000_000 // len(hostile)) + "@")
    assert time.process_time() - started < 10
