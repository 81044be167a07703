"""Results on the public sets as tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.retrieval.measure_sets import STATUTES, SetResult
from benchmarks.retrieval.statutes import score_statutes
from rag_engine.evaluation.metric import METRICS
from rag_engine.evaluation.significance import Difference, Interval

Table = tuple[list[str], list[list[str]]]

DEFAULT, PAPER = "default", "paper"
NDCG = "ndcg@10"


def bars_table(results: Sequence[SetResult]) -> Table:
    """Return columns and rows of the default's figures on each set, the paper's recipe and the goals.

    A set that broke off has a row that says so, and no figure.
    """
    columns = [
        "set", "language", "documents", "questions", "nDCG@10", "paper", "difference", "to reach", "reached",
        "stretch", "reached", "recall@10", "recall@100", "MRR@10", "MAP", "ms p50", "ms p95", "encoding a question ms",
        "index s", "of it encoding s",
    ]  # fmt: skip
    return columns, [_bars_row(one, len(columns)) for one in results]


def _bars_row(one: SetResult, width: int) -> list[str]:
    if not one.measured:
        return [one.set.name, *one.said[:1], *[""] * (width - 2)]
    default, paper = one.measured[DEFAULT], one.measured[PAPER]
    value = default.interval(NDCG).value
    bars = [cell for bar in (one.set.reach, one.set.stretch) for cell in _against(value, bar)]
    return [
        one.set.name,
        one.language,
        f"{one.documents:,}",
        f"{one.questions:,}",
        _interval(default.interval(NDCG)),
        _interval(paper.interval(NDCG)),
        _difference(default.versus(paper, NDCG)),
        *bars,
        *(_interval(default.interval(metric)) for metric in METRICS[1:]),
        *(f"{np.percentile(default.milliseconds, percentile):.1f}" for percentile in (50, 95)),
        f"{one.query_encode_ms:.1f}",
        f"{one.index_seconds:.1f}",
        f"{one.encode_seconds:.1f}",
    ]


def figures_table(results: Sequence[SetResult]) -> Table:
    """Columns and rows of every figure: one row for each set, configuration and metric, for spreadsheets.

    The difference is that from the paper's recipe, empty for the recipe itself.
    """
    columns = ["set", "configuration", "questions", "metric", "value", "low", "high", "difference", "from", "to", "p"]
    rows: list[list[str]] = []
    for one in results:
        if not one.measured:
            rows.append([one.set.name, *one.said[:1], *[""] * (len(columns) - 2)])
        for name, measured in one.measured.items():
            for metric in METRICS:
                found = measured.interval(metric)
                numbers = [found.value, found.low, found.high]
                if name != PAPER and PAPER in one.measured:
                    against = measured.versus(one.measured[PAPER], metric)
                    numbers += [against.value, against.low, against.high, against.p]
                cells = [f"{number:.6g}" for number in numbers]
                rows.append([one.set.name, name, str(one.questions), metric, *cells, *[""] * (7 - len(cells))])
    return columns, rows


def steps_table(results: Sequence[SetResult]) -> Table:
    """Return columns and rows of the default's nDCG@10 and of each other configuration's difference.

    Bold where 0 lies outside the interval of the paired differences.
    """
    names = list(dict.fromkeys(name for one in results for name in one.measured if name != DEFAULT))
    rows: list[list[str]] = []
    for one in results:
        if not one.measured:
            rows.append([one.set.name, *one.said[:1], *[""] * len(names)])
            continue
        default = one.measured[DEFAULT]
        differences = [one.measured[name].versus(default, NDCG) for name in names]
        rows.append([one.set.name, _interval(default.interval(NDCG)), *map(_short, differences)])
    return ["set", DEFAULT, *names], rows


def statutes_table(results: Sequence[SetResult]) -> Table:
    """Columns and rows of how often the first citation is right, and how often the whole set is."""
    columns = ["set", "configuration", "questions", "primary citation right", "complete set right"]
    rows: list[list[str]] = []
    for one in results:
        if one.set.corpora[0] not in STATUTES:
            continue
        if not one.measured:
            rows.append([one.set.name, *one.said[:1], "", "", ""])
        for name in (DEFAULT, PAPER):
            if name in one.runs:
                score = score_statutes(one.runs[name], one.qrels)
                rows.append(
                    [one.set.name, name, str(score.questions), _interval(score.primary), _interval(score.complete)]
                )
    return columns, rows


def warnings_of(results: Sequence[SetResult]) -> list[str]:
    """Return the remarks on the sets, each once; parts of one run's questions share their remarks."""
    named: dict[tuple[tuple[str, ...], str, str], str] = {}
    for one in results:
        for said in one.said:
            named.setdefault((one.set.corpora, one.set.asked_by, said), one.set.name)
    return [f"{name}: {said}" for (_, _, said), name in named.items()]


def _against(value: float, bar: float) -> list[str]:
    return [f"{bar:g}", "yes" if value >= bar else "no"] if bar else ["", ""]


def _interval(found: Interval) -> str:
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _difference(found: Difference) -> str:
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p {found.p:.3f}"


def _short(found: Difference) -> str:
    certain = found.low > 0 or found.high < 0
    return f"**{found.value:+.3f}**" if certain else f"{found.value:+.3f}"
