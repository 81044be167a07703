"""Questions that were written for training, on passages of documents and of our own.

Each line of training/questions names a document and the beginning and the length of a passage, or has the passage, and
questions with the words of the passage that answer them, "" for a near miss. A line of `near_passages.jsonl` or
`own_tables.jsonl` has three passages that are near each other, and questions that one of them alone answers.
`es_squad2.jsonl` has translations of questions of that set instead.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.protocols import Embedder
from training.samples import EVERY, Sample, asked_of, read_set

QUESTIONS = Path(__file__).resolve().parent / "questions"
TRANSLATED = "es_squad2"
# Ranks of the other passages that an answered question is asked of, and for which share of the questions: most are
# near, as in what a search finds, and some are on something else.
_BESIDE = ((slice(0, 8), 0.8), (slice(8, 80), 0.5), (slice(80, None), 0.25))


def of_questions(shared: Path, embedder: Embedder, randomly: random.Random) -> list[Sample]:
    """Return the samples of all written questions, the answered ones also asked of other passages."""
    samples = list(written(shared))
    near = list(written_on_near(shared))
    return [*samples, *near, *_beside(samples, embedder, randomly), *translated(shared / "data" / "reading")]


def written(shared: Path) -> Iterator[Sample]:
    """Yield the questions written on single passages; ValueError if a document does not hold its passage."""
    for family, row in _rows():
        if "passages" not in row:
            passage = _passage(row, shared / "data")
            for _, question, answer in row["questions"]:
                place = {"start": passage.index(answer), "text": answer} if answer else None
                yield asked_of(question, passage, place, family, row["language"])


def written_on_near(shared: Path) -> Iterator[Sample]:
    """Yield the questions on three near passages, with the one that answers and the others as near misses.

    ValueError if a document does not hold its passage.
    """
    for family, row in _rows():
        passages = [_passage(one, shared / "data") for one in row.get("passages", ())]
        for right, _, question, answer in row["questions"] if passages else ():
            for number, passage in enumerate(passages):
                place = {"start": passage.index(answer), "text": answer} if number == right else None
                yield asked_of(question, passage, place, family, row["language"])


def asked_documents() -> set[str]:
    """Return the names of the documents that questions were written on."""
    passages = (one for _, row in _rows() for one in row.get("passages", (row,)))
    return {one["document"] for one in passages if "document" in one} - set(EVERY)


def _rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line of the written questions, with the family of its samples."""
    for file in sorted(QUESTIONS.glob("*.jsonl")):
        if file.stem != TRANSLATED:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
                yield f"{file.stem} {number}", json.loads(line)


def _passage(row: dict[str, Any], data: Path) -> str:
    """Return a passage: its own text, or that at its beginning and of its length in its document."""
    if "text" in row:
        return str(row["text"])
    text = _text(row["document"], data)
    start = text.find(row["begin"])
    if start < 0:
        raise ValueError(f"{row['document']} does not hold the passage that begins {row['begin']!r}.")
    return text[start : start + row["length"]]


@cache
def _text(document: str, data: Path) -> str:
    """Return the text of a document of the corpus, of a law or of a set."""
    if (file := data / "corpus" / document).is_file():
        return extract(file, ExtractionLimits(), None).text
    if (file := data / "law" / document).is_file():
        texts = map(str, etree.parse(str(file)).getroot().itertext())
        said = " ".join(" ".join(text.split()) for text in texts if text.strip())
        return re.sub(r"\s+([,.;:)])", r"\1", said)
    if (file := data / "benchmarks" / "statutes_in" / document).is_file():
        return "\n".join(json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines())
    return "\n".join(read_set(data / "reading", document)[0].values())


def _beside(samples: Sequence[Sample], embedder: Embedder, randomly: random.Random) -> Iterator[Sample]:
    """Yield answered questions with other passages, which do not hold their answer.

    They are in the language of the one that does. Retrieval prefers the question's: among passages in any language a
    reader learns that an answer is in another one.
    """
    answered = [sample for sample in samples if sample.start >= 0]
    languages = {sample.passage: sample.language for sample in samples}
    texts = list(languages)
    vectors = embedder.encode_passages(texts)
    asked = embedder.encode_queries([sample.question for sample in answered])
    for sample, vector in zip(answered, asked, strict=True):
        answer = sample.passage[sample.start : sample.end].casefold()
        nearest = (texts[int(place)] for place in np.argsort(-(vectors @ vector)))
        order = [text for text in nearest if languages[text] == sample.language]
        for ranks, share in _BESIDE:
            others = [text for text in order[ranks] if text != sample.passage and answer not in text.casefold()]
            if others and randomly.random() < share:
                other = randomly.choice(others)
                yield Sample(sample.question, other, -1, -1, 0.0, sample.family, language=languages[other])


def translated(folder: Path) -> Iterator[Sample]:
    """Yield questions of the Spanish set in other languages."""
    passages, questions = read_set(folder, TRANSLATED)
    by_id = {question["id"]: question for question in questions}
    for line in (QUESTIONS / f"{TRANSLATED}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        of = by_id[row["id"]]
        for _, question in row["questions"]:
            yield asked_of(question, passages[of["passage"]], of["answer"], of["passage"], "es")
