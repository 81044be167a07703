"""A click that comes before the browser has put away what the page drew before: it sends the values of that as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from pages._shared import resources
from rag_engine.conversations import store as conversations
from rag_engine.notebook import store as notebooks
from tests.pages.conversations import converse, listing
from tests.rag_engine.conversations.test_store import REPLY

Start = Callable[..., AppTest]


@pytest.fixture
def workspace(collection: Path) -> Iterator[Path]:
    """Yield the small collection, without conversations and notebooks before and after."""
    yield collection
    for one in conversations.list_conversations(collection):
        conversations.delete_conversation(collection, one.id)
    for notebook in notebooks.list_notebooks(collection):
        notebooks.delete_notebook(collection, notebook.id)


def sent(app: AppTest) -> list[WidgetState]:
    """Return the values of the widgets of a page, and what was clicked in it, as a browser sends them."""
    assert app._tree is not None
    widgets = app._tree.get_widget_states().widgets
    return [one for one in widgets if one.WhichOneof("value") != "trigger_value" or one.trigger_value]


def click_early(app: AppTest, gone: list[WidgetState]) -> None:
    """Run a page with what was clicked in it, for a browser that still has the widgets of the page before."""
    now = sent(app)
    there = {one.id for one in now}
    app._run(WidgetStates(widgets=[*(one for one in gone if one.id not in there), *now]))
    assert not app.exception


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("search", {"words": "flood plan"}),
        ("search", {"hazard": "Floods", "sort": "date", "words": "plan"}),
        ("notebook", {}),
        ("admin", {"tab": "run"}),
        ("document", {}),
    ],
)
def test_the_widgets_of_the_page_that_was_left_do_not_change_the_address_of_another(
    start: Start, workspace: Path, page: str, address: dict[str, str]
) -> None:
    app = start(workspace)
    if page == "document":
        address = {"document": resources.engine().collection.documents()[0].document_id, "page": "1"}
    for name, value in address.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    left = sent(app)
    assert left
    app.query_params.clear()
    app.switch_page("pages/library.py").run()
    click_early(app, left)
    assert dict(app.query_params) == {}


def test_a_notebook_that_was_just_deleted_is_brought_back_without_an_error(start: Start, workspace: Path) -> None:
    made = notebooks.create_notebook(workspace, "Floods")
    app = start(workspace, notebook=made.id).switch_page("pages/notebook.py").run()
    left = sent(app)
    app.button(key="delete notebook").click().run()
    app.button(key="restore notebook").click()
    click_early(app, left)
    assert [one.value for one in app.error] == []
    assert made in notebooks.list_notebooks(workspace)


def test_a_conversation_that_was_just_deleted_is_brought_back_without_an_error(start: Start, workspace: Path) -> None:
    id = converse(workspace, REPLY).id
    app = listing(start(workspace), id)
    left = sent(app)
    app.button(key=f"delete {id}").click().run()
    app.button(key="conversation undo").click()
    click_early(app, left)
    assert [one.value for one in app.error] == []
    assert [one.id for one in conversations.list_conversations(workspace)] == [id]
