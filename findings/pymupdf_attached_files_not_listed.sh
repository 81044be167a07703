#!/usr/bin/env bash
# PyMuPDF 1.28.2 lists the files embedded in a PDF by `embfile_names()` only if their name tree has no branches (PDF 2.0,
# 7.9.6 allows them: `Kids`). Of a tree with branches the count is 0, and nothing says that there are files.
#
# Matters: annexes and data sheets are attached to reports; a reader has to be told that they were not read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pymupdf==1.28.2
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pymupdf

document = pymupdf.open()
document.new_page()
branch = "<< /Limits [({0}) ({0})] /Names [({0}) << /Type /Filespec /UF (annex_{0}.pdf) >>] >>"
tree = f"<< /Kids [{branch.format('a')} {branch.format('b')}] >>"
document.xref_set_key(document.pdf_catalog(), "Names", f"<< /EmbeddedFiles {tree} >>")
counted = document.embfile_count()
print(f"PyMuPDF {pymupdf.__version__}: 2 files in a name tree with branches, {counted} counted")
sys.exit(counted != 0)
PYTHON
