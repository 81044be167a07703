"""How a passage is cited and what an index says of it, as markdown in which nothing of the document's acts."""

from __future__ import annotations

from pages._shared.plain import plain
from pages._shared.records import ShownSource


def cited_place(source: ShownSource) -> str:
    """Section with its clause and the act it belongs to, "**Article 9 (3)** · Paris Agreement"; empty without both.

    An act that is the document itself is named by its title already.
    """
    section = f"{source.section} {source.clause}".strip() if source.section else ""
    act = "" if _same(source.act, source.title) else source.act
    return " · ".join(part for part in (f"**{plain(section)}**" if section else "", plain(act)) if part)


def heading_path(source: ShownSource) -> str:
    """The headings above the passage from the outermost on, without those that title, act or section say."""
    said = (source.title, source.act, source.section)
    return " › ".join(plain(one) for one in source.headings if not any(_same(one, other) for other in said))


def index_entries(source: ShownSource) -> str:
    """What the indexes say of the passage, an entry a line: "Listed in the index under “loss and damage”"."""
    return "  \n".join(f":material/toc: {plain(one[:1].upper() + one[1:])}" for one in source.indexed_under)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())
