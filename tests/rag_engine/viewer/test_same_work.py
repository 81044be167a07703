"""Versions and translations are found by the work that they share."""

from dataclasses import replace

from rag_engine.types.document import DocumentRecord, Metadata
from rag_engine.viewer.versions import documents_of_work, newer_version
from tests.rag_engine.conftest import make_source


def record(key: int, **metadata: str) -> DocumentRecord:
    known = Metadata("Flood plan", metadata.pop("language", "en"), **metadata)  # type: ignore[arg-type]
    return replace(make_source(key, "-").document, metadata=known)


NEWEST = record(1, work="w", date="2024")
FORMER = record(2, work="w", date="2019", superseded="2024-01-01")
FIRST = record(3, work="w", date="2012", superseded="unknown")
FRENCH = record(4, work="w", language="fr")
OTHER, ALONE = record(5, work="x"), record(6)
ALL = [NEWEST, FORMER, FIRST, FRENCH, OTHER, ALONE]


def test_versions_come_oldest_first_and_translations_apart() -> None:
    found = documents_of_work(FORMER, ALL)
    assert found.versions == (FIRST, FORMER, NEWEST)
    assert found.translations == (FRENCH,)


def test_a_document_without_a_work_is_alone_among_others_without_one() -> None:
    found = documents_of_work(ALONE, [*ALL, record(7)])
    assert (found.versions, found.translations) == ((ALONE,), ())


def test_the_newest_version_is_named_for_a_superseded_one_alone() -> None:
    assert newer_version(FIRST, ALL) == NEWEST
    assert newer_version(NEWEST, ALL) is None
    assert newer_version(FORMER, [FIRST, FORMER, FRENCH]) is None
