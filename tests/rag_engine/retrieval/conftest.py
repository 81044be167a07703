"""The small collection, indexed once for the tests of retrieval."""

from collections.abc import Iterator

import pytest

from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import indexed


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield an engine over the collection, which no test changes."""
    engine = indexed(tmp_path_factory.mktemp("retrieval") / "workspace", CountingEmbedder())
    yield engine
    engine.close()
