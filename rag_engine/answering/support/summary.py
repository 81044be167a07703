"""Summary of the labels of an answer: how many sentences are supported, who says so, and which to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_engine.answering.support.labels import LABELS, fitted_support
from rag_engine.types import SentenceSupport, SupportJudge


def support_accuracy() -> str:
    """Return how often the label is right, in words: "right in 9 of 10 cases in our tests"."""
    return f"right in {int(fitted_support().right * 10)} of 10 cases in our tests"


def support_summary(support: Sequence[SentenceSupport], judge: SupportJudge | None = None) -> str:
    """Return in one line how many sentences are supported, and who says so; "" without a claim.

    Labels that were made without a judge come with how often they are right.
    """
    labels = [one.label for one in support if one.label != "no claim"]
    if not labels:
        return ""
    counted = f"{labels.count('supported')} of {len(labels)} sentences supported by the cited passages"
    others = [f"{labels.count(label)} {label}" for label in LABELS[1:] if label in labels]
    if judge and not judge.failed:
        by = f"Judged by a second model, {judge.name}"
    else:
        without = f" without the second model {judge.name}, which failed" if judge else ""
        by = f"Checked automatically{without}: {support_accuracy()}"
    return f"{'; '.join([counted, *others])}. {by}."


def unsupported_sentences(text: str, support: Sequence[SentenceSupport]) -> Iterator[str]:
    """Yield each sentence of an answer's text that is not or only partly supported, with the reasons."""
    for one in support:
        if one.label in LABELS[1:]:
            sentence = " ".join(text[one.start : one.end].split())
            yield f"{one.label.capitalize()}: {sentence} ({'; '.join(one.reasons)})"
