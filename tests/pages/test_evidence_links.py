"""The pages that evidence names, as links to the Document page."""

from contextlib import closing
from pathlib import Path

import pymupdf
import pytest
from streamlit.testing.v1 import AppTest

from ingestion.records.source_store import SourceStore
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.source import Indexed
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.messages import Message
from tests.pages.collection import documents_of, index_files
from tests.pages.conftest import Start, open_page, texts
from tests.pages.sources import add_indexed


@pytest.fixture
def linked(own: Path, tmp_path: Path) -> tuple[Path, str]:
    """Return a workspace with a source inside and one outside the collection, and the id of the first."""
    with pymupdf.open() as law:
        for number in range(1, 4):
            rows = [f"Section {number}.{row} of the law is about the care for the dykes." for row in range(1, 20)]
            law.new_page().insert_text((72, 90), rows)
        law.save(tmp_path / "law.pdf")
    index_files(own, tmp_path / "law.pdf")
    document = documents_of(own)["law.pdf"]
    with closing(open_engine(read_config(own))) as engine:
        store = SourceStore(engine.catalog)
        mark = LicenceMark("pattern", "GREEN", "CC BY 4.0", 20, "Licensed under CC BY 4.0.", "page 2")
        verdict = LicenceVerdict("GREEN", "CC BY 4.0", (mark,))
        for code, id in (("IN", document.document_id), ("OUT", "f" * 12)):
            add_indexed(store, own, code, 0)
            store.record(code, "licence", Outcome("done", "", Message(), verdict), fingerprint="f", seconds=0.1)
            indexed = Outcome("done", "", Message(), Indexed(id, 3, "f"))
            store.record(code, "indexing", indexed, fingerprint="f", seconds=0.1)
    return own, document.document_id


def admin(app: AppTest, **query: str) -> str:
    open_page(app, "admin", **query)
    assert not app.exception
    return texts(app)


def test_the_page_of_licence_evidence_opens_the_document_where_it_is_in_the_collection(
    start: Start, linked: tuple[Path, str]
) -> None:
    workspace, id = linked
    assert f"[page 2](document?document={id}&page=2)" in admin(start(workspace), tab="sources", source="IN")
    elsewhere = admin(start(workspace), tab="sources", source="OUT")
    assert "page 2" in elsewhere
    assert "document?" not in elsewhere


def test_the_page_of_a_value_opens_the_document(start: Start, linked: tuple[Path, str]) -> None:
    workspace, id = linked
    app = start(workspace)
    admin(app, tab="metadata")
    app.selectbox("values document").select("IN").run()
    app.selectbox("values field").select("hazards").run()
    assert f"([page 3](document?document={id}&page=3))" in "\n".join(str(one.value) for one in app.caption)
