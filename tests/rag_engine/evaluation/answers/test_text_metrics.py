from __future__ import annotations

import sys

import pytest

from rag_engine.errors import InputError
from rag_engine.evaluation.answers.text_metrics import TEXT_METRICS, open_text_metrics


@pytest.mark.needs("text metrics")
def test_the_same_words_have_every_figure() -> None:
    compare, warnings = open_text_metrics()
    found = compare("The mayor orders the evacuation. [Source 1]", "The mayor orders the evacuation.")
    expected = [1.0, 1.0, 1.0, 1.0, 1.0, None if warnings else pytest.approx(1, abs=0.01)]
    assert list(found.values()) == [pytest.approx(one) if isinstance(one, float) else one for one in expected]
    assert tuple(found) == TEXT_METRICS


@pytest.mark.needs("text metrics")
def test_words_are_compared_whatever_their_letters() -> None:
    compare, _ = open_text_metrics()
    # One of two words, whose letters the tokenizer of the package does not know.
    assert compare("İtfaiye çıkar", "itfaiye gelir")["rouge1"] == 0.5


@pytest.mark.needs("text metrics")
def test_missing_data_of_meteor_is_said() -> None:
    compare, warnings = open_text_metrics()
    assert (compare("a", "a")["meteor"] is None) == bool(warnings)
    assert all("nltk.downloader wordnet" in warning for warning in warnings)


def test_missing_packages_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(InputError, match="text-metrics"):
        open_text_metrics()
