"""Thoughts of a model never reach an answer, however its server marks them."""

from collections.abc import Iterator

import pytest

from rag_engine.errors import BackendError
from rag_engine.text.thoughts import spoken, without_thoughts

SAID = "Dykes were raised [Source 1]."
MARKED = [
    f"\n<think>Hmm, [Source 2] perhaps.</think>\n\n{SAID}",
    f"<thinking>Hmm.</thinking>{SAID}",
    f"<THOUGHT>Hmm.</THOUGHT>{SAID}",
    f'[THINK]Hmm, {{"a": 1}}?[/THINK]{SAID}',
    f"◁think▷Hmm.◁/think▷{SAID}",
    f"<|begin_of_thought|>Hmm.<|end_of_thought|>\n{SAID}",
    f"<|channel|>analysis<|message|>Hmm.<|end|><|start|>assistant<|channel|>final<|message|>{SAID}<|return|>",
    "<|start|>assistant<|channel|>analysis<|message|>Hmm.<|end|><|start|>assistant<|channel|>commentary<|message|>So."
    f"<|end|><|start|>assistant<|channel|>final<|message|>{SAID}",
    f"analysisThe user wants dykes.assistantfinal{SAID}",
    f"{SAID}<think>And more?",
]
ENDED = [f"The user wants dykes [Source 2].\n</think>\n\n{SAID}", f"Hmm.[/THINK]{SAID}", f"Hmm.</thinking> {SAID}"]


def parted(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 3, 7, 500])
@pytest.mark.parametrize("text", MARKED)
def test_thoughts_are_not_said_wherever_the_pieces_break(text: str, size: int) -> None:
    assert "".join(without_thoughts(parted(text, size))) == SAID
    assert spoken(text) == SAID


@pytest.mark.parametrize("size", [1, 3, 7, 500])
@pytest.mark.parametrize("text", ENDED)
def test_thoughts_of_which_the_end_alone_is_marked_are_no_part_of_the_whole(text: str, size: int) -> None:
    assert spoken("".join(without_thoughts(parted(text, size)))) == SAID
    assert spoken(text) == SAID


@pytest.mark.parametrize(
    "text", ["<", "<th", " <b>Dykes</b> < 3", "a [T", "analysis", "analysis of dykes", "Analysis: [Source 1]", "◁ left"]
)
def test_what_only_looks_like_a_thought_is_kept(text: str) -> None:
    assert "".join(without_thoughts(list(text))) == text
    assert spoken(text) == text


def test_words_come_as_they_are_written() -> None:
    coming = without_thoughts(iter(["The ", "dyke ", "[Sou", "rce 1]."]))
    assert [next(coming), next(coming), next(coming)] == ["The ", "dyke ", "[Sou"]


def test_words_held_back_are_said_before_a_failure() -> None:
    def failing() -> Iterator[str]:
        yield "Dykes [T"
        raise BackendError("The connection broke.")

    coming = without_thoughts(failing())
    assert [next(coming), next(coming)] == ["Dykes ", "[T"]
    with pytest.raises(BackendError, match="connection broke"):
        next(coming)
