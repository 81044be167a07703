"""Saved searches are kept in the workspace, renamed, deleted and brought back, and count what is new."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.engine import Engine
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.saved import (
    count_new_documents,
    delete_search,
    find_search,
    list_searches,
    mark_looked,
    rename_search,
    restore_search,
    save_search,
)
from tests.rag_engine.small_collection import Written, document_of
from tests.raw_records import overwrite

QUERY = PassageQuery("flood “loss and damage”", {"country": ("Italy", "Spain"), "year": ("2015-2020",)}, "date", True)


def test_a_search_is_read_as_it_was_saved(tmp_path: Path) -> None:
    saved = save_search(tmp_path, "  Losses \n in the south ", QUERY)
    assert saved.name == "Losses in the south"
    assert list_searches(tmp_path) == [saved]
    assert find_search(tmp_path, saved.id).query == QUERY


def test_searches_are_listed_by_name(tmp_path: Path) -> None:
    names = [save_search(tmp_path, name, QUERY).name for name in ("b", "C", "a")]
    assert [one.name for one in list_searches(tmp_path)] == sorted(names, key=str.casefold)


def test_a_name_belongs_to_one_search_and_is_not_empty(tmp_path: Path) -> None:
    first = save_search(tmp_path, "Losses", QUERY)
    with pytest.raises(InputError, match="already"):
        save_search(tmp_path, "losses", QUERY)
    with pytest.raises(InputError, match="name is empty"):
        rename_search(tmp_path, first.id, " ")
    with pytest.raises(InputError, match="nothing to save"):
        save_search(tmp_path, "Everything", PassageQuery())
    assert rename_search(tmp_path, first.id, "LOSSES").name == "LOSSES"


def test_a_deleted_search_comes_back_as_it_was(tmp_path: Path) -> None:
    saved = save_search(tmp_path, "Losses", QUERY)
    deleted = delete_search(tmp_path, saved.id)
    assert list_searches(tmp_path) == []
    restore_search(tmp_path, deleted)
    assert list_searches(tmp_path) == [saved]


def test_an_id_names_nothing_else_and_a_damaged_record_is_reported(tmp_path: Path) -> None:
    for id in ("../searches/x", "0" * 32, ""):
        with pytest.raises(InputError, match="no saved search"):
            find_search(tmp_path, id)
    saved = save_search(tmp_path, "Losses", QUERY)
    overwrite(tmp_path, "search", saved.id, "{")
    with pytest.raises(WorkspaceError, match="cannot be read"):
        list_searches(tmp_path)


def test_documents_added_since_the_last_look_are_counted_where_they_hold_the_words(reports: Engine) -> None:
    workspace = reports.config.workspace
    by_words = save_search(workspace, "Sluices", PassageQuery("sluice"))
    by_language = save_search(workspace, "English", PassageQuery(wanted={"language": ("en",)}))
    nowhere = save_search(workspace, "Atlantis", PassageQuery("sluice", {"country": ("Atlantis",)}))
    long_ago = "2000-01-01T00:00:00+00:00"
    assert count_new_documents(reports, by_words) == 0
    assert count_new_documents(reports, replace(by_words, looked=long_ago)) == 12
    assert count_new_documents(reports, replace(by_language, looked=long_ago)) == 13
    assert count_new_documents(reports, replace(nowhere, looked=long_ago)) == 0


def test_a_look_makes_everything_seen(reports: Engine) -> None:
    workspace = reports.config.workspace
    saved = save_search(workspace, "Sluices", PassageQuery("sluice"))
    restore_search(workspace, replace(saved, looked="2000-01-01T00:00:00+00:00"))
    with reports.indexer() as indexer:
        indexer.add(document_of(Written("New report", ("The new sluice is made of oak.",))), "new")
        indexer.finish()
    assert count_new_documents(reports, find_search(workspace, saved.id)) == 13
    assert count_new_documents(reports, mark_looked(workspace, saved.id)) == 0
