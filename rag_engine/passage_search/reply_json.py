"""JSON of a search for passages (data/contract.schema.json, "passages")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rag_engine.answering.reference_list import limits_of
from rag_engine.passage_search.find import FoundPassages
from rag_engine.passage_search.passages import MarkedPassage


def found_json(found: FoundPassages, passages: Iterable[MarkedPassage]) -> dict[str, Any]:
    """Return a search, how much it found, and those of its passages that are given."""
    query = found.query
    return {
        "words": query.words,
        "filter": {name: list(values) for name, values in query.wanted.items()},
        "sort": query.sort,
        "words_only": query.words_only,
        "documents": {"allowed": found.allowed, "held": found.held, "found": len(found.documents)},
        "total": len(found),
        "with_all_words": found.worded,
        "passages": [_passage_json(passage) for passage in passages],
        "warnings": list(found.warnings),
        "seconds": round(found.seconds, 3),
    }


def _passage_json(passage: MarkedPassage) -> dict[str, Any]:
    hit, document = passage.hit, passage.hit.document
    metadata = document.metadata
    return {
        "rank": passage.match.rank,
        "all_words": passage.match.worded,
        "child_id": hit.child_id,
        "document_id": document.document_id,
        "file": document.file,
        "title": metadata.title,
        "authority": metadata.authority,
        "year": metadata.year,
        "language": metadata.language,
        "licence": metadata.licence,
        "limits": list(limits_of(metadata.licence)),
        "page": hit.page,
        "section": hit.section,
        "text": hit.text,
        "marks": [list(span) for span in passage.marks],
        "sentence": list(passage.sentence),
    }
