"""Chance that a quotation answers the question, by what a reader finds in it alone and in its passage.

The weights are fitted by benchmarks/answers/fit_quotations.py on questions to real documents, and stand in
data/quotation_chances.toml with the share of each fit that answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

from rag_engine.text.tables import read_table
from rag_engine.types.answer import Fit
from rag_engine.types.passage import Tier

# Logits beyond these say no more; a text without a token has the least.
_SUREST = 12.0
_LEAST = 0.001
_BY_TIER: dict[Tier, Fit] = {"strong": "answers", "moderate": "related", "weak": "weak"}


@dataclass(frozen=True, slots=True)
class QuotationSignals:
    """Signals that speak for a quotation, in logits but for the chance of its passage.

    - `in_passage`: the lead of the best answer in it over none, read in its passage
    - `passage`: the chance that its passage answers
    - `relevance`: how relevant its passage is
    - `behind`: by how much it is less relevant than the most relevant unit, each read alone, 0 or less
    - `lists`: whether it opens a list, if the question asks for one
    - `defines`: whether it says what the term means that the question asks for
    """

    in_passage: float | None
    passage: float
    relevance: float | None
    behind: float
    lists: bool = False
    defines: bool = False

    def values(self) -> dict[str, float]:
        """Return the signals by the names of their weights."""
        passage = min(max(self.passage, _LEAST), 1 - _LEAST)
        return {
            "constant": 1.0,
            "in_passage": _within(self.in_passage),
            "passage": log(passage / (1 - passage)),
            "relevance": _within(self.relevance),
            "behind": _within(self.behind),
            "lists": float(self.lists),
            "defines": float(self.defines),
        }


def quotation_chance(signals: QuotationSignals) -> float:
    """Return the chance that a quotation answers, 0 to 1."""
    weights = _model()["weights"]
    return float(1 / (1 + exp(-sum(weights[name] * value for name, value in signals.values().items()))))


def fit_of(chance: float | None, tier: Tier) -> Fit:
    """Return how well a quotation answers: by its chance, or without a reader by its passage's tier."""
    if chance is None:
        return _BY_TIER[tier]
    return "answers" if chance >= _model()["answers"] else "related" if chance >= _model()["related"] else "weak"


def share_of_fit(fit: Fit) -> float | None:
    """Return the share of first quotations of a fit that answered in our tests, None if not measured."""
    share: float | None = _model().get("measured", {}).get(fit)
    return share


@cache
def _model() -> dict[str, Any]:
    return dict(read_table("quotation_chances"))


def _within(logit: float | None) -> float:
    return -_SUREST if logit is None else max(min(logit, _SUREST), -_SUREST)
