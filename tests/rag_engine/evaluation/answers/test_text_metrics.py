import sys
from collections.abc import Callable

import pytest

from rag_engine.errors import InputError
from rag_engine.evaluation.answers.text_metrics import TEXT_METRICS, open_text_metrics


def half() -> Callable[[str, str], float]:
    """Give every pair of texts half a BERTScore."""
    return lambda text, reference: 0.5


@pytest.mark.needs("text metrics")
def test_the_same_words_have_every_figure() -> None:
    compare, warnings = open_text_metrics(half)
    found = compare("The mayor orders the evacuation. [Source 1]", "The mayor orders the evacuation.")
    expected = [1.0, 1.0, 1.0, 1.0, 1.0, None if warnings else pytest.approx(1, abs=0.01), 0.5]
    assert list(found.values()) == [pytest.approx(one) if isinstance(one, float) else one for one in expected]
    assert tuple(found) == TEXT_METRICS


@pytest.mark.needs("text metrics")
def test_words_are_compared_whatever_their_letters() -> None:
    compare, _ = open_text_metrics(half)
    # One of two words, whose letters the tokenizer of the package does not know.
    assert compare("İtfaiye çıkar", "itfaiye gelir")["rouge1"] == 0.5


@pytest.mark.needs("text metrics")
def test_missing_data_of_meteor_is_said() -> None:
    compare, warnings = open_text_metrics(half)
    assert (compare("a", "a")["meteor"] is None) == bool(warnings)
    assert all("nltk.downloader wordnet" in warning for warning in warnings)


@pytest.mark.needs("text metrics")
def test_bert_score_without_its_library_is_a_warning_and_no_figure() -> None:
    def missing() -> Callable[[str, str], float]:
        raise InputError("The package bert_score is not installed.", help="Install it.")

    compare, warnings = open_text_metrics(missing)
    assert compare("a", "a")["bert_score"] is None
    assert warnings[-1] == "BERTScore is not computed: The package bert_score is not installed. Install it."


def test_missing_packages_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(InputError, match="text-metrics"):
        open_text_metrics(half)
