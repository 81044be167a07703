"""Summary of the labels of an answer: how many sentences are supported, who says so, and which to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_engine.answering.support.labels import fitted_support
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types import SentenceSupport, SupportJudge


def support_accuracy(words: Wording = ENGLISH) -> str:
    """Return how often the label is right, in words: "right in 9 of 10 cases in our tests"."""
    return words.message("right in {n} of 10 cases in our tests", n=int(fitted_support().right * 10))


def support_summary(
    support: Sequence[SentenceSupport], judge: SupportJudge | None = None, words: Wording = ENGLISH
) -> str:
    """Return in one line how many sentences are supported, and who says so; "" without a claim.

    Labels that were made without a judge come with how often they are right.
    """
    labels = [one.label for one in support if one.label != "no claim"]
    if not labels:
        return ""
    parts = [
        words.counted(
            "{supported} of {n} sentence supported by the cited passages",
            "{supported} of {n} sentences supported by the cited passages",
            len(labels),
            supported=labels.count("supported"),
        )
    ]
    if partly := labels.count("partly supported"):
        parts.append(words.counted("{n} partly supported", "{n} partly supported", partly))
    if unsupported := labels.count("unsupported"):
        parts.append(words.counted("{n} unsupported", "{n} unsupported", unsupported))
    return f"{'; '.join(parts)}. {_judged(judge, words)}"


def _judged(judge: SupportJudge | None, words: Wording) -> str:
    if judge and not judge.failed:
        return words.message("Judged by a second model, {model}.", model=judge.name)
    accuracy = support_accuracy(words)
    if judge is None:
        return words.message("Checked automatically: {accuracy}.", accuracy=accuracy)
    return words.message(
        "Checked automatically without the second model {model}, which failed: {accuracy}.",
        model=judge.name,
        accuracy=accuracy,
    )


def unsupported_sentences(text: str, support: Sequence[SentenceSupport], words: Wording = ENGLISH) -> Iterator[str]:
    """Yield each sentence of an answer's text that is not or only partly supported, with the reasons."""
    for one in support:
        told = {"sentence": " ".join(text[one.start : one.end].split()), "reasons": "; ".join(one.reasons)}
        if one.label == "partly supported":
            yield words.message("Partly supported: {sentence} ({reasons})", **told)
        elif one.label == "unsupported":
            yield words.message("Unsupported: {sentence} ({reasons})", **told)
