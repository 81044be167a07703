"""Quotations that answer: the one place that says which do."""

from __future__ import annotations

from rag_engine.conversations.reply import Reply


def answering_quotations(reply: Reply) -> tuple[int, ...]:
    """Return the numbers from 0 of the citations of a reply that answer; none of a refusal.

    Of a language model's text these are the quotations from strong passages.
    """
    if reply.status != "answered":
        return ()
    if reply.quoted:
        return tuple(n for n, quotation in enumerate(reply.quoted) if quotation.fit == "answers")
    strong = {source.n for source in reply.sources if source.tier == "strong"}
    return tuple(n for n, citation in enumerate(reply.citations) if reply.ground == "enough" and citation.n in strong)
