"""The scale that makes cosines of different encoders comparable."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.encoder.packaged_e5 import packaged_name
from rag_engine.calibration import Calibration, Languages, calibrate, read_pairs, shipped_scale
from rag_engine.errors import WorkspaceError
from rag_engine.protocols import Vectors
from rag_engine.storage.manifest import IndexManifest, manifest_of, read_manifest

PAIRS = read_pairs()
LANGUAGES = ("en", "it", "fr", "es", "de", "pt", "tr")
SCALE = Calibration(
    "model@1", (0.72, 0.77, 0.81, 0.83, 0.93), (0.75, 0.8, 0.84, 0.88, 0.94), (0.72, 0.77, 0.8, 0.81, 0.86)
)


@dataclass
class TopicEncoder:
    """Unit vectors that agree within a pair by `skill` and share `common` with everything else."""

    skill: float
    common: float
    name: str = "topic@1"
    dimension: int = 1 + 2 * len(PAIRS)
    prefixes: tuple[str, str] = ("", "")
    execution: str = "arithmetic"

    def _vectors(self, texts: Sequence[str], side: int) -> Vectors:
        known = {text: i for i, pair in enumerate(PAIRS) for text in (pair.question, pair.passage)}
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, 0] = self.common
            vectors[row, 1 + known[text]] = self.skill
            vectors[row, 1 + (known[text] * 7 + side) % len(PAIRS) + len(PAIRS)] = 0.3
        scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return scaled

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts, 0)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts, 1)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def test_the_pairs_cover_seven_languages_and_cross_between_them() -> None:
    assert Counter(pair.passage_language for pair in PAIRS) == dict.fromkeys(LANGUAGES, 8)
    assert all(300 <= len(pair.passage) <= 900 for pair in PAIRS)
    assert sum(pair.question_language != pair.passage_language for pair in PAIRS) >= 14
    assert len({pair.question for pair in PAIRS}) == len({pair.passage for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("common", [0.1, 1.5])
def test_a_related_pair_is_strong_and_an_unrelated_one_is_weak_whatever_the_encoder(common: float) -> None:
    encoder = TopicEncoder(skill=1.0, common=common)
    scale = calibrate(encoder, PAIRS)
    related = float(encoder.encode_queries([PAIRS[0].question])[0] @ encoder.encode_passages([PAIRS[0].passage])[0])
    unrelated = float(encoder.encode_queries([PAIRS[0].question])[0] @ encoder.encode_passages([PAIRS[9].passage])[0])
    assert scale.similarity(related) > 0.69
    assert scale.similarity(unrelated) < 0.5


def test_an_encoder_that_cannot_tell_pairs_apart_still_has_a_scale() -> None:
    scale = calibrate(TopicEncoder(skill=0.0, common=1.0), PAIRS)
    for anchors in (scale.any, scale.same, scale.different):
        assert all(low < high for low, high in pairwise(anchors))


@given(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from(["any", "same", "different"]))
def test_similarity_never_falls_as_the_cosine_rises(first: float, second: float, languages: Languages) -> None:
    low, high = sorted((first, second))
    assert 0 <= SCALE.similarity(low, languages) <= SCALE.similarity(high, languages) <= 1


@given(st.floats(0, 1), st.sampled_from(["any", "same", "different"]))
def test_cosine_is_the_inverse_of_similarity(similarity: float, languages: Languages) -> None:
    assert SCALE.similarity(SCALE.cosine(similarity, languages), languages) == pytest.approx(similarity, abs=1e-6)


def test_a_calibration_survives_being_written_and_read() -> None:
    manifest = IndexManifest("model@1", 384, ("query: ", ""), SCALE)
    assert read_manifest(manifest.to_json()) == manifest


def test_an_index_of_the_packaged_encoder_has_the_scale_that_is_shipped_whatever_it_was_made_with() -> None:
    kept = IndexManifest(packaged_name(), 384, ("query: ", "passage: "), SCALE).to_json()
    manifest = read_manifest(kept)
    assert manifest is not None
    assert manifest.calibration == shipped_scale(packaged_name()) != SCALE


def test_the_scale_that_is_shipped_is_that_of_the_packaged_encoder() -> None:
    encoder = load_encoder("multilingual-e5-small")
    shipped, measured = manifest_of(encoder).calibration, calibrate(encoder, PAIRS)
    for languages in ("any", "same", "different"):
        assert getattr(shipped, languages) == pytest.approx(getattr(measured, languages), abs=0.001)


@pytest.mark.parametrize("values", [{}, {"encoder": "model@1", "any": [0.1], "same": [0.1], "different": [0.1]}])
def test_something_else_is_not_read_as_a_calibration(values: dict[str, object]) -> None:
    kept = {"name": "model@1", "dimension": 384, "prefixes": ["query: ", ""], "calibration": values}
    with pytest.raises(WorkspaceError, match="not the manifest"):
        read_manifest(json.dumps(kept))
