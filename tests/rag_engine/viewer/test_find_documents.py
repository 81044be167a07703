"""Documents found by words: in what they are called, in what they say, in other forms of the words."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.types.document import Document, ExtractedText, Metadata
from rag_engine.viewer.find import find_documents
from tests.rag_engine.conftest import CountingEmbedder

_DOCUMENTS = {
    "act": Metadata("Flood Act", "en", authority="Parliament of Ireland", description="Plans of the counties."),
    "piano": Metadata("Piano caldo", "it", authority="Ministero della Salute"),
    "lodz": Metadata("Łódź", "pl"),
}
_TEXTS = {
    "act": "Each council prepares a plan and the levees are inspected.",
    "piano": "I comuni aprono luoghi freschi per le persone anziane.",
    "lodz": "Miasto ma plan.",
}


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], dict[str, tuple[str, ...]]]]:
    """Yield a search that names the documents found, with where."""
    folder: Path = tmp_path_factory.mktemp("found")
    with closing(Engine(read_config(folder), embedder=CountingEmbedder())) as engine:
        with engine.indexer() as indexer:
            for name, metadata in _DOCUMENTS.items():
                text = ExtractedText(_TEXTS[name], 1, (), (), "text/plain")
                indexer.add(Document(name, f"{name}.txt", name * 20, metadata, text), "f")
            indexer.finish()

        def found(words: str) -> dict[str, tuple[str, ...]]:
            snapshot = engine.collection.snapshot()
            by_key = find_documents(snapshot, engine.collection.sparse(), words)
            return {snapshot.documents[key].source: places for key, places in by_key.items()}

        yield found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("flood", {"act": ("title",)}),
        ("ireland", {"act": ("authority",)}),
        ("counties", {"act": ("summary",)}),
        ("levee", {"act": ("text",)}),
        ("comune", {"piano": ("text",)}),
        ("flood levee", {"act": ("title", "text")}),
        ("flood comune", {}),
        ("the levees of the", {"act": ("text",)}),
        ("lodz", {"lodz": ("title",)}),
        ("nowhere", {}),
    ],
)
def test_a_document_is_found_by_every_word_wherever_it_is(
    find: Callable[[str], dict[str, tuple[str, ...]]], words: str, expected: dict[str, tuple[str, ...]]
) -> None:
    assert find(words) == expected
