"""Whether a quotation answers: the one place that says from when on."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.conversations.reply import ShownSource
from rag_engine.types.answer import Citation
from rag_engine.types.evidence import Ground


def quotation_answers(citation: Citation, sources: Sequence[ShownSource], ground: Ground) -> bool:
    """Return whether a quotation answers: it comes from a strong passage, and what was found is enough."""
    return ground == "enough" and any(source.n == citation.n and source.tier == "strong" for source in sources)
