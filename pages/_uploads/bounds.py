"""Bounds of what browsers upload: who may, how much at once, and until when it stays in memory.

Streamlit takes a file of any live session, even if no page asked for one, and bounds each file by itself. It keeps the
file until it next clears away sessions that have ended.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import streamlit as st
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ingestion.acts.documents import discard_upload
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import number

_MEGABYTE = 1 << 20
# Bytes that a browser sends around a file.
_AROUND = 1 << 16
# All sessions together may hold as much as this number of full ones.
_FULL_SESSIONS = 2
_Refused = Literal["", "session", "all"]
# Why the last file of a session was refused, for the sessions that were shown where to drop one.
_offered: dict[str, _Refused] = {}
# Files that sessions look at in the workspace.
_looked_at: dict[str, set[Path]] = {}
# Session and bytes of each upload that is on its way.
_arriving: dict[object, tuple[str, int]] = {}


def offer_upload() -> None:
    """Let this session upload from now on, and draw why its last file was refused.

    The browser does not say why.
    """
    context = get_script_run_ctx()
    assert context is not None
    refused = _offered.setdefault(context.session_id, "")
    limit = _session_limit() // _MEGABYTE
    if refused == "session":
        told = _(
            "The file was refused: files that wait here may have {n} MB together. "
            "Add or remove the others first, or load the page again."
        )
        st.error(told.format(n=number(limit)))
    elif refused == "all":
        told = _(
            "The file was refused: files of everybody that wait may have {n} MB together. Try again in some minutes."
        )
        st.error(told.format(n=number(limit * _FULL_SESSIONS)))


def let_go(key: str) -> None:
    """Free the memory of what was dropped at the uploader of this key, once it is kept elsewhere."""
    context = get_script_run_ctx()
    assert context is not None
    kept = context.uploaded_file_mgr
    assert isinstance(kept, MemoryUploadedFileManager)
    _offered[context.session_id] = ""
    dropped = st.session_state.get(key) or []
    for file in dropped if isinstance(dropped, list) else [dropped]:
        kept.remove_file(context.session_id, file.file_id)


def discard_with_session(file: Path) -> None:
    """Discard a file that this session looks at once nobody can come back to the session."""
    context = get_script_run_ctx()
    assert context is not None
    _looked_at.setdefault(context.session_id, set()).add(file)


def bounded_uploads(app: ASGIApp) -> ASGIApp:
    """Return the app with bounded uploads: files of sessions with an offer, while there is room."""

    async def bounded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            try:
                await app(scope, receive, send)
            finally:
                seconds = st.get_option("server.disconnectedSessionTTL") + 1
                asyncio.get_running_loop().call_later(seconds, _forget_ended)
        # Nothing else is put.
        elif scope["type"] == "http" and scope["method"] == "PUT":
            await _take(app, scope, receive, send)
        else:
            await app(scope, receive, send)

    return bounded


async def _take(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Have the app take an upload, of which each part is counted when it arrives."""
    upload, session = object(), scope["path"].split("/")[-2]

    def count(length: int) -> None:
        """Count bytes that have arrived; HTTPException where there is no room for them."""
        arrived = _arriving.get(upload, ("", 0))[1] + length
        _arriving[upload] = session, arrived
        refused = _refusal(session)
        if refused:
            _show_refusal(session, refused)
            raise HTTPException(413, "There is no room for this file.")

    async def receive_counted() -> Message:
        message = await receive()
        count(len(message.get("body", b"")))
        return message

    async def send_after(message: Message) -> None:
        # It is kept, or refused, by now.
        _arriving.pop(upload, None)
        await send(message)

    _forget_ended()
    announced = HTTPConnection(scope).headers.get("content-length", "")
    try:
        if session not in _offered:
            raise HTTPException(403, "No page of this session has asked for a file.")
        _offered[session] = ""
        # Before anything is read; what it says too little is counted all the same.
        count(int(announced) if announced.isdecimal() else 0)
        _arriving[upload] = session, 0
        await app(scope, receive_counted, send_after)
    except HTTPException as refusal:
        await PlainTextResponse(refusal.detail, status_code=refusal.status_code)(scope, receive, send)
    finally:
        _arriving.pop(upload, None)


def _refusal(session: str) -> _Refused:
    """Return whose room is full, counting what is kept and what is on its way."""
    held = [(one, len(file.data)) for one, files in [*_kept().file_storage.items()] for file in [*files.values()]]
    held += [(one, max(0, size - _AROUND)) for one, size in _arriving.values()]
    if sum(size for one, size in held if one == session) > _session_limit():
        return "session"
    return "all" if sum(size for one, size in held) > _session_limit() * _FULL_SESSIONS else ""


def _show_refusal(session: str, refused: _Refused) -> None:
    """Have the page of a session drawn again, with the reason of the refusal."""
    _offered[session] = refused
    known = _sessions().get_active_session_info(session)
    if known is not None:
        # As Streamlit does when a file of the app changes: the page that is open, with what is chosen there.
        known.session.request_rerun(known.session._client_state)  # noqa: SLF001 - known to nothing else


def _forget_ended() -> None:
    """Drop what sessions uploaded and looked at that nobody can come back to."""
    for session in {*_kept().file_storage, *_offered, *_looked_at}:
        if _sessions().get_session_info(session) is None:
            _kept().remove_session_files(session)
            _offered.pop(session, None)
            for file in _looked_at.pop(session, ()):
                discard_upload(file)


def _session_limit() -> int:
    """Return how many bytes one session may hold: as many as the largest file."""
    return int(st.get_option("server.maxUploadSize")) * _MEGABYTE


def _kept() -> MemoryUploadedFileManager:
    kept = get_instance().uploaded_file_mgr
    assert isinstance(kept, MemoryUploadedFileManager)
    return kept


def _sessions() -> WebsocketSessionManager:
    sessions = get_instance()._session_mgr  # noqa: SLF001 - Streamlit has no other way to a session
    assert isinstance(sessions, WebsocketSessionManager)
    return sessions
