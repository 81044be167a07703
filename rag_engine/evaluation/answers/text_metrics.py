"""BLEU, ROUGE, METEOR and BERTScore of an answer, by the usual libraries.

They compare it with the reference answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rag_engine.errors import InputError
from rag_engine.evaluation.answers.scoring import Figures
from rag_engine.text.folding import fold

TEXT_METRICS = ("bleu", "rouge1", "rouge2", "rougeL", "rougeLsum", "meteor", "bert_score")
_ROUGE = TEXT_METRICS[1:5]
# From the first of several blanks alone: tried from each of them, many would take the square of their time.
_MARK = re.compile(r"(?<!\s)\s*\[Source \d{1,3}\]")

# The answer and the reference to their figures, 0 to 1.
CompareTexts = Callable[[str, str], Figures]


def open_text_metrics(
    open_token_score: Callable[[], Callable[[str, str], float]],
) -> tuple[CompareTexts, tuple[str, ...]]:
    """Return the comparison of two texts, and warnings for METEOR or BERTScore.

    A figure that is not computed is None. `open_token_score` gives BERTScore and raises InputError if its library is
    missing. InputError if one of the other libraries is missing.
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
    token_score: Callable[[str, str], float] | None = None
    warnings = [warning] if warning else []
    try:
        token_score = open_token_score()
    except InputError as error:
        warnings.append(f"BERTScore is not computed: {error}")

    def compare(text: str, reference: str) -> Figures:
        plain = _MARK.sub("", text)
        scored = rouge.score(reference, plain)
        meteor = None if warning else float(meteor_score([_words(reference)], _words(plain)))
        return {
            "bleu": float(sacrebleu.sentence_bleu(plain, [reference]).score) / 100,
            **{name: float(scored[name].fmeasure) for name in _ROUGE},
            "meteor": meteor,
            "bert_score": token_score(plain, reference) if token_score else None,
        }

    return compare, tuple(warnings)


class _Words:
    """The tokenizer of ROUGE: its own knows no letter beyond a to z."""

    def tokenize(self, text: str) -> list[str]:
        return _words(text)


def _missing_data(meteor_score: Callable[..., Any]) -> str:
    """Return why METEOR cannot be computed, or "".

    It looks synonyms up in WordNet, which is installed apart.
    """
    try:
        meteor_score([["one"]], ["two"])
    except LookupError:
        return "METEOR is not computed: NLTK has no WordNet here. Run: python -m nltk.downloader wordnet."
    return ""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))
