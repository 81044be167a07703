"""A browser that opens a page is sent first what the page is opened for."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# Parts of the page.
_MAIN, _BOTTOM = 0, 3
# Each with what it is opened for, an element of Streamlit's, and the component that draws it.
OPENED_FOR = {
    "": ("chat_input", "ChatInput"),
    "search": ("text_input", "TextInput"),
    "library": ("dataframe", "DataFrame"),
    "compare": ("text_area", "TextArea"),
    "notebook": ("selectbox", "Selectbox"),
    "admin": ("button_group", "ButtonGroup"),
    "evaluation": ("button", "Button"),
}
# Drawn by code that every page has.
_TEXTS = ("heading", "markdown")


class Opened:
    """Messages that a browser is sent while a page is opened."""

    def __init__(self, page: Page, address: str) -> None:
        self.messages: list[ForwardMsg] = []
        page.on("websocket", self._listen)
        answer = page.goto(address)
        assert answer is not None
        self.page = answer.text()
        expect(page.locator("h1").first).to_be_visible()
        expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._keep)

    def _keep(self, sent: bytes | str) -> None:
        assert isinstance(sent, bytes)
        self.messages.append(ForwardMsg.FromString(sent))

    @property
    def runs(self) -> int:
        return sum(one.WhichOneof("type") == "new_session" for one in self.messages)

    @property
    def elements(self) -> list[tuple[int, str | None]]:
        """Each element with the part of the page that it is in, as they came."""
        new = [one for one in self.messages if one.HasField("delta") and one.delta.HasField("new_element")]
        return [(one.metadata.delta_path[0], one.delta.new_element.WhichOneof("type")) for one in new]


@pytest.mark.parametrize(("path", "kind", "component"), [(path, *what) for path, what in OPENED_FOR.items()])
def test_a_page_is_drawn_once_begins_with_what_it_is_opened_for_and_names_its_code_at_first(
    page: Page, address: str, path: str, kind: str, component: str
) -> None:
    opened = Opened(page, f"{address}/{path}")

    assert opened.runs == 1
    first = next(one for one in opened.elements if one[1] not in _TEXTS)
    assert first == (_MAIN if kind != "chat_input" else _BOTTOM, kind)
    assert f"./static/js/{component}." in opened.page
