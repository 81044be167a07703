from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import InputError
from rag_engine.filters import allowed_documents, live_counts, parse_filters

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
