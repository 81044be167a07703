"""Evidence and answers as JSON, in the shapes that data/contract.schema.json fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rag_engine.answer_sentences import absent_sections
from rag_engine.answering.chances import refusal_rates, share_right
from rag_engine.answering.reference_list import CitedDocument, limits_of, references_of
from rag_engine.answering.support import fitted_support
from rag_engine.text.neutralise import one_line
from rag_engine.types.answer import Answer, Attribute, Citation, SentenceSupport, StructuredAnswer
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.types.passage import Hit, Source

Json = dict[str, Any]


def search_json(evidence: Evidence) -> Json:
    """Return the reply of a search."""
    return {
        "plan": plan_json(evidence.plan),
        "hits": [hit_json(hit) for hit in evidence.hits],
        "warnings": [*filter(None, [absent_sections(evidence.absent, evidence.plan.language)]), *evidence.warnings],
        "seconds": _rounded(evidence.seconds),
    }


def answer_json(answer: Answer) -> Json:
    """Return the reply of a question."""
    # Nobody has measured the labels of a second model.
    judged = answer.judge is not None and not answer.judge.failed
    return {
        "status": answer.status,
        "ground": answer.evidence.ground,
        "refusal_rates": _rates_json(answer),
        "text": _in_lines(answer.text, answer),
        "citations": [citation_json(citation) for citation in answer.citations],
        "references": [reference_json(reference) for reference in references_of(answer.citations)],
        "evidence": _sources_json(answer.evidence),
        "support": [support_json(one, answer.text) for one in answer.support],
        "support_accuracy": None if not answer.support or judged else fitted_support().balanced,
        "judge": asdict(answer.judge) if answer.judge else None,
        "withheld": answer.withheld,
        "quotations": _in_lines(answer.quotations, answer),
        "quoted": [asdict(quotation) for quotation in answer.quoted],
        "plan": plan_json(answer.evidence.plan),
        "steps": [asdict(step) for step in answer.evidence.steps],
        "gaps": [asdict(gap) for gap in answer.evidence.gaps],
        "warnings": list(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))),
        "seconds": _rounded({**answer.evidence.seconds, **answer.seconds}),
    }


def structured_json(answer: StructuredAnswer) -> Json:
    """Return the reply of a question with a schema.

    Its answer is an object of that shape, and its citations have quote and page.
    """
    records = [_values(one.attributes) | {"citation": citation_json(one.citation)} for one in answer.records]
    return {
        "status": answer.status,
        "answer": _values(answer.entities) | {answer.list_name: records},
        "references": [
            reference_json(reference) for reference in references_of(record.citation for record in answer.records)
        ],
        "generator": answer.generator,
        "evidence": _sources_json(answer.evidence),
        "plan": plan_json(answer.evidence.plan),
        "warnings": list(answer.warnings),
        "seconds": _rounded({**answer.evidence.seconds, **answer.seconds}),
    }


def error_json(message: str) -> Json:
    """Return the reply of a question that could not be asked."""
    return {
        "status": "error",
        "ground": None,
        "refusal_rates": None,
        "text": message,
        "citations": [],
        "references": [],
        "evidence": [],
        "support": [],
        "support_accuracy": None,
        "judge": None,
        "withheld": "",
        "quotations": "",
        "quoted": [],
        "plan": None,
        "steps": [],
        "gaps": [],
        "warnings": [],
        "seconds": {},
    }


def support_json(support: SentenceSupport, text: str) -> Json:
    """Return how far a sentence of the answer's text is borne out, with its words and offsets."""
    return {
        "start": support.start,
        "end": support.end,
        "sentence": text[support.start : support.end],
        "label": support.label,
        "reasons": list(support.reasons),
    }


def citation_json(citation: Citation) -> Json:
    """Return a citation with its quote and the limits on reuse of the document."""
    names = (
        "n",
        "child_id",
        "document_id",
        "file",
        "title",
        "page",
        "page_label",
        "quote",
        "authority",
        "year",
        "licence",
        "pinpoint",
    )
    values = {name: getattr(citation, name) for name in names}
    return {**values, "undated": citation.year is None, "limits": list(limits_of(citation.licence))}


def reference_json(reference: CitedDocument) -> Json:
    """Return a document that is cited, with the numbers of its sources and the pages of its quotes."""
    names = ("document_id", "file", "authority", "title", "year", "licence")
    return {
        "sources": list(reference.numbers),
        **{name: getattr(reference, name) for name in names},
        "undated": reference.year is None,
        "pages": list(reference.pages),
        "page_labels": list(reference.page_labels),
        "limits": list(limits_of(reference.licence)),
        "text": reference.text,
    }


def _in_lines(text: str, answer: Answer) -> str:
    """Return the text of an answer with each quotation in a line that begins with "- ".

    Rows of tables are as they are read: "name: value; name: value".
    """
    # A model's own text has citations without quotations.
    for quotation, citation in zip(answer.quoted, answer.citations, strict=False):
        table = quotation.text.startswith("|")
        said = f"“{one_line(citation.quote, limit=None).strip()}” [Source {quotation.n}]" if table else quotation.text
        text = text.replace(quotation.text, f"- {' '.join(said.split())}", 1)
    return text


def _rates_json(answer: Answer) -> Json | None:
    """Return the shares of refused questions in our tests, with and without an answer."""
    rates = refusal_rates(answer.status, answer.seconds, with_reader=answer.evidence.read > 0)
    if rates is None:
        return None
    return {
        "mistaken": round(rates.mistaken / rates.answerable, 3),
        "caught": round(rates.caught / rates.unanswerable, 3),
    }


def _sources_json(evidence: Evidence) -> list[Json]:
    return [source_json(source, evidence.plan.language) for source in evidence.sources]


def source_json(source: Source, language: str) -> Json:
    """Return a source with its hits and references; `language` is the question's.

    `tier_share` is the share of the passages of its tier that held the answer in our tests.
    """
    return {
        "n": source.n,
        **_named(source.document),
        "tier": source.hits[0].tier,
        "tier_share": share_right(source.hits[0], language),
        "page": source.page,
        "page_label": source.document.page_label(source.page),
        "act": source.act,
        "section": source.section,
        "headings": list(source.headings),
        "text": source.text,
        "hits": [hit_json(hit) for hit in source.hits],
        "linked": [
            {
                "label": one.label,
                **_named(one.document),
                "page": one.page,
                "page_label": one.document.page_label(one.page),
                "text": one.text,
            }
            for one in source.linked
        ],
    }


def hit_json(hit: Hit) -> Json:
    """Return one hit with every score and rank."""
    return {
        "child_id": hit.child_id,
        **_named(hit.document),
        "page": hit.page,
        "page_label": hit.document.page_label(hit.page),
        "cosine": round(hit.cosine, 4),
        "dense_rank": hit.dense_rank,
        "bm25": None if hit.bm25 is None else round(hit.bm25, 4),
        "sparse_rank": hit.sparse_rank,
        "fused": round(hit.fused, 6),
        "reranked": None if hit.reranked is None else round(hit.reranked, 4),
        "provenance": round(hit.provenance, 4),
        "act": hit.act,
        "section": hit.section,
        "clause": hit.clause,
        "headings": list(hit.headings),
        "indexed_under": list(hit.indexed_under),
        "text": hit.text,
    }


def plan_json(plan: QueryPlan) -> Json:
    """Return the searched queries and who planned them."""
    return {
        "question": plan.question,
        "language": plan.language,
        "queries": list(plan.queries),
        "keywords": list(plan.keywords),
        "output_instructions": plan.output_instructions,
        "countries": list(plan.scope.countries),
        "regions": list(plan.scope.regions),
        "planner": plan.planner,
    }


def document_json(record: DocumentRecord) -> Json:
    """Return a document with its metadata."""
    values = asdict(record)
    del values["key"]
    return {**values, "undated": not record.metadata.since}


def _values(attributes: Sequence[Attribute]) -> Json:
    return {
        attribute.name: list(attribute.value) if isinstance(attribute.value, tuple) else attribute.value
        for attribute in attributes
    }


def _named(document: DocumentRecord) -> Json:
    names = {"document_id": document.document_id, "file": document.file, "title": document.metadata.title}
    return {**names, "undated": not document.metadata.since}


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {step: round(value, 4) for step, value in seconds.items()}
