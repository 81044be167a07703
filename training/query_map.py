"""Linear map of a question's vector, so that a question in one language finds passages in another.

    python -m training.query_map [--shared DIR]

The map is fitted by ridge regression on questions written for training and the passages that answer them. It writes
data/query_map.npy, and data/scales.json with the encoder's scale under it. The printed recall is of a
map that was not fitted on the documents that are asked; the written one is fitted on all.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.encoder.load import ENCODER, Encoder, locate
from rag_engine.backends.identify_language import identify_language
from rag_engine.backends.load_model import load_model
from rag_engine.calibration import QUERY_MAP_FILE, SCALES_FILE, calibrate
from rag_engine.calibration import read_pairs as read_calibration_pairs
from rag_engine.protocols import Vectors
from training.own_questions import translated, written
from training.samples import Sample

ROOT = Path(__file__).resolve().parents[1]
MODEL = "multilingual-e5-small"
# Chosen by the passage among ten, on a fifth of the passages and on a fifth of the documents that were not fitted on,
# and by what they cost on XQuAD; the strength on the development half of data/eval/cross_language.
RIDGE = 30.0
STRENGTH = 0.5
# The files of questions on documents that no other file asks about: the figures are of them.
HELD = ("de", "en_statutes", "en_statutes_across")
DEPTHS = (10, 20)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Vectors of questions and of the passages that answer them, one row a question.

    `across` says whether the two are in different languages.
    """

    questions: Vectors
    answers: Vectors
    across: NDArray[np.bool_]

    def where(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Return the chosen rows."""
        return Pairs(self.questions[chosen], self.answers[chosen], self.across[chosen])


def read_questions(shared: Path) -> list[Sample]:
    """Return the written questions that their passage answers."""
    samples = [*written(shared), *translated(shared / "data" / "reading")]
    return [sample for sample in samples if sample.start >= 0]


def fit_map(pairs: Pairs, ridge: float = RIDGE, strength: float = STRENGTH) -> Floats:
    """Return the matrix M of q' = q M: `strength` of the way from the identity to the ridge regression.

    The regression (Hoerl and Kennard 1970) of passages on questions is drawn towards the identity, not towards zero,
    so that what the questions do not show stays as the encoder has it. Both are centred: the means, which every text
    has most of its length in, would take the regression over.
    """
    questions, answers = (
        vectors.astype(np.float64) - vectors.mean(axis=0) for vectors in (pairs.questions, pairs.answers)
    )
    identity = np.eye(questions.shape[1])
    moved = np.linalg.solve(questions.T @ questions + ridge * identity, questions.T @ (answers - questions))
    fitted: Floats = identity + strength * moved
    return fitted


def mapped(questions: Vectors, query_map: NDArray[np.floating]) -> Vectors:
    """Return the unit vectors of mapped questions."""
    vectors = (questions @ query_map).astype(np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def ranks(questions: Vectors, pairs: Pairs, passages: Vectors) -> NDArray[np.int64]:
    """Return the rank, from 1, of the passage that answers each question among all `passages`."""
    own = np.sum(questions * pairs.answers, axis=1, keepdims=True)
    better: NDArray[np.int64] = (questions @ passages.T > own + 1e-6).sum(axis=1)
    return better + 1


def encode(encoder: Encoder, samples: Sequence[Sample]) -> Pairs:
    """Return the vectors of the samples; a passage is encoded once."""
    texts = list(dict.fromkeys(sample.passage for sample in samples))
    rows = {text: row for row, text in enumerate(texts)}
    passages = encoder.encode_passages(texts)
    return Pairs(
        encoder.encode_queries([sample.question for sample in samples]),
        passages[[rows[sample.passage] for sample in samples]],
        np.array([identify_language(sample.question) != sample.language for sample in samples]),
    )


def report(pairs: Pairs, fitted: Floats, passages: Vectors) -> None:
    """Print how often the passage that answers is among the first of all, without the map and with it."""
    kinds = {"across languages": pairs.across, "within a language": ~pairs.across}
    print(f"{len(pairs.questions)} questions that the map was not fitted on, {len(passages)} passages")
    for name, questions in (("without", pairs.questions), ("with", mapped(pairs.questions, fitted))):
        places = ranks(questions, pairs, passages)
        for kind, chosen in kinds.items():
            shares = ", ".join(f"among {depth} {np.mean(places[chosen] <= depth):.3f}" for depth in DEPTHS)
            print(f"{name:8} {kind:17} ({chosen.sum()}): {shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    model = load_model(ENCODER, locate(MODEL), "auto", None)
    samples = read_questions(arguments.shared)
    held = np.array([sample.family.split()[0] in HELD for sample in samples])
    pairs = encode(Encoder(model), samples)
    report(pairs.where(held), fit_map(pairs.where(~held)), np.unique(pairs.answers, axis=0))
    query_map = fit_map(pairs).astype(np.float16)
    np.save(QUERY_MAP_FILE, query_map)
    scale = calibrate(Encoder(model, query_map.astype(np.float32)), read_calibration_pairs())
    SCALES_FILE.write_text(json.dumps([asdict(scale)], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
