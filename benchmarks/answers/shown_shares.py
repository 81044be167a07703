"""Shares that the interface states, from the tables last measured; written into data/chances.toml.

    python -m benchmarks.answers.shown_shares

The shares of right passages come from benchmarks/results/tiers.md, those of refusals from refusals.md, the held-out
half of each. `benchmarks.answers.fit_chances --write` and `benchmarks.answers.refusals` call it after they have written
their tables.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.report import RESULTS
from rag_engine.config import DATA

CHANCES = DATA / "chances.toml"
# Of fewer passages no share is shown.
FEWEST = 10
TIERS = ("strong", "moderate", "weak")
MODELS = ("reader", "likeness")
PLACES = {"same": "same language", "across": "across languages"}
_COUNTED = re.compile(r"(\d+) of (\d+)")
_MEASURED = re.compile(r"\n*\[\w+\.(?:measured\.\w+|refusals)\]\n(?:[^\[\n].*\n)*")


def with_shown_shares(chances: str, tiers: str, refusals: str) -> str:
    """Return the text of data/chances.toml with its shares replaced by those of the two tables."""
    lines = [_MEASURED.sub("\n", chances).replace("\n\n\n", "\n\n").rstrip()]
    for model in MODELS:
        for name, place in PLACES.items():
            counted = zip(TIERS, _row(tiers, f"{model}, heldout, {place}"), strict=True)
            shares = [f"{tier} = {right / of:.2f}" for tier, (right, of) in counted if of >= FEWEST]
            lines += ["", f"[{model}.measured.{name}]", *shares]
    # Refusals are measured with the reader, which helps to judge.
    (mistaken, answerable), *without = _row(refusals, "today, heldout")
    caught, unanswerable = (sum(one[place] for one in without) for place in (0, 1))
    lines += ["", "[reader.refusals]", f"mistaken = {mistaken}", f"answerable = {answerable}"]
    lines += [f"caught = {caught}", f"unanswerable = {unanswerable}", ""]
    return "\n".join(lines)


def write_shown_shares(file: Path = CHANCES) -> None:
    """Write the shares of the committed tables into the file of chances."""
    tiers, refusals = ((RESULTS / f"{name}.md").read_text(encoding="utf-8") for name in ("tiers", "refusals"))
    file.write_text(with_shown_shares(file.read_text(encoding="utf-8"), tiers, refusals), encoding="utf-8")


def _row(table: str, name: str) -> list[tuple[int, int]]:
    """Return the cells "3 of 10" of the row of a Markdown table."""
    [line] = [line for line in table.splitlines() if line.startswith(f"| {name} |")]
    return [(int(one[1]), int(one[2])) for one in _COUNTED.finditer(line)]


if __name__ == "__main__":
    write_shown_shares()
