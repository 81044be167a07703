"""Place of a passage in its document, as it is cited, and the index entries that lead to it."""

from __future__ import annotations

from pages._shared.markdown import escape
from rag_engine.chunking.indexed_text import cited, unnumbered
from rag_engine.conversations.reply import ShownSource


def cited_place(source: ShownSource) -> str:
    """Return the place of a passage: "**Article 9 (3)** · Paris Agreement", "" if none is known.

    Below section, clause and act come the headings above the passage, from the outermost on. An act that is the
    document itself is named by its title already, and a heading is not repeated.
    """
    section = cited(source.section, source.clause)
    act = "" if _same(source.act, source.title) else source.act
    named = (source.title, source.act, source.section)
    titles = unnumbered(source.section, source.headings) if source.section else source.headings
    headings = [escape(one) for one in titles if not any(_same(one, other) for other in named)]
    place = " · ".join(part for part in (f"**{escape(section)}**" if section else "", escape(act)) if part)
    return "  \n".join(line for line in (place, f":gray[{' › '.join(headings)}]" if headings else "") if line)


def index_entries(source: ShownSource) -> str:
    """Return the index entries of the passage, one a line: "Listed in the index under “loss and damage”"."""
    return "  \n".join(f":material/toc: {escape(one[:1].upper() + one[1:])}" for one in source.indexed_under)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())
