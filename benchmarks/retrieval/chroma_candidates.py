"""The cost of a question's candidates: from Chroma and scored again, or by cosine of every passage.

    python -m benchmarks.retrieval.chroma_candidates [--passages 10000 100000 280000] [--questions 60] [--shared DIR]

Vectors are those of real passages, moved by noise, a hundred to a document; a filter allows one, ten or fifty of each
hundred documents. Chroma is asked for twice the wanted number, and their cosines are then read from the vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.report import machine, write_table
from rag_engine.backends.chroma import ChromaIndex, open_chroma
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.config import read_config
from rag_engine.protocols import Keys, Vectors
from rag_engine.retrieval.exact_search import nearest
from rag_engine.storage.snapshot import Snapshot

ROOT = Path(__file__).resolve().parents[2]
PER_DOCUMENT = 100
# What the default asks of each retriever, and how many more Chroma is asked for.
WANTED, OVER = 100, 2
FILTERS = {"none": 100, "1%": 1, "10%": 10, "50%": 50}
NOISE = 0.35


def real_vectors(shared: Path) -> tuple[Vectors, Vectors]:
    """Return vectors of real passages and questions, in English and Italian."""
    passages, questions = [], []
    for name in ("scifact", "squad_it"):
        folder = shared / "data" / "benchmarks" / name
        passages += [json.loads(line)["text"][:800] for line in (folder / "corpus.jsonl").open()][:600]
        questions += [json.loads(line)["text"] for line in (folder / "queries.dev.jsonl").open()][:100]
    config = read_config()
    encoder = load_encoder(config.encoder, config.execution)
    return encoder.encode_passages(passages), encoder.encode_queries(questions[::2] + questions[1::2])


def moved(seeds: Vectors, count: int) -> Vectors:
    """Return unit vectors near those of real passages."""
    random = np.random.default_rng(7)
    vectors = np.empty((count, seeds.shape[1]), np.float32)
    for first in range(0, count, 10_000):
        some = slice(first, min(first + 10_000, count))
        noise = random.standard_normal(vectors[some].shape).astype(np.float32) * NOISE / np.sqrt(seeds.shape[1])
        vectors[some] = seeds[random.integers(0, len(seeds), len(noise))] + noise
        vectors[some] /= np.linalg.norm(vectors[some], axis=1, keepdims=True)
    return vectors


def add(index: ChromaIndex, vectors: Vectors, first: int, beyond: int) -> None:
    """Put the passages [first, beyond) in, with their documents alone."""
    for start in range(first, beyond, 5_000):
        keys = np.arange(start, min(start + 5_000, beyond))
        facets = [{"document": int(key) // PER_DOCUMENT} for key in keys]
        index.add(keys, vectors[keys], ["-"] * len(keys), facets)


def rescored(index: ChromaIndex, vectors: Vectors, query: Vectors, allowed: Collection[int] | None) -> Keys:
    """Return the nearest of what Chroma gives, by their exact cosines."""
    [(keys, _)] = index.search(query, OVER * WANTED, documents=allowed)
    return keys[np.argsort(-(vectors[keys] @ query[0]), kind="stable")[:WANTED]]


def timed(call: Callable[[Vectors], Keys], queries: Vectors) -> tuple[float, list[set[int]]]:
    """Return the median in milliseconds, and what was found for each query."""
    taken, found = [], []
    call(queries[:1])
    for place in range(len(queries)):
        started = time.perf_counter()
        keys = call(queries[place : place + 1])
        taken.append((time.perf_counter() - started) * 1000)
        found.append(set(keys.tolist()))
    return float(np.median(taken)), found


def compared(index: ChromaIndex, vectors: Vectors, queries: Vectors) -> list[list[str]]:
    """Return a row for each filter."""
    count = len(vectors)
    keys = np.arange(count)
    snapshot = Snapshot(0, {}, {}, keys, keys // PER_DOCUMENT, keys // PER_DOCUMENT, keys)
    rows = []
    for name, of_hundred in FILTERS.items():
        documents = [number for number in range(count // PER_DOCUMENT) if number % 100 < of_hundred]
        allowed = None if of_hundred == 100 else frozenset(documents)
        exact, right = timed(lambda one, a=allowed: nearest(snapshot, vectors, one, WANTED, a)[0][0], queries)
        chroma, near = timed(lambda one, a=allowed: rescored(index, vectors, one, a), queries)
        recall = np.mean([len(a & b) / max(len(a), 1) for a, b in zip(right, near, strict=True)])
        ratio = f"{chroma / exact:.1f}"
        rows.append([f"{count:,}", name, f"{exact:.1f}", f"{chroma:.1f}", ratio, f"{recall:.3f}"])
        print(" ".join(rows[-1]), flush=True)
    return rows


def measure(sizes: Sequence[int], shared: Path, questions: int) -> list[list[str]]:
    """Return the rows of all sizes; the collection grows from one to the next."""
    seeds, queries = real_vectors(shared)
    vectors = moved(seeds, max(sizes))
    rows, held = [], 0
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        index = open_chroma(Path(folder), "policy_documents-measured-1")
        for size in sorted(sizes):
            add(index, vectors, held, size)
            held = size
            rows += compared(index, vectors[:size], queries[:questions])
        index.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, nargs="+", default=[10_000, 100_000, 280_000])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    asked = parser.parse_args()
    rows = measure(asked.passages, asked.shared.resolve(), asked.questions)
    write_table(
        "chroma_candidates",
        "Candidates from Chroma, scored exactly, beside the cosine of every allowed passage",
        ["passages", "filter", "every cosine, ms", "Chroma, ms", "Chroma / every cosine", "recall@100 of Chroma"],
        rows,
        [
            machine(),
            f"`python -m benchmarks.retrieval.chroma_candidates`; medians of {asked.questions} questions, without "
            f"encoding them; Chroma is asked for {OVER * WANTED} and scored exactly for the best {WANTED}.",
        ],
    )


if __name__ == "__main__":
    main()
