"""Real documents that the topic gate sets aside, for a preset and for a scope in words.

    python -m benchmarks.pipeline.topics      writes benchmarks/results/topics.md

What each document is about is in data/eval/corpus_scope.tsv, by reading: yes, no, or either where a reader could go
both ways. No language model is asked, so what words and encoder leave open is kept. The gate's limits were set on
these documents with the preset; the scope in words was not looked at for them.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

from benchmarks.report import machine, write_table
from ingestion.quality.topic import judge_topic, read_scope
from ingestion.tools import open_reader
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.config import read_config

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "data" / "eval" / "corpus_scope.tsv"
CORPUS = Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")) / "data" / "corpus"
SCOPES = {
    "drr": "drr",
    "climate agreements": "International climate agreements: greenhouse gas emissions, mitigation and climate finance",
}


def main() -> None:
    with TABLE.open(encoding="utf-8") as file:
        labels = list(csv.DictReader(file, delimiter="\t"))
    config = read_config()
    encode = load_encoder(config.encoder, config.execution).encode_passages
    texts: dict[str, tuple[str, str]] = {}
    with open_reader("auto") as reader:
        for one in labels:
            extracted = reader.read(CORPUS / one["file"]).extracted
            texts[one["file"]] = extracted.title, extracted.text
    rows: list[list[str]] = []
    notes: list[str] = []
    for name, given in SCOPES.items():
        scope = read_scope(given)
        out: dict[str, list[str]] = {"yes": [], "either": [], "no": []}
        for one in labels:
            title, text = texts[one["file"]]
            verdict = judge_topic(scope, title, text, encode=encode, model=None, seconds=1.0)
            if not verdict.within:
                out[one[name]].append(one["file"])
        counts = {label: sum(one[name] == label for one in labels) for label in out}
        rows.append([name, *(f"{len(out[label])} of {counts[label]}" for label in ("yes", "either", "no"))])
        notes += [f"wrongly set aside, {name}: {file}" for file in out["yes"]]
    write_table(
        "topics",
        "What the topic gate sets aside, without a language model",
        ["scope", "of what is about it", "of what may be", "of what is about something else"],
        rows,
        [
            *notes,
            machine(),
            "`python -m benchmarks.pipeline.topics`; labels in data/eval/corpus_scope.tsv, by reading.",
        ],
    )


if __name__ == "__main__":
    main()
