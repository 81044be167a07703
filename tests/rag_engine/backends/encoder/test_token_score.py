"""BERTScore over the packaged encoder."""

import sys

import pytest

from rag_engine.backends.encoder.load import load_token_score, token_score_name
from rag_engine.errors import InputError


@pytest.mark.needs("bert score")
def test_a_paraphrase_and_a_translation_score_higher_than_another_sentence() -> None:
    compare = load_token_score()
    reference = "The mayor orders the evacuation."
    other = compare("The soup is made by the cook.", reference)
    assert compare(reference, reference) == pytest.approx(1, abs=0.001)
    assert compare("It is the mayor who gives the order to evacuate.", reference) > other + 0.1
    assert compare("Der Bürgermeister ordnet die Räumung an.", reference) > other + 0.1


def test_the_model_and_the_layer_are_named() -> None:
    assert token_score_name().startswith("multilingual-e5-small@")
    assert token_score_name().endswith(", layer 9")


def test_a_missing_library_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(InputError, match=r"bert_score is not installed.*text-metrics"):
        load_token_score()
