"""How sure a figure is: intervals for means and proportions, and whether one configuration beats another."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

# Of the normal distribution, for intervals of 95%.
_Z = 1.959963984540054
_RESAMPLES = 10_000
_SEED = 20_261_122
# Random numbers drawn at a time, whatever the number of questions.
_DRAWN = 4_000_000
# Up to so many differences all their signs are tried, beyond it a sample of them.
_EXACT_UP_TO = 13


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences with its 95% interval, and the p value of there being none."""

    value: float
    low: float
    high: float
    p: float


def mean_interval(values: Values) -> Interval:
    """Return the mean of a figure over questions with its 95% interval by the bootstrap (Efron 1979, percentiles).

    The seed is fixed: the same values have the same interval. One question has no interval of its own: it is as wide
    as the figure, 0 to 1.
    """
    if len(values) == 0:
        return Interval(0.0, 0.0, 1.0)
    mean = float(values.mean())
    if len(values) == 1:
        return Interval(mean, 0.0, 1.0)
    low, high = np.percentile(_resampled_means(values), [2.5, 97.5])
    return Interval(mean, min(float(low), mean), max(float(high), mean))


def paired_difference(values: Values, baseline: Values) -> Difference:
    """How much better the values are than the baseline's on the same questions, in the same order.

    The interval is the bootstrap's over the differences; p is that of the two-sided randomisation test, which turns
    the sign of each difference at random (Smucker et al. 2007).
    """
    if len(values) != len(baseline):
        raise ValueError(f"{len(values)} values cannot be paired with {len(baseline)}.")
    differences = values - baseline
    if not differences.any():
        return Difference(0.0, 0.0, 0.0, 1.0)
    mean = float(differences.mean())
    means = _resampled_means(differences)
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(mean, min(float(low), mean), max(float(high), mean), _randomisation_p(differences))


def wilson_interval(successes: int, trials: int) -> Interval:
    """Return the share of successes with its 95% interval (Wilson 1927); 0 to 1 where nothing was tried."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is not a share.")
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    share, square = successes / trials, _Z * _Z
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    margin = _Z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    return Interval(share, max(0.0, min(share, centre - margin)), min(1.0, max(share, centre + margin)))


def _resampled_means(values: Values) -> Values:
    """Means of samples as large as the values, drawn from them with repetition."""
    generator, size = np.random.default_rng(_SEED), len(values)
    portion = max(1, _DRAWN // size)
    means = [
        values[generator.integers(0, size, (min(portion, _RESAMPLES - first), size))].mean(axis=1)
        for first in range(0, _RESAMPLES, portion)
    ]
    return np.concatenate(means)


def _randomisation_p(differences: Values) -> float:
    # Differences of 0 stay 0 whatever their sign.
    differences = differences[differences != 0]
    observed, size = abs(float(differences.sum())) - 1e-12, len(differences)
    if size <= _EXACT_UP_TO:
        signs = 1 - 2 * ((np.arange(2**size)[:, None] >> np.arange(size)) & 1)
        return float((np.abs(signs @ differences) >= observed).mean())
    generator, portion = np.random.default_rng(_SEED), max(1, _DRAWN // size)
    as_large = 0
    for first in range(0, _RESAMPLES, portion):
        signs = 1 - 2 * generator.integers(0, 2, (min(portion, _RESAMPLES - first), size), dtype=np.int8)
        as_large += int((np.abs(signs @ differences) >= observed).sum())
    # The observed signs are one of the drawn, so p is never 0.
    return (as_large + 1) / (_RESAMPLES + 1)
