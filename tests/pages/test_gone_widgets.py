"""The widgets of the page before do nothing any more, though an early click sends their values."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from rag_engine.conversations import store as conversations
from rag_engine.notebook import store as notebooks
from tests.pages.conftest import Start, open_page
from tests.pages.conversations import converse, listing
from tests.pages.early_clicks import click_early, sent
from tests.rag_engine.conversations.test_store import REPLY


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("search", {"words": "flood plan"}),
        ("search", {"hazard": "Floods", "sort": "date", "words": "plan"}),
        ("admin", {"tab": "run"}),
    ],
)
def test_the_widgets_of_the_page_that_was_left_do_not_change_the_address_of_another(
    start: Start, workspace: Path, page: str, address: dict[str, str]
) -> None:
    app = open_page(start(workspace), page, **address)
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


def test_what_is_chosen_and_taken_back_before_the_page_is_drawn_is_followed_twice() -> None:
    def script() -> None:
        import streamlit as st

        from pages._shared.elements import when_changed

        followed: list[str] = []
        call_back = when_changed("order", "relevance", followed.append, "followed")
        for chosen in ("relevance", "date", "date", "relevance", "relevance"):
            st.session_state["order"] = chosen
            call_back()
        st.text(len(followed))

    assert AppTest.from_function(script).run().text[0].value == "2"
