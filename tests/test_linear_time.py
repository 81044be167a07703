"""Every step on the text of a document takes time in proportion to the text, of any kind."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from ingestion.book_index.index_records import glossary_records
from ingestion.dataset.comparison.short_text import without_marks
from ingestion.deduplication.pairs import find_differences
from ingestion.extraction.assemble import one_line
from ingestion.extraction.cleaning import clean
from ingestion.extraction.date_patterns import numeric_order, written_dates
from ingestion.extraction.dates import find_dates
from ingestion.extraction.formats.text import markdown_blocks, text_blocks
from ingestion.extraction.layout.title import choose_title, printed_titles
from ingestion.file_reading import FileProperties
from ingestion.licence.names import name_of_text, names_in, stated_licence
from ingestion.licence.patterns import pieces_of, read_limits, read_statements, says_reserved, sentences_of
from ingestion.licence.reading import is_imprint
from ingestion.licence.table import tidy_text
from ingestion.metadata.authorities import canonical_authority, named_authorities
from ingestion.metadata.issuers import find_issuers, is_body, is_name_of_body
from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import guess_types
from ingestion.metadata.summary import summarise
from ingestion.metadata.taxonomy import term_table
from ingestion.metadata.term_matching import cut_words, find_terms
from ingestion.metadata.titles import find_titles
from ingestion.quality.score import find_sections, key_terms, readability
from ingestion.types.source import ListedSource
from rag_engine.answering.quotations.definitions import asked_term, defines
from rag_engine.answering.quotations.question_terms import forms_in
from rag_engine.answering.quotations.quotable import units_of
from rag_engine.book_index.matching import words_of
from rag_engine.chunking.chunk import fixed_chunks, newline_chunks, recursive_chunks, sentence_chunks
from rag_engine.chunking.headings import titles
from rag_engine.chunking.paragraph import paragraph_chunks
from rag_engine.chunking.section.chunks import find_outline, section_chunks
from rag_engine.chunking.section.references import find_references
from rag_engine.chunking.semantic import semantic_chunks
from rag_engine.config import ChunkSizes
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.protocols import Vectors
from rag_engine.text.analyzer import acronyms, analyse, located_words, shared_terms, surface
from rag_engine.text.claims import clauses, own_numbers, universals
from rag_engine.text.control_characters import without_controls
from rag_engine.text.folding import fold, fold_in_place
from rag_engine.text.neutralise import neutralise
from rag_engine.text.quantities import calendar_dates, quantities
from rag_engine.text.repetition import repetition_start
from rag_engine.text.sentences import sentence_spans
from rag_engine.text.url_masking import masked
from rag_engine.text.words.grouped_numbers import grouped_numbers
from rag_engine.text.words.key_words import find_key_words, wanted_words
from rag_engine.types.document import Block, ExtractedText, Line

# One word, numbers, brackets, quotation marks, blanks, lines, addresses, capitals, abbreviations, accents, endings.
PATTERNS = (
    "a", "lari", "Italya", "1", "1.2.3.", "(", "(a) ", "[1] ", "“", "\"'", " ", " \n", "\n", "a\n", "- ", ".", "...",
    "Art. ", "Article 1 ", "Article 1\n", "§ 1 ", "http://a", "www.", "a@", "A", "A.B.", "Abc ", "AB CD ", "e\u0301",
    "\u00ad", "licence ", "licensed under ", "all rights ", "not ", "The Ministry of ", "and ", "de la ", "IV.", "i) ",
    "2019-01-", "1 January ", "|", "; ", "a, ", "1,", "<", "{", "&", "*", "#", "# a\n", "\t", "/", "\\",
)  # fmt: skip
# Four times the text takes 4 times the time of a linear step, 8 of one at the power of 1.5, 16 of a quadratic one.
LENGTH, LEAST_SECONDS, MOST, ROUNDS = 10_000, 0.06, 2.6**2, 3

_GAZETTEER = load_gazetteer()
_SOURCE, _TODAY = ListedSource("A1", "https://example.org/act.pdf"), date(2026, 11, 26)
_WANTED = wanted_words('all ministries of "Article 1"', "en", ("en",))


def _lines(text: str) -> tuple[Line, ...]:
    return (Line(0, len(text), 1, None),)


def _blocks(text: str) -> tuple[Block, ...]:
    return (Block(0, len(text), 1, "heading"),)


def _extracted(text: str) -> ExtractedText:
    return ExtractedText(text, 1, _lines(text), _blocks(text), "text/plain", "")


def _encoded(texts: Sequence[str]) -> Vectors:
    return np.ones((len(texts), 2), np.float32)


def _all(found: Iterable[object]) -> None:
    for _ in found:
        pass


STEPS: dict[str, Callable[[str], object]] = {
    "acronyms": acronyms,
    "analyse": lambda text: analyse(text, "tr"),
    "asked_term": lambda text: asked_term(text, "fr"),
    "calendar_dates": lambda text: calendar_dates(text, "en"),
    "canonical_authority": canonical_authority,
    "choose_title": lambda text: choose_title("Act", text, _extracted(text).blocks, Path("act.pdf")),
    "clauses": lambda text: clauses(text, "en"),
    "own_numbers": lambda text: own_numbers(text, "en"),
    "clean": lambda text: clean(_extracted(text), "en"),
    "cut_words": cut_words,
    "defines": lambda text: defines(text, "tr", "arsa payı", []),
    "document_text": lambda text: document_text(_extracted(text), "en"),
    "find_dates": lambda text: find_dates(_extracted(text), _SOURCE, FileProperties(), "en", today=_TODAY),
    "find_differences": lambda text: find_differences(text, f"{text} and more"),
    "find_issuers": lambda text: find_issuers(document_text(_extracted(text), "en"), "An act"),
    "grouped_numbers": lambda text: _all(grouped_numbers(text, "en")),
    "find_key_words": lambda text: find_key_words(text, "en", _WANTED),
    "find_outline": lambda text: find_outline(text, "en"),
    "find_places": lambda text: find_places(text, _GAZETTEER),
    "find_references": lambda text: find_references(text, "en"),
    "find_sections": lambda text: find_sections(_extracted(text)),
    "find_terms": lambda text: find_terms(cut_words(text), term_table("de", "hazards")),
    "find_titles": lambda text: find_titles(_extracted(text), _SOURCE, FileProperties()),
    "fixed_chunks": lambda text: fixed_chunks(text, "en", config=ChunkSizes()),
    "fold": fold,
    "fold_in_place": fold_in_place,
    "forms_in": lambda text: forms_in(text, "en", _GAZETTEER),
    "glossary_records": lambda text: glossary_records(_extracted(text)),
    "guess_types": lambda text: guess_types("An act", document_text(_extracted(text), "en")),
    "is_body": is_body,
    "is_imprint": is_imprint,
    "is_name_of_body": is_name_of_body,
    "key_terms": lambda text: key_terms(text, "en"),
    "located_words": lambda text: _all(located_words(text)),
    "markdown_blocks": lambda text: _all(markdown_blocks(text)),
    "masked": masked,
    "name_of_text": name_of_text,
    "named_authorities": lambda text: named_authorities(text, cut_words(text)),
    "names_in": names_in,
    "neutralise": neutralise,
    "newline_chunks": lambda text: newline_chunks(text, "en", config=ChunkSizes()),
    "numeric_order": numeric_order,
    "one_line": one_line,
    "paragraph_chunks": lambda text: paragraph_chunks(
        text, "en", blocks=_blocks(text), lines=_lines(text), title="", config=ChunkSizes()
    ),
    "pieces_of": lambda text: _all(pieces_of(text)),
    "printed_titles": lambda text: printed_titles(text, _blocks(text)),
    "quantities": lambda text: quantities(text, "en"),
    "read_limits": lambda text: read_limits(text, "page"),
    "read_statements": lambda text: read_statements(text, "page"),
    "readability": lambda text: readability(text, "en"),
    "recursive_chunks": lambda text: recursive_chunks(text, "en", config=ChunkSizes()),
    "repetition_start": repetition_start,
    "says_reserved": says_reserved,
    "section_chunks": lambda text: section_chunks(text, "en", title="", blocks=_blocks(text), config=ChunkSizes()),
    "semantic_chunks": lambda text: semantic_chunks(text, "en", encode=_encoded, config=ChunkSizes()),
    "sentence_chunks": lambda text: sentence_chunks(text, "en", config=ChunkSizes()),
    "sentence_spans": lambda text: sentence_spans(text, "en"),
    "sentences_of": lambda text: _all(sentences_of(text)),
    "shared_terms": shared_terms,
    "stated_licence": stated_licence,
    "summarise": lambda text: summarise(_extracted(text), "en"),
    "surface": surface,
    "text_blocks": lambda text: _all(text_blocks(text)),
    "tidy_text": tidy_text,
    "titles": lambda text: titles(text, _blocks(text), _lines(text), ""),
    "units_of": lambda text: units_of(text, "en"),
    "universals": lambda text: universals(text, "en"),
    "without_controls": without_controls,
    "without_marks": without_marks,
    "words_of": lambda text: words_of(text, "en"),
    "written_dates": written_dates,
}


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Stop the garbage collector, whose time grows with everything else in memory."""
    gc.disable()
    yield
    gc.enable()


def _seconds(step: Callable[[str], object], text: str) -> float:
    """Return the seconds of processor of a step."""
    started = time.process_time()
    step(text)
    return time.process_time() - started


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("name", STEPS)
def test_four_times_the_text_takes_about_four_times_the_time(name: str) -> None:
    step, slow = STEPS[name], []
    step("Warm up.")
    for pattern in PATTERNS:
        text = pattern * (LENGTH // len(pattern))
        once = _seconds(step, text)
        # What would take no time for the longer text even by the square is not measured: it would measure the machine.
        if once <= LEAST_SECONDS / 16:
            continue
        longer = _seconds(step, text * 4)
        if longer <= LEAST_SECONDS:
            continue
        # The best of each side, by turns: another process may be in the way of one of them.
        for _ in range(ROUNDS):
            if longer <= MOST * once:
                break
            longer, once = min(longer, _seconds(step, text * 4)), min(once, _seconds(step, text))
        if longer > MOST * once:
            slow.append((pattern, once, longer))
    assert not slow
