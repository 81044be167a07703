"""Candidates of the first ranking on the development sets, each with what several rerankers say of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.encoder.load import ENCODER, locate
from rag_engine.backends.exported_model import batches
from rag_engine.backends.load_model import exported_folder
from rag_engine.backends.model_runtime import keep_openvino_quiet
from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkSizes
from rag_engine.protocols import Embedder, Reranker, Vectors
from rag_engine.retrieval.diversity import scaled
from rag_engine.text.analyzer import analyse
from rag_engine.text.sentences import sentence_spans

MODEL = "multilingual-e5-small"
SETS = Path(os.environ.get("SEXTANT_SHARED", "../shared")) / "data" / "benchmarks"
CACHE = Path(os.environ.get("SEXTANT_CACHE", "~/.cache/sextant")).expanduser()
LEG_DEPTH, DEPTH = 100, 20
DENSE_WEIGHT = 0.55
QUESTIONS = 150


@dataclass(frozen=True, slots=True)
class Dataset:
    """Children of the documents, and the questions with the documents that answer them."""

    name: str
    language: str
    children: tuple[str, ...]
    owners: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]
    relevant: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The first ranking: for each question the rows of its best children, best first, and their scores.

    The scores are mixed ones.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]

    @property
    def read(self) -> NDArray[np.int64]:
        """The rows that are read again."""
        return self.rows[:, :DEPTH]


def read_dataset(name: str, language: str) -> Dataset:
    """Return a development half of the evaluation sets, its long documents cut into children."""
    folder, config = SETS / name, ChunkSizes()
    children: list[str] = []
    owners: list[str] = []
    for document in _read_jsonl(folder / "corpus.jsonl"):
        text = "\n".join(part for part in (document.get("title", ""), document["text"]) if part)
        parts = [text]
        if len(text) > config.child_size + config.child_minimum:
            parts = [child.text for child in cut_children(text, sentence_spans(text, language), config)]
        children += parts
        owners += [document["_id"]] * len(parts)
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.dev.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, owner, gain = line.split("\t")
        relevant.setdefault(question, {})[owner] = int(gain)
    asked = [(q["_id"], q["text"]) for q in _read_jsonl(folder / "queries.dev.jsonl") if q["_id"] in relevant]
    step = max(1, len(asked) // QUESTIONS)
    return Dataset(name, language, tuple(children), tuple(owners), tuple(asked[::step][:QUESTIONS]), relevant)


def _read_jsonl(path: Path) -> Iterator[dict[str, str]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def first_ranking(dataset: Dataset, embedder: Embedder) -> Candidates:
    """For each question the convex mix of cosine and BM25 over the best of both legs."""
    passages = embedder.encode_passages(dataset.children)
    cosines = embedder.encode_queries([text for _, text in dataset.questions]) @ passages.T
    sparse = PaperSparseIndex(analyse)
    sparse.add((row, row, dataset.language, text) for row, text in enumerate(dataset.children))
    sparse.commit()
    rows, scores = [], []
    for line, (_, text) in zip(cosines, dataset.questions, strict=True):
        worded = dict(sparse.search(text, dataset.language, LEG_DEPTH))
        nearest = np.argsort(-line, kind="stable")[:LEG_DEPTH]
        found = np.array(list(dict.fromkeys([*nearest.tolist(), *worded])))
        bm25 = dict(zip(worded, scaled(list(worded.values())), strict=True))
        keyword = np.array([bm25.get(int(child), 0.0) for child in found])
        mixed = DENSE_WEIGHT * scaled(line[found]) + (1 - DENSE_WEIGHT) * keyword
        order = np.argsort(-mixed, kind="stable")[:LEG_DEPTH]
        rows.append(found[order])
        scores.append(mixed[order])
    return Candidates(np.array(rows), np.array(scores))


def by_cross_encoder(dataset: Dataset, candidates: Candidates, reranker: Reranker) -> Vectors:
    """Return the reranker's scores of each question's best candidates, (questions, depth)."""
    return np.stack(
        [
            reranker.score(text, [dataset.children[row] for row in rows])
            for (_, text), rows in zip(dataset.questions, candidates.read, strict=True)
        ]
    )


def by_sentence(dataset: Dataset, candidates: Candidates, embedder: Embedder) -> Vectors:
    """For each question the best cosine of each candidate's sentences, (questions, depth)."""

    @cache
    def sentences(row: int) -> Vectors:
        text = dataset.children[row]
        spans = sentence_spans(text, dataset.language)
        return embedder.encode_passages([text[start:end] for start, end in spans] or [text])

    questions = embedder.encode_queries([text for _, text in dataset.questions])
    return np.array(
        [
            [(sentences(int(row)) @ question).max() for row in rows]
            for rows, question in zip(candidates.read, questions, strict=True)
        ]
    )


def token_encoder() -> Callable[[Sequence[str]], list[Vectors]]:
    """Return the encoder's own token vectors, of unit length, (tokens, dimension) a text.

    Start and end tokens left out.
    """
    keep_openvino_quiet()
    import openvino
    from tokenizers import Tokenizer

    folder = exported_folder(ENCODER, locate(MODEL), CACHE)
    core = openvino.Core()
    model = core.read_model(folder / "model.onnx")
    last = [name for op in model.get_ops() for out in op.outputs() for name in out.get_names() if "LayerNorm" in name]
    last = [name for name in last if "layer.11/output" in name]
    model.add_outputs(last[-1])
    compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY"})
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)

    def encode(texts: Sequence[str]) -> list[Vectors]:
        found = [np.empty(0, dtype=np.float32)] * len(texts)
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        for rows in batches([len(ids) for ids in tokens], 1024):
            ids = np.ones((len(rows), max(len(tokens[row]) for row in rows)), dtype=np.int64)
            mask = np.zeros_like(ids)
            for place, row in enumerate(rows):
                ids[place, : len(tokens[row])] = tokens[row]
                mask[place, : len(tokens[row])] = 1
            vectors = np.array(compiled([ids, mask])[1], dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
            for place, row in enumerate(rows):
                found[row] = vectors[place, 1 : len(tokens[row]) - 1]
        return found

    return encode


def by_token(dataset: Dataset, candidates: Candidates, encode: Callable[[Sequence[str]], list[Vectors]]) -> Vectors:
    """Return the late interaction of each question with each candidate (Khattab and Zaharia 2020).

    It is the mean, over the question's tokens, of the largest cosine to a token of the passage; (questions, depth).
    """
    wanted = np.unique(candidates.read).tolist()
    passages: dict[int, NDArray[np.float16]] = {}
    for start in range(0, len(wanted), 256):
        rows = wanted[start : start + 256]
        vectors = encode(["passage: " + dataset.children[row] for row in rows])
        passages |= {row: one.astype(np.float16) for row, one in zip(rows, vectors, strict=True)}
    questions = encode(["query: " + text for _, text in dataset.questions])
    return np.array(
        [
            [(question @ passages[row].astype(np.float32).T).max(axis=1).mean() for row in rows]
            for rows, question in zip(candidates.read.tolist(), questions, strict=True)
        ]
    )
