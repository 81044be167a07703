import numpy as np
import pytest

from rag_engine.calibration import Calibration
from rag_engine.retrieval.scores import Baseline, language_baselines
from rag_engine.storage.snapshot import LanguageSamples

SCALE = Calibration(
    "fake",
    any=(0.0, 0.3, 0.5, 0.7, 0.9),
    same=(0.0, 0.4, 0.5645, 0.7, 0.9),
    different=(0.0, 0.2, 0.3645, 0.6, 0.9),
)
QUERY = np.array([1.0, 0.0], np.float32)


def towards(cosines: list[float]) -> np.ndarray:
    """Return unit vectors with these cosines to the query."""
    return np.array([(c, np.sqrt(1 - c * c)) for c in cosines], np.float32)


def test_the_baseline_of_a_language_of_many_passages_is_their_mean_and_deviation() -> None:
    cosines = np.random.default_rng(0).normal(0.8, 0.02, 1000).clip(-1, 1)
    baseline = language_baselines(QUERY, "en", LanguageSamples({"tr": towards(cosines.tolist())}, {"tr": 90}), SCALE)[
        "tr"
    ]
    assert baseline.mean == pytest.approx(cosines.mean(), abs=0.01)
    assert baseline.deviation == pytest.approx(cosines.std(), abs=0.01)


def test_languages_of_one_passage_are_told_apart_by_the_scale_of_the_encoder() -> None:
    samples = LanguageSamples({"en": towards([0.9]), "de": towards([0.9])}, {"en": 1, "de": 1})
    baseline = language_baselines(QUERY, "en", samples, SCALE)
    assert baseline["en"].mean - baseline["de"].mean == pytest.approx(0.2, abs=0.001)
    assert 0.4 < baseline["en"].mean < 0.5
    assert baseline["de"].deviation == pytest.approx(0.1 * np.sqrt(10 / 11), rel=1e-3)


def test_a_document_alone_in_its_language_is_not_measured_by_its_own_subject() -> None:
    """All of the Spanish document is about what is asked, nothing of the French one is."""
    noise = np.random.default_rng(2).normal(0, 0.02, 1000)
    samples = LanguageSamples(
        {
            "en": towards((0.75 + noise).tolist()),
            "es": towards((0.72 + noise[:100]).tolist()),
            "fr": towards((0.50 + noise[:100]).tolist()),
        },
        {"en": 200, "es": 1, "fr": 1},
    )
    baseline = language_baselines(QUERY, "en", samples, SCALE)
    spanish = (0.76 - baseline["es"].mean) / baseline["es"].deviation
    french = (0.60 - baseline["fr"].mean) / baseline["fr"].deviation
    assert spanish > french + 1


def test_a_translation_stands_out_as_far_as_the_original() -> None:
    """The encoder puts everything English .1 nearer to an English question."""
    noise = np.random.default_rng(1).normal(0, 0.02, 500)
    vectors = {"en": towards((0.75 + noise).tolist()), "de": towards((0.65 + noise).tolist())}
    samples = LanguageSamples(vectors, {"en": 50_000, "de": 50_000})
    baseline = language_baselines(QUERY, "en", samples, SCALE)

    def deviations(cosine: float, of: Baseline) -> float:
        return (cosine - of.mean) / of.deviation

    assert deviations(0.85, baseline["en"]) == pytest.approx(deviations(0.75, baseline["de"]), abs=0.15)
