"""CSV files whose cells no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from ingestion.spreadsheets.workbook_writer import neutral


def to_csv(headings: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> bytes:
    """Return a table as CSV with the byte order mark that Excel needs to read it as UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(headings)
    for row in rows:
        writer.writerow([neutral(value) if isinstance(value, str) else value for value in row])
    return text.getvalue().encode("utf-8-sig")
