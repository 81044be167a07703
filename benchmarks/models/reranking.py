"""Gain and cost of reranking: writes benchmarks/results/reranking.md.

    python -m benchmarks.models.reranking

The candidates of the development sets and what each reranker says of them are kept in the cache, so that a second run
only weighs them; remove benchmarks/reranking there to compute them anew (most of an hour on two cores). Needs the
evaluation sets under SEXTANT_SHARED. Milliseconds depend on what else the machine is doing; ratios hold.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.reranking_candidates import (
    CACHE,
    DENSE_WEIGHT,
    DEPTH,
    MODEL,
    Candidates,
    Dataset,
    by_cross_encoder,
    by_sentence,
    by_token,
    first_ranking,
    read_dataset,
    token_encoder,
)
from benchmarks.report import RESULTS, machine
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.load_model import QUANTISED, exported_folder, on_runtime, open_int8
from rag_engine.backends.model_runtime import open_onnx, open_openvino
from rag_engine.backends.reranker.load import CROSS_ENCODER, CrossEncoder, load_reranker, locate
from rag_engine.backends.reranker.packaged_minilm import PACKAGED
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.protocols import Embedder, Reranker, Vectors
from rag_engine.retrieval.rerank_passages import interpolate, rerank
from rag_engine.text.sentences import sentence_spans

# Sets with their languages and what they are read again by; the sentences of scifact's 5,000 abstracts are left out.
SETS = (
    ("scifact", "en", ("cross",)),
    ("aila_statutes", "en", ("cross", "token", "sentence")),
    ("xquad/en", "en", ("cross", "token", "sentence")),
    ("xquad/tr", "tr", ("token", "sentence")),
    ("faquad_pt", "pt", ("token", "sentence")),
    ("legalquad_de", "de", ("token", "sentence")),
)
TOLD = {
    "cross": f"the cross-encoder {PACKAGED}, English sets alone",
    "token": f"late interaction of {MODEL}'s token vectors",
    "sentence": f"best cosine of {MODEL} to a sentence of the passage",
}
WEIGHTS = (0.1, 0.2, 0.3, 0.5, 1.0)
ROUNDS = 5
TOKENS = 200
SAMPLES = 5_000


def kept(
    name: str, language: str, methods: Sequence[str], cross_encoder: Reranker
) -> tuple[Dataset, Candidates, dict[str, Vectors]]:
    """Return a set with its first ranking and its rerankers' scores, from the cache if it has them."""
    file = CACHE / "benchmarks" / "reranking" / f"{name.replace('/', '_')}.npz"
    dataset = read_dataset(name, language)
    if not file.is_file():
        encoder = CachedEmbedder(load_encoder(MODEL), vectors_folder())
        candidates = first_ranking(dataset, encoder)
        read: dict[str, Callable[[], Vectors]] = {
            "cross": lambda: by_cross_encoder(dataset, candidates, cross_encoder),
            "token": lambda: by_token(dataset, candidates, token_encoder()),
            "sentence": lambda: by_sentence(dataset, candidates, encoder),
        }
        scores = {method: read[method]() for method in methods}
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, rows=candidates.rows, scores=candidates.scores, **scores)
    with np.load(file, allow_pickle=False) as stored:
        return (
            dataset,
            Candidates(stored["rows"], stored["scores"]),
            {method: stored[method] for method in methods},
        )


def ndcg(dataset: Dataset, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """nDCG@10 of each question's documents, each at its best child (Järvelin and Kekäläinen 2002)."""
    discounts = 1 / np.log2(np.arange(10) + 2)
    found = []
    for (question, _), ranked in zip(dataset.questions, rows.tolist(), strict=True):
        gains = dataset.relevant[question]
        documents = list(dict.fromkeys(dataset.owners[row] for row in ranked))[:10]
        gained = sum(gains.get(one, 0) * discount for one, discount in zip(documents, discounts, strict=False))
        ideal = sum(g * d for g, d in zip(sorted(gains.values(), reverse=True)[:10], discounts, strict=False))
        found.append(gained / ideal)
    return np.array(found)


def reranked(candidates: Candidates, read: Vectors, weight: float) -> NDArray[np.int64]:
    """Return the rows of each question in the new order."""
    order = [
        np.argsort(-interpolate(scores[:DEPTH], line.astype(np.float64), weight), kind="stable")
        for scores, line in zip(candidates.scores, read, strict=True)
    ]
    best = np.take_along_axis(candidates.read, np.array(order), axis=1)
    return np.concatenate([best, candidates.rows[:, DEPTH:]], axis=1)


def interval(differences: NDArray[np.float64]) -> str:
    """Return the mean of paired differences with its 95% bootstrap interval."""
    drawn = np.random.default_rng(7).integers(0, len(differences), (SAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    mark = "**" if low > 0 or high < 0 else ""
    return f"{mark}{differences.mean():+.4f}{mark} [{low:+.3f}, {high:+.3f}]"


def report_quality(cross_encoder: Reranker) -> list[str]:
    """Return a table of paired differences for each reranker, one row a set."""
    sets = [(name, *kept(name, language, methods, cross_encoder)) for name, language, methods in SETS]
    first = {name: ndcg(dataset, candidates.rows) for name, dataset, candidates, _ in sets}
    lines: list[str] = []
    for method, told in TOLD.items():
        lines += ["", f"## Mixed with {told}", ""]
        lines.append("| set | questions | first ranking | " + " | ".join(f"weight {w:g}" for w in WEIGHTS) + " |")
        lines.append("|" + " --- |" * (3 + len(WEIGHTS)))
        pooled: list[list[NDArray[np.float64]]] = []
        for name, dataset, candidates, scores in sets:
            if method not in scores:
                continue
            differences = [
                ndcg(dataset, reranked(candidates, scores[method], weight)) - first[name] for weight in WEIGHTS
            ]
            pooled.append(differences)
            told_base = [name, str(len(dataset.questions)), f"{first[name].mean():.4f}"]
            lines.append("| " + " | ".join([*told_base, *map(interval, differences)]) + " |")
        together = [np.concatenate(column) for column in zip(*pooled, strict=True)]
        lines.append("| " + " | ".join(["all", str(len(together[0])), "", *map(interval, together)]) + " |")
    return lines


def passages_of(tokens: int, encoder: Embedder) -> tuple[str, list[str]]:
    """Return a question and as many passages as are read again, of about that many tokens each."""
    dataset = read_dataset("xquad/en", "en")
    words = " ".join(dataset.children).split()
    size = round(tokens * len(words) / encoder.count_tokens(" ".join(words)))
    return dataset.questions[0][1], [" ".join(words[place * 400 :][:size]) for place in range(DEPTH)]


def milliseconds(tasks: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Return the median time of each task over interleaved rounds, by the clock and by the processor.

    Processor time is divided by the number of cores. A round before them prepares kernels.
    """
    clock: dict[str, list[float]] = {name: [] for name in tasks}
    processor: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(ROUNDS + 1):
        for name, task in tasks.items():
            start, used = time.perf_counter(), time.process_time()
            task()
            if turn:
                clock[name].append(1000 * (time.perf_counter() - start))
                processor[name].append(1000 * (time.process_time() - used) / (os.cpu_count() or 1))
    return {name: (statistics.median(clock[name]), statistics.median(processor[name])) for name in tasks}


def report_speed() -> list[str]:
    """Return a table of what reading 20 passages of 200 tokens takes on each runtime, and by the encoder."""
    folder = exported_folder(CROSS_ENCODER, locate(PACKAGED), CACHE)
    runtimes: dict[str, Reranker] = {
        name: CrossEncoder(on_runtime(CROSS_ENCODER, PACKAGED, folder, runtime))
        for name, runtime in (
            ("OpenVINO bf16", open_openvino(folder / "model.onnx", "bf16")),
            ("OpenVINO int8", open_openvino(folder / "model.onnx", "int8")),
            ("OpenVINO f32", open_openvino(folder / "model.onnx", "f32")),
            ("ONNX int8, as packaged", open_int8(folder / QUANTISED)),
            ("ONNX f32", open_onnx(folder / "model.onnx")),
            ("OpenVINO, int8 file", open_openvino(folder / QUANTISED)),
        )
    }
    encoder, token_vectors = load_encoder(MODEL), token_encoder()
    question, passages = passages_of(TOKENS, encoder)
    sentences = [p[start:end] for p in passages for start, end in sentence_spans(p, "en")]

    def reads(reranker: Reranker) -> Callable[[], object]:
        return lambda: reranker.score(question, passages)

    tasks: dict[str, Callable[[], object]] = {name: reads(reranker) for name, reranker in runtimes.items()}
    tasks["OpenVINO bf16, in batches"] = lambda: rerank(
        question, passages, [0.0] * DEPTH, runtimes["OpenVINO bf16"], weight=0.1
    )
    tasks["the encoder's token vectors"] = lambda: token_vectors(passages)
    tasks["the encoder, sentence by sentence"] = lambda: encoder.encode_passages(sentences)
    load = os.getloadavg()[0]
    taken = milliseconds(tasks)
    exact = runtimes["ONNX f32"].score(question, passages)
    lines = [
        f"## {DEPTH} passages of about {TOKENS} tokens, load {load:.1f} before",
        "",
        "A quiet machine takes about as long as the processor was busy, all its cores at once.",
        "",
        "| read by | ms by the clock | by the processor | to ONNX int8 | largest difference to f32 |",
        "|" + " --- |" * 5,
    ]
    for name, (ms, busy) in taken.items():
        difference = ""
        if name in runtimes:
            difference = f"{np.abs(runtimes[name].score(question, passages) - exact).max():.3f}"
        ratio = taken["ONNX int8, as packaged"][1] / busy
        lines.append(f"| {name} | {ms:.0f} | {busy:.0f} | {ratio:.2f} | {difference} |")
    return lines


def main() -> None:
    reranker = load_reranker(PACKAGED)
    lines = [
        "# Reranking",
        "",
        f"`python -m benchmarks.models.reranking`, {machine('onnxruntime')} The default runs on {reranker.execution}.",
        "",
        *report_speed(),
        "",
        f"The first ranking mixes {DENSE_WEIGHT:g} of {MODEL}'s cosine with BM25, each brought to 0..1, over children "
        f"of about 1,200 characters. Its first {DEPTH} children are read again; documents stand at their best child. "
        "Differences of nDCG@10 on development questions are paired, with 95% bootstrap intervals; bold where 0 lies "
        "outside. Weight 1 is the reranker alone.",
        *report_quality(reranker),
    ]
    RESULTS.mkdir(exist_ok=True)
    text = "\n".join(lines).rstrip() + "\n"
    (RESULTS / "reranking.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
