"""An answer that consists of quotations: its text, and the place of each quotation."""

from __future__ import annotations

from rag_engine.answering.citations import PageOf, citation_at
from rag_engine.answering.quotations.extractive import ExtractiveAnswerer, Quotation
from rag_engine.errors import BackendError
from rag_engine.prompts import one_line, quotations_heading
from rag_engine.text.languages import name_in
from rag_engine.text.sentences import stripped
from rag_engine.types import Citation, Evidence


def quote(
    evidence: Evidence, answerer: ExtractiveAnswerer, page_of: PageOf
) -> tuple[str, tuple[Citation, ...], tuple[str, ...]]:
    """Return the answer's text, a line for each quotation, their citations in that order, and warnings.

    A quotation in another language than the question's names it. BackendError where the sources hold nothing to quote.
    """
    language = evidence.plan.language
    chosen = answerer.choose(evidence.plan.question, evidence.sources, language)
    if not chosen.quotations:
        raise BackendError("The sources hold no sentence to quote.", help="Open them, or use a language model.")
    lines = [
        quotations_heading(language, sure=evidence.ground == "enough"),
        "",
        *(_line(one, language) for one in chosen.quotations),
    ]
    citations = tuple(citation_at(one.source, one.start, one.end, page_of) for one in chosen.quotations)
    # A search that came before has given the same warnings.
    return "\n".join(lines), citations, tuple(one for one in chosen.warnings if one not in evidence.warnings)


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
