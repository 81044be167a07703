"""The map of questions: how it is fitted, and that it is the one that comes with Sextant."""

import numpy as np

from rag_engine.calibration import QUERY_MAP_FILE
from rag_engine.protocols import Vectors
from training.query_map import Pairs, fit_map, mapped, ranks

RANDOM = np.random.default_rng(3)


def unit(vectors: np.ndarray) -> Vectors:
    scaled: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def turned(count: int = 200, width: int = 8) -> Pairs:
    """Return questions and passages that one rotation takes to each other."""
    passages = unit(RANDOM.normal(size=(count, width)))
    rotation, _ = np.linalg.qr(RANDOM.normal(size=(width, width)))
    return Pairs(unit(passages @ rotation), passages, np.ones(count, dtype=bool))


def test_the_whole_of_an_unhindered_map_takes_questions_to_their_passages() -> None:
    pairs = turned()
    questions = mapped(pairs.questions, fit_map(pairs, ridge=1e-6, strength=1.0))
    assert np.allclose(questions, pairs.answers, atol=1e-3)
    assert ranks(questions, pairs, pairs.answers).max() == 1


def test_a_strong_ridge_leaves_questions_as_they_are() -> None:
    pairs = turned()
    assert np.allclose(fit_map(pairs, ridge=1e9), np.eye(8), atol=1e-3)


def test_a_passage_of_another_question_that_is_nearer_takes_the_first_rank() -> None:
    passages = unit(np.eye(3))
    pairs = Pairs(unit(np.array([[1.0, 0.5, 0.0]])), passages[1:2], np.array([True]))
    assert ranks(pairs.questions, pairs, passages).tolist() == [2]


def test_the_shipped_map_is_small_and_close_to_the_identity() -> None:
    shipped = np.load(QUERY_MAP_FILE)
    assert shipped.shape == (384, 384)
    assert shipped.dtype == np.float16
    assert np.diag(shipped).mean() > 0.5
