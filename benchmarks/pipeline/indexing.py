"""Throughput of the whole pipeline in ratio to the bare encoder, and of the encoder to torch fp32.

    python -m benchmarks.pipeline.indexing [--shared DIR] [--files N]

The pipeline adds real documents to a new workspace; a recorder keeps every text that it gave to the encoder. Then
the same texts go through the encoder alone, and a part of them through torch fp32, in the same run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.protocols import Embedder, Vectors

ROOT = Path(__file__).resolve().parents[2]
# Text documents of five languages; scans are left out, since their time is the OCR's.
FILES = (
    "en_paris_agreement.pdf",
    "en_unfccc_cop19_warsaw_loss_damage.pdf",
    "de_zskg_zivilschutz_katastrophenhilfe.pdf",
    "it_costituzione_repubblica.pdf",
    "pt_lgpd_lei_13709.pdf",
    "tr_kat_mulkiyeti_kanunu.pdf",
    "en_eu_climate_law_2021-1119.md",
    "fr_exemple_cahier_de_charge_be.odt",
)
TORCH_SHARE = 12


class Recorder:
    """An encoder that keeps what it was asked to encode."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension, self.prefixes = embedder.name, embedder.dimension, embedder.prefixes
        self.execution = embedder.execution
        self.texts: list[str] = []
        self.seconds = 0.0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        vectors = self._embedder.encode_passages(texts)
        self.seconds += time.perf_counter() - started
        self.texts += texts
        return vectors

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.encode_queries(texts)

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)


def seconds_of(embedder: Embedder, texts: Sequence[str]) -> float:
    """How long the encoder alone takes."""
    started = time.perf_counter()
    embedder.encode_passages(texts)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--files", type=int, default=len(FILES))
    asked = parser.parse_args()
    paths = [asked.shared / "data" / "corpus" / name for name in FILES[: asked.files]]
    bare = load_encoder("multilingual-e5-small")
    bare.encode_passages(["warm up"] * 8)
    with tempfile.TemporaryDirectory() as folder:
        # A first, small addition pays for what a process pays once: imports, calibration, opening the stores.
        recorder = Recorder(bare)
        engine = Engine(read_config(folder), embedder=recorder)
        add_paths([asked.shared / "data" / "corpus" / "tr_yangin_yonetmeligi_excerpt.pdf"], engine)
        recorder.texts, recorder.seconds = [], 0.0
        started = time.perf_counter()
        added = add_paths(paths, engine)
        pipeline = time.perf_counter() - started
        engine.close()
    alone = seconds_of(bare, recorder.texts)
    part = recorder.texts[::TORCH_SHARE]
    fast = seconds_of(bare, part)
    slow = seconds_of(load_encoder("multilingual-e5-small", "torch"), part)
    children, texts = sum(one.children for one in added), len(recorder.texts)
    write_table(
        "indexing",
        "Indexing real documents",
        ["what", "seconds", "texts a second", "ratio"],
        [
            ["whole pipeline", f"{pipeline:.1f}", f"{texts / pipeline:.0f}", f"{alone / pipeline:.2f} of the encoder"],
            ["bare encoder, same texts", f"{alone:.1f}", f"{texts / alone:.0f}", "1"],
            ["bare encoder, a twelfth of them", f"{fast:.1f}", f"{len(part) / fast:.0f}", f"{slow / fast:.1f} x torch"],
            ["torch fp32, a twelfth of them", f"{slow:.1f}", f"{len(part) / slow:.0f}", "1"],
        ],
        [
            machine("torch", "sentence-transformers"),
            f"{len(added)} documents, {sum(one.pages for one in added)} pages, {children} children; {texts} texts were "
            f"encoded (sentences to find the topics, then the children); runtime {bare.execution}.",
            f"In the pipeline the encoder itself took {recorder.seconds:.1f} s.",
        ],
    )


if __name__ == "__main__":
    main()
