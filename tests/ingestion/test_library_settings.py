from __future__ import annotations

import pytest

from ingestion.acts.context import ActContext
from ingestion.acts.library import (
    choose_columns,
    chosen_columns,
    delete_filters,
    save_filters,
    saved_filters,
)
from rag_engine.errors import InputError

FLOODS = {"hazard": ("Flood",), "year": ("2015-2020",)}


def test_columns_are_those_last_chosen(context: ActContext) -> None:
    assert chosen_columns(context, ["Year"]) == ["Year"]
    choose_columns(context, ["Licence", "File"])
    assert chosen_columns(context, ["Year"]) == ["Licence", "File"]
    choose_columns(context, [])
    assert chosen_columns(context, ["Year"]) == []


def test_saved_filters_are_used_replaced_deleted_and_saved_again(context: ActContext) -> None:
    save_filters(context, "  Our   floods ", FLOODS)
    save_filters(context, "heat", {"hazard": ("Heatwaves",)})
    assert saved_filters(context) == {"heat": {"hazard": ("Heatwaves",)}, "Our floods": FLOODS}
    save_filters(context, "heat", {"language": ("it",)})
    deleted = delete_filters(context, "heat")
    assert saved_filters(context) == {"Our floods": FLOODS}
    save_filters(context, "heat", deleted)
    assert saved_filters(context)["heat"] == {"language": ("it",)}


@pytest.mark.parametrize(("name", "wanted"), [(" ", FLOODS), ("x" * 81, FLOODS), ("Empty", {})])
def test_filters_without_a_name_or_a_value_are_not_saved(
    context: ActContext, name: str, wanted: dict[str, tuple[str, ...]]
) -> None:
    with pytest.raises(InputError):
        save_filters(context, name, wanted)
    assert saved_filters(context) == {}


def test_filters_that_are_not_saved_cannot_be_deleted(context: ActContext) -> None:
    with pytest.raises(InputError, match="No filters are saved as"):
        delete_filters(context, "heat")
