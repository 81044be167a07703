"""XLSX by openpyxl: one page per sheet, hidden ones too."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from zipfile import BadZipFile

from ingestion.extraction.assemble import Draft, DraftBlock, paragraph, table
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import open_package
from ingestion.types import ExtractionLimits


def extract_xlsx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an XLSX (sheet names and rows, formulas by their last value), its title, its sheets."""
    from lxml.etree import XMLSyntaxError
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    blocks: list[DraftBlock] = []
    with open_package(path, limits), warnings.catch_warnings():
        # openpyxl warns of styles and extensions it drops; none of them holds text.
        warnings.simplefilter("ignore")
        try:
            workbook = load_workbook(path, read_only=True, data_only=True)
            for number, sheet in enumerate(workbook.worksheets, 1):
                # Some programs declare A1 as the range of a full sheet, and openpyxl would stop there.
                sheet.reset_dimensions()
                blocks.append(paragraph(sheet.title, number, "heading"))
                blocks.append(table((map(shown, row) for row in sheet.iter_rows(values_only=True)), number))
            title = workbook.properties.title or ""
            workbook.close()
        except (InvalidFileException, BadZipFile, XMLSyntaxError, KeyError, ValueError, TypeError) as error:
            raise damaged(path, error, "a damaged workbook", "Save it again and add that.") from error
    return Draft(blocks, title, len(workbook.worksheets))


def shown(value: object) -> str:
    """Return a cell as a reader sees it: nothing for empty, whole numbers without a decimal point, ISO dates."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)
