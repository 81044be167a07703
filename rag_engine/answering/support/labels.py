"""Support of each sentence of an answer by the passages that it cites.

A sentence is held against the part of its sources that comes nearest to it. What of it the sources do not have
(numbers, dates, places, names), what they deny, what claims more than they do, and how near the two are in words and
meaning give a score for each label. The weights are fitted by benchmarks/answers/support.py, which also measures how
often the label is right. Where a judge model is asked as well, its label counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp

from rag_engine.answering.support.features import SupportEvidence, evidence_for
from rag_engine.answering.support.passages import HeldSentence, hold_against
from rag_engine.calibration import Calibration
from rag_engine.config import DATA
from rag_engine.errors import BackendError
from rag_engine.prompts import SUPPORT_RULES, SUPPORT_SCHEMA, support_message
from rag_engine.protocols import Embedder, Generator, PassageReader
from rag_engine.text.templates import kept_sentence
from rag_engine.types import SentenceSupport, Source, SupportJudge, SupportLabel

FITTED = DATA / "support.json"
# Those that are decided by evidence, in the order in which ties fall.
LABELS: tuple[SupportLabel, ...] = ("supported", "partly supported", "unsupported")

_JUDGE_SECONDS = 60.0
_SHOWN = 3  # of one kind: a made-up title has six names
_FAR = 0.5  # similarity below which a passage is said to have little in common with a sentence


@dataclass(frozen=True, slots=True)
class FittedSupport:
    """The weight of each piece of evidence for each label, and the share of labels that are right on held-out pairs."""

    weights: Mapping[SupportLabel, Mapping[str, float]]
    right: float


@dataclass(frozen=True, slots=True)
class LabelJudge:
    """A second language model: its name, and how it is reached, BackendError where it is not."""

    name: str
    reach: Callable[[], Generator]


@dataclass(frozen=True, slots=True)
class AssessedSentences:
    """The support of each sentence of an answer, warnings, and the judge that was asked."""

    support: tuple[SentenceSupport, ...]
    warnings: tuple[str, ...] = ()
    judge: SupportJudge | None = None


@dataclass(frozen=True, slots=True)
class SupportModels:
    """Models that compare sentences with their sources: the encoder's scale, and a reader and a judge where asked.

    `identify` returns the language (ISO 639-1) of an answer that was wished for in another one than the question's, ""
    where it is not known.
    """

    calibration: Calibration
    identify: Callable[[str], str] = lambda _: ""
    reader: PassageReader | None = None
    judge: LabelJudge | None = None


@cache
def fitted_support() -> FittedSupport:
    """Return what benchmarks/answers/support.py has fitted and measured."""
    values = json.loads(FITTED.read_text(encoding="utf-8"))
    return FittedSupport(values["weights"], values["right"])


def assess(
    text: str,
    language: str,
    sources: Sequence[Source],
    *,
    embedder: Embedder,
    models: SupportModels,
) -> AssessedSentences:
    """Return the support of each sentence of a checked answer, with warnings.

    `sources` are those that the model was given. A reader or a judge that fails is reported, and the labels are those
    without it.
    """
    warnings: list[str] = []
    reader, judge = models.reader, models.judge
    held = hold_against(text, language, sources, embedder=embedder, calibration=models.calibration)
    if reader:
        try:
            held = [read_by(reader, one) for one in held]
        except BackendError as error:
            warnings.append(
                kept_sentence("The sentences were compared with their sources without the reader. {error}", error=error)
            )
    found = [_support(one, language) for one in held]
    asked: SupportJudge | None = None
    if judge and any(one.passage for one in held):
        asked = SupportJudge(judge.name)
        try:
            found = _judged(found, held, judge.reach())
        except BackendError as error:
            asked = SupportJudge(judge.name, failed=True)
            warnings.append(
                kept_sentence(
                    "{model} did not judge whether the sources support the sentences. {error}",
                    model=judge.name,
                    error=error,
                )
            )
    return AssessedSentences(tuple(found), tuple(warnings), asked)


def read_by(reader: PassageReader, held: HeldSentence) -> HeldSentence:
    """Return the sentence with how relevant a reader finds its passage; BackendError when the reader fails."""
    if held.passage is None:
        return held
    (reading,) = reader.read(held.sentence.text, [held.passage.text])
    # A logistic of the logit, from -1 to 1.
    relevance = 2 / (1 + exp(-max(-30.0, min(30.0, reading.relevance)))) - 1
    return replace(held, passage=replace(held.passage, read=relevance))


def weighed(evidence: SupportEvidence) -> dict[str, float]:
    """Return the evidence as numbers from -1 to 1, by the names that the weights have."""
    same = float(not evidence.translated)
    share = len(evidence.names) / evidence.named if evidence.named else 0.0
    return {
        "always": 1.0,
        "figures": float(bool(evidence.numbers or evidence.dates)),
        "places": float(bool(evidence.places)),
        "names": same * bool(evidence.names),
        "translated_names": (1 - same) * share,
        "universals": float(bool(evidence.universals)),
        "denial": float(evidence.denied or evidence.affirmed),
        "turned": evidence.turned,
        "overlap": same * evidence.overlap,
        "similarity": evidence.similarity,
        "translated": 1 - same,
        "read": evidence.read,
    }


def label_of(evidence: SupportEvidence, weights: Mapping[SupportLabel, Mapping[str, float]]) -> SupportLabel:
    """Return the label with the highest score."""
    values = weighed(evidence)
    return max(LABELS, key=lambda label: sum(weights[label].get(name, 0.0) * value for name, value in values.items()))


def reasons_of(evidence: SupportEvidence) -> Iterator[str]:
    """Yield what speaks against a sentence, a short statement each."""
    for kind, missing in (
        ("number", evidence.numbers),
        ("date", evidence.dates),
        ("place", evidence.places),
        ("name", evidence.names),
    ):
        yield from (f"{kind} {one} is not in the passage" for one in list(missing)[:_SHOWN])
        if len(missing) > _SHOWN:
            yield f"and {len(missing) - _SHOWN} more"
    yield from (f'"{word}" claims more than the passage' for word in evidence.universals)
    if evidence.denied:
        yield "the sentence denies something and the passage does not"
    elif evidence.affirmed:
        yield "the passage denies something and the sentence does not"
    elif evidence.turned:
        yield "one denies what the other affirms"
    if evidence.similarity < _FAR:
        yield "the passage has little in common with the sentence"


def _support(held: HeldSentence, language: str) -> SentenceSupport:
    start, end = held.sentence.start, held.sentence.end
    if held.passage is None:
        return SentenceSupport(start, end, "no claim")
    evidence = evidence_for(held.sentence.text, language, held.passage)
    label = label_of(evidence, fitted_support().weights)
    if label == "supported":
        return SentenceSupport(start, end, label)
    reasons = tuple(reasons_of(evidence)) or ("the passage does not clearly say so",)
    return SentenceSupport(start, end, label, reasons)


def _judged(found: Sequence[SentenceSupport], held: Sequence[HeldSentence], judge: Generator) -> list[SentenceSupport]:
    """Return the labels of a judge, asked once for all sentences; BackendError when it leaves one out."""
    asked = [(one.sentence.text, one.passage.text) for one in held if one.passage]
    reply = judge.complete_json(SUPPORT_RULES, support_message(asked), SUPPORT_SCHEMA, seconds=_JUDGE_SECONDS)
    listed = reply.get("labels")
    labels = [label for label in listed if label in LABELS] if isinstance(listed, list) else []
    if len(labels) != len(asked):
        raise BackendError(
            "It gave {count} labels for {total} sentences.",
            help="Use another model.",
            count=len(labels),
            total=len(asked),
        )
    remaining = iter(labels)
    judged = []
    for own, one in zip(found, held, strict=True):
        label = next(remaining) if one.passage else own.label
        same = label == own.label
        judged.append(own if same else replace(own, label=label, reasons=(f"judged {label} by {judge.name}",)))
    return judged
