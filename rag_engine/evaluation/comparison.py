"""Figures of several configurations as rows: each with its interval, and its difference from one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_engine.errors import InputError
from rag_engine.evaluation.ranking import Measured
from rag_engine.evaluation.significance import Difference, Interval, mean_interval, paired_difference


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration on a group of questions; `versus` is empty for the baseline itself."""

    name: str
    group: str
    questions: int
    figures: Mapping[str, Interval]
    versus: Mapping[str, Difference]


def compare(
    measured: Sequence[Measured], baseline: str, groups: Mapping[str, Sequence[bool]] | None = None
) -> tuple[Row, ...]:
    """A row for each group and configuration, with paired differences from the baseline on the same questions.

    `groups` says for each question whether it belongs; without groups all questions are one, "all".
    """
    base = next((one for one in measured if one.name == baseline), None)
    if base is None:
        raise InputError(
            f"The baseline {baseline!r} was not measured.", help=f"Use {', '.join(one.name for one in measured)}."
        )
    rows: list[Row] = []
    for group, members in (groups or {"all": [True] * len(base.milliseconds)}).items():
        chosen = np.array(members, bool)
        for one in measured:
            figures = {metric: mean_interval(values[chosen]) for metric, values in one.metrics.items()}
            versus = {
                metric: paired_difference(values[chosen], base.metrics[metric][chosen])
                for metric, values in one.metrics.items()
                if one is not base
            }
            rows.append(Row(one.name, group, int(chosen.sum()), figures, versus))
    return tuple(rows)
