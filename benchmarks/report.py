"""Tables of measurements, printed and kept in benchmarks/results/."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def machine(*packages: str) -> str:
    """The machine and versions that a figure was measured with."""
    named = ", ".join(f"{name} {version(name)}" for name in ("chromadb", "tantivy", "openvino", *packages))
    listed = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    named_processors = (line.partition(":")[2].strip() for line in listed if line.startswith("model name"))
    processor = next(named_processors, platform.processor())
    day = time.strftime("%Y-%m-%d")
    return f"{day}; {os.cpu_count()} cores of {processor}; Python {platform.python_version()}; {named}."


def write_table(
    name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> None:
    """Nothing; prints a Markdown table and writes it to benchmarks/results/NAME.md."""
    lines = [f"# {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join([*lines, "", *(f"- {note}" for note in notes), ""])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
