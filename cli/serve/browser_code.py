"""The code that browsers load of Streamlit, served from memory.

A first visitor asks for dozens of files before anything is drawn, and Streamlit looks each of them up on the disk and
reads it in threads.
"""

from __future__ import annotations

import mimetypes
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_PLACE = "/static/"
# As Streamlit sends them: their names have a hash of what is in them.
_FOR_GOOD = {"Cache-Control": "public, immutable, max-age=31536000"}
# A part of a file, or whether it has changed, is asked for seldom, and answered by Streamlit.
_OTHERWISE = ("range", "if-none-match", "if-modified-since")


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
