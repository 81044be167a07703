"""Figures of an answer that a second language model judges at temperature 0, after RAGAS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from rag_engine.errors import BackendError
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.scoring import Figures, average_precision
from rag_engine.prompts import (
    CLAIMS_RULES,
    QUESTIONS_RULES,
    SUPPORTED_CLAIMS_RULES,
    USEFULNESS_RULES,
    claims_message,
    list_schema,
    questions_message,
    supported_claims_message,
    usefulness_message,
)
from rag_engine.protocols import Embedder, Generator
from rag_engine.types.answer import Answer

JUDGED_METRICS = (
    "faithfulness",
    "answer_relevancy",
    "judged_context_precision",
    "judged_context_recall",
    "answer_correctness",
)

_ANSWER_CLAIMS, _REFERENCE_CLAIMS = 8, 15
_CONTEXTS = 5  # the best, against which the claims of an answer are checked
_QUESTIONS = 3
_REPLY_TOKENS = 2048
_HEADROOM = 1.4  # a language model counts more tokens than the encoder: of English (data/tokens.toml)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The figures of a judge: the mean of each over the repeats, its standard deviation, failures.

    A repeat that gave no figure does not count.
    """

    figures: Figures
    spreads: Figures
    failures: tuple[str, ...]


class Judge:
    """A language model that judges answers, with the encoder that compares texts."""

    def __init__(self, model: Generator, embedder: Embedder, *, repeat: int = 1, seconds: float) -> None:
        """`seconds` is how long the model may take over one reply."""
        self.model, self.repeat = model, repeat
        self._embedder, self._seconds = embedder, seconds

    def judge(self, question: AnswerQuestion, answer: Answer) -> JudgedAnswer:
        """Return the judged figures, 0 to 1; None without a figure.

        The judge may fail, or a metric may say nothing of the answer. A question without an answer and an answer that
        failed are not judged. An answer that refuses an answerable question is neither relevant nor correct: 0. Figures
        that need a reference answer are None without one.
        """
        if not question.answerable or answer.status == "error":
            return JudgedAnswer(dict.fromkeys(JUDGED_METRICS), dict.fromkeys(JUDGED_METRICS), ())
        failures: dict[str, None] = {}
        rounds = [self._round(question, answer, failures) for _ in range(self.repeat)]
        values = {metric: [one for found in rounds if (one := found[metric]) is not None] for metric in JUDGED_METRICS}
        return JudgedAnswer(
            {metric: float(np.mean(given)) if given else None for metric, given in values.items()},
            {metric: float(np.std(given, ddof=1)) if len(given) > 1 else None for metric, given in values.items()},
            tuple(failures),
        )

    def _round(self, question: AnswerQuestion, answer: Answer, failures: dict[str, None]) -> Figures:
        contexts = [source.text for source in answer.evidence.sources]
        refused = answer.status == "insufficient_evidence"
        kept: list[str] = []

        def reference_claims() -> list[str]:
            # Recall and correctness ask for the same claims.
            if not kept:
                kept.extend(self._claims(question.answer, _REFERENCE_CLAIMS))
            return kept

        asked: dict[str, Callable[[], float | None]] = {
            "faithfulness": lambda: None if refused else self._faithfulness(answer.text, contexts),
            "answer_relevancy": lambda: 0.0 if refused else self._relevancy(question, answer.text),
        }
        if question.answer:
            asked |= {
                "judged_context_precision": lambda: self._precision(question, contexts),
                "judged_context_recall": lambda: self._supported(reference_claims(), contexts),
                "answer_correctness": lambda: (
                    0.0 if refused else self._correctness(question, answer, reference_claims())
                ),
            }
        found: dict[str, float | None] = dict.fromkeys(JUDGED_METRICS)
        for metric, measure in asked.items():
            try:
                found[metric] = measure()
            except BackendError as error:
                found[metric] = None
                failures[f"{metric}: {error}"] = None
        return found

    def _faithfulness(self, text: str, contexts: Sequence[str]) -> float:
        """Return the share of the answer's claims that the five best contexts support."""
        return self._supported(self._claims(text, _ANSWER_CLAIMS), contexts[:_CONTEXTS])

    def _relevancy(self, question: AnswerQuestion, text: str) -> float:
        """Return the mean cosine of the question with those that the answer would answer."""
        message = questions_message(text, question.language)
        asked = self._list(QUESTIONS_RULES, message, "questions", "string", _QUESTIONS, _QUESTIONS)
        written = [str(one) for one in asked if str(one).strip()][:_QUESTIONS]
        if not written:
            raise BackendError(f"{self.model.name} wrote no question.", retryable=True)
        first, *others = self._embedder.encode_queries([question.question, *written])
        return float(np.mean([first @ other for other in others]))

    def _precision(self, question: AnswerQuestion, contexts: Sequence[str]) -> float:
        """Return the average precision of the contexts, in rank order, by whether each helps to answer."""
        if not contexts:
            return 0.0
        message = usefulness_message(question.question, question.answer, contexts)
        return average_precision(
            [float(verdict) for verdict in self._verdicts(USEFULNESS_RULES, message, len(contexts))]
        )

    def _correctness(self, question: AnswerQuestion, answer: Answer, claims: Sequence[str]) -> float:
        """Return half the cosine with the reference answer, plus half the share of its claims made."""
        covered = self._supported(claims, [answer.text])
        one, other = self._embedder.encode_passages([answer.text, question.answer])
        return 0.5 * float(one @ other) + 0.5 * covered

    def _supported(self, claims: Sequence[str], passages: Sequence[str]) -> float:
        if not passages:
            return 0.0
        verdicts = self._verdicts(SUPPORTED_CLAIMS_RULES, supported_claims_message(claims, passages), len(claims))
        return sum(verdicts) / len(verdicts)

    def _claims(self, text: str, at_most: int) -> list[str]:
        found = self._list(CLAIMS_RULES, claims_message(text, at_most), "claims", "string", 0, at_most)
        claims = [str(claim) for claim in found if str(claim).strip()][:at_most]
        if not claims:
            raise BackendError(f"{self.model.name} found no claim in the text.", retryable=True)
        return claims

    def _verdicts(self, rules: str, message: str, count: int) -> list[bool]:
        found = [one is True for one in self._list(rules, message, "verdicts", "boolean", count, count)]
        if len(found) != count:
            raise BackendError(f"{self.model.name} gave {len(found)} verdicts, not {count}.", retryable=True)
        return found

    def _list(self, rules: str, message: str, name: str, kind: str, least: int, most: int) -> list[object]:
        """Return the list in the model's reply, empty without one.

        BackendError if the text does not fit into the model's window or the model fails.
        """
        needed = ceil(self._embedder.count_tokens(rules + message) * _HEADROOM) + _REPLY_TOKENS
        if needed > self.model.context_window:
            raise BackendError(
                f"What is to be judged takes {needed} tokens; {self.model.name} reads {self.model.context_window}.",
                help="Choose a judge with a larger context window.",
            )
        schema = list_schema(name, kind, least, most)
        found = self.model.complete_json(rules, message, schema, seconds=self._seconds).get(name)
        return found if isinstance(found, list) else []
