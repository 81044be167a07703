"""Calibration: cosines on a scale from 0 to 1 that means the same for every encoder.

Cosines of one encoder lie between .70 and .95, of another between .0 and .9. Most encoders put a passage in the
question's own language nearer than its translation. So the scale is measured on related and unrelated pairs from policy
documents in seven languages (data/calibration.jsonl). They give five anchors, and similarity is linear between them.

| similarity | cosine                                         | meaning                               |
|------------|------------------------------------------------|---------------------------------------|
| 0          | 1st percentile of the unrelated pairs          | another subject                       |
| .35        | median of the unrelated pairs                  | floor: the same field at best         |
| .50        | 95th percentile of the unrelated pairs         | moderate: chance seldom comes so near |
| .70        | 25th percentile of the related pairs           | strong: as near as most true answers  |
| 1          | 99th percentile of the related pairs           |                                       |

The unrelated pairs are hard, being from the same field. `python -m benchmarks.models.encoders --calibration` shows
which share of other questions passes the floor and the tiers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter

from rag_engine.config import DATA
from rag_engine.protocols import Embedder

Languages = Literal["any", "same", "different"]

PAIRS_FILE = DATA / "calibration.jsonl"
# The linear map of the packaged encoder's questions, and its scale with it. Written together by training/query_map.py.
QUERY_MAP_FILE = DATA / "query_map.npy"
SCALES_FILE = DATA / "scales.json"

_SIMILARITIES = (0.0, 0.35, 0.50, 0.70, 1.0)
# Least distance between anchors, so that the scale can be inverted for an encoder that cannot tell the pairs apart.
_STEP = 0.005

Anchors = Annotated[tuple[float, ...], Field(min_length=len(_SIMILARITIES), max_length=len(_SIMILARITIES))]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a passage that answers it, not always in the same language."""

    topic: str
    question_language: str
    passage_language: str
    question: str
    passage: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The scale of one encoder: five rising cosines for each relation of two languages.

    The relations are: any two languages, the same language, and different languages.
    """

    encoder: str
    any: Anchors
    same: Anchors
    different: Anchors

    def similarity(self, cosine: float, languages: Languages = "any") -> float:
        """Return the cosine on the scale from 0 to 1; never falls as the cosine rises.

        `languages` says whether question and passage are known to be in the same language or in different ones.
        """
        return float(np.interp(cosine, getattr(self, languages), _SIMILARITIES))

    def of(self, asked: str, written: str) -> tuple[float, ...]:
        """Return the five cosines for a question and a passage in these languages.

        Languages are ISO 639-1 codes; "" means unknown.
        """
        anchors: tuple[float, ...] = getattr(self, languages_of(asked, written))
        return anchors

    def cosine(self, similarity: float, languages: Languages = "any") -> float:
        """Return the cosine of a similarity: the inverse of `similarity`."""
        return float(np.interp(similarity, _SIMILARITIES, getattr(self, languages)))


def languages_of(asked: str, written: str) -> Languages:
    """Return whether a question and a passage are in the same language.

    If one language is unknown (""), return "any".

    >>> languages_of("en", "fr")
    'different'
    >>> languages_of("en", "")
    'any'
    """
    return "any" if not asked or not written else "same" if asked == written else "different"


def read_pairs(file: Path = PAIRS_FILE) -> tuple[Pair, ...]:
    """Return the related pairs of a JSON lines file."""
    return tuple(Pair(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines())


def shipped_scale(encoder: str) -> Calibration | None:
    """Return the scale that comes with Sextant for the encoder of this name, None if it is to be measured."""
    return next((scale for scale in _shipped_scales() if scale.encoder == encoder), None)


@cache
def _shipped_scales() -> tuple[Calibration, ...]:
    return TypeAdapter(tuple[Calibration, ...]).validate_json(SCALES_FILE.read_bytes())


def calibrate(embedder: Embedder, pairs: Sequence[Pair]) -> Calibration:
    """Return the scale of an encoder; unrelated is every question with every other pair's passage."""
    queries = embedder.encode_queries([pair.question for pair in pairs])
    passages = embedder.encode_passages([pair.passage for pair in pairs])
    cosines = (queries @ passages.T).astype(np.float64)
    asked = np.array([pair.question_language for pair in pairs])
    written = np.array([pair.passage_language for pair in pairs])
    same = asked[:, None] == written[None, :]
    return Calibration(
        encoder=embedder.name,
        any=_anchors(cosines, np.ones_like(same)),
        same=_anchors(cosines, same),
        different=_anchors(cosines, ~same),
    )


def _anchors(cosines: NDArray[np.float64], group: NDArray[np.bool_]) -> tuple[float, ...]:
    related = np.eye(len(cosines), dtype=bool)
    far = np.percentile(cosines[group & ~related], (1, 50, 95))
    near = np.percentile(cosines[group & related], (25, 99))
    anchors = np.concatenate([far, near])
    rising = np.arange(len(anchors)) * _STEP
    return tuple(round(float(x), 6) for x in np.maximum.accumulate(anchors - rising) + rising)
