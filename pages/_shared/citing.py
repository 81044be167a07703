"""How a passage is cited and what an index says of it, as markdown in which nothing of the document's acts."""

from __future__ import annotations

from pages._shared.plain import plain
from pages._shared.records import ShownSource
from rag_engine.chunking.indexed_text import cited


def cited_place(source: ShownSource) -> str:
    """Section with its clause and the act it belongs to, below them the headings above the passage from the
    outermost on: "**Article 9 (3)** · Paris Agreement"; empty where nothing is known.

    An act that is the document itself is named by its title already, and a heading is not said twice.
    """
    section = cited(source.section, source.clause)
    act = "" if _same(source.act, source.title) else source.act
    said = (source.title, source.act, source.section)
    headings = [plain(one) for one in source.headings if not any(_same(one, other) for other in said)]
    place = " · ".join(part for part in (f"**{plain(section)}**" if section else "", plain(act)) if part)
    return "  \n".join(line for line in (place, f":gray[{' › '.join(headings)}]" if headings else "") if line)


def index_entries(source: ShownSource) -> str:
    """What the indexes say of the passage, an entry a line: "Listed in the index under “loss and damage”"."""
    return "  \n".join(f":material/toc: {plain(one[:1].upper() + one[1:])}" for one in source.indexed_under)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())
