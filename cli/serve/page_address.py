"""Address of the server, code of each page, and styles and script of all, in Streamlit's page, which is loaded first.

At the address of a page ("/library") Streamlit's page asks for the server below that address before it asks above it,
and nothing is drawn meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HTML = "text/html"
_HEAD, _HEAD_END, _BODY_END = b"<head>", b"</head>", b"</body>"
# Streamlit's page, and not that of a component.
_OURS = b'<div id="root"></div>'
# Below a prefix of a proxy too; the address of the first page has no name at its end.
_BASE = "location.origin + location.pathname.replace(/({names})[/]?$/, '')"
_SCRIPT = f"<script>window.__streamlit = {{{{BACKEND_BASE_URL: {_BASE}}}}}</script>"
_IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_LINKS = {
    "js": '<link rel="modulepreload" crossorigin href="./static/js/{name}">',
    "css": '<link rel="preload" as="style" crossorigin href="./static/css/{name}">',
}
# By the name that a page has in its address, the component of Streamlit that it is opened for. The code of more would
# only hold up the first drawing; it is loaded once this one is there.
_COMPONENTS: Mapping[str, str] = {
    "": "ChatInput",
    "search": "TextInput",
    "compare": "TextArea",
    "library": "DataFrame",
    "document": "Button",
    "notebook": "Selectbox",
    "admin": "ButtonGroup",
    "evaluation": "Button",
}


def with_address(app: ASGIApp, names: Collection[str], folder: Path, ending: str) -> ASGIApp:
    """Return the app with the address of its server in Streamlit's page, below which the pages have these `names`.

    `folder` is Streamlit's, with the code that each page is given the links to; at another address it is the first's.
    `ending` is HTML for the end of every page, where its styles come after Streamlit's.
    """
    links = code_links(folder)
    script = _SCRIPT.format(names="|".join(map(re.escape, sorted(names)))).encode()

    async def addressed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or _HTML not in Headers(scope=scope).get("accept", ""):
            await app(scope, receive, send)
            return
        started: Message | None = None
        page = b""

        async def send_addressed(message: Message) -> None:
            nonlocal started, page
            if message["type"] == "http.response.start" and _is_html(message):
                started = message
            elif started is None:
                await send(message)
            else:
                page += message.get("body", b"")
                if not message.get("more_body"):
                    await send_page(started)

        async def send_page(start: Message) -> None:
            whole = page
            if _OURS in page:
                code = links.get(scope["path"].strip("/").rpartition("/")[2], links[""]).encode()
                parts = {_HEAD: _HEAD + script, _HEAD_END: code + _HEAD_END, _BODY_END: ending.encode() + _BODY_END}
                for mark, part in parts.items():
                    whole = whole.replace(mark, part, 1)
            MutableHeaders(scope=start)["content-length"] = str(len(whole))
            await send(start)
            await send({"type": "http.response.body", "body": whole})

        # What is compressed already can take nothing in.
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await app({**scope, "headers": plain}, receive, send_addressed)

    return addressed


def _is_html(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("content-type", "").startswith(_HTML)


def code_links(folder: Path) -> dict[str, str]:
    """Return the links to the code of each page by its name in the address.

    `folder` is Streamlit's, with index.html; what that names itself is left out.
    """
    page = (folder / "index.html").read_text(encoding="utf-8")
    links = {}
    for name, component in _COMPONENTS.items():
        found: dict[str, None] = {}
        for kind in _LINKS:
            for file in (folder / "static").glob(f"{kind}/{component}.*.{kind}"):
                _collect(file, found)
        links[name] = "".join(_LINKS[one.rpartition(".")[2]].format(name=one) for one in found if one not in page)
    return links


def _collect(file: Path, found: dict[str, None]) -> None:
    """Add a file and the code that it imports, each once."""
    if file.name in found:
        return
    found[file.name] = None
    if file.suffix == ".js":
        for name in _IMPORTED.findall(file.read_text(encoding="utf-8")):
            _collect(file.parent / name, found)
