"""Chance that a passage answers the question.

It comes from the passage's nearness, the words it shares, and the finding of a reader. A logistic regression over such
signals is fitted by benchmarks/answers/fit_chances.py on questions to real documents.

The table data/chances.toml holds it with its results: the share of right passages in each tier, and how many questions
were refused (benchmarks/answers/shown_shares.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp

import numpy as np
from rapidfuzz import fuzz, process

from rag_engine.text.analyzer import analyse, surface
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table
from rag_engine.types.answer import AnswerStatus
from rag_engine.types.evidence import Evidence, Ground, QueryPlan
from rag_engine.types.passage import Hit, PassageReading, Source, Tier

# Logits beyond these say no more.
_SUREST = 12.0

# Tokens: an answer is seldom longer, and a row of a table is shorter.
_LONGEST = 60

# From here on (of 100) two words of different languages count as one: gouvernement and government.
_ALIKE = 75.0
SHORTEST_ALIKE = 5
# Spellings of one sound, so that Warschau, Varşova and Varsavia meet Warsaw, and mekanizma mechanism.
_SOUNDS = {"sch": "s", "sh": "s", "ch": "c", "ph": "f", "th": "t", "qu": "c"}
_SOUNDS |= {"w": "v", "k": "c", "q": "c", "z": "s", "y": "i"}
_SPELLING = re.compile("|".join(_SOUNDS))
_DOUBLED = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class RefusalRates:
    """Counts of refused questions in our tests, with and without an answer.

    `mistaken` of the `answerable` and `caught` of the `unanswerable` questions were refused.
    """

    mistaken: int
    answerable: int
    caught: int
    unanswerable: int


@dataclass(frozen=True, slots=True)
class ChanceModel:
    """Weights of the signals, and the chances of strong and moderate passages.

    `least` is the least chance to answer from. `measured` holds the share of right passages by tier, for passages in
    the question's language ("same") and in another ("across"). `refusals` holds how often refusals were right. Both
    were measured on questions outside the fit; `refusals` is None if it was not measured.
    """

    weights: Mapping[str, float]
    strong: float
    moderate: float
    least: float
    measured: Mapping[str, Mapping[str, float]]
    refusals: RefusalRates | None = None


def judge(evidence: Evidence) -> Evidence:
    """Return the evidence with chance and tier of every hit, and its ground for an answer.

    A section that the question names is strong and enough. If no encoder compared, the chance stays None and the
    evidence counts as enough.
    """
    hits = {hit.child_id: hit for source in evidence.sources for hit in source.hits}
    judged = {id: _judged(hit, evidence.plan) for id, hit in hits.items()}
    sources = tuple(
        replace(source, hits=tuple(judged[hit.child_id] for hit in source.hits)) for source in evidence.sources
    )
    chosen = tuple(judged[hit.child_id] for hit in evidence.hits)
    return replace(
        evidence, hits=chosen, sources=sources, ground=_ground(list(judged.values()), evidence.plan.language)
    )


def with_sources(evidence: Evidence, sources: Sequence[Source]) -> Evidence:
    """Return the evidence with some of its sources alone, and whether these are a ground for an answer."""
    hits = [hit for source in sources for hit in source.hits]
    kept = {hit.child_id for hit in hits}
    best = tuple(hit for hit in evidence.hits if hit.child_id in kept)
    return replace(evidence, hits=best, sources=tuple(sources), ground=_ground(hits, evidence.plan.language))


def share_right(hit: Hit, language: str) -> float | None:
    """Return the share of right passages in a hit's tier in our tests, None if it is not known.

    `language` is the question's: in another one fewer are right.
    """
    if hit.chance is None or not language:
        return None
    place = "same" if hit.document.metadata.language == language else "across"
    return _model_of(hit).measured.get(place, {}).get(hit.tier)


def refusal_rates(status: AnswerStatus, seconds: Mapping[str, float], *, with_reader: bool) -> RefusalRates | None:
    """Return how often refusing was right in our tests.

    None if the answer is no refusal, or a language model's own refusal. `seconds` are the times of the answer; they
    have a "prompt" if a model was asked.
    """
    refused = status == "insufficient_evidence" and "prompt" not in seconds
    return chance_model(with_reader).refusals if refused else None


def may_answer(hit: Hit) -> bool:
    """Return whether a passage has the least chance to answer; it may if no encoder compared it."""
    return hit.chance is None or hit.chance >= _model_of(hit).least


def _ground(hits: Sequence[Hit], language: str) -> Ground:
    if not hits:
        return "none"
    # Where passages were read, those that were not decide nothing.
    hits = [hit for hit in hits if hit.named or hit.reading is not None] or hits
    compared = [may_answer(hit) for hit in hits if hit.chance is not None]
    # Of moderate passages in another language than the question's too few are right to be a ground alone.
    sufficing = (
        hit.named or hit.tier == "strong" or (hit.tier == "moderate" and hit.document.metadata.language == language)
        for hit in hits
    )
    if not compared or any(sufficing):
        return "enough"
    return "doubtful" if any(compared) else "none"


def signals_of(hit: Hit, plan: QueryPlan) -> dict[str, float]:
    """Return the signals that speak for a passage, by name.

    A passage in another language than the question's has separate signals, and its words are compared by their sound.
    """
    metadata = hit.document.metadata
    shown = f"{metadata.title} {hit.act} {' '.join(hit.headings)} {hit.text}"
    foreign = not plan.language or metadata.language != plan.language
    if foreign:
        shared = share_sounding_alike(plan.question, plan.language, shown)
    else:
        terms = set(analyse(plan.question, plan.language))
        shared = len(terms.intersection(analyse(shown, plan.language))) / len(terms) if terms else 0.0
    signals = {"constant": 1.0, "similarity": hit.similarity, "shared": shared}
    if hit.reading is not None:
        found = answer_score(hit.reading, hit.start, hit.end)
        signals |= {
            "answer": max(min(found, _SUREST), -_SUREST),
            "relevance": max(min(hit.reading.relevance, _SUREST), -_SUREST),
        }
    return {f"{name}_foreign": value for name, value in signals.items()} if foreign else signals


def chance(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the chance, 0 to 1."""
    return 1 / (1 + exp(-sum(weights[name] * value for name, value in signals.items())))


@cache
def chance_model(with_reader: bool) -> ChanceModel:
    """Return the fitted model, with the signals of the reader or without."""
    chosen = read_table("chances")["reader" if with_reader else "likeness"]
    measured, refusals = chosen.get("measured", {}), chosen.get("refusals")
    rates = RefusalRates(**refusals) if refusals else None
    return ChanceModel(chosen["weights"], chosen["strong"], chosen["moderate"], chosen["least"], measured, rates)


def _model_of(hit: Hit) -> ChanceModel:
    return chance_model(hit.reading is not None)


def _judged(hit: Hit, plan: QueryPlan) -> Hit:
    if hit.named:
        return replace(hit, tier="strong")
    if hit.dense_rank is None and not hit.similarity:
        return hit
    model = _model_of(hit)
    found = chance(signals_of(hit, plan), model.weights)
    tier: Tier = "strong" if found >= model.strong else "moderate" if found >= model.moderate else "weak"
    return replace(hit, chance=found, tier=tier)


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Characters [start, end) of a text that answer.

    `score` is the lead over having no answer, in logits.
    """

    start: int
    end: int
    score: float

    def moved(self, by: int) -> AnswerSpan:
        """Return it in a text that the passage begins `by` characters into."""
        return replace(self, start=self.start + by, end=self.end + by)


def best_span(reading: PassageReading, start: int, end: int) -> AnswerSpan | None:
    """Return the best answer within characters [start, end) of the passage, or None without a token."""
    inside = [at for at, (first, last) in enumerate(reading.tokens) if first >= start and last <= end]
    if not inside:
        return None
    begun = np.array([reading.starts[at] for at in inside])
    ended = np.array([reading.ends[at] for at in inside])
    lengths = np.arange(len(inside))[None, :] - np.arange(len(inside))[:, None]
    scores = np.where((lengths >= 0) & (lengths < _LONGEST), begun[:, None] + ended[None, :], -np.inf)
    first, last = np.unravel_index(int(scores.argmax()), scores.shape)
    places = reading.tokens[inside[int(first)]][0], reading.tokens[inside[int(last)]][1]
    return AnswerSpan(*places, float(scores.max()) - reading.absent)


def answer_score(reading: PassageReading, start: int, end: int) -> float:
    """Return the lead, in logits, of an answer within [start, end) of the passage over none."""
    found = best_span(reading, start, end)
    # A stretch without a token scores well below any logit.
    return -20.0 if found is None else found.score


def is_known(word: str, known: Collection[str]) -> bool:
    """Return whether a folded word is known, also in another form or another language's spelling."""
    if word in known:
        return True
    if len(word) < SHORTEST_ALIKE:
        return False
    return process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=_ALIKE) is not None


def share_sounding_alike(question: str, language: str, text: str) -> float:
    """Return the share of a question's words that sound like one of a text in another language, 0 to 1.

    Short words and numbers have to be the same.
    """
    left_out = stopwords(language)
    words = {_sound(word) for word in surface(question) if word not in left_out}
    known = {_sound(word) for word in surface(text)}
    return sum(is_known(word, known) for word in words) / len(words) if words else 0.0


def _sound(word: str) -> str:
    """Return a folded word with one spelling for each sound and no doubled letter."""
    return _DOUBLED.sub(r"\1", _SPELLING.sub(lambda match: _SOUNDS[match.group()], word))
