"""Samples to train the reader on: questions with passages that answer them or do not.

Answers are spans of a passage; a passage that does not hold one has none. Passages that do not answer are near misses
written by people, passages that retrieval puts near the right one, and neighbours in the same document.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rag_engine.protocols import Embedder

# Whose licence is stated; the others are measured, and not shipped.
LICENSED = ("es_squad1", "es_squad2", "fr_cnil")
EVERY = (*LICENSED, "pt_squad2", "tr_tquad")
# A near miss says much about the subject, and does not answer.
NEAR_MISS = 0.25
_NEAREST = slice(1, 9)


@dataclass(frozen=True, slots=True)
class Sample:
    """A question and a passage, with the answer's characters [start, end), both -1 for none.

    `relevance` is what a reranker should give it, 0 to 1. `spans` says whether the span is known: a passage may answer
    as a whole. `family` is of a paragraph in all languages, so that no paragraph is trained on and checked by.
    `language` is the passage's, where it is known.
    """

    question: str
    passage: str
    start: int
    end: int
    relevance: float
    family: str
    spans: bool = True
    language: str = ""


def asked_of(question: str, passage: str, answer: Mapping[str, Any] | None, family: str, language: str = "") -> Sample:
    """Return a question with a passage and its answer there, None for a near miss."""
    start = answer["start"] if answer else -1
    end = start + len(answer["text"]) if answer else -1
    return Sample(question, passage, start, end, 1.0 if answer else NEAR_MISS, family, language=language)


def read_set(folder: Path, name: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the passages of a set by id, and its questions but those whose answer a translation lost."""
    passages = {row["id"]: row["text"] for row in _rows(folder / f"{name}.passages.jsonl.gz")}
    questions = _rows(folder / f"{name}.questions.jsonl.gz")
    return passages, [question for question in questions if _is_whole(question)]


def _is_whole(question: dict[str, Any]) -> bool:
    return not question.get("answer") or bool(question["answer"]["text"])


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def of_set(folder: Path, name: str, embedder: Embedder, randomly: random.Random, distractors: float) -> list[Sample]:
    """Return the samples of a set; a share of the answered questions has a passage from retrieval besides."""
    passages, questions = read_set(folder, name)
    ids = list(passages)
    vectors = embedder.encode_passages([passages[one] for one in ids])
    asked = embedder.encode_queries([one["question"] for one in questions])
    samples = []
    for question, vector in zip(questions, asked, strict=True):
        own = question["passage"]
        text = passages[own]
        answer = question.get("answer")
        if "answer" in question:
            samples.append(asked_of(question["question"], text, answer, own))
        else:
            samples.append(Sample(question["question"], text, -1, -1, 1.0, own, spans=False))
        if randomly.random() < distractors and (answer or "answer" not in question):
            said = answer["text"].casefold() if answer else ""
            for place in np.argsort(-(vectors @ vector))[_NEAREST]:
                other = ids[int(place)]
                if other != own and (not said or said not in passages[other].casefold()):
                    samples.append(Sample(question["question"], passages[other], -1, -1, 0.0, own))
                    break
    return samples


def across_languages(folder: Path, first: str, second: str) -> list[Sample]:
    """Return the questions that stand in both sets, each asked of the other's passage."""
    samples = []
    sets = {name: read_set(folder, name) for name in (first, second)}
    by_id = {name: {one["id"]: one for one in questions} for name, (_, questions) in sets.items()}
    for asking, answering in ((first, second), (second, first)):
        passages = sets[answering][0]
        for id, question in by_id[asking].items():
            there = by_id[answering].get(id)
            if there is None:
                continue
            text = passages[there["passage"]]
            samples.append(asked_of(question["question"], text, there["answer"], question["passage"]))
    return samples


def with_families(samples: Sequence[Sample], folder: Path, names: Sequence[str]) -> list[Sample]:
    """Return the samples with one family for all passages that the same questions are asked of."""
    by_question: dict[str, str] = {}
    family: dict[str, str] = {}
    for name in names:
        for question in read_set(folder, name)[1]:
            if "id" in question and not name.startswith("tr_"):
                first = by_question.setdefault(question["id"], question["passage"])
                family.setdefault(question["passage"], family.get(first, first))
    return [replace(one, family=family.get(one.family, one.family)) for one in samples]


def split(samples: Sequence[Sample], share: float, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Return the samples to train on and those to stop by, which share no paragraph."""
    families = sorted({sample.family for sample in samples})
    random.Random(seed).shuffle(families)
    kept = set(families[: int(share * len(families))])
    return [one for one in samples if one.family not in kept], [one for one in samples if one.family in kept]


def counts(samples: Sequence[Sample]) -> Mapping[str, int]:
    """Return how many samples there are of each kind."""
    return {
        "answered": sum(one.start >= 0 for one in samples),
        "near misses": sum(one.start < 0 and one.relevance == NEAR_MISS for one in samples),
        "other passages": sum(one.start < 0 and one.relevance == 0 for one in samples),
        "answered as a whole": sum(not one.spans for one in samples),
    }
