"""Quotations that answer: the one place that says which do."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.types.answer import Citation
from rag_engine.types.evidence import Ground


def quotation_answers(citation: Citation, sources: Sequence[ShownSource], ground: Ground) -> bool:
    """Return whether a quotation answers: it comes from a strong passage, and what was found is enough."""
    return ground == "enough" and any(source.n == citation.n and source.tier == "strong" for source in sources)


def answering_quotations(reply: Reply) -> tuple[int, ...]:
    """Return the numbers from 0 of the quotations of a reply that answer; none of a refusal."""
    cited = enumerate(reply.citations if reply.status == "answered" else ())
    return tuple(n for n, citation in cited if quotation_answers(citation, reply.sources, reply.ground))
