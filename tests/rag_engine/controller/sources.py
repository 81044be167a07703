"""Evidence made of texts, for tests that hypothesis runs many times."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from rag_engine.types import DocumentRecord, Evidence, Hit, Metadata, QueryPlan, Source


def evidence_of(question: str, texts: Sequence[str], *, language: str = "en") -> Evidence:
    """Return evidence with a source of each text; the same text is the same source."""
    sources = tuple(source_of(number, text) for number, text in enumerate(dict.fromkeys(texts), 1))
    plan = QueryPlan(question, language, (question,))
    return Evidence(plan, tuple(source.hits[0] for source in sources), sources)


def source_of(n: int, text: str, *, section: str = "", language: str = "en", countries: tuple[str, ...] = ()) -> Source:
    """Return a source whose document is known by its text."""
    key = zlib.crc32(text.encode())
    metadata = Metadata("A report", language, countries=countries, geographical_level="National" if countries else "")
    document = DocumentRecord(
        key=key, document_id=f"{key:012x}", source=f"/in/{key}.pdf", file=f"{key}.pdf", sha256=f"{key:064x}",
        media_type="application/pdf", pages=1, ocr_pages=0, parents=1, children=1, characters=len(text),
        added="2026-11-01", metadata=metadata,
    )  # fmt: skip
    hit = Hit(
        child_id=f"{key:012x}_p0_c0", document=document, start=0, end=len(text), text=text, page=1, last_page=1,
        cosine=0.8, similarity=0.8, tier="strong", dense_rank=1, bm25=None, sparse_rank=None, fused=0.5,
        section=section,
    )  # fmt: skip
    return Source(n, document, 0, len(text), text, 1, 1, (hit,), section=section)
