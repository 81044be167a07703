"""Retrieval over 280,000 synthetic children: time, memory, recall, and the paper's recipe in one run.

    python -m benchmarks.retrieval.retrieval_scale [--children 280000] [--workspace DIR] [--questions 60]
    [--recipe-questions 5]

Vectors are those of real passages, moved by noise; words are drawn by their real frequencies; documents carry
facets so that a filter keeps 1, 10 or 50% of them. A workspace that is there already is used again.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import sqlalchemy as sql

from benchmarks.report import machine, write_table
from rag_engine import workspace as paths
from rag_engine.backends.chroma import collection_name, open_chroma
from rag_engine.backends.tantivy import open_sparse_index
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.filters import Filter
from rag_engine.retrieval.exact_search import nearest
from rag_engine.retrieval.fuse_ranks import paper_fusion
from rag_engine.retrieval.tuning import READ
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import mark_changed, metadata_json, pack_blocks, pack_lines, pack_text, set_state
from rag_engine.storage.manifest import manifest_of
from rag_engine.storage.sentence_vectors import pack_sentences
from rag_engine.storage.vector_file import VectorFile, sealed
from rag_engine.types.document import Metadata

COLUMNS = ("filter", "p50 ms", "p95 ms", "to unfiltered", "recipe p50 ms", "recipe / ours")
PER_DOCUMENT = 100
WORDS = 150
SENTENCES = 8
FILTERS: dict[str, Filter] = {
    "none": {},
    "1%": {"hazard": ("Landslide",)},
    "10%": {"hazard": ("Wildfire",)},
    "50%": {"geographical_level": ("National",)},
}
BENCHMARKS = Path(__file__).resolve().parents[2]


def real_texts(shared: Path) -> tuple[list[str], list[str]]:
    """Passages and questions of real documents, in English and Italian."""
    passages, questions = [], []
    for name in ("scifact", "squad_it"):
        folder = shared / "data" / "benchmarks" / name
        passages += [json.loads(line)["text"] for line in (folder / "corpus.jsonl").open()][:600]
        questions += [json.loads(line)["text"] for line in (folder / "queries.dev.jsonl").open()][:100]
    return passages, questions[::2] + questions[1::2]


def fill(engine: Engine, passages: list[str], children: int) -> None:
    """Build a workspace of synthetic documents, written straight into catalog, vectors and both indexes."""
    random = np.random.default_rng(7)
    embedder, config = engine.embedder(), engine.config
    seeds = embedder.encode_passages([text[:800] for text in passages])
    words, counts = np.unique([word for text in passages for word in text.split()], return_counts=True)
    frequencies = counts / counts.sum()
    store = VectorFile(paths.vectors(config.workspace), embedder.name, embedder.dimension)
    dense = open_chroma(paths.chroma(config.workspace, 1), collection_name(engine.catalog.state("workspace"), 1))
    sparse = open_sparse_index(paths.sparse_index(config.workspace, 1), writable=True)
    with engine.catalog.begin() as connection:
        set_state(connection, "encoder", manifest_of(embedder).to_json())
    started = time.perf_counter()
    for number in range(children // PER_DOCUMENT):
        first = number * PER_DOCUMENT + 1
        keys = np.arange(first, first + PER_DOCUMENT)
        noise = random.standard_normal((PER_DOCUMENT, embedder.dimension)).astype(np.float32)
        vectors = seeds[random.integers(0, len(seeds), PER_DOCUMENT)] + noise * 0.35 / np.sqrt(embedder.dimension)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        texts = [" ".join(random.choice(words, WORDS, p=frequencies)) for _ in keys]
        language = "en" if number % 2 else "it"
        hazard = "Landslide" if number % 100 == 0 else "Wildfire" if number % 10 == 1 else "Flood"
        level = "National" if number % 4 < 2 else "European region"
        metadata = Metadata(f"Synthetic {number}", language, hazards=(hazard,), geographical_level=level, year=2020)
        store.write(keys - 1, vectors)
        sentences = random.standard_normal((PER_DOCUMENT, SENTENCES, embedder.dimension)).astype(np.float32)
        _insert(engine, number + 1, metadata, texts, keys)
        _insert_vectors(engine, keys, sentences)
        facets = {"document": number + 1, "hazard": [hazard], "geographical_level": level}
        dense.add(keys, vectors, texts, [facets] * PER_DOCUMENT)
        sparse.add((int(key), number + 1, language, text) for key, text in zip(keys, texts, strict=True))
        if number % 200 == 199:
            print(f"  {first + PER_DOCUMENT - 1} children after {time.perf_counter() - started:.0f} s", flush=True)
    sparse.commit()
    dense.close()


def _insert(engine: Engine, document: int, metadata: Metadata, texts: list[str], keys: np.ndarray) -> None:
    row = {
        "key": document,
        "document_id": f"{document:012x}",
        "sha256": f"{document:064x}",
        "source": f"/synthetic/{document}",
        "file": f"{document}.txt",
        "fingerprint": "",
        "model": engine.embedder().name,
        "status": "active",
        "media_type": "text/plain",
        "pages": 1,
        "ocr_pages": 0,
        "parents": len(texts) // 2,
        "children": len(texts),
        "characters": sum(map(len, texts)),
        "added": "2026-01-01T00:00:00+00:00",
        "metadata": metadata_json(metadata),
        "strategy": "",
        "why": "",
    }
    parents, children = [], []
    for index in range(0, len(texts), 2):
        pair = texts[index : index + 2]
        key, start = int(keys[index]), 0
        parents.append(
            {"key": key, "document_key": document, "index": index // 2, "start": 0, "end": 1, "page": 1, "last_page": 1}
            | {"text": " ".join(pair), "act": "", "section": "", "headings": "[]", "depth": 0}
        )
        for offset, text in enumerate(pair):
            children.append(
                {"key": int(keys[index + offset]), "document_key": document, "parent_key": key, "index": offset}
                | {"start": start, "end": start + len(text), "page": 1, "last_page": 1}
                | {"vector_row": int(keys[index + offset]) - 1, "clause": ""}
            )
            start += len(text) + 1
    with engine.catalog.begin() as connection:
        connection.execute(sql.insert(tables.documents).values(row))
        kept = {"text": pack_text(""), "lines": pack_lines(()), "blocks": pack_blocks(())}
        connection.execute(sql.insert(tables.texts).values(document_key=document, **kept))
        connection.execute(sql.insert(tables.parents), parents)
        connection.execute(sql.insert(tables.children), children)
        mark_changed(connection)


def _insert_vectors(engine: Engine, keys: np.ndarray, sentences: np.ndarray) -> None:
    """Insert the vectors of the children's sentences (children, sentences, dimension) as an indexer does."""
    model = engine.embedder().name
    rows = [
        {"model": model, "text_hash": f"{key:064x}", "row": int(key) - 1, "sentences": sealed(pack_sentences(some))}
        for key, some in zip(keys.tolist(), sentences, strict=True)
    ]
    with engine.catalog.begin() as connection:
        connection.execute(sql.insert(tables.vectors), rows)


def timed(call: Callable[[str], object], questions: list[str]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    taken = []
    for question in questions:
        started = time.perf_counter()
        call(question)
        taken.append(time.perf_counter() - started)
    return percentiles(taken)


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    return float(np.percentile(seconds, 50)) * 1000, float(np.percentile(seconds, 95)) * 1000


def rows_of(ours: Mapping[str, tuple[float, float]], theirs: Mapping[str, tuple[float, float]]) -> list[list[str]]:
    """Return a row for each filter."""
    return [
        [
            name,
            f"{ours[name][0]:.1f}",
            f"{ours[name][1]:.1f}",
            f"{ours[name][0] / ours['none'][0]:.2f}",
            f"{theirs[name][0]:.0f}",
            f"{theirs[name][0] / ours[name][0]:.0f}",
        ]
        for name in FILTERS
    ]


def recipe(engine: Engine) -> Callable[[str, Filter], object]:
    """Return the paper's retrieval.

    Rank-bm25 over all chunks, Chroma's `where` on metadata, weighted reciprocal rank.
    """
    from rank_bm25 import BM25Okapi

    snapshot, dense = engine.collection.snapshot(), engine.collection.dense()
    texts = {child.key: child.text for key in snapshot.documents for child in engine.catalog.document_children(key)}
    keys = np.array(list(texts))
    started = time.perf_counter()
    bm25 = BM25Okapi([text.lower().split() for text in texts.values()])
    print(f"  rank-bm25 over {len(texts)} chunks built in {time.perf_counter() - started:.0f} s", flush=True)

    def search(question: str, wanted: Filter) -> object:
        plan = engine.plan(question)
        vectors = engine.embedder().encode_queries(plan.queries)
        near = [found.tolist() for found, _ in dense.search(vectors, 50, facets=wanted)]
        worded = [keys[np.argsort(-bm25.get_scores(query.lower().split()))[:50]].tolist() for query in plan.queries]
        return paper_fusion(near, worded)

    return search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--children", type=int, default=280_000)
    parser.add_argument("--workspace", type=Path, default=BENCHMARKS / "data" / "workspace-scale")
    parser.add_argument("--shared", type=Path, default=BENCHMARKS.parent / "shared")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--recipe-questions", type=int, default=5)
    asked = parser.parse_args()
    passages, questions = real_texts(asked.shared)
    questions = questions[: asked.questions]
    config = read_config(asked.workspace)
    engine = Engine(config)
    if len(engine.collection.snapshot()) < asked.children:
        fill(engine, passages, asked.children)
    # The first questions read vectors and indexes from the disk.
    for question in questions[:5]:
        engine.search(question)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    unread = engine.retrieval(rerank=False)
    found: dict[str, list[Mapping[str, float]]] = {name: [] for name in FILTERS}
    # By turns, so that a slower minute slows all of them.
    for question in questions:
        for name, chosen in FILTERS.items():
            found[name].append(engine.search(question, chosen, unread).seconds)
    unjudged = {name: percentiles([one["plan"] + one["retrieval"] for one in taken]) for name, taken in found.items()}
    judged = {name: timed(lambda q, f=chosen: engine.search(q, f), questions) for name, chosen in FILTERS.items()}
    steps = {step: float(np.median([one[step] for one in found["none"]])) for step in found["none"][0]}
    # It is read after the search then.
    del steps["judge"]

    store = engine.collection.view().vectors
    queries = engine.embedder().encode_queries(questions)
    exact = [set(np.argsort(-(store @ query), kind="stable")[:75].tolist()) for query in queries]
    scanned = [
        set(engine.collection.snapshot().rows[keys - 1].tolist())
        for keys, _ in nearest(engine.collection.snapshot(), store, queries, 75, None)
    ]
    ours_recall = float(np.mean([len(a & b) / len(a) for a, b in zip(exact, scanned, strict=True)]))
    near = [set((keys - 1).tolist()) for keys, _ in engine.collection.dense().search(queries, 75)]
    recall = float(np.mean([len(a & b) / len(a) for a, b in zip(exact, near, strict=True)]))
    chroma = timed(lambda q: engine.collection.dense().search(engine.embedder().encode_queries([q]), 75), questions)

    search, few = recipe(engine), questions[: asked.recipe_questions]
    theirs = {name: timed(lambda q, f=chosen: search(q, f), few) for name, chosen in FILTERS.items()}
    write_table(
        "retrieval_scale",
        f"Retrieval without generation over {len(engine.collection.snapshot()):,} children",
        COLUMNS,
        rows_of(unjudged, theirs),
        [
            machine(),
            f"{len(questions)} questions (recipe: {len(few)}). No passage is read or judged, as in the recipe.",
            f"Memory after the first questions: {memory:.0f} MiB resident at most.",
            "Steps of a question, median ms: "
            + ", ".join(f"{step} {value * 1000:.1f}" for step, value in steps.items()),
            f"Recall@75 of the default dense leg against a sort of every cosine: {ours_recall:.3f}.",
            f"Recall@75 of Chroma: {recall:.3f}, p50 {chroma[0]:.1f} ms a query; used above 500,000 children.",
        ],
    )
    write_table(
        "retrieval_scale_judged",
        f"Retrieval over {len(engine.collection.snapshot()):,} children with reading and judging",
        COLUMNS,
        rows_of(judged, theirs),
        [machine(), f"The same questions. The best {READ} passages are read, and each has its chance to answer."],
    )
    engine.close()


if __name__ == "__main__":
    main()
