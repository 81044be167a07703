"""Uploaded lists and workbooks, stored while they are previewed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ingestion.acts.documents import discard_upload, preview_upload
from pages._shared import resources
from pages._shared.elements import why_disabled
from pages._uploads.bounds import discard_with_session, let_go, offer_upload


def stored_preview(place: str, file: UploadedFile) -> Path:
    """Store the uploaded file once and return its path; discard the file before it at this place."""
    path: Path | None
    before, path = st.session_state.get(place, ("", None))
    if path is None or before != file.file_id or not path.exists():
        _discard(place)
        path = preview_upload(resources.context(), file.name, file)
        discard_with_session(path)
        st.session_state[place] = file.file_id, path
    return path


def draw_uploader(place: str, label: str, types: Sequence[str]) -> UploadedFile | None:
    """Draw where a file is dropped and return it; the preview at this place ends with it."""
    key = f"{place} upload {st.session_state.setdefault(f'{place} batch', 0)}"
    why = why_disabled("preview_upload")
    if why is None:
        offer_upload()
    file = st.file_uploader(label, type=types, key=key, disabled=why is not None, help=why)
    if file is None:
        _discard(place)
    return file


def leave(place: str) -> None:
    """Draw the page again without the file: its content is in the source store."""
    _discard(place)
    let_go(f"{place} upload {st.session_state[f'{place} batch']}")
    st.session_state[f"{place} batch"] += 1
    st.rerun()


def _discard(place: str) -> None:
    _, path = st.session_state.pop(place, ("", None))
    if path is not None:
        discard_upload(path)
