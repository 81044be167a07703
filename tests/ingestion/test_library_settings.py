from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.operations.desk import Desk, open_desk
from ingestion.operations.library import (
    choose_columns,
    chosen_columns,
    delete_filters,
    save_filters,
    saved_filters,
)
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from tests.rag_engine.conftest import CountingEmbedder

FLOODS = {"hazard": ("Flood",), "year": ("2015-2020",)}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Engine(read_config(tmp_path), embedder=CountingEmbedder())) as engine:
        yield open_desk(engine, LOCAL)


def test_columns_are_those_last_chosen(desk: Desk) -> None:
    assert chosen_columns(desk, ["Year"]) == ["Year"]
    choose_columns(desk, ["Licence", "File"])
    assert chosen_columns(desk, ["Year"]) == ["Licence", "File"]
    choose_columns(desk, [])
    assert chosen_columns(desk, ["Year"]) == []


def test_saved_filters_are_used_replaced_deleted_and_saved_again(desk: Desk) -> None:
    save_filters(desk, "  Our   floods ", FLOODS)
    save_filters(desk, "heat", {"hazard": ("Heatwaves",)})
    assert saved_filters(desk) == {"heat": {"hazard": ("Heatwaves",)}, "Our floods": FLOODS}
    save_filters(desk, "heat", {"language": ("it",)})
    deleted = delete_filters(desk, "heat")
    assert saved_filters(desk) == {"Our floods": FLOODS}
    save_filters(desk, "heat", deleted)
    assert saved_filters(desk)["heat"] == {"language": ("it",)}


@pytest.mark.parametrize(("name", "wanted"), [(" ", FLOODS), ("x" * 81, FLOODS), ("Empty", {})])
def test_filters_without_a_name_or_a_value_are_not_saved(
    desk: Desk, name: str, wanted: dict[str, tuple[str, ...]]
) -> None:
    with pytest.raises(InputError):
        save_filters(desk, name, wanted)
    assert saved_filters(desk) == {}


def test_filters_that_are_not_saved_cannot_be_deleted(desk: Desk) -> None:
    with pytest.raises(InputError, match="No filters are saved as"):
        delete_filters(desk, "heat")
