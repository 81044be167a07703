"""Baseline of cosines in each language, against which a passage is judged.

An encoder puts passages in the question's language nearer than their translations, so that in a mixed collection a
question sees only its own language. What tells is how far a passage stands out among those of its language: its
cosine less their mean, in their standard deviations. In four languages' copies of one text English questions find
every version at nDCG@10 .92 so, at .82 on one scale for all (benchmarks/results/steps.md, "one-scale").

Passages differ by language and by subject, and where a language has one document the two cannot be told apart: its
passages about the subject would be held against each other, and those of a document about nothing of the kind would
stand out. So a language speaks for itself as far as it has documents, and for the rest by what unrelated pairs in
such languages show, moved to where this question finds the collection as a whole (partial pooling; Gelman and Hill
2007, chapter 12).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine.calibration import Calibration
from rag_engine.protocols import Vectors
from rag_engine.storage.snapshot import LanguageSamples

# How many passages the calibration's unrelated pairs count for, which decide where a language has few of its own.
_PRIOR = 10
# How many documents a language needs to speak as much for itself as the collection speaks for it.
_DOCUMENTS = 100
# A deviation from the median to the 95th percentile of a normal distribution.
_TO_95TH = 1.645


@dataclass(frozen=True, slots=True)
class Baseline:
    """Mean and standard deviation of the cosines between a question and any passage of a language."""

    mean: float
    deviation: float


def language_baselines(
    query: Vectors, language: str, samples: LanguageSamples, calibration: Calibration
) -> dict[str, Baseline]:
    """Return the baseline of each language of the collection for a query vector (dimension,) in `language`.

    The fewer passages a language has, the more the scale's unrelated pairs count; the fewer documents, the more what
    the question finds in all languages together.
    """
    own, expected = {}, {}
    for written, vectors in samples.vectors.items():
        scale = calibration.of(language, written)
        expected[written] = Baseline(scale[1], (scale[2] - scale[1]) / _TO_95TH)
        own[written] = _found(vectors @ query, expected[written])
    trust = {written: n / (n + _DOCUMENTS) for written, n in samples.documents.items()}
    whole = sum(trust.values())
    shift = sum(trust[one] * (own[one].mean - expected[one].mean) for one in own) / max(whole, 1e-9)
    stretch = sum(trust[one] * own[one].deviation / expected[one].deviation for one in own) / max(whole, 1e-9)
    baselines = {}
    for written, alone in own.items():
        pooled = Baseline(expected[written].mean + shift, expected[written].deviation * stretch)
        share = trust[written]
        variance = share * alone.deviation**2 + (1 - share) * pooled.deviation**2
        baselines[written] = Baseline(share * alone.mean + (1 - share) * pooled.mean, float(np.sqrt(variance)))
    return baselines


def _found(cosines: Vectors, expected: Baseline) -> Baseline:
    """Mean and deviation of the cosines, with so many more as expected as keep a few from deciding."""
    exact: NDArray[np.float64] = cosines.astype(np.float64)
    n = len(exact)
    mean = (exact.sum() + _PRIOR * expected.mean) / (n + _PRIOR)
    squares = ((exact - exact.mean()) ** 2).sum() if n else 0.0
    variance = (squares + _PRIOR * expected.deviation**2) / (n + _PRIOR)
    return Baseline(float(mean), float(np.sqrt(variance)))
