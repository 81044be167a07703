"""Labels of sentences: how often "supported", "partly supported" and "unsupported" are right.

    python -m benchmarks.answers.support [--write]

The pairs of data/eval/support.tsv are passages of the real documents, a sentence or two each, with a sentence that an
answer might hold: paraphrases, some of them in another language, and sentences that change a number, a name, the
polarity or the reach of the passage, or say something else. Each is labelled as a sentence of an answer is that cites
the passage. The weights are fitted on the development half alone, a logistic regression with a penalty that was chosen
there by five-fold cross-validation; --write puts them into data/support.json.

The sentences of data/eval/support_changes.tsv are true, or changed in one value: who does what to whom, must and may,
how often, which body, which thing, an exception, the name of a law, a unit; each kind in seven languages. A third is
held out. The shares of its changed sentences that are not called supported, and of its true ones that are, are written
too, and stated beside the labels.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.report import machine, write_table
from rag_engine.answering.claim_values import changes, label_of_changes
from rag_engine.answering.support import (
    FITTED,
    LABELS,
    SupportEvidence,
    evidence_for,
    hold_against,
    label_of,
    weighed,
)
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.calibration import Calibration, calibrate, read_pairs
from rag_engine.config import DATA
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.protocols import Embedder
from rag_engine.types.answer import SupportLabel
from rag_engine.types.document import DocumentRecord, Metadata
from rag_engine.types.passage import Hit, Source

PAIRS = DATA / "eval" / "support.tsv"
CHANGES = DATA / "eval" / "support_changes.tsv"
PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1)
_FOLDS = 5
_TIMED = 24

Weights = dict[SupportLabel, dict[str, float]]


@dataclass(frozen=True, slots=True)
class SupportPair:
    """A line of the file; `label` as the product has it."""

    id: str
    language: str
    document: str
    passage: str
    sentence: str
    kind: str
    label: SupportLabel
    half: str


def read_support_pairs() -> list[SupportPair]:
    names: dict[str, SupportLabel] = {"partly": "partly supported"}
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    pairs = [SupportPair(**{**row, "label": names.get(row["label"], row["label"])}) for row in rows]
    assert all(pair.half == half_of(pair.id) for pair in pairs)
    return pairs


def half_of(id: str) -> str:
    return "heldout" if hashlib.sha256(id.encode()).digest()[0] % 2 else "dev"


def read_changes() -> list[SupportPair]:
    """Return the true and changed sentences, with the label that each should get."""
    with CHANGES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    labels: dict[str, SupportLabel] = {"true": "supported", "changed": "unsupported"}
    return [SupportPair(**{**row, "label": labels[row["label"]], "document": row["language"]}) for row in rows]


def labels_of(
    pairs: Sequence[SupportPair], weights: Weights, embedder: Embedder, calibration: Calibration
) -> list[SupportLabel]:
    """Return the label of each sentence as one of an answer that cites its passage."""
    found: list[SupportLabel] = []
    for pair in pairs:
        evidence = evidence_of(pair, embedder, calibration)
        label = label_of(evidence, weights) if evidence else "no claim"
        if label == "supported":
            label = label_of_changes(changes(pair.sentence, pair.language, pair.passage, pair.document[:2]))
        found.append(label)
    return found


def changes_rows(pairs: Sequence[SupportPair], given: Sequence[SupportLabel]) -> list[list[str]]:
    """Return a row for all sentences, for each kind and for each language."""

    def cells(name: str, chosen: Callable[[SupportPair], bool]) -> list[str]:
        shown = [name]
        for half in ("dev", "heldout"):
            part = [(p.label, label) for p, label in zip(pairs, given, strict=True) if p.half == half and chosen(p)]
            changed = [got for wanted, got in part if wanted == "unsupported"]
            true = [got for wanted, got in part if wanted == "supported"]
            shown += [
                f"{changed.count('supported')} of {len(changed)}",
                f"{true.count('supported')} of {len(true)}",
                str(true.count("unsupported") + true.count("partly supported")),
            ]
        return shown

    kinds, languages = (dict.fromkeys(getattr(pair, name) for pair in pairs) for name in ("kind", "language"))
    return [
        cells("all", lambda _: True),
        *(cells(kind, lambda p, kind=kind: p.kind == kind) for kind in kinds),
        *(cells(one, lambda p, one=one: p.language == one) for one in languages),
    ]


def source_of(pair: SupportPair) -> Source:
    """Return the passage as the only source of an answer; the documents' names begin with their language."""
    metadata = Metadata("", pair.document[:2])
    record = DocumentRecord(0, "0" * 12, "", pair.document, "0" * 64, "", 1, 0, 1, 1, len(pair.passage), "", metadata)
    end = len(pair.passage)
    hit = Hit("", record, 0, end, pair.passage, 1, 1, 0.0, 0.0, "weak", None, None, None, 0.0)
    return Source(1, record, 0, end, pair.passage, 1, 1, (hit,))


def evidence_of(pair: SupportPair, embedder: Embedder, calibration: Calibration) -> SupportEvidence | None:
    """Return the evidence for the sentence as one of an answer; None where it is taken to state nothing."""
    text = f"{pair.sentence} [Source 1]"
    held, *others = hold_against(text, pair.language, [source_of(pair)], embedder=embedder, calibration=calibration)
    assert not others, pair.id
    return evidence_for(held.sentence.text, pair.language, held.passage) if held.passage else None


def fit(evidence: Sequence[SupportEvidence], labels: Sequence[SupportLabel], penalty: float) -> Weights:
    """Return weights of a multinomial logistic regression in which each label counts the same."""
    names = list(weighed(evidence[0]))
    rows = np.array([list(weighed(one).values()) for one in evidence])
    wanted = np.array([LABELS.index(label) for label in labels])
    shares = np.array([1 / np.mean(wanted == label) for label in range(len(LABELS))])[wanted] / len(wanted)
    free = np.array([name != "always" for name in names])

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(len(LABELS), -1)
        scores = rows @ weights.T
        scores -= scores.max(axis=1, keepdims=True)
        shown = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        right = shown[np.arange(len(wanted)), wanted]
        error = shown - np.eye(len(LABELS))[wanted]
        slope = (error * shares[:, None]).T @ rows + 2 * penalty * weights * free
        return float(-(shares * np.log(right)).sum() + penalty * (weights**2 * free).sum()), slope.ravel()

    found = minimize(loss, np.zeros(len(LABELS) * len(names)), jac=True, method="L-BFGS-B").x.reshape(len(LABELS), -1)
    return {
        label: {name: round(float(value), 3) for name, value in zip(names, row, strict=True)}
        for label, row in zip(LABELS, found, strict=True)
    }


def cross_validated(evidence: Sequence[SupportEvidence], labels: Sequence[SupportLabel], penalty: float) -> float:
    """Return the balanced accuracy of each fold by the weights of the others."""
    given: list[tuple[SupportLabel, SupportLabel]] = []
    for fold in range(_FOLDS):
        rest = [at for at in range(len(labels)) if at % _FOLDS != fold]
        weights = fit([evidence[at] for at in rest], [labels[at] for at in rest], penalty)
        given += [(labels[at], label_of(evidence[at], weights)) for at in range(fold, len(labels), _FOLDS)]
    return balanced(given)


def balanced(given: Sequence[tuple[SupportLabel, SupportLabel]]) -> float:
    """Return the mean over the labels of the share that is right."""
    shares = [np.mean([got == label for wanted, got in given if wanted == label]) for label in {w for w, _ in given}]
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write data/support.json")
    arguments = parser.parse_args()
    pairs = read_support_pairs()
    encoder = load_encoder("multilingual-e5-small")
    embedder = CachedEmbedder(encoder, vectors_folder())
    calibration = calibrate(embedder, read_pairs())
    embedder.encode_queries([pair.sentence for pair in pairs])
    found = [evidence_of(pair, embedder, calibration) for pair in pairs]
    timed = pairs[:_TIMED]
    started = time.process_time()
    for pair in timed:
        evidence_of(pair, encoder, calibration)
    milliseconds = (time.process_time() - started) / len(timed) * 1000
    dev = [(one, pair.label) for one, pair in zip(found, pairs, strict=True) if one and pair.half == "dev"]
    evidence, labels = [one for one, _ in dev], [label for _, label in dev]
    validated = {penalty: cross_validated(evidence, labels, penalty) for penalty in PENALTIES}
    penalty = max(validated, key=lambda one: validated[one])
    weights = fit(evidence, labels, penalty)
    given: list[SupportLabel] = [label_of(one, weights) if one else "no claim" for one in found]
    notes = [
        f"`python {' '.join(['-m benchmarks.answers.support', *sys.argv[1:]])}`: fitted on the development half with "
        f"penalty {penalty:g}, by five-fold cross-validation there ({validated[penalty]:.2f}).",
        "The sentences were written by the hand that wrote the rules: held out are the pairs, not their author.",
        f"{milliseconds:.0f} ms of processor time a sentence, encoding included.",
        machine(),
    ]
    title = "Labels of sentences: balanced accuracy, and the share that is right"
    write_table("support", title, ["pairs", "dev", "held out"], rows_of(pairs, given), notes)
    changed = read_changes()
    embedder.encode_queries([pair.sentence for pair in changed])
    labels = labels_of(changed, weights, embedder, calibration)
    columns = ("changed, called supported", "true, called supported", "true, called unsupported")
    write_table(
        "support_changes",
        "Sentences that change one value of their passage, and true ones",
        ["sentences", *(f"{column}, {half}" for half in ("dev", "held out") for column in columns)],
        changes_rows(changed, labels),
        notes[1:2] + notes[-1:],
    )
    if arguments.write:
        held_out = [(p.label, label) for p, label in zip(changed, labels, strict=True) if p.half == "heldout"]
        shares = {
            name: round(fmean((got == "supported") == (wanted == "supported") for w, got in held_out if w == wanted), 3)
            for name, wanted in (("noticed", "unsupported"), ("kept", "supported"))
        }
        values = {"date": date.today().isoformat(), **shares, "weights": weights}
        FITTED.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def rows_of(pairs: Sequence[SupportPair], given: Sequence[SupportLabel]) -> list[list[str]]:
    """Return a row for all pairs, each label, kind and language, and for pairs across two languages."""

    def cells(chosen: Callable[[SupportPair], bool], measure: Callable[..., float]) -> list[str]:
        shown = []
        for half in ("dev", "heldout"):
            part = [(p.label, label) for p, label in zip(pairs, given, strict=True) if p.half == half and chosen(p)]
            shown.append(f"{measure(part):.2f} of {len(part)}")
        return shown

    def right(part: Sequence[tuple[SupportLabel, SupportLabel]]) -> float:
        return float(np.mean([wanted == got for wanted, got in part]))

    rows = [["balanced accuracy", *cells(lambda _: True, balanced)]]
    rows += [[f"label: {label}", *cells(lambda p, label=label: p.label == label, right)] for label in LABELS]
    for kind in dict.fromkeys(pair.kind for pair in pairs):
        rows.append([f"kind: {kind}", *cells(lambda p, kind=kind: p.kind == kind, right)])
    for language in sorted({pair.language for pair in pairs}):
        rows.append(
            [f"language: {language} (balanced)", *cells(lambda p, language=language: p.language == language, balanced)]
        )
    rows.append(["passage in another language (balanced)", *cells(lambda p: p.document[:2] != p.language, balanced)])
    return rows


if __name__ == "__main__":
    main()
