"""A session of the page as a browser has it: Streamlit's messages over its websocket, but no browser."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import (
    ChatInputValue,
    FileUploaderState,
    FileURLs,
    FileURLsRequest,
    UploadedFileInfo,
)
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from pages._ask.running import IDLE_SECONDS

# Number of the part of a page that holds what is not in its sidebar or at its bottom.
_MAIN = 0


class PageVisitor:
    """One visitor of a page; `act` and `wait` do what the page in a browser does, until something is seen."""

    def __init__(self, socket: ClientConnection, address: str, page: str) -> None:
        """Have the server at the address draw a page; see `visiting`."""
        self._socket, self._address, self._page = socket, address, page
        self._script, self._query, self._session = "", "", ""
        self._elements: dict[tuple[int, ...], Element] = {}
        # Ids of what can be opened, by their labels.
        self._folded: dict[str, str] = {}
        # Parts of the page that are drawn again by themselves: when next, and after how many seconds.
        self._again: dict[str, tuple[float, float]] = {}
        self._running = False
        self._urls: list[FileURLs] = []
        self._run()

    def ask(self, question: str) -> None:
        """Type a question and send it."""
        [id] = [one.chat_input.id for one in self._shown("chat_input")]
        self._run(WidgetState(id=id, chat_input_value=ChatInputValue(data=question)))

    def open(self, label: str, seconds: float) -> None:
        """Open what is folded under a label."""
        self.wait(lambda: not self._running and label in self._folded, seconds)
        self._run(WidgetState(id=self._folded[label], bool_value=True))
        self.wait(lambda: not self._running, seconds)

    def drop(self, name: str, content: bytes, seconds: float, place: str = "") -> WidgetState:
        """Drop a file at the only place whose label begins so; return what the place then holds."""
        places = (one.file_uploader for one in self._shown("file_uploader"))
        [id] = [one.id for one in places if one.label.startswith(place)]
        asked = FileURLsRequest(request_id=uuid.uuid4().hex, file_names=[name], session_id=self._session)
        self._socket.send(BackMsg(file_urls_request=asked).SerializeToString())
        self.wait(lambda: bool(self._urls), seconds)
        [urls] = self._urls
        with httpx.Client(base_url=self._address, timeout=seconds) as client:
            client.get("/_stcore/health").raise_for_status()
            headers = {"X-Xsrftoken": client.cookies["_streamlit_xsrf"]}
            client.put(urls.upload_url, files={"file": (name, content)}, headers=headers).raise_for_status()
        file = UploadedFileInfo(name=name, size=len(content), file_id=urls.file_id, file_urls=urls)
        dropped = WidgetState(id=id, file_uploader_state_value=FileUploaderState(uploaded_file_info=[file]))
        self._run(dropped)
        return dropped

    def upload(self, name: str, content: bytes, button: str, seconds: float) -> None:
        """Drop a file where one can be dropped, and press the button of this label that is then offered."""
        dropped = self.drop(name, content, seconds)
        self.wait(lambda: not self._running and bool(self._offered(button)), seconds)
        [pressed] = self._offered(button)
        self._run(dropped, WidgetState(id=pressed, trigger_value=True))

    def _offered(self, button: str) -> list[str]:
        """Return the ids of the buttons of a label that can be pressed."""
        shown = (one.button for one in self._shown("button"))
        return [one.id for one in shown if button in one.label and not one.disabled]

    def wait(self, seen: Callable[[], bool], seconds: float) -> bool:
        """Do what the page does by itself until `seen` holds; return whether it did in these seconds."""
        end = time.monotonic() + seconds
        while not seen():
            now = time.monotonic()
            if now >= end:
                return False
            due = [name for name, (when, _) in self._again.items() if when <= now and not self._running]
            for name in due[:1]:
                self._again[name] = now + self._again[name][1], self._again[name][1]
                self._run(fragment=name)
            try:
                message = self._socket.recv(timeout=0.1)
            except TimeoutError:
                continue
            self._take(ForwardMsg.FromString(message if isinstance(message, bytes) else message.encode()))
        return True

    @property
    def idle(self) -> bool:
        """Whether the page is drawn and only waits.

        Fragments that look for the work of others may still be drawn again.
        """
        waiting = any(every < IDLE_SECONDS for _, every in self._again.values())
        return bool(self._script) and not self._running and not waiting

    @property
    def session(self) -> str:
        """Return by what the server knows the visitor."""
        return self._session

    @property
    def in_address(self) -> dict[str, list[str]]:
        """Return what the address of the page names."""
        return parse_qs(self._query)

    @property
    def shown(self) -> str:
        """Return all that the page shows beside its sidebar, as it is sent."""
        return "\n".join(str(one) for path, one in self._elements.items() if path[0] == _MAIN)

    def _shown(self, kind: str) -> Iterator[Element]:
        return (one for one in self._elements.values() if one.WhichOneof("type") == kind)

    def _run(self, *states: WidgetState, fragment: str = "") -> None:
        self._running = True
        client = ClientState(
            query_string=self._query,
            widget_states=WidgetStates(widgets=states),
            page_script_hash=self._script,
            page_name="" if self._script else self._page,
            fragment_id=fragment,
            is_auto_rerun=bool(fragment),
        )
        self._socket.send(BackMsg(rerun_script=client).SerializeToString())

    def _take(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "new_session":
                self._begin(message)
            case "delta":
                self._take_part(message)
            case "navigation":
                self._script = message.navigation.page_script_hash
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "auto_rerun":
                seconds = message.auto_rerun.interval
                self._again[message.auto_rerun.fragment_id] = time.monotonic() + seconds, seconds
            case "stop_auto_rerun":
                for name in message.stop_auto_rerun.fragment_ids:
                    self._again.pop(name, None)
            case "file_urls_response":
                self._urls = list(message.file_urls_response.file_urls)
            case "script_finished":
                self._running = False

    def _take_part(self, message: ForwardMsg) -> None:
        """Take an element, or what can be opened."""
        if message.delta.WhichOneof("type") == "new_element":
            self._elements[tuple(message.metadata.delta_path)] = message.delta.new_element
        elif message.delta.add_block.HasField("expandable"):
            folded = message.delta.add_block.expandable
            self._folded[folded.label] = folded.id

    def _begin(self, message: ForwardMsg) -> None:
        self._running = True
        self._session = message.new_session.initialize.session_id or self._session
        if not message.metadata.run.fragment_ids:
            # All of the page is drawn anew.
            self._elements.clear()
            self._again.clear()


@contextmanager
def visiting(address: str, page: str = "") -> Iterator[PageVisitor]:
    """Yield a visitor of a page of the server at the address, by its name; of the first one without."""
    stream = f"ws://{urlsplit(address).netloc}/_stcore/stream"
    protocols = [Subprotocol("streamlit")]
    with connect(stream, origin=Origin(address), subprotocols=protocols, max_size=None, open_timeout=120) as socket:
        yield PageVisitor(socket, address, page)
