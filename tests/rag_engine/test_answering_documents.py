"""Which version and translation of a work answers."""

from dataclasses import replace

import pytest

from rag_engine.answering_documents import answering_documents
from rag_engine.errors import InputError
from rag_engine.filters import parse_filters
from rag_engine.types.document import DocumentRecord, Metadata
from tests.rag_engine.test_filters import facets

_RECORD = DocumentRecord(0, "", "", "", "", "", 1, 0, 1, 1, 1, "", Metadata("", ""))
_MADE = {
    1: Metadata("Flood plan", "en", date="2016-03", work="A", superseded="2021-05-01"),
    2: Metadata("Flood plan", "en", date="2021-05-01", work="A"),
    3: Metadata("Plan inondation", "fr", date="2021-05-01", work="A", translation_of="A"),
    4: Metadata("Hochwasserplan", "de", date="2021-05-01", work="A", translation_of="A"),
    5: Metadata("Heat plan", "it", date="2018"),
    6: Metadata("Fire plan", "en"),
    7: Metadata("Snow plan", "en", year=2022),
}
DOCUMENTS = {key: replace(_RECORD, key=key, metadata=metadata) for key, metadata in _MADE.items()}


@pytest.mark.parametrize(
    ("spoken", "answering"),
    [
        ([], {2, 5, 6, 7}),
        (["versions=all"], {1, 2, 3, 4, 5, 6, 7}),
        (["language=fr"], {3}),
        (["language=fr", "language=de"], {3}),
        (["language=en"], {2, 6, 7}),
        (["as_of=2019"], {1, 5, 6}),
        (["as_of=2021-05-01"], {2, 5, 6}),
        (["as_of=2021-04-30"], {1, 5, 6}),
        (["as_of=2015-12-31"], {6}),
        (["as_of=2021"], {2, 5, 6}),
        (["as_of=1990", "versions=all"], {6}),
        (["as_of=2019", "dated=only"], {1, 5}),
        (["year=2022"], {6, 7}),
        (["year=2000-2022", "dated=only"], {7}),
        (["as_of=2022-06-01"], {2, 5, 6, 7}),
    ],
)
def test_of_each_work_one_version_and_one_translation_answers(spoken: list[str], answering: set[int]) -> None:
    found = answering_documents(parse_filters(spoken), facets(_MADE), DOCUMENTS)
    assert (set(DOCUMENTS) if found is None else found) == answering


def test_a_collection_without_versions_is_not_narrowed() -> None:
    facets = {"language": {"it": frozenset({5})}}
    assert answering_documents({}, facets, {5: DOCUMENTS[5]}) is None


def test_a_newer_version_answers_from_the_day_on_which_it_replaces_the_one_before() -> None:
    made = {
        1: Metadata("Act", "en", date="2001", work="A", superseded="2010"),
        2: Metadata("Act", "en", date="2005", in_force="2010-01-01", work="A", superseded="9000-01-01"),
        3: Metadata("Act", "en", date="2020", work="A"),
    }
    documents = {key: replace(_RECORD, key=key, metadata=metadata) for key, metadata in made.items()}
    for asked, answering in ({"as_of=2006": 1, "as_of=2010-01-01": 2, "as_of=2024": 2, "as_of=9000": 3}).items():
        assert answering_documents(parse_filters([asked]), facets(made), documents) == frozenset({answering})
    # Its replacement is known, and has not begun.
    assert answering_documents({}, facets(made), documents) == frozenset({2})


def test_a_date_that_is_none_is_said() -> None:
    with pytest.raises(InputError, match="as_of is 'soon'"):
        answering_documents(parse_filters(["as_of=soon"]), facets(_MADE), DOCUMENTS)
