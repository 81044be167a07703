"""The sentence splitter against syntok: right ends of sentences in the truth cases, and seconds.

    python -m benchmarks.pipeline.sentences      writes benchmarks/results/sentences.md

The cases are those of tests/rag_engine/text/test_sentences.py, in seven languages, written from laws and reports. The
splitter was made with them at hand, so that its share says only that they pass. The share of syntok shows what a
general splitter makes of legal text.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from syntok import segmenter

from benchmarks.report import machine, write_table
from rag_engine.text.sentences import sentence_spans
from tests.rag_engine.text.test_sentences import BOUNDARIES

Splitter = Callable[[str, str], set[int]]
SPEED_CHARACTERS = 1_000_000


def ours(text: str, language: str) -> set[int]:
    """Return the ends of the sentences by rag_engine/text/sentences.py."""
    return {end for _, end in sentence_spans(text, language)}


def syntok(text: str, _language: str) -> set[int]:
    """Return the ends of the sentences by syntok, which has one set of rules for all languages."""
    return {
        sentence[-1].offset + len(sentence[-1].value)
        for paragraph in segmenter.analyze(text)
        for sentence in paragraph
        if sentence
    }


def truth_of(case: str) -> tuple[str, set[int]]:
    """Return the text of a case and the ends of its sentences."""
    pieces = case.split("‖")
    ends, length = set(), 0
    for piece in pieces:
        ends.add(length + len(piece.rstrip()))
        length += len(piece)
    return "".join(pieces), ends


def score(splitter: Splitter, language: str) -> tuple[float, float]:
    """Return precision and recall of the ends of sentences in the cases of a language."""
    right = found = wanted = 0
    for case in BOUNDARIES[language]:
        text, truth = truth_of(case)
        ends = splitter(text, language)
        right, found, wanted = right + len(ends & truth), found + len(ends), wanted + len(truth)
    return right / found, right / wanted


def seconds(splitter: Splitter) -> float:
    """Return the processor seconds for a million characters of the English cases."""
    text = "\n\n".join(truth_of(case)[0] for case in BOUNDARIES["en"])
    text = (text + "\n\n") * (SPEED_CHARACTERS // len(text))
    started = time.process_time()
    splitter(text, "en")
    return time.process_time() - started


def main() -> None:
    """Measure both splitters and write the table."""
    splitters: dict[str, Splitter] = {"own rules": ours, "syntok": syntok}
    rows = []
    for name, splitter in splitters.items():
        scores = [score(splitter, language) for language in BOUNDARIES]
        cells = [f"{precision:.2f} / {recall:.2f}" for precision, recall in scores]
        rows.append([name, *cells, f"{seconds(splitter):.1f}"])
    notes = ["Precision / recall of the ends of sentences; processor seconds for a million characters.", machine()]
    write_table("sentences", "Splitting into sentences", ["splitter", *BOUNDARIES, "seconds"], rows, notes)


if __name__ == "__main__":
    main()
