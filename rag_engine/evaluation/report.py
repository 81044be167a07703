"""Tables of figures for people, spreadsheets and pages: Markdown, CSV and charts as Vega-Lite."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rag_engine.config import DATA
from rag_engine.errors import InputError
from rag_engine.evaluation.metric import Measured
from rag_engine.evaluation.significance import Difference, Interval, mean_interval, paired_difference

_PACKAGES = ("chromadb", "tantivy", "openvino", "ir-measures")
# Groups of questions in charts and tables for reading; the intervals of smaller groups are too wide to tell.
_SHOWN = 2
# From here on a figure is a count, not a share.
_COUNT = 2.0


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A configuration on a group of questions; `versus` is empty for the baseline itself."""

    name: str
    group: str
    questions: int
    figures: Mapping[str, Interval]
    versus: Mapping[str, Difference]


def compare(
    measured: Sequence[Measured], baseline: str, groups: Mapping[str, Sequence[bool]] | None = None
) -> tuple[ReportRow, ...]:
    """Return a row for each group and configuration, with paired differences from the baseline.

    `groups` has for each question whether it belongs; without groups all questions are one, "all".
    """
    base = next((one for one in measured if one.name == baseline), None)
    if base is None:
        raise InputError(
            f"The baseline {baseline!r} was not measured.", help=f"Use {', '.join(one.name for one in measured)}."
        )
    rows: list[ReportRow] = []
    for group, members in (groups or {"all": [True] * len(base.milliseconds)}).items():
        chosen = np.array(members, bool)
        for one in measured:
            figures = {metric: mean_interval(values[chosen]) for metric, values in one.metrics.items()}
            versus = {
                metric: paired_difference(values[chosen], base.metrics[metric][chosen])
                for metric, values in one.metrics.items()
                if one is not base
            }
            rows.append(ReportRow(one.name, group, int(chosen.sum()), figures, versus))
    return tuple(rows)


def machine(*packages: str) -> str:
    """Return the date, machine and versions that a figure was measured with."""
    named = ", ".join(f"{name} {version(name)}" for name in (*_PACKAGES, *packages))
    listed = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    named_processors = (line.partition(":")[2].strip() for line in listed if line.startswith("model name"))
    processor = next(named_processors, platform.processor())
    day = time.strftime("%Y-%m-%d")
    return f"{day}; {os.cpu_count()} cores of {processor}; Python {platform.python_version()}; {named}."


def markdown_table(rows: Sequence[ReportRow], metrics: Sequence[str], differences: Sequence[str]) -> str:
    """Return the rows as Markdown: each figure with its interval, then some differences with their p."""
    baseline = next((row.name for row in rows if not row.versus), "")
    columns = (
        "configuration",
        "questions",
        "n",
        *metrics,
        *(f"{difference} against {baseline}" for difference in differences),
    )
    lines = [_line(columns), _line(["---"] * len(columns))]
    for row in rows:
        figures = [_figure(row, metric) for metric in metrics]
        against = [_difference(row, metric) for metric in differences]
        lines.append(_line((row.name, row.group, str(row.questions), *figures, *against)))
    return "\n".join(lines) + "\n"


def foremost(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """Return the rows of the first two groups of questions."""
    groups = list(dict.fromkeys(row.group for row in rows))[:_SHOWN]
    return [row for row in rows if row.group in groups]


def csv_table(rows: Sequence[ReportRow]) -> str:
    """Return the rows as CSV, one line for each configuration, group of questions and metric."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("configuration", "questions", "n", "metric", "value", "low", "high", "difference", "from", "to", "p")
    )
    for row in rows:
        for metric, figure in row.figures.items():
            found = row.versus.get(metric)
            against = (found.value, found.low, found.high, found.p) if found else ()
            numbers = [f"{number:.6g}" for number in (figure.value, figure.low, figure.high, *against)]
            writer.writerow((row.name, row.group, row.questions, metric, *numbers, *[""] * (7 - len(numbers))))
    return text.getvalue()


def chart(rows: Sequence[ReportRow], metric: str, title: str) -> dict[str, Any]:
    """Return a Vega-Lite chart of a metric: a point and interval for each row, a panel for each group."""
    drawn: dict[str, Any] = json.loads((DATA / "interval_chart.json").read_text(encoding="utf-8"))
    drawn["title"] = title
    drawn["spec"]["layer"][0]["encoding"]["x"]["title"] = metric
    drawn["data"]["values"] = [
        {"configuration": row.name, "questions": row.group}
        | {name: round(figure, 4) for name, figure in asdict(row.figures[metric]).items()}
        for row in rows
    ]
    return drawn


def write_report(
    folder: Path,
    name: str,
    title: str,
    rows: Sequence[ReportRow],
    metrics: Sequence[str],
    differences: Sequence[str],
    notes: Sequence[str],
    charts: Sequence[str] = (),
) -> list[Path]:
    """Write a report into a folder and return its files.

    NAME.md and NAME.METRIC.vl.json have the first two groups, NAME.csv has all of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shown = foremost(rows)
    table = markdown_table(shown, metrics, differences)
    notes_text = "".join(f"- {note}\n" for note in (machine(), *notes))
    texts = {f"{name}.md": f"# {title}\n\n{table}\n{notes_text}", f"{name}.csv": csv_table(rows)}
    for metric in charts:
        drawn = chart(shown, metric, f"{title}: {metric}")
        texts[f"{name}.{metric.replace('@', '_')}.vl.json"] = json.dumps(drawn, ensure_ascii=False, indent=1) + "\n"
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in texts]


def _figure(row: ReportRow, metric: str) -> str:
    figure = row.figures[metric]
    digits = 0 if figure.value >= _COUNT else 3
    return f"{figure.value:.{digits}f} [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"


def _difference(row: ReportRow, metric: str) -> str:
    found = row.versus.get(metric)
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p {found.p:.3f}" if found else ""


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
