"""Evidence and answers as JSON, in the shapes that data/contract.schema.json fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rag_engine.prompts import absent_sections
from rag_engine.types import Answer, DocumentRecord, Evidence, Hit, Linked, QueryPlan, Source

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
    names = ("n", "child_id", "document_id", "file", "title", "page", "quote")
    return {
        "status": answer.status,
        "text": answer.text,
        "citations": [{name: getattr(citation, name) for name in names} for citation in answer.citations],
        "evidence": [source_json(source) for source in answer.evidence.sources],
        "plan": plan_json(answer.evidence.plan),
        "warnings": list(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))),
        "seconds": _rounded({**answer.evidence.seconds, **answer.seconds}),
    }


def error_json(message: str) -> Json:
    """Return the reply of a question that could not be asked."""
    return {
        "status": "error",
        "text": message,
        "citations": [],
        "evidence": [],
        "plan": None,
        "warnings": [],
        "seconds": {},
    }


def source_json(source: Source) -> Json:
    """Return a passage that was read, with its hits and what it refers to."""
    return {
        "n": source.n,
        **_named(source.document),
        "page": source.page,
        "act": source.act,
        "section": source.section,
        "headings": list(source.headings),
        "text": source.text,
        "hits": [hit_json(hit) for hit in source.hits],
        "linked": [linked_json(linked) for linked in source.linked],
    }


def linked_json(linked: Linked) -> Json:
    """Return a passage that another one refers to."""
    return {
        "label": linked.label,
        **_named(linked.document),
        "page": linked.page,
        "text": linked.text,
    }


def hit_json(hit: Hit) -> Json:
    """One hit with every score and rank."""
    return {
        "child_id": hit.child_id,
        **_named(hit.document),
        "page": hit.page,
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
    """Return what was searched, and by whose plan."""
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
    return values


def _named(document: DocumentRecord) -> Json:
    return {"document_id": document.document_id, "file": document.file, "title": document.metadata.title}


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {step: round(value, 4) for step, value in seconds.items()}
