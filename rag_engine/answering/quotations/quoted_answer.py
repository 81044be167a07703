"""An answer that consists of quotations: its text, and the place of each quotation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_engine.answering.citations import PageOf, citation_at
from rag_engine.answering.quotations.extractive import ExtractiveAnswerer, Quotation
from rag_engine.answering.source_order import in_order, renumbered
from rag_engine.errors import BackendError
from rag_engine.prompts import one_line, quotations_heading
from rag_engine.text.languages import name_in
from rag_engine.text.sentences import stripped
from rag_engine.types import Citation, Evidence


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """An answer's text, a line for each quotation, their citations in that order, and warnings.

    `evidence` has its sources ranked as they were, and numbered in the order in which they are quoted.
    """

    text: str
    citations: tuple[Citation, ...]
    warnings: tuple[str, ...]
    evidence: Evidence


def quote(evidence: Evidence, answerer: ExtractiveAnswerer, page_of: PageOf) -> QuotedAnswer:
    """Return the quotations as an answer; BackendError where the sources hold nothing to quote.

    A quotation in another language than the question's names it.
    """
    language = evidence.plan.language
    chosen = answerer.choose(evidence.plan.question, evidence.sources, language)
    if not chosen.quotations:
        raise BackendError("The sources hold no sentence to quote.", help="Open them, or use a language model.")
    numbers = in_order((one.source.n for one in chosen.quotations), evidence.sources)
    sources = renumbered(evidence.sources, numbers)
    by_number = {source.n: source for source in sources}
    quotations = [replace(one, source=by_number[numbers[one.source.n]]) for one in chosen.quotations]
    lines = [
        quotations_heading(language, sure=evidence.ground == "enough"),
        "",
        *(_line(one, language) for one in quotations),
    ]
    return QuotedAnswer(
        "\n".join(lines),
        tuple(citation_at(one.source, one.start, one.end, page_of) for one in quotations),
        # A search that came before has given the same warnings.
        tuple(one for one in chosen.warnings if one not in evidence.warnings),
        replace(evidence, sources=sources),
    )


def _line(quotation: Quotation, language: str) -> str:
    written = quotation.source.document.metadata.language
    foreign = f" ({name_in(written, language)})" if written and written != language else ""
    return f"- “{_with_answer(quotation)}”{foreign} [Source {quotation.source.n}]"


def _with_answer(quotation: Quotation) -> str:
    """Return the quotation with the words that answer in bold."""
    if quotation.answer is None:
        return quotation.text
    text = quotation.source.text
    start, end = stripped(text, *quotation.answer)
    marked = f"{text[quotation.start : start]}**{text[start:end]}**{text[end : quotation.end]}"
    return one_line(marked, limit=None).strip()
