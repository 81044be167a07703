"""Write the table of settings on docs/settings.md from data/settings.toml.

`python docs/list_settings.py` writes the table; with --check it says whether the one that is there is current.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rag_engine.settings import settings_table  # noqa: E402 - found by the line before

PAGE = ROOT / "docs" / "settings.md"
BEGIN, END = "<!-- settings: docs/list_settings.py -->", "<!-- end of settings -->"
EFFECTS = {"question": "next question", "run": "next run", "index": "new index", "restart": "restart"}


def table() -> str:
    """Return the table in Markdown."""
    rows = ["| variable | meaning | default | takes effect |", "| --- | --- | --- | --- |"]
    for one in settings_table().values():
        alone = f" Environment only: {one.only}." if one.only else ""
        choices = f" One of {', '.join(f'`{choice}`' for choice in one.choices)}." if one.choices else ""
        default = f"`{one.text(one.default)}`" if one.default is not None else one.unset
        rows.append(f"| `{one.variable}` | {one.explanation}{choices}{alone} | {default} | {EFFECTS[one.effect]} |")
    return "\n".join(rows)


def written(page: str) -> str:
    """Return the page with the table that is current."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    present = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(0 if present == written(present) else f"{PAGE} has another table: run docs/list_settings.py")
    PAGE.write_text(written(present), encoding="utf-8")
