#!/usr/bin/env bash
# striprtf 0.0.35 drops footnotes and their marks from RTF: a sentence reads as if it had no note, and the note, which may
# hold an exception, is nowhere.
#
# Matters: RTF is what statute databases export; exceptions stand in notes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check striprtf==0.0.35
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from striprtf.striprtf import rtf_to_text

note = r"{\super\chftn}{\footnote\pard{\super\chftn} Except in May.}"
read = rtf_to_text(rf"{{\rtf1\ansi Dogs are kept on a lead{note}.\par}}").strip()
print(f"striprtf {version('striprtf')}: {read!r}")
sys.exit(read != "Dogs are kept on a lead.")
PYTHON
