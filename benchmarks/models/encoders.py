"""Speed and retrieval quality of the default encoder on every runtime, and effects of its scale.

    python -m benchmarks.models.encoders                 writes benchmarks/results/encoders.md
    python -m benchmarks.models.encoders --calibration   writes benchmarks/results/calibration.md

The second table shows what the calibrated scale lets through. Needs the evaluation sets under SEXTANT_SHARED. Ratios
hold from run to run; absolute figures depend on the machine and its load.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import machine
from rag_engine.backends.encoder.load import ENCODER, Encoder, load_encoder, locate, query_map
from rag_engine.backends.load_model import exported_folder, on_runtime
from rag_engine.backends.model_runtime import open_onnx, open_openvino
from rag_engine.calibration import Languages, calibrate, read_pairs
from rag_engine.protocols import Embedder, Vectors

MODEL = "multilingual-e5-small"
RESULTS = Path(__file__).parents[1] / "results"
XQUAD = Path(os.environ.get("SEXTANT_SHARED", "../shared")) / "data" / "benchmarks" / "xquad"
CACHE = Path(os.environ.get("SEXTANT_CACHE", "~/.cache/sextant")).expanduser()
TASKS = (("en", "en"), ("es", "es"), ("de", "de"), ("tr", "tr"), ("es", "en"), ("de", "en"), ("tr", "en"))
# Passages of a language that are searched: half of them, so that torch is done within minutes.
POOL = 120
OFF_TOPIC = (
    "How do I bake sourdough bread at home?",
    "Come si accorda una chitarra classica?",
    "Wer hat die letzte Fußballweltmeisterschaft gewonnen?",
    "Quelle console de jeux choisir pour un enfant ?",
    "¿Cuál es la mejor receta de tortilla de patatas?",
    "Como fazer crochê para iniciantes?",
    "Evde köpüklü Türk kahvesi nasıl yapılır?",
    "Which running shoes suit flat feet?",
)
Matrix = NDArray[np.bool_]


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_task(asked: str, written: str) -> tuple[list[str], Matrix]:
    """Every third question of a language and which passages of the other answer it, (questions, passages).

    Questions whose passage lies beyond the first POOL are left out.
    """
    questions = read_jsonl(XQUAD / asked / "queries.dev.jsonl")[::3]
    passages = read_jsonl(XQUAD / written / "corpus.jsonl")[:POOL]
    lines = (XQUAD / asked / "qrels.dev.tsv").read_text(encoding="utf-8").splitlines()[1:]
    judged = {(question, passage) for question, passage, _ in (line.split("\t") for line in lines)}
    relevant = np.array([[(q["_id"], p["_id"]) in judged for p in passages] for q in questions])
    kept = np.flatnonzero(relevant.any(axis=1))
    return [questions[row]["text"] for row in kept], relevant[kept]


def read_passages(language: str) -> list[str]:
    """Return the first POOL passages of a language."""
    return [passage["text"] for passage in read_jsonl(XQUAD / language / "corpus.jsonl")[:POOL]]


def ndcg(cosines: Vectors, relevant: Matrix, depth: int = 10) -> float:
    """Mean nDCG at a depth with binary gains (Järvelin and Kekäläinen 2002)."""
    discounts = 1 / np.log2(np.arange(depth) + 2)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :depth]
    gains = np.take_along_axis(relevant, order, axis=1) @ discounts
    ideal = np.array([discounts[: min(depth, int(row.sum()))].sum() for row in relevant])
    return float(np.mean(gains / ideal))


def texts_of(tokens: int, count: int, embedder: Embedder) -> list[str]:
    """Different texts of about that many tokens, cut from the passages of four languages."""
    words = " ".join(text for language in ("en", "es", "de", "tr") for text in read_passages(language)[:60]).split()
    size = round(tokens * len(words) / embedder.count_tokens(" ".join(words)))
    step = (len(words) - size) // count
    return [" ".join(words[start : start + size]) for start in range(0, step * count, step)]


def seconds(encode: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> float:
    """How long the encoding of texts takes."""
    start = time.perf_counter()
    encode(texts)
    return time.perf_counter() - start


def open_all(folder: Path, scratch: Path) -> dict[str, Embedder]:
    """Return the model on every runtime, torch first."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(folder / "model.onnx", scratch / "model.onnx", weight_type=QuantType.QInt8)
    graph = folder / "model.onnx"
    runtimes = {
        "ONNX f32": open_onnx(graph),
        "ONNX int8 (dynamic)": open_onnx(scratch / "model.onnx"),
        "OpenVINO f32": open_openvino(graph, "f32"),
        "OpenVINO bf16": open_openvino(graph, "bf16"),
        "OpenVINO int8": open_openvino(graph, "int8"),
    }
    models = {name: on_runtime(ENCODER, MODEL, folder, runtime) for name, runtime in runtimes.items()}
    encoders = {name: Encoder(one, query_map(locate(MODEL).name)) for name, one in models.items()}
    return {"torch f32": load_encoder(MODEL, "torch", CACHE)} | encoders


def measure_speed(encoders: dict[str, Embedder], rounds: int = 4) -> tuple[dict[str, float], dict[str, float]]:
    """Texts a second in bulk and milliseconds for one question, medians of interleaved rounds."""
    texts = texts_of(256, 12, encoders["torch f32"])
    questions = read_task("en", "en")[0][:20]
    bulk: dict[str, list[float]] = {name: [] for name in encoders}
    single: dict[str, list[float]] = {name: [] for name in encoders}
    for turn in range(rounds + 1):
        for name, encoder in encoders.items():
            rate = len(texts) / seconds(encoder.encode_passages, texts)
            times = [seconds(encoder.encode_queries, [q]) for q in questions]
            # The first round prepares kernels for the shapes.
            if turn:
                bulk[name].append(rate)
                single[name] += times
    return (
        {name: statistics.median(rates) for name, rates in bulk.items()},
        {name: 1000 * statistics.median(times) for name, times in single.items()},
    )


def measure_quality(encoder: Embedder) -> tuple[list[float], Vectors]:
    """nDCG@10 for each task, and the vectors of all passages."""
    passages = {language: encoder.encode_passages(read_passages(language)) for language in ("en", "es", "de", "tr")}
    scores = []
    for asked, written in TASKS:
        questions, relevant = read_task(asked, written)
        scores.append(ndcg(encoder.encode_queries(questions) @ passages[written].T, relevant))
    return scores, np.concatenate(list(passages.values()))


def report_runtimes() -> str:
    """Return a table of speed and quality, one row a runtime."""
    default, load = load_encoder(MODEL, cache=CACHE), os.getloadavg()[0]
    folder = exported_folder(ENCODER, locate(MODEL), CACHE)
    with tempfile.TemporaryDirectory() as scratch:
        encoders = open_all(folder, Path(scratch))
        bulk, single = measure_speed(encoders)
        quality = {name: measure_quality(encoder) for name, encoder in encoders.items()}
    reference = quality["torch f32"][1]
    tasks = [asked if asked == written else f"{asked} on {written}" for asked, written in TASKS]
    lines = [
        f"# {default.name} on every runtime",
        "",
        f"`python -m benchmarks.models.encoders`, load {load:.1f} before; "
        f'"auto" chooses {default.execution}. Texts of about '
        "256 tokens; nDCG@10 of the vectors alone on every third development question of XQuAD among "
        f"{POOL} passages a language.",
        "",
        "| runtime | texts/s | to torch | one question, ms | cosine to torch | " + " | ".join(tasks) + " |",
        "|---" * (5 + len(tasks)) + "|",
    ]
    for name, (scores, vectors) in quality.items():
        cosine = float(np.mean(np.sum(vectors * reference, axis=1)))
        row = [name, f"{bulk[name]:.1f}", f"{bulk[name] / bulk['torch f32']:.2f}", f"{single[name]:.1f}"]
        lines.append("| " + " | ".join([*row, f"{cosine:.5f}", *(f"{score:.3f}" for score in scores)]) + " |")
    return "\n".join([*lines, "", f"- {machine()}"]) + "\n"


def report_calibration() -> str:
    """Return the anchors of the scale, and the share of pairs above the floor and in the tiers."""
    encoder = load_encoder(MODEL, cache=CACHE)
    pairs = read_pairs()
    scale = calibrate(encoder, pairs)
    lines = [f"# The scale of {encoder.name}", "", "`python -m benchmarks.models.encoders --calibration`", ""]
    lines += ["| languages | 0 | .35 | .50 | .70 | 1 |", "|---|---|---|---|---|---|"]
    for languages, anchors in (("any", scale.any), ("same", scale.same), ("different", scale.different)):
        lines.append(f"| {languages} | " + " | ".join(f"{anchor:.3f}" for anchor in anchors) + " |")
    lines += ["", "Share of pairs at or above each similarity, on questions that took no part in the measurement.", ""]
    lines += ["| pairs | scale | .35 | .50 | .70 |", "|---|---|---|---|---|"]

    def add(label: str, cosines: Sequence[float] | Vectors, languages: Languages) -> None:
        shares = [np.mean(np.asarray(cosines) >= scale.cosine(level, languages)) for level in (0.35, 0.5, 0.7)]
        lines.append(f"| {label} | {languages} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")

    passages = {language: encoder.encode_passages(read_passages(language)) for language in ("en", "es", "de", "tr")}
    for asked, written in TASKS:
        questions, relevant = read_task(asked, written)
        cosines = encoder.encode_queries(questions) @ passages[written].T
        known: Languages = "same" if asked == written else "different"
        for languages in (known, "any"):
            add(f"{asked} on {written}, relevant", cosines[relevant], languages)
            add(f"{asked} on {written}, random", cosines[~relevant], languages)
    cosines = encoder.encode_queries(OFF_TOPIC) @ encoder.encode_passages([pair.passage for pair in pairs]).T
    add("off-topic questions, policy passages", cosines, "any")
    add("off-topic questions, nearest of 56 policy passages", cosines.max(axis=1), "any")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibration", action="store_true", help="measure the scale instead of the runtimes")
    calibration = parser.parse_args().calibration
    report = report_calibration() if calibration else report_runtimes()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / ("calibration.md" if calibration else "encoders.md")).write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
