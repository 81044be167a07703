"""The code that browsers load of Streamlit: its page with its address and code, files from memory.

A first visitor asks for dozens of files before anything is drawn. Streamlit looks each of them up on the disk and reads
it in threads. At the address of a page ("/library") its page first asks for the server below that address, then above
it. It asks for the code of a widget only once the widget has come.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PLACE = "/static/"
# As Streamlit sends them: their names have a hash of what is in them.
_FOR_GOOD = {"Cache-Control": "public, immutable, max-age=31536000"}
# A part of a file, or whether it has changed, is asked for seldom, and answered by Streamlit.
_OTHERWISE = ("range", "if-none-match", "if-modified-since")
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


def with_code_in_memory(app: ASGIApp, folder: Path) -> ASGIApp:
    """Return the app with the files of a folder at /static/, each kept in memory once it was asked for."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}

    @cache
    def read(name: str) -> tuple[bytes, str]:
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return files[name].read_bytes(), kind

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        name = _name_of(scope)
        if name not in files:
            await app(scope, receive, send)
            return
        content, kind = read(name)
        await Response(content, media_type=kind, headers=_FOR_GOOD)(scope, receive, send)

    return served


def _name_of(scope: Scope) -> str:
    """Return the name of the file that a request wants whole, "" for another request."""
    if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(_PLACE):
        return ""
    asked = Headers(scope=scope)
    return "" if any(one in asked for one in _OTHERWISE) else scope["path"].removeprefix(_PLACE)


def with_address(app: ASGIApp, names: Collection[str], folder: Path, ending: str) -> ASGIApp:
    """Return the app with the address of its server in Streamlit's page.

    The pages have these `names` below it.

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

        # A compressed file can take nothing in.
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
