"""Notebooks outlive conversations, and an address cannot name anything else."""

from pathlib import Path

import pytest

from rag_engine.errors import InputError, WorkspaceError
from rag_engine.notebook.notebook import Notebook, answer_entry, with_entry
from rag_engine.notebook.store import (
    DEFAULT,
    change_notebook,
    create_notebook,
    delete_notebook,
    list_notebooks,
    read_notebook,
)
from tests.rag_engine.notebook.test_notebook import CONVERSATION, TURN
from tests.raw_records import overwrite, raw_records

ENTRY = answer_entry(CONVERSATION, TURN)


def keep(workspace: Path, id: str = DEFAULT.id) -> Notebook:
    return change_notebook(workspace, id, lambda before: with_entry(before, ENTRY))[1]


def test_there_is_one_notebook_before_anything_is_kept(tmp_path: Path) -> None:
    assert list_notebooks(tmp_path) == [DEFAULT]
    assert not list(tmp_path.iterdir())


def test_an_entry_is_read_as_it_was_kept(tmp_path: Path) -> None:
    kept = keep(tmp_path)
    assert kept.entries == (ENTRY,)
    assert read_notebook(tmp_path, DEFAULT.id) == kept


def test_notebooks_are_listed_by_name_after_the_default_one(tmp_path: Path) -> None:
    for name in ("terms", "Floods"):
        create_notebook(tmp_path, f"  {name} ")
    assert [one.name for one in list_notebooks(tmp_path)] == ["Evidence", "Floods", "terms"]


@pytest.mark.parametrize(("name", "said"), [("", "is empty"), ("  ", "is empty"), ("evidence", "is taken already")])
def test_a_name_is_there_and_free(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        create_notebook(tmp_path, name)


def test_a_notebook_that_is_deleted_is_gone_and_the_default_one_is_empty(tmp_path: Path) -> None:
    other = create_notebook(tmp_path, "Floods")
    keep(tmp_path)
    for id in (other.id, DEFAULT.id):
        delete_notebook(tmp_path, id)
    assert list_notebooks(tmp_path) == [DEFAULT]


def test_a_notebook_that_was_deleted_meanwhile_is_not_changed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no notebook"):
        keep(tmp_path, "f" * 32)
    assert raw_records(tmp_path, "notebook") == {}


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    keep(tmp_path)
    overwrite(tmp_path, "notebook", DEFAULT.id, '{"id": 1')
    with pytest.raises(WorkspaceError, match=DEFAULT.id):
        list_notebooks(tmp_path)


@pytest.mark.parametrize("id", ["", "../secret", "0" * 31, "0" * 32 + "\n", "A" * 32])
def test_an_id_that_is_none_finds_and_deletes_nothing(tmp_path: Path, id: str) -> None:
    assert read_notebook(tmp_path, id) is None
    delete_notebook(tmp_path, id)
    assert list_notebooks(tmp_path) == [DEFAULT]
