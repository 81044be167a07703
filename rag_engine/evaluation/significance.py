"""Significance: intervals of means, and whether one configuration beats another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_RESAMPLES = 10_000
_SEED = 20_261_122
# Random numbers drawn at a time, for any number of questions.
_DRAWN = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """The mean of paired differences with its 95% interval, and the p value of no difference."""

    p: float


def mean_interval(values: Values) -> Interval:
    """Return the mean of a figure over questions with its 95% interval by the bootstrap.

    Percentiles of resampled means (Efron 1979). The seed is fixed: the same values have the same interval. The interval
    of one question is 0 to 1, as wide as the figure.
    """
    if len(values) == 0:
        return Interval(0.0, 0.0, 1.0)
    mean = float(values.mean())
    if len(values) == 1:
        return Interval(mean, 0.0, 1.0)
    low, high = _bootstrap(values)
    return Interval(mean, min(low, mean), max(high, mean))


def share_interval(right: int, count: int) -> Interval:
    """Return a share with its 95% interval (Wilson 1927); of nothing it is 0 to 1.

    >>> share = share_interval(right=9, count=10)
    >>> round(share.low, 2), round(share.high, 2)
    (0.6, 0.98)
    """
    if not count:
        return Interval(0.0, 0.0, 1.0)
    from scipy import stats  # here: it takes most of a second, for which the worker would wait at each start

    found = stats.binomtest(right, count).proportion_ci(method="wilson")
    return Interval(right / count, float(found.low), float(found.high))


def sign_p(gained: int, lost: int) -> float:
    """Return the p value of `gained` questions turning one way and `lost` the other by chance.

    It is the exact test of McNemar 1947.
    """
    from scipy import stats

    return float(stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def paired_difference(values: Values, baseline: Values) -> Difference:
    """Return how much better the values are than the baseline's on the same questions, in order.

    The interval is the bootstrap's over the differences. p is that of the two-sided randomisation test, which turns the
    sign of each difference at random (Smucker et al. 2007).
    """
    from scipy import stats

    if len(values) != len(baseline):
        raise ValueError(f"{len(values)} values cannot be paired with {len(baseline)}.")
    differences = values - baseline
    if not differences.any():
        return Difference(0.0, 0.0, 0.0, 1.0)
    mean = float(differences.mean())
    low, high = (mean, mean) if len(differences) == 1 else _bootstrap(differences)
    # Differences of 0 stay 0 with any sign.
    signed = differences[differences != 0]
    p = 1.0
    if len(signed) > 1:
        p = stats.permutation_test((signed,), np.sum, permutation_type="samples", **_sampling(signed)).pvalue
    return Difference(mean, min(low, mean), max(high, mean), float(p))


def _bootstrap(values: Values) -> tuple[float, float]:
    """Return the 95% interval of the mean by the percentiles of resampled means."""
    from scipy import stats

    found = stats.bootstrap((values,), np.mean, method="percentile", **_sampling(values)).confidence_interval
    return float(found.low), float(found.high)


def _sampling(values: Values) -> dict[str, Any]:
    """Return the options of a resampling, with the same seed each time."""
    batch = max(1, _DRAWN // len(values))
    return {"n_resamples": _RESAMPLES, "batch": batch, "vectorized": True, "rng": np.random.default_rng(_SEED)}
