"""Evidence made of texts, for tests that hypothesis runs many times."""

import zlib
from collections.abc import Sequence
from dataclasses import replace

from rag_engine.types.document import Metadata
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source
from tests.rag_engine.conftest import make_evidence, make_source


def evidence_of(question: str, texts: Sequence[str], *, language: str = "en") -> Evidence:
    """Return evidence with a source of each text; the same text is the same source."""
    sources = [source_of(number, text) for number, text in enumerate(dict.fromkeys(texts), 1)]
    return make_evidence(question, sources, language=language)


def source_of(n: int, text: str, *, section: str = "", language: str = "en", countries: tuple[str, ...] = ()) -> Source:
    """Return a source whose document is known by its text."""
    made = make_source(zlib.crc32(text.encode()), text, start=0, language=language)
    level = "National" if countries else ""
    metadata = Metadata("A report", language, countries=countries, geographical_level=level)
    document = replace(made.document, metadata=metadata)
    hits = tuple(replace(hit, document=document, section=section) for hit in made.hits)
    return replace(made, n=n, document=document, hits=hits, section=section)
