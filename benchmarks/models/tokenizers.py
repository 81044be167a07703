"""The packaged encoder's tokenizer by either of its libraries: time, memory, share of other tokens.

    python -m benchmarks.models.tokenizers     writes benchmarks/results/tokenizers.md

Needs the evaluation sets under SEXTANT_SHARED. Each library is loaded in a separate process, by turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import psutil

from benchmarks.report import machine, write_table
from rag_engine.backends.encoder.load import ENCODER, locate, unpacked_folder
from rag_engine.backends.load_model import exported_folder
from rag_engine.backends.tokenizer import RustTokenizer, SentencePieceTokenizer, TokenizedText, Tokenizer
from rag_engine.config import cache_folder

LANGUAGES = ("de", "en", "es", "tr", "ru", "zh", "ar", "hi")
XQUAD = Path(os.environ.get("SEXTANT_SHARED", "../shared")) / "data" / "benchmarks" / "xquad"
NAMES = {"Rust": "tokenizers (Rust)", "SentencePiece": "sentencepiece"}
ROUNDS = 5
LIMIT = 512


def main() -> None:
    """Measure both and write the table."""
    texts = passages()
    found = {name: [measured(name) for _ in range(ROUNDS)] for name in NAMES}
    different = sum(list(one.ids) != list(other.ids) for one, other in zip(*map(read, NAMES), strict=True))
    rows = []
    for name, title in NAMES.items():
        loading, memory, reading = (median(one[column] for one in found[name]) for column in range(3))
        rows.append([title, f"{1000 * loading:.0f} ms", f"{memory:.0f} MB", f"{1000 * reading:.0f} ms"])
    write_table(
        "tokenizers",
        "The packaged encoder's tokenizer by two libraries",
        ("library", "loading", "memory", f"reading {len(texts):,} passages"),
        rows,
        (
            f"`python -m benchmarks.models.tokenizers`: medians of {ROUNDS} processes, in processor's time.",
            f"Passages of XQuAD in {len(passages_by_language())} languages; {different} of them have other tokens.",
            machine(),
        ),
    )


def passages_by_language() -> dict[str, list[str]]:
    """Return the passages of each language that is there."""
    files = {language: XQUAD / language / "corpus.jsonl" for language in LANGUAGES}
    return {
        language: [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]
        for language, file in files.items()
        if file.is_file()
    }


def passages() -> list[str]:
    """Return the passages of all languages."""
    return [text for texts in passages_by_language().values() for text in texts]


def opened(name: str) -> Tokenizer:
    """Return the tokenizer by the library of that name."""
    source, cache = locate("multilingual-e5-small"), cache_folder()
    if name == "Rust":
        return RustTokenizer(unpacked_folder(cache) / "tokenizer.json")
    return SentencePieceTokenizer(exported_folder(ENCODER, source, cache) / "sentencepiece.model")


def read(name: str) -> list[TokenizedText]:
    """Return the tokens of all passages."""
    return opened(name).read(passages(), LIMIT)


def measured(name: str) -> tuple[float, float, float]:
    """Return the seconds of loading, the megabytes it takes, and the seconds of reading, in a new process."""
    code = "import sys; from benchmarks.models.tokenizers import print_measured; print_measured(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=True)
    loading, memory, reading = json.loads(done.stdout)
    return loading, memory, reading


def print_measured(name: str) -> None:
    """Print what `measured` returns."""
    texts = passages()
    process = psutil.Process()
    before, started = process.memory_info().rss, time.process_time()
    tokenizer = opened(name)
    loaded, held = time.process_time(), process.memory_info().rss
    tokenizer.read(texts, LIMIT)
    print(json.dumps([loaded - started, (held - before) / 2**20, time.process_time() - loaded]))


if __name__ == "__main__":
    main()
