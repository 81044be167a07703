#!/usr/bin/env bash
# PyMuPDF 1.28.2 flags a raised figure as superscript (span flag 1), but not where it begins its line, as the mark of a
# footnote does: there the flag is absent, and "1" before the note reads as its first figure.
#
# Matters: by its raised mark a note at the foot of a page is told from a numbered paragraph, and joined to its sentence.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pymupdf==1.28.2
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pymupdf

page = pymupdf.open().new_page()
page.insert_htmlbox((72, 72, 500, 200), "<p>The fee is 40 euros<sup>1</sup> a year.</p><p><sup>1</sup> Since 2020.</p>")
spans = [span for block in page.get_text("dict")["blocks"] for line in block["lines"] for span in line["spans"]]
flags = [bool(span["flags"] & 1) for span in spans if span["text"].strip() == "1"]
print(f"PyMuPDF {pymupdf.__version__}: superscript within a line {flags[0]}, at its beginning {flags[1]}")
sys.exit(flags != [True, False])
PYTHON
