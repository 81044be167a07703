from __future__ import annotations

from ingestion.book_index.index_records import glossary_records
from rag_engine.types.document import Block, BlockKind, ExtractedText


def _extracted(*blocks: tuple[BlockKind, str]) -> ExtractedText:
    text, placed = "", []
    for kind, content in blocks:
        placed.append(Block(len(text), len(text) + len(content), 1, kind))
        text += f"{content}\n\n"
    return ExtractedText(text, 1, (), tuple(placed), "text/plain")


def test_the_number_before_a_term_is_left_out_and_one_within_it_stays() -> None:
    terms = ("1.1 Category 1 flood", "1.2 Levee", "1.3 Retention basin")
    entries = [block for term in terms for block in (("heading", term), ("text", f"What {term} means in this plan."))]
    found = glossary_records(_extracted(("heading", "1. Glossary"), *entries))  # type: ignore[arg-type]
    assert [record.term for record in found] == ["Category 1 flood", "Levee", "Retention basin"]
