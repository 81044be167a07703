"""Every step on the text of a document takes time in proportion to the text, whatever that is made of."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from ingestion.book_index.glossary import glossary_records
from ingestion.extraction.cleaning import clean
from ingestion.licence.patterns import read_limits, read_statements, says_reserved
from ingestion.licence.sentences import pieces_of, sentences_of
from ingestion.metadata.authorities import canonical_authority
from ingestion.metadata.issuers import is_body, is_name_of_body
from ingestion.metadata.quotes import document_text
from ingestion.metadata.summary import summarise
from ingestion.metadata.term_matching import cut_words
from ingestion.quality.readability import readability
from rag_engine.chunking.sections.outline import find_outline
from rag_engine.chunking.sections.references import find_references
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.prompts import neutralise
from rag_engine.text.analyzer import acronyms, analyse, shared_terms, surface
from rag_engine.text.folding import fold, fold_in_place
from rag_engine.text.sentences import sentence_spans
from rag_engine.text.url_masking import masked
from rag_engine.types import Block, ExtractedText, Line

# One word, numbers, brackets, quotation marks, blanks, lines, addresses, capitals, abbreviations, accents, endings.
PATTERNS = (
    "a", "lari", "Italya", "1", "1.2.3.", "(", "(a) ", "[1] ", "“", "\"'", " ", " \n", "\n", "a\n", "- ", ".", "...",
    "Art. ", "Article 1 ", "Article 1\n", "§ 1 ", "http://a", "www.", "a@", "A", "A.B.", "Abc ", "AB CD ", "e\u0301",
    "\u00ad", "licence ", "licensed under ", "all rights ", "not ", "The Ministry of ", "and ", "de la ", "IV.", "i) ",
    "2019-01-", "1 January ", "|", "; ", "a, ", "1,", "<", "{", "&", "*", "#", "# a\n", "\t", "/", "\\",
)  # fmt: skip
# Four times the text takes 4 times the time of a linear step, 8 of one at the power of 1.5, 16 of a quadratic one.
LENGTH, LEAST_SECONDS, MOST, ROUNDS = 20_000, 0.08, 2.6**2, 3

_GAZETTEER = load_gazetteer()


def _extracted(text: str) -> ExtractedText:
    end = len(text)
    return ExtractedText(text, 1, (Line(0, end, 1, None),), (Block(0, end, 1, "heading"),), "text/plain", "")


def _all(found: Iterable[object]) -> None:
    for _ in found:
        pass


STEPS: dict[str, Callable[[str], object]] = {
    "acronyms": acronyms,
    "analyse": lambda text: analyse(text, "tr"),
    "canonical_authority": canonical_authority,
    "clean": lambda text: clean(_extracted(text), "en"),
    "cut_words": cut_words,
    "document_text": lambda text: document_text(_extracted(text), "en"),
    "find_outline": lambda text: find_outline(text, "en"),
    "find_places": lambda text: find_places(text, _GAZETTEER),
    "find_references": lambda text: find_references(text, "en"),
    "fold": fold,
    "fold_in_place": fold_in_place,
    "glossary_records": lambda text: glossary_records(_extracted(text)),
    "is_body": is_body,
    "is_name_of_body": is_name_of_body,
    "masked": masked,
    "neutralise": neutralise,
    "pieces_of": lambda text: _all(pieces_of(text)),
    "read_limits": lambda text: read_limits(text, "page"),
    "read_statements": lambda text: read_statements(text, "page"),
    "readability": lambda text: readability(text, "en"),
    "says_reserved": says_reserved,
    "sentence_spans": lambda text: sentence_spans(text, "en"),
    "sentences_of": lambda text: _all(sentences_of(text)),
    "shared_terms": shared_terms,
    "summarise": lambda text: summarise(_extracted(text), "en"),
    "surface": surface,
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
        longer = _seconds(step, text * 4)
        # What takes no time even for the longer text is not measured, for it would measure the machine.
        if longer <= LEAST_SECONDS:
            continue
        # The best of each side, by turns: another process may be in the way of one of them.
        once = _seconds(step, text)
        for _ in range(ROUNDS):
            if longer <= MOST * once:
                break
            longer, once = min(longer, _seconds(step, text * 4)), min(once, _seconds(step, text))
        if longer > MOST * once:
            slow.append((pattern, once, longer))
    assert not slow
