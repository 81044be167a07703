#!/usr/bin/env bash
# openpyxl 3.1.5 with `read_only=True, rich_text=True` gives the runs of a shared string, and joins those of a string that
# stands in its cell (`inlineStr`), where openpyxl itself writes rich text. What is struck there reads as if it stood.
#
# Matters: workbooks of any length are read row by row; a struck figure of a table of fees would be quoted as the fee.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openpyxl==3.1.5
"$folder/venv/bin/python" - "$folder/fees.xlsx" <<'PYTHON'
import sys

import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

book = openpyxl.Workbook()
book.active["A1"] = CellRichText(TextBlock(InlineFont(strike=True), "300"), " 450")
book.save(sys.argv[1])
read = {}
for row_by_row in (False, True):
    opened = openpyxl.load_workbook(sys.argv[1], read_only=row_by_row, rich_text=True)
    read[row_by_row] = type(next(opened.active.iter_rows())[0].value).__name__
print(f"openpyxl {openpyxl.__version__}: the whole sheet gives {read[False]}, row by row {read[True]}")
sys.exit(read != {False: "CellRichText", True: "str"})
PYTHON
