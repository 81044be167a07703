"""What a browser is sent when a page is opened, and in which order: what it is opened for is seen first."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_SIDEBAR = 1
# Each with what it is opened for, an element of Streamlit's.
OPENED_FOR = {
    "": "chat_input",
    "search": "text_input",
    "library": "dataframe",
    "compare": "text_area",
    "notebook": "selectbox",
    "admin": "button_group",
    "evaluation": "button",
}
# Which the input loads by itself once it is drawn, for questions that are spoken.
_SPOKEN = ("wavesurfer.esm.", "record.esm.")


class Opened:
    """What a browser asks for and is sent while a page is opened."""

    def __init__(self, page: Page, address: str) -> None:
        self.messages: list[ForwardMsg] = []
        code: list[str] = []
        page.on("websocket", self._listen)
        page.on("request", lambda request: code.append(request.url) if request.resource_type == "script" else None)
        answer = page.goto(address)
        assert answer is not None
        expect(page.locator("h1").first).to_be_visible()
        expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
        page.wait_for_load_state("networkidle")
        first = answer.text()
        names = [url.rpartition("/")[2] for url in code]
        self.later_code = [name for name in names if name not in first and not name.startswith(_SPOKEN)]

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


@pytest.mark.parametrize(("path", "kind"), OPENED_FOR.items())
def test_a_page_is_drawn_once_begins_with_what_it_is_opened_for_and_names_its_code_at_first(
    page: Page, address: str, path: str, kind: str
) -> None:
    opened = Opened(page, f"{address}/{path}")

    assert opened.runs == 1
    kinds = [one for _part, one in opened.elements]
    parts = [part for part, _kind in opened.elements]
    assert kinds.index(kind) < parts.index(_SIDEBAR)
    assert opened.later_code == []
