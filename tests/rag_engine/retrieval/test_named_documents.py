"""A question is bound to the documents that it names."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_engine.engine import Engine
from rag_engine.retrieval.named_documents import name_documents
from rag_engine.types.document import Document, Metadata
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import COLLECTION, Written, document_of, indexed

BODIES = {
    "Report on shelters": Metadata(
        "Report on shelters", "en", "European Food Safety Authority", geographical_level="European region"
    ),
    "Report of the session held in Cancun": Metadata("Report of the session held in Cancun", "en"),
    "Warnings of heat": Metadata("Warnings of heat", "en", countries=("Germany",), geographical_level="National"),
    "Alerts of heat": Metadata("Alerts of heat", "en", countries=("Austria",), geographical_level="National"),
}
HEAT = "The weather service warns people about heat and tells them to drink. "


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield an engine over the small collection and documents of known bodies and countries."""
    engine = indexed(tmp_path_factory.mktemp("named") / "workspace", CountingEmbedder(), COLLECTION)
    with engine.indexer() as indexer:
        for title, metadata in BODIES.items():
            document: Document = replace(document_of(Written(title, (HEAT * 4,))), metadata=metadata)
            indexer.add(document, title, ())
        indexer.finish()
    yield engine
    engine.close()


def first_documents(engine: Engine, question: str) -> set[str]:
    view = engine.collection.view()
    named = name_documents(engine.plan(question), view, None)
    return {view.snapshot.documents[key].metadata.title for key in named.first}


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What does the Dyke Protection Act say of maps?", {"Dyke Protection Act"}),
        ("Who opens the gate, by the Guide to small dams?", {"Guide to small dams"}),
        ("What does EFSA say about heat?", {"Report on shelters"}),
        ("Was sagt die Europäische Behörde für Lebensmittelsicherheit?", {"Report on shelters"}),
        ("What was decided in Cancun?", {"Report of the session held in Cancun"}),
        ("Who warns people about heat in Austria?", {"Alerts of heat"}),
        ("Chi avvisa del caldo in Germania?", {"Warnings of heat"}),
        ("Who fills sandbags?", set()),
        ("Who warns people about heat in Chile?", set()),
    ],
)
def test_documents_are_named_by_title_body_session_and_place(engine: Engine, question: str, titles: set[str]) -> None:
    assert first_documents(engine, question) == titles


def test_what_is_found_for_a_country_is_of_its_documents(engine: Engine) -> None:
    [source] = engine.search("Who warns people about heat in Austria?").sources
    assert source.document.metadata.title == "Alerts of heat"


def test_no_document_about_elsewhere_is_a_source_for_a_country_without_its_own(engine: Engine) -> None:
    found = engine.search("Who warns people about heat in Chile?").sources
    assert not {source.document.metadata.title for source in found} & {"Warnings of heat", "Alerts of heat"}


def test_a_named_act_is_asked_before_all_that_others_say(engine: Engine) -> None:
    found = engine.search("What does the Flood Insurance Act say about the height of the house?").sources
    assert {source.document.metadata.title for source in found} == {"Flood Insurance Act"}
