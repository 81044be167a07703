"""BLEU, ROUGE and METEOR of an answer against the reference answer, by the libraries that others measure with.

BERTScore is not among them: it compares the vectors of single tokens, and an encoder here gives one vector a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rag_engine.errors import InputError
from rag_engine.evaluation.answers.scoring import Figures
from rag_engine.text.folding import fold

TEXT_METRICS = ("bleu", "rouge1", "rouge2", "rougeL", "rougeLsum", "meteor")
_ROUGE = TEXT_METRICS[1:5]
_MARK = re.compile(r"\s*\[Source \d{1,3}\]")

# The answer and the reference to their figures, 0 to 1.
CompareTexts = Callable[[str, str], Figures]


def open_text_metrics() -> tuple[CompareTexts, tuple[str, ...]]:
    """Return the comparison of two texts, and a warning where METEOR cannot be computed; its figure is None then.

    InputError where the libraries are not installed.
    """
    try:
        import sacrebleu
        from nltk.translate.meteor_score import meteor_score
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise InputError(
            f"The package {error.name} is not installed.", help='Run: pip install "sextant[text-metrics]".'
        ) from error
    rouge = RougeScorer(list(_ROUGE), tokenizer=_Words())
    warning = _missing_data(meteor_score)

    def compare(text: str, reference: str) -> Figures:
        plain = _MARK.sub("", text)
        scored = rouge.score(reference, plain)
        meteor = None if warning else float(meteor_score([_words(reference)], _words(plain)))
        return {
            "bleu": float(sacrebleu.sentence_bleu(plain, [reference]).score) / 100,
            **{name: float(scored[name].fmeasure) for name in _ROUGE},
            "meteor": meteor,
        }

    return compare, (warning,) if warning else ()


class _Words:
    """The tokenizer of ROUGE: its own knows no letter beyond a to z."""

    def tokenize(self, text: str) -> list[str]:
        return _words(text)


def _missing_data(meteor_score: Callable[..., Any]) -> str:
    """Return why METEOR cannot be computed, "" where it can: it looks synonyms up in WordNet, which comes apart."""
    try:
        meteor_score([["one"]], ["two"])
    except LookupError:
        return "METEOR is not computed: NLTK has no WordNet here. Run: python -m nltk.downloader wordnet."
    return ""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))
