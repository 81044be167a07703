from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering_documents import filter_obstacles, left_documents, live_counts
from rag_engine.errors import InputError
from rag_engine.filters import Facets, allowed_documents, facets_of, parse_filters
from rag_engine.types.document import DocumentRecord, Metadata
from tests.rag_engine.conftest import make_source

FACETS = {
    "hazard": {"Flood": frozenset({1, 2}), "Heatwaves": frozenset({2, 3})},
    "language": {"it": frozenset({1, 3}), "en": frozenset({2})},
    "year": {"2015": frozenset({1}), "2019": frozenset({2}), "2023": frozenset({3})},
}


def test_the_same_key_twice_means_either_and_two_keys_mean_both() -> None:
    assert allowed_documents(parse_filters(["hazard=Flood", "hazard=heatwaves"]), FACETS) == frozenset({1, 2, 3})
    assert allowed_documents(parse_filters(["hazard=Flood", "language=it"]), FACETS) == frozenset({1})


def test_no_filter_allows_everything_and_an_empty_result_stays_empty() -> None:
    assert allowed_documents({}, FACETS) is None
    assert allowed_documents(parse_filters(["hazard=Heatwaves", "year=2015"]), FACETS) == frozenset()


@pytest.mark.parametrize(
    ("spoken", "documents"),
    [
        ("2015", {1}),
        ("2015-2019", {1, 2}),
        ("2019..2023", {2, 3}),
        ("2016-", {2, 3}),
        ("..2018", {1}),
        ("1900-1950", set()),
    ],
)
def test_years_may_be_ranges(spoken: str, documents: set[int]) -> None:
    assert allowed_documents(parse_filters([f"year={spoken}"]), FACETS) == frozenset(documents)


def test_counts_follow_what_is_asked_of_the_other_facets() -> None:
    counts = live_counts(parse_filters(["hazard=Flood", "language=it"]), FACETS)
    assert counts["hazard"] == {"Flood": 1, "Heatwaves": 1}
    assert counts["language"] == {"it": 1, "en": 1}
    assert counts["year"] == {"2015": 1, "2019": 0, "2023": 0}
    assert live_counts({}, FACETS)["hazard"] == {"Flood": 2, "Heatwaves": 2}


def test_an_unknown_key_lists_the_filters_there_are() -> None:
    with pytest.raises(InputError, match=r"no filter 'colour'.*hazard, geographical_level"):
        parse_filters(["colour=red"])


def test_an_unknown_value_lists_the_values_there_are() -> None:
    with pytest.raises(InputError, match=r"hazard 'Volcano'.*Flood, Heatwaves"):
        allowed_documents(parse_filters(["hazard=Volcano"]), FACETS)


@pytest.mark.parametrize("spoken", ["hazard", "hazard=", "=Flood", ""])
def test_what_is_not_key_and_value_is_refused(spoken: str) -> None:
    with pytest.raises(InputError):
        parse_filters([spoken])


@given(st.lists(st.sampled_from(["hazard=Flood", "hazard=Heatwaves", "language=it", "language=en", "year=2015-2019"])))
def test_a_further_value_never_loses_and_a_further_key_never_gains(spoken: list[str]) -> None:
    allowed = allowed_documents(parse_filters(spoken), FACETS)
    everything = frozenset({1, 2, 3})
    keys = {one.partition("=")[0] for one in spoken}
    each = [allowed_documents(parse_filters([o for o in spoken if o.startswith(key)]), FACETS) for key in keys]
    assert (allowed if allowed is not None else everything) == everything.intersection(
        *(e for e in each if e is not None)
    )


def document(key: int, **described: object) -> DocumentRecord:
    metadata = Metadata(f"Document {key}", **({"language": "en"} | described))  # type: ignore[arg-type]
    return replace(make_source(key, "-").document, metadata=metadata)


def facets(described: Mapping[int, Metadata]) -> Facets:
    gathered: dict[str, dict[str, frozenset[int]]] = {}
    for key, metadata in described.items():
        for name, values in facets_of(metadata).items():
            for value in values:
                known = gathered.setdefault(name, {})
                known[value] = known.get(value, frozenset()) | {key}
    return gathered


# The act of 2010 was replaced by that of 2020, which has a French translation.
WORKS = {
    1: document(1, countries=("Ireland",), work="act", year=2010, superseded="2020"),
    2: document(2, countries=("Ireland",), work="act", year=2020),
    3: document(3, countries=("Ireland",), work="act", year=2020, language="fr", translation_of="en"),
    4: document(4, countries=("Italy",), language="it", year=2015),
}
KNOWN = facets({key: record.metadata for key, record in WORKS.items()})


def test_counts_are_of_the_documents_that_answer() -> None:
    counts = live_counts({}, KNOWN, WORKS)
    assert counts["country"] == {"Ireland": 1, "Italy": 1}
    # The translation answers where the filter asks for its language.
    assert counts["language"] == {"en": 1, "fr": 1, "it": 1}
    assert live_counts({"versions": ("all",)}, KNOWN, WORKS)["country"]["Ireland"] == 3


@pytest.mark.parametrize("asked", [["country=Italy"], ["language=en"], ["year=2010-2016"], ["country=Ireland"]])
def test_a_count_is_what_is_left_when_the_value_is_chosen(asked: list[str]) -> None:
    wanted, known = parse_filters(asked), KNOWN
    for name, values in live_counts(wanted, known, WORKS).items():
        for value, count in values.items():
            assert count == len(left_documents({**wanted, name: (value,)}, known, WORKS))


def test_a_value_that_no_document_has_leaves_none_and_is_no_error_where_that_is_asked() -> None:
    assert left_documents({"country": ("Atlantis",)}, KNOWN, WORKS) == frozenset()
    assert left_documents({"country": ("Atlantis", "Italy")}, KNOWN, WORKS) == frozenset({4})


def test_the_facet_that_excludes_everything_is_named_with_what_it_excludes() -> None:
    wanted = parse_filters(["country=Ireland", "language=it"])
    obstacles = filter_obstacles(wanted, KNOWN, WORKS)
    assert [(one.name, one.values, one.documents) for one in obstacles] == [
        ("country", ("Ireland",), 1),
        ("language", ("it",), 1),
    ]
    unknown = filter_obstacles({"country": ("Atlantis",), "year": ("2000-2024",)}, KNOWN, WORKS)
    assert [(one.name, one.documents) for one in unknown] == [("country", 2)]


def test_no_facet_is_named_where_something_is_left_or_several_exclude_it() -> None:
    assert filter_obstacles(parse_filters(["country=Italy"]), KNOWN, WORKS) == ()
    assert filter_obstacles({"country": ("Atlantis",), "hazard": ("Volcano",)}, KNOWN, WORKS) == ()
