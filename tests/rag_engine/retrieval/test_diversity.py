from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.diversity import Candidate, admit, per_document_cap

candidates = st.lists(
    st.builds(
        Candidate, st.integers(0, 99), st.just(0), st.integers(0, 30), st.floats(0, 1), st.booleans(), st.floats(0, 1)
    ).map(lambda c: Candidate(c.key, c.parent_key % 5, c.parent_key, c.similarity, c.by_keyword, c.score)),
    max_size=40,
)


def test_a_question_to_one_document_is_not_held_to_two_passages() -> None:
    assert per_document_cap(10, 1) == 10


def test_a_second_child_of_an_admitted_parent_joins_it() -> None:
    first, second = Candidate(1, 7, 70, 0.9, False), Candidate(2, 7, 70, 0.8, False)
    assert admit([first, second], top_k=1, floor=0.3, keyword_floor=0.3, cap=1) == {70: [first, second]}


def test_a_keyword_hit_may_stay_below_a_raised_threshold_but_not_below_the_floor() -> None:
    worded, faint = Candidate(1, 1, 1, 0.4, True), Candidate(2, 2, 2, 0.2, True)
    silent = Candidate(3, 3, 3, 0.4, False)
    assert list(admit([worded, faint, silent], top_k=9, floor=0.6, keyword_floor=0.35)) == [1]


def scored(*scores: tuple[int, float]) -> list[Candidate]:
    return [Candidate(key, document, key, 1.0, False, score) for key, (document, score) in enumerate(scores)]


def test_a_document_that_stands_out_brings_what_it_has_and_one_that_does_not_makes_room() -> None:
    far_better = scored((1, 1.0), (1, 0.95), (1, 0.9), (1, 0.85), (2, 0.3), (3, 0.2))
    assert list(admit(far_better, top_k=4, floor=0, keyword_floor=0, share=0.9)) == [0, 1, 2, 3]
    about_as_good = scored((1, 1.0), (1, 0.95), (1, 0.94), (2, 0.9), (3, 0.85))
    assert list(admit(about_as_good, top_k=3, floor=0, keyword_floor=0, share=0.9)) == [0, 3, 1]


def test_an_order_that_diversity_has_made_is_kept() -> None:
    diverse = scored((1, 0.5), (2, 0.9), (3, 0.7))
    assert list(admit(diverse, top_k=3, floor=0, keyword_floor=0, share=0.9)) == [0, 1, 2]


def test_what_the_question_names_comes_first_and_does_not_count() -> None:
    named = Candidate(9, 1, 9, 0.0, False, 0.1, named=True)
    found = admit([*scored((1, 1.0), (2, 0.95)), named], top_k=2, floor=0.5, keyword_floor=0.5, share=0.5)
    assert list(found) == [9, 0]


@given(candidates, st.integers(1, 10), st.integers(1, 3))
def test_cap_floor_and_top_k_always_hold(ranked: list[Candidate], top_k: int, cap: int) -> None:
    admitted = admit(ranked, top_k=top_k, floor=0.5, keyword_floor=0.35, cap=cap)
    assert len(admitted) <= top_k
    assert all(c.similarity >= (0.35 if c.by_keyword else 0.5) for group in admitted.values() for c in group)
    assert all(count <= cap for count in Counter(group[0].document_key for group in admitted.values()).values())
