"""Lists of sources, made where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from openpyxl import Workbook

from ingestion.source_lists.merge import SourceListReport


def source_workbook(path: Path, *rows: Sequence[object], **sheets: list[Sequence[object]]) -> Path:
    workbook = Workbook()
    first = workbook.worksheets[0]
    first.title = "Seeds"
    for row in rows:
        first.append(list(row))
    for name, more in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in more:
            sheet.append(list(row))
    workbook.save(path)
    return path


def source_list_text(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def urls_of(report: SourceListReport) -> list[str]:
    return [source.url for source in report.new]
