"""Measurements that are kept in a folder, read back: tables in Markdown, with their charts beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Between the name of a measurement and the end of a chart's file name stands the metric.
_CHART = ".vl.json"


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A table as it is written: its heading (empty for the first), its columns, and cells of text."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A measurement: `name` is its file's, `notes` the paragraphs and points that are no table, `charts` Vega-Lite."""

    name: str
    title: str
    tables: tuple[KeptTable, ...]
    notes: tuple[str, ...]
    charts: tuple[dict[str, Any], ...]
    path: Path


def kept_measurements(folders: Sequence[Path]) -> list[Kept]:
    """The measurements of the folders by title; a folder that is missing has none, an unreadable chart is left out."""
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.md"))]
    return sorted((_read(path) for path in paths), key=lambda one: one.title)


def _read(path: Path) -> Kept:
    lines = path.read_text(encoding="utf-8").splitlines()
    title = next((line[2:] for line in lines if line.startswith("# ")), path.stem)
    notes = tuple(line.removeprefix("- ") for line in lines if line and not line.startswith(("#", "|")))
    charts = tuple(_charts(path.parent, path.stem))
    return Kept(path.stem, title.strip(), tuple(_tables(lines)), notes, charts, path)


def _tables(lines: Sequence[str]) -> Iterator[KeptTable]:
    heading, rows = "", list[tuple[str, ...]]()
    for line in (*lines, ""):
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip().strip("|").split("|")))
            continue
        if len(rows) > 2:
            # The second row parts the head from the body.
            yield KeptTable(heading, rows[0], tuple(rows[2:]))
        rows = []
        if line.startswith("## "):
            heading = line[3:].strip()


def _charts(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(f"{name}.*{_CHART}")):
        try:
            chart = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError:
            continue
        if isinstance(chart, dict):
            yield chart
