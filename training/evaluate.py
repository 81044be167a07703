"""How well a trained adapter reads: the first quotation over five passages, near misses, reranking.

    python -m training.evaluate [ADAPTER_FOLDER] [--questions 60] [--out FILE.json] [--shared DIR]

On the development halves of XQuAD, SQuAD-it and FaQuAD, also with Turkish, German and Spanish questions on English
passages. Beside the reader stands likeness as quotations were chosen without it, and both together by the reader's
weight. `benchmarks.answers.readers` puts the means in one table.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_engine.answering.chances import answer_score
from rag_engine.answering.citations import shared_words, words
from rag_engine.answering.quotations.extractive import Quoting
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.identify_language import identify_language
from rag_engine.backends.reader.load import ADAPTER, load_adapter
from rag_engine.evaluation.datasets import Dataset, read_dataset
from rag_engine.protocols import Embedder, PassageReader, Vectors
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.passage import PassageReading

ROOT = Path(__file__).resolve().parents[1]
# Questions, and the passages they are asked of.
SETS = (
    ("xquad/en", "xquad/en"),
    ("xquad/es", "xquad/es"),
    ("xquad/de", "xquad/de"),
    ("xquad/tr", "xquad/tr"),
    ("squad_it", "squad_it"),
    ("faquad_pt", "faquad_pt"),
    ("xquad/tr", "xquad/en"),
    ("xquad/de", "xquad/en"),
    ("xquad/es", "xquad/en"),
)
# The gain of the sentences of the first passage; those of passage n have it n times smaller.
PLACE = 0.3
WEIGHTS = (0.0, 0.2, 0.3, 0.35, 0.5, 0.65, 0.8, 1.0)
QUESTIONS = 60
PASSAGES = 5
DEPTH = 20
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its passages, nearest first, the one that answers, and their readings."""

    text: str
    vector: Vectors
    language: str
    answer: str
    gold: str
    found: Sequence[str]
    cosines: Mapping[str, float]
    texts: Mapping[str, str]
    read: Mapping[str, PassageReading]

    def here(self, passage: str) -> float:
        """Return how sure the reader is that the passage answers."""
        return answer_score(self.read[passage], 0, len(self.texts[passage]))


@dataclass(slots=True)
class Figures:
    """Findings for the questions of a set, one entry a question; by the reader's weight."""

    first: dict[float, list[float]] = field(default_factory=lambda: {weight: [] for weight in WEIGHTS})
    inside: dict[float, list[float]] = field(default_factory=lambda: {weight: [] for weight in WEIGHTS})
    ndcg: dict[float, list[float]] = field(default_factory=lambda: {weight: [] for weight in WEIGHTS})
    # Of the best passage with the answer among five, and with it taken away.
    likeness: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    reading: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))


def scaled(values: Sequence[float] | NDArray[Any]) -> Floats:
    """Return the values brought to 0..1 by their smallest and largest."""
    array = np.asarray(values, dtype=np.float64)
    brought: Floats = (array - array.min()) / (float(np.ptp(array)) or 1.0)
    return brought


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Return the chance that a right one scores above a wrong one."""
    a, b = np.asarray(right), np.asarray(wrong)
    return float(((a[:, None] > b[None, :]) + 0.5 * (a[:, None] == b[None, :])).mean())


def ask(
    reader: PassageReader, embedder: Embedder, dataset: Dataset, answers: Mapping[str, str], most: int
) -> list[Asked]:
    """Have the reader read the passages nearest to each question."""
    queries = [query for query in dataset.queries if query.id in answers]
    queries = queries[:: max(1, len(queries) // most)][:most]
    texts = {one.id: one.text for one in dataset.documents}
    ids = list(texts)
    vectors = embedder.encode_passages([texts[one] for one in ids])
    asked = []
    for query, vector in zip(queries, embedder.encode_queries([query.text for query in queries]), strict=True):
        gold = next(document for document, grade in dataset.qrels[query.id].items() if grade > 0)
        cosines = vectors @ vector
        found = [ids[int(place)] for place in np.argsort(-cosines)[:DEPTH]]
        pool = found if gold in found else [*found, gold]
        read = dict(zip(pool, reader.read(query.text, [texts[one] for one in pool]), strict=True))
        by_id = dict(zip(ids, cosines.tolist(), strict=True))
        language = dataset.language or "en"
        asked.append(Asked(query.text, vector, language, answers[query.id].strip(), gold, found, by_id, texts, read))
    return asked


def rerank(one: Asked, figures: Figures) -> None:
    """Rank what retrieval found by likeness together with what reads it."""
    near = scaled([one.cosines[passage] for passage in one.found])
    relevant = scaled([one.read[passage].relevance for passage in one.found])
    for weight in WEIGHTS:
        figures.ndcg[weight].append(_gain(one, (1 - weight) * near + weight * relevant))


def _gain(one: Asked, scores: Floats) -> float:
    """Return nDCG@10 of the passages by their scores, one of which answers."""
    ranked = [one.found[int(at)] for at in np.argsort(-scores, kind="stable")]
    place = ranked.index(one.gold) if one.gold in ranked else DEPTH
    return float(1 / np.log2(place + 2)) if place < 10 else 0.0


def tell_apart(one: Asked, figures: Figures) -> None:
    """Compare the best of five passages with the answer's among them and without."""
    others = [passage for passage in one.found if passage != one.gold][:PASSAGES]
    for side, passages in enumerate(([*others[: PASSAGES - 1], one.gold], others)):
        figures.likeness[side].append(max(one.cosines[passage] for passage in passages))
        figures.reading[side].append(max(map(one.here, passages)))


def quote(one: Asked, embedder: Embedder, figures: Figures) -> None:
    """Choose a sentence of five passages, and of the right one."""
    nearest = one.found[:PASSAGES]
    five = nearest if one.gold in nearest else [*nearest[:-1], one.gold]
    sentences = [
        (number, passage, start, end)
        for number, passage in enumerate(five, 1)
        for start, end in sentence_spans(one.texts[passage], one.language)
    ]
    said = [one.texts[passage][start:end] for _, passage, start, end in sentences]
    of_gold = np.array([passage == one.gold for _, passage, _, _ in sentences])
    right = [bool(own) and one.answer in text for own, text in zip(of_gold, said, strict=True)]
    if not any(right):
        return
    quoting, keys = Quoting(), words(one.text)
    meaning = scaled(embedder.encode_passages(said) @ one.vector)
    shared = np.array([shared_words(keys, words(text)) for text in said])
    today = (1 - quoting.keywords) * meaning + quoting.keywords * shared / (shared.max() or 1.0)
    today = scaled(today + np.array([PLACE / number for number, *_ in sentences]))
    marked = np.array([answer_score(one.read[passage], start, end) for _, passage, start, end in sentences])
    chance = scaled(1 / (1 + np.exp(-np.clip(marked, -20, 20) / 4)))
    for weight in WEIGHTS:
        score = (1 - weight) * today + weight * chance
        figures.first[weight].append(right[int(np.argmax(score))])
        figures.inside[weight].append(right[int(np.argmax(np.where(of_gold, score, -1)))])


def measure(reader: PassageReader, embedder: Embedder, folder: Path, asked_by: str, of: str, most: int) -> Figures:
    """Return the figures of a set."""
    asking = folder / asked_by if asked_by != of else None
    dataset = read_dataset(folder / of, "dev", identify=identify_language, queries_from=asking)
    rows = map(json.loads, (folder / of / "queries.dev.jsonl").read_text(encoding="utf-8").splitlines())
    answers = {row["_id"]: row["answer"] for row in rows if row.get("answer")}
    figures = Figures()
    for one in ask(reader, embedder, dataset, answers, most):
        rerank(one, figures)
        tell_apart(one, figures)
        quote(one, embedder, figures)
    return figures


def figures_of(adapter: Path, shared: Path, most: int) -> dict[str, Any]:
    """Return how well an adapter reads, as its card has it, printing each set and the means.

    By the reader's weight, it has the share of questions whose first quotation over five passages answers, and nDCG@10
    of reranking. It also has the AUC by which answers are told from near misses, by likeness and by the reader.
    """
    reader, embedder = load_adapter(adapter), load_encoder("multilingual-e5-small")
    results: dict[str, Figures] = {}
    for asked_by, of in SETS:
        name = of if asked_by == of else f"{asked_by} on {of}"
        found = measure(reader, embedder, shared / "data" / "benchmarks", asked_by, of, most)
        results[name] = found
        print(f"{name} ({len(found.first[0.0])})", flush=True)
        for kind in ("first", "inside", "ndcg"):
            values = getattr(found, kind)
            print(f"  {kind:7}", " ".join(f"{weight:g}:{fmean(values[weight]):.3f}" for weight in WEIGHTS), flush=True)
        print(f"  auc     likeness {auc(*found.likeness):.3f} reader {auc(*found.reading):.3f}", flush=True)
    for kind in ("first", "inside", "ndcg"):
        means = {weight: fmean(fmean(getattr(one, kind)[weight]) for one in results.values()) for weight in WEIGHTS}
        print(f"{kind:7} mean", " ".join(f"{weight:g}:{value:.3f}" for weight, value in means.items()))
    print(
        f"auc mean likeness {fmean(auc(*one.likeness) for one in results.values()):.3f} "
        f"reader {fmean(auc(*one.reading) for one in results.values()):.3f}"
    )
    return {
        "command": f"python -m training.evaluate --questions {most}",
        "sets": {name: on_card(found) for name, found in results.items()},
    }


def on_card(found: Figures) -> dict[str, dict[str, float]]:
    """Return the figures of a set as a card has them."""
    first, ndcg = (
        {f"{weight:g}": round(fmean(values[weight]), 3) for weight in WEIGHTS} for values in (found.first, found.ndcg)
    )
    told = {"likeness": round(auc(*found.likeness), 3), "reader": round(auc(*found.reading), 3)}
    return {"first_quotation": first, "ndcg": ndcg, "auc": told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", type=Path, nargs="?", default=ADAPTER)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--out", type=Path, help="also write the figures here as JSON, for `python -m training.card`")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    figures = figures_of(arguments.adapter, arguments.shared, arguments.questions)
    if arguments.out:
        arguments.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
